"""The baselines that learn in one pass, naive Bayes and Rocchio, against their definitions."""

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.counting.summands import DocumentFrequencies, NaiveBayes, Rocchio
from perceptron_core.errors import UserError
from perceptron_core.features.keys import FeatureKeys, KeyGroup
from perceptron_core.learners.one_pass import naive_bayes, rocchio
from perceptron_core.weights.rows import Rows, add_up, from_entries

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
    features = FeatureKeys((KeyGroup(starts, keys),), values)
    bags = []
    for instance in instances:
        bag: Counter = Counter()
        for feature, value in instance:
            bag[feature] += value
        bags.append({feature: value for feature, value in bag.items() if value})
    having = Counter(feature for bag in bags for feature in bag)
    summands = DocumentFrequencies().summands(features, np.zeros(len(instances), np.int32))
    assert Counter(summands.keys.tolist()) == having and set(summands.amounts.tolist()) <= {1}
    if not len(values):  # no values at all would mean 1 for each
        return
    idf = from_entries(np.arange(6, dtype=np.uint64), np.zeros(6, np.uint32), idf=np.arange(1.0, 7.0))
    gold = np.arange(len(instances), dtype=np.int32)
    summands = Rocchio(idf).summands(features, gold)
    squares: dict[int, float] = defaultdict(float)
    for label, amount in zip(summands.labels.tolist(), summands.amounts.tolist()):
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


@pytest.mark.parametrize("learner", LEARNERS)
def test_other_searches_have_no_history(perceptron: Any, must: Any, learner: str, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TOKEN_TASK)
    (tmp_path / "train").write_text("a X\nb Y\na X\n")
    given = ("--train", tmp_path / "train", "--run-dir", tmp_path / "run", "--decoder", "viterbi")
    trained = perceptron("train", tmp_path / "task.yaml", *given, "--learner", learner)
    assert trained.code == 0 and "it ignores pairs of labels" in trained.out
    assert "label[" not in must("export", tmp_path / "run", "--output", "-")


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
