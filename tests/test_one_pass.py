"""The baselines that learn in one pass, naive Bayes and Rocchio: against their definitions, and in whole runs."""

import json
import math
import os
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.runners import Cluster, run_job
from jobs.sum_shares import MRSumShares
from perceptron_core.errors import UserError
from perceptron_core.features.encoding import FeatureKeys
from perceptron_core.learners import naive_bayes, rocchio
from perceptron_core.model import read_model
from perceptron_core.one_pass import DocumentFrequencies, NaiveBayes, Rocchio
from perceptron_core.rows import Rows, add_up, from_entries

LEARNERS = ("naive-bayes", "rocchio")
Bag = dict[str, float]
Weights = dict[tuple[str, str], float]

TEXT_TASK = "kind: classification\nlabels: [new, old, never]\nfeatures: ['lower[0]', 'word[0] & word[1]']\n"
NUMBER_TASK = "kind: classification\nformat: svmlight\n"
TOKEN_TASK = (
    "columns: [word, tag]\npredict: tag\nfeatures: ['word[0]', 'label[-1] & label[-2]']\noptions: {decoder: greedy}\n"
)
WORDS = ("a", "B", "c", "D", "e", "F", "g", "H")


def texts(seed: int) -> list[tuple[str, list[str]]]:
    choose = random.Random(seed)
    labels = [choose.choice(("new", "old", "old")) for _ in range(40)]
    return [(label, choose.choices(WORDS, range(1, 9), k=choose.randint(0, 6))) for label in labels]


def bag_of(words: Sequence[str]) -> Bag:
    pairs = [f"text[0]={a} & text[1]={b}" for a, b in zip(words, words[1:])]
    return dict.fromkeys(["bias", *(f"lower[0]={word.lower()}" for word in words), *pairs], 1.0)


# ---------------------------------------------------------------- as they are defined


def naive_naive_bayes(instances: Sequence[tuple[str, Bag]], labels: Sequence[str]) -> Weights:
    counts: dict[str, Counter] = {label: Counter() for label in labels}
    known = Counter(label for label, _ in instances)
    for label, bag in instances:
        counts[label].update({feature: int(value) for feature, value in bag.items() if feature != "bias"})
    features = {feature for counted in counts.values() for feature, count in counted.items() if count}
    logs: dict[str, Bag] = {}
    for feature in features:
        probable = {
            label: (counts[label][feature] + 0.01) / (sum(counts[label].values()) + 0.01 * len(features))
            for label in known
        }
        logs[feature] = {label: math.log(p) for label, p in probable.items()}
    logs["bias"] = {label: math.log(count / len(instances)) for label, count in known.items()}
    weights = {}
    for feature, row in logs.items():
        whole = {label: row.get(label, min(row.values()) - 1) for label in labels}
        mean = sum(whole.values()) / len(labels)
        weights.update({(feature, label): log - mean for label, log in whole.items()})
    return weights


def naive_rocchio(instances: Sequence[tuple[str, Bag]], labels: Sequence[str]) -> Weights:
    having = Counter(feature for _, bag in instances for feature, value in bag.items() if value)
    idf = {feature: math.log(len(instances) / count) for feature, count in having.items()}
    vectors = []
    for label, bag in instances:
        vector = {feature: value * idf[feature] for feature, value in bag.items() if value and idf[feature]}
        length = math.sqrt(sum(value * value for value in vector.values()))
        vectors.append((label, {feature: value / length for feature, value in vector.items()}))
    weights: Weights = {}
    for label in labels:
        own = sum(other == label for other, _ in instances)
        centre: dict[str, float] = defaultdict(float)
        for other, vector in vectors:
            for feature, value in vector.items():
                centre[feature] += 16 * value / own if other == label else -4 * value / (len(instances) - own)
        length = math.sqrt(sum(value * value for value in centre.values())) or 1.0
        weights.update({(feature, label): idf[feature] * value / length for feature, value in centre.items()})
    return weights


NAIVE = {"naive-bayes": naive_naive_bayes, "rocchio": naive_rocchio}


def exported(must: Any, run: Path) -> Weights:
    lines = [line.split("\t") for line in must("export", run, "--output", "-").splitlines()]
    return {(name, label): float(weight) for name, label, weight in lines}


def assert_same(found: Weights, expected: Weights) -> None:
    """float32, and no weight that is zero."""
    assert len(found) > 50
    for entry in {*found, *expected}:
        assert found.get(entry, 0.0) == pytest.approx(expected.get(entry, 0.0), rel=1e-6, abs=2e-6), entry


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("seed", range(3))
def test_texts(must: Any, tmp_path: Path, learner: str, seed: int) -> None:
    """A label that the task lists and no text has is among them, and texts without a word."""
    made = texts(seed)
    (tmp_path / "task.yaml").write_text(TEXT_TASK)
    (tmp_path / "train").write_text("".join(f"{label}\t{' '.join(words)}\n" for label, words in made))
    given = ("--train", tmp_path / "train", "--run-dir", tmp_path / "run", "--learner", learner, "--shards", 3)
    must("train", tmp_path / "task.yaml", *given)
    instances = [(label, bag_of(words)) for label, words in made]
    weights = NAIVE[learner](instances, ("new", "old", "never"))
    assert_same(exported(must, tmp_path / "run"), weights)

    def guess(words: Sequence[str]) -> str:
        scores = {label: sum(weights.get((f, label), 0.0) for f in bag_of(words)) for label in ("new", "old", "never")}
        return max(scores, key=lambda label: scores[label])

    unseen = [words for _, words in texts(seed + 100)]
    (tmp_path / "unseen").write_text("".join(f"old\t{' '.join(words)}\n" for words in unseen))
    tagged = must("predict", tmp_path / "run", tmp_path / "unseen").splitlines()
    guesses = [line.split("\t")[-1] for line in tagged]
    assert guesses == [guess(words) for words in unseen]
    assert {"new", "old"} <= set(guesses) and (learner == "rocchio" or "never" not in guesses)


@pytest.mark.parametrize("learner", LEARNERS)
def test_numbers_count_by_their_value(must: Any, tmp_path: Path, learner: str) -> None:
    """Counts for naive Bayes; anything for Rocchio. Feature z, always 0, was never seen; all have the bias."""
    choose = random.Random(7)
    values = (0, 1, 2, 5) if learner == "naive-bayes" else (0, 1, -0.5, 2.25, 1e-3)
    made = []
    for _ in range(60):
        bag = {f"n{i}": float(choose.choice(values)) for i in choose.sample(range(30), 5)}
        made.append((choose.choice("xyz"), {**bag, "z": 0.0}))
    lines = [f"{label} {' '.join(f'{name}:{value}' for name, value in bag.items())}\n" for label, bag in made]
    (tmp_path / "train").write_text("".join(lines))
    (tmp_path / "task.yaml").write_text(NUMBER_TASK)
    given = ("--train", tmp_path / "train", "--run-dir", tmp_path / "run", "--learner", learner, "--shards", 2)
    must("train", tmp_path / "task.yaml", *given)
    found = exported(must, tmp_path / "run")
    named = {(re.sub(r".*?(n\d+)$", r"\1", name), label): weight for (name, label), weight in found.items()}
    assert_same(named, NAIVE[learner]([(label, {**bag, "bias": 1.0}) for label, bag in made], "xyz"))


@pytest.mark.parametrize("learner", LEARNERS)
def test_tokens_with_the_gold_labels_before_them(must: Any, tmp_path: Path, learner: str) -> None:
    choose = random.Random(3)
    sentences = [[(choose.choice(WORDS), choose.choice("XYZ")) for _ in range(choose.randint(1, 7))] for _ in range(20)]
    (tmp_path / "task.yaml").write_text(TOKEN_TASK)
    (tmp_path / "train").write_text("\n".join("".join(f"{w} {t}\n" for w, t in s) for s in sentences))
    given = ("--train", tmp_path / "train", "--run-dir", tmp_path / "run", "--learner", learner, "--shards", 3)
    must("train", tmp_path / "task.yaml", *given)
    instances = []
    for sentence in sentences:
        tags = ["<-2>", "<-1>", *(tag for _, tag in sentence)]
        for i, (word, tag) in enumerate(sentence):
            instances.append((tag, {"bias": 1.0, f"word[0]={word}": 1.0, f"{tags[i + 1]} {tags[i]}": 1.0}))
    found = exported(must, tmp_path / "run")
    history = {}
    for name, label in found:
        before = re.fullmatch(r"label\[-1\]=(.*) & label\[-2\]=(.*)", name)
        history[name, label] = (" ".join(before.groups()) if before else name, label)
    expected = NAIVE[learner](instances, "XYZ")
    words = {(name, label): weight for (name, label), weight in found.items() if not name.startswith("label")}
    assert_same({history[entry]: weight for entry, weight in found.items()} | words, expected)


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3)), max_size=4), max_size=6))
def test_components_are_of_length_one_and_each_feature_is_one(instances: list[list[tuple[int, int]]]) -> None:
    """A feature that an instance has twice has both values together."""
    flat = [pair for instance in instances for pair in instance]
    starts = np.cumsum([0, *map(len, instances)]).astype(np.int32)
    keys, values = np.array([f for f, _ in flat], np.uint64), np.array([v for _, v in flat], np.float32)
    features = FeatureKeys(starts, keys, np.zeros_like(starts), np.zeros(0, np.uint64), values)
    bags = []
    for instance in instances:
        bag: Counter = Counter()
        for feature, value in instance:
            bag[feature] += value
        bags.append({feature: value for feature, value in bag.items() if value})
    having = Counter(feature for bag in bags for feature in bag)
    shares = DocumentFrequencies().shares(features, np.zeros(len(instances), np.int32))
    assert Counter(shares.keys.tolist()) == having and set(shares.amounts.tolist()) <= {1}
    if not len(values):  # no values at all would mean 1 for each
        return
    idf = from_entries(np.arange(6, dtype=np.uint64), np.zeros(6, np.uint32), idf=np.arange(1.0, 7.0))
    gold = np.arange(len(instances), dtype=np.int32)
    shares = Rocchio(idf).shares(features, gold)
    squares: dict[int, float] = defaultdict(float)
    for label, amount in zip(shares.labels.tolist(), shares.amounts.tolist()):
        squares[label] += (amount / rocchio.ONE) ** 2
    assert set(squares) == {number for number, bag in enumerate(bags) if bag}
    assert all(square == pytest.approx(1, abs=1e-8) for square in squares.values())


@given(
    st.lists(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 2)), st.integers(-(2**40), 2**40)), min_size=1)
)
def test_sums_are_those_of_all_parts(parts: list[dict[tuple[int, int], int]]) -> None:
    def rows(part: dict[tuple[int, int], int]) -> Rows:
        keys, labels = (np.array([entry[i] for entry in part], np.uint64) for i in range(2))
        return from_entries(keys, labels.astype(np.uint32), sum=np.array(list(part.values()), np.int64))

    expected: Counter = Counter()
    for part in parts:
        expected.update(part)
    total = add_up([rows(part) for part in parts])
    entries = zip(total.entry_keys().tolist(), total.labels.tolist())
    assert dict(zip(entries, total.values["sum"].tolist())) == dict(expected)


def test_rocchio_refuses_more_than_its_sums_have_room_for() -> None:
    assert rocchio.MOST_INSTANCES * int(rocchio.ONE) < 2**63
    Rocchio.check_size(rocchio.MOST_INSTANCES)
    with pytest.raises(UserError, match="train on a part"):
        Rocchio.check_size(rocchio.MOST_INSTANCES + 1)


def test_constants_beside_the_bias_have_no_weight() -> None:
    keys, labels = np.array([3, 4, 5, 5, 8, 8], np.uint64), np.array([0, 1, 0, 1, 0, 1], np.uint32)
    weights = NaiveBayes([8, 5]).weights(from_entries(keys, labels, sum=np.ones(6, np.int64)), np.array([3, 1]))
    assert weights.keys.tolist() == [3, 4, 8]
    assert weights.values["weight"][-2:] == pytest.approx([math.log(3) / 2, -math.log(3) / 2])


# ---------------------------------------------------------------- whole runs


def deciding(run: dict[str, bytes]) -> dict[str, bytes]:
    """What a run leaves behind, but for its record of times and bytes shuffled, and the report that shows it."""
    times = re.compile(r"history\.jsonl|report\.html|epoch-\d+/stats\.json")
    return {name: data for name, data in run.items() if not times.fullmatch(name)}


@pytest.fixture(scope="module", params=LEARNERS)
def learner(request: Any) -> str:
    return request.param


@pytest.fixture(scope="module")
def learnt(train: Any, corpus: Path, learner: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on three shards; tests only read it."""
    run = tmp_path_factory.mktemp("learnt") / "run"
    told = train(run, "--learner", learner, "--shards", 3, "--dev", corpus / "dev.txt")
    assert f"{learner} takes every token by itself" in told and "stopped: one pass is all it needs" in told
    assert "errors" not in told
    return run


@pytest.mark.parametrize(
    "how",
    [(), ("--shards", 2), ("--shards", 7), ("--shards", 3, "--reducers", 5), ("--shards", 60)],
    ids=["serial", "two", "seven", "five ranges", "more than sentences"],
)
def test_the_model_is_the_same_for_any_number_of_shards(
    learnt: Path, train: Any, learner: str, tmp_path: Path, how: Any
) -> None:
    train(tmp_path / "run", "--learner", learner, *how)
    assert (tmp_path / "run" / "model").read_bytes() == (learnt / "model").read_bytes()


def test_the_same_bytes_by_processes_of_their_own(
    learnt: Path, train: Any, contents: Any, corpus: Path, learner: str, tmp_path: Path
) -> None:
    options = ("--shards", 3, "--dev", corpus / "dev.txt", "-r", "local", "--reducers", 2)
    train(tmp_path / "run", "--learner", learner, *options)
    expected = deciding(contents(learnt))
    assert ("idf" in expected) == (learner == "rocchio") and "epoch-0001/average" not in expected
    assert deciding(contents(tmp_path / "run")) == expected


@pytest.mark.parametrize("kernel", ["native", "reference"])
def test_both_kernels_count_the_same(learnt: Path, corpus: Path, learner: str, tmp_path: Path, kernel: str) -> None:
    from perceptron_core import kernels

    if kernel == "native" and kernels.native is None:
        pytest.skip("the kernel was not compiled")
    arguments = ["train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", tmp_path / "run"]
    subprocess.run(
        [sys.executable, "-m", "jobs.cli.main", *map(str, arguments), "--learner", learner, "--quiet"],
        cwd=corpus,
        env={**os.environ, "PERCEPTRON_KERNEL": kernel},
        check=True,
    )
    assert (tmp_path / "run" / "model").read_bytes() == (learnt / "model").read_bytes()


@pytest.mark.parametrize("appears", ["config.json", "epoch-0000", "idf", "epoch-0001"])
def test_a_killed_run_ends_with_the_same_bytes(
    train: Any, train_until: Any, contents: Any, tmp_path: Path, appears: str
) -> None:
    options = ("--learner", "rocchio", "--shards", 3)
    train(tmp_path / "undisturbed", *options)
    run = tmp_path / "run"
    train_until(run, appears, *options)
    before = os.stat(run / "idf").st_ino if (run / "idf").exists() else None
    train(run, *options)
    assert before in (None, os.stat(run / "idf").st_ino)  # what was counted is not counted again
    assert deciding(contents(run)) == deciding(contents(tmp_path / "undisturbed"))


def test_a_run_that_is_done_stays_done(learnt: Path, train: Any, corpus: Path, learner: str) -> None:
    before = (learnt / "model").read_bytes()
    told = train(learnt, "--learner", learner, "--shards", 3, "--dev", corpus / "dev.txt", "--epochs", 30)
    assert "one pass is all it needs" in told and (learnt / "model").read_bytes() == before
    assert len((learnt / "history.jsonl").read_text().splitlines()) == 1


def test_the_other_commands_take_the_model(learnt: Path, must: Any, corpus: Path, learner: str) -> None:
    entry = json.loads((learnt / "history.jsonl").read_text())
    scores = json.loads(must("evaluate", learnt, corpus / "dev.txt", "--json"))
    assert scores["f1"] == pytest.approx(entry["dev"]["last"], abs=1e-6) and scores["f1"] > 0.5
    assert entry["errors"] is None and entry["mixing"] == "sum" and entry["shuffled"] > 1000
    assert "B-VP" in must("predict", learnt, corpus / "dev.txt")
    assert "word[0]=" in must("inspect", learnt, "--label", "B-VP")
    page = (learnt / "report.html").read_text(encoding="utf-8")
    assert "Training errors" not in page and "Errors of the shards" not in page and "Time of the shards" in page
    assert {"naive-bayes": "naive Bayes", "rocchio": "Rocchio"}[learner] in page
    assert re.search(r"^ +1 +– .*◀ best$", must("report", learnt), re.MULTILINE)


def test_beside_a_perceptron_in_one_report(learnt: Path, trained: Path, must: Any, tmp_path: Path) -> None:
    must("report", learnt, trained, "--output", tmp_path / "both.html")
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "Training errors" in page and "Side by side" in page
    must("report", learnt, "--svg", tmp_path / "curve.svg")
    assert "training errors" not in (tmp_path / "curve.svg").read_text(encoding="utf-8")


def test_without_a_dev_set_the_report_says_what_there_is(train: Any, learner: str, tmp_path: Path, must: Any) -> None:
    train(tmp_path / "run", "--learner", learner)
    assert "weights from one pass over 50 sentences" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert re.search(r"^ +1 +–$", must("report", tmp_path / "run"), re.MULTILINE)


def test_rare_features_and_a_part_of_the_shards(train: Any, learner: str, tmp_path: Path) -> None:
    for name, options in {"all": (), "frequent": ("--min-count", 20), "part": ("--shards", 25, "--subsample")}.items():
        train(tmp_path / name, "--learner", learner, *options)
    keys = {path.name: set(read_model(str(path / "model")).rows.keys.tolist()) for path in tmp_path.iterdir()}
    assert keys["frequent"] < keys["all"] and keys["part"] < keys["all"]


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "options",
    [
        ("--mixing", "uniform"),
        ("--local-epochs", 2),
        ("--min-updates", 2),
        ("--update", "early"),
        ("--patience", 2),
        ("--init-model", "model"),
    ],
    ids=lambda options: options[0][2:],
)
def test_what_needs_updates_is_refused(
    perceptron: Any, corpus: Path, learner: str, tmp_path: Path, options: Any
) -> None:
    given = ("--train", corpus / "train.txt", "--dev", corpus / "dev.txt", "--run-dir", tmp_path / "run")
    refused = perceptron("train", corpus / "task.yaml", *given, "--learner", learner, *options)
    assert refused.code == 2 and not (tmp_path / "run").exists()
    assert f"{learner} counts once and updates nothing; leave out {options[0]}\n" in refused.err


def test_a_history_still_needs_a_greedy_search(perceptron: Any, learner: str, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TOKEN_TASK)
    (tmp_path / "train").write_text("a X\n")
    given = ("--train", tmp_path / "train", "--run-dir", tmp_path / "run", "--decoder", "viterbi")
    refused = perceptron("train", tmp_path / "task.yaml", *given, "--learner", learner)
    assert refused.code == 2 and "only --decoder greedy can" in refused.err


@pytest.mark.parametrize("value", ["0.5", "-1", "16777218", "1e30"])
def test_naive_bayes_counts_whole_numbers(perceptron: Any, tmp_path: Path, value: str) -> None:
    (tmp_path / "task.yaml").write_text(NUMBER_TASK)
    (tmp_path / "train").write_text(f"x a:1 b:2\ny a:{value}\n")
    given = ("--train", tmp_path / "train", "--run-dir", tmp_path / "run", "--learner", "naive-bayes")
    refused = perceptron("train", tmp_path / "task.yaml", *given)
    assert refused.code == 2 and f"one has the value {float(value):g}; give whole numbers from 0 to 1" in refused.err


def test_the_largest_count_is_exact(must: Any, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(NUMBER_TASK)
    (tmp_path / "train").write_text(f"x a:{naive_bayes.LARGEST_VALUE} b:1\n" * 3 + "y a:1\n")
    must(
        "train", tmp_path / "task.yaml", "--train", tmp_path / "train", "--run-dir", tmp_path / "run",
        "--learner", "naive-bayes", "--shards", 2,
    )  # fmt: skip
    bag = {"a": float(naive_bayes.LARGEST_VALUE), "b": 1.0, "bias": 1.0}
    expected = naive_naive_bayes([*[("x", bag)] * 3, ("y", {"a": 1.0, "bias": 1.0})], "xy")
    found = exported(must, tmp_path / "run")
    assert sorted(found.values()) == pytest.approx(sorted(expected.values()), rel=1e-6)


def test_a_shard_given_twice_or_not_at_all_is_not_summed(learnt: Path, learner: str) -> None:
    shards = sorted(str(path) for path in (learnt / "prepared").glob("*-of-00003.gz"))
    arguments = ["--config", str(learnt / "config.json"), "--what", "naive-bayes", "--ranges", "2"]
    assert sorted({key for key, _ in run_job(MRSumShares, Cluster(), arguments, shards)}) == [
        "00000",
        "00001",
        "reducer",
    ]
    for inputs in (shards[:2], [*shards, shards[0]]):
        with pytest.raises(UserError, match="the shards are not whole"):
            list(run_job(MRSumShares, Cluster(), arguments, inputs))


def test_idf_is_no_model(learnt: Path, perceptron: Any, corpus: Path, learner: str) -> None:
    if learner == "rocchio":
        refused = perceptron("predict", learnt / "idf", corpus / "dev.txt")
        assert refused.code == 2 and "not weights; give the run directory" in refused.err
