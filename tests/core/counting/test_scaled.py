"""Scaled mixing: local steps of S/c_f, where feature f occurs in c_f shards: the counting, the steps, whole runs."""

import gzip
import itertools
import os
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.counting.shard_counts import count_shards
from perceptron_core.errors import UserError
from perceptron_core.features.filters import StepSizes
from perceptron_core.features.keys import FeatureKeys, KeyGroup
from perceptron_core.shards.dealing import deal
from perceptron_core.structures.sequence.blocks import FeatureNumbers
from perceptron_core.weights.model_file import read_model
from perceptron_core.weights.rows import Rows, from_entries
from perceptron_jobs.engines.runners import Cluster, run_job
from perceptron_jobs.mr.count_shards import MRCountShards
from perceptron_jobs.mr.protocol import REDUCER
from runs import deciding

OPTIONS = ("--shards", 3, "--mixing", "scaled", "--epochs", 3)
TASK = """\
columns: [word, label]
predict: label
bias: false
features: ["word[0]", "label[-1] & word[0]"]
"""
LABELS = ("A", "B", "C")
Sentence = list[tuple[str, str]]
Weights = dict[tuple[str, str], float]


def write(folder: Path, shards: Sequence[Sequence[Sentence]]) -> Path:
    """A task, and a corpus of which each of the (equally large) shards is dealt its own; the corpus."""
    sentences = [sentence for shard in shards for sentence in shard]
    numbers, places = deal(1, 0, 0, len(sentences), len(shards))
    order = sorted(range(len(sentences)), key=lambda ordinal: (numbers[ordinal], places[ordinal]))
    dealt = [sentence for _, sentence in sorted(zip(order, sentences))]
    (folder / "task.yaml").write_text(TASK)
    (folder / "train.txt").write_text("\n".join("".join(f"{x} {y}\n" for x, y in sentence) for sentence in dealt))
    return folder / "train.txt"


# ---------------------------------------------------------------- counting and steps

KEYS = [1, 7, 2**33, 2**63, 2**64 - 1]


def keys_of(keys: Sequence[int]) -> Rows:
    return from_entries(np.array(sorted(keys), np.uint64), np.zeros(len(keys), np.uint32))


@given(st.lists(st.sets(st.sampled_from(KEYS)), min_size=1, max_size=6))
def test_steps_are_the_shards_by_those_that_have_the_feature(shards: list[set[int]]) -> None:
    counts = count_shards([keys_of(list(keys)) for keys in shards])
    having = {key: sum(key in keys for keys in shards) for key in KEYS}
    assert dict(zip(counts.keys.tolist(), counts.values["shards"].tolist())) == {
        key: count for key, count in having.items() if 0 < count < len(shards)
    }
    steps = StepSizes(counts.keys, counts.values["shards"], len(shards)).of(np.array(KEYS, np.uint64))
    assert steps.tolist() == [len(shards) / (having[key] or len(shards)) for key in KEYS]


def test_steps_grow_with_the_features_that_are_met() -> None:
    counts = count_shards([keys_of(KEYS[:2]), keys_of(KEYS[1:4]), keys_of(KEYS[3:])])
    numbers = FeatureNumbers(2, step_sizes=StepSizes(counts.keys, counts.values["shards"], 3))

    def meet(*keys: int) -> None:
        first = KeyGroup(np.array([0, len(keys)], np.int32), np.array(keys, np.uint64))
        features = FeatureKeys((first, KeyGroup(np.zeros(2, np.int32), np.zeros(0, np.uint64))))
        numbers.number(np.array([1], np.int32), np.zeros(1, np.int32), features)

    meet(2**63, 1)
    assert numbers.sizes_of_steps[0].view().tolist() == [3 / 2, 3]
    meet(1, 7, 2**33, 2**63, 99)
    assert numbers.sizes_of_steps[0].view().tolist() == [3 / 2, 3, 3 / 2, 3, 1]  # 99 is in no count, so in all shards
    assert len(numbers.sizes_of_steps[1]) == 0


@pytest.fixture(scope="module")
def counted(train: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on three shards; tests only read it."""
    run = tmp_path_factory.mktemp("counted") / "run"
    train(run, *OPTIONS)
    return run


@pytest.mark.parametrize("ranges", [1, 4])
def test_a_shard_given_twice_or_not_at_all_is_not_counted(counted: Path, ranges: int) -> None:
    shards = sorted(str(path) for path in (counted / "prepared").glob("*-of-00003.gz"))
    arguments = ["--config", str(counted / "config.json"), "--ranges", str(ranges)]
    keys = [key for key, _ in run_job(MRCountShards, Cluster(), arguments, shards) if key != REDUCER]
    assert len(keys) == len(set(keys)) == ranges
    for inputs in (shards[:2], [*shards, shards[0]]):
        with pytest.raises(UserError, match="the shards are not whole"):
            list(run_job(MRCountShards, Cluster(), arguments, inputs))


def test_a_shard_that_was_cut_is_not_counted(counted: Path, tmp_path: Path) -> None:
    *others, last = sorted((counted / "prepared").glob("*-of-00003.gz"))
    with gzip.open(last) as whole, gzip.open(tmp_path / "cut.gz", "wb") as cut:
        cut.writelines(whole.readlines()[:-1])
    inputs = [*map(str, others), str(tmp_path / "cut.gz")]
    with pytest.raises(UserError, match="ends before its trailer"):
        list(run_job(MRCountShards, Cluster(), ["--config", str(counted / "config.json")], inputs))


def test_the_counts_are_no_model(counted: Path, perceptron: Any, corpus: Path) -> None:
    outcome = perceptron("predict", counted / "occurrences", corpus / "dev.txt")
    assert outcome.code == 2 and "not weights; give the run directory" in outcome.err


# ---------------------------------------------------------------- against its definition


def features(words: Sequence[str], labels: Sequence[str]) -> Counter:
    found = Counter((f"word[0]={word}", label) for word, label in zip(words, labels))
    for before, word, label in zip(labels, words[1:], labels[1:]):
        found.update([(f"label[-1]={before} & word[0]={word}", label), (f"label[-1]={before}", label)])
    found.update([("<start>", labels[0]), ("<stop>", labels[-1])])
    return found


def naive(shards: Sequence[Sequence[Sentence]], epochs: int) -> tuple[Weights, Weights]:
    """Last and averaged weights, by whole vectors and by trying all labellings; ties go to the first label, at the end
    of a sentence first. All weights are multiples of a power of two, so that no sum of them is ever rounded."""
    having = Counter(word for shard in shards for word in {word for sentence in shard for word, _ in sentence})

    def step(name: str) -> float:
        word = re.search(r"word\[0\]=(\w+)", name)
        return len(shards) / having[word[1]] if word else 1.0

    weights: Counter = Counter()
    total: Counter = Counter()
    for number in range(1, epochs + 1):
        mixed: Counter = Counter()
        for shard in shards:
            local = Counter(weights)
            for sentence in shard:
                words, gold = zip(*sentence)
                guess = min(
                    itertools.product(LABELS, repeat=len(words)),
                    key=lambda labels: (
                        -sum(local[feature] * count for feature, count in features(words, labels).items()),
                        labels[::-1],
                    ),
                )
                delta = features(words, gold)
                delta.subtract(features(words, guess))
                for (name, label), count in delta.items():
                    local[name, label] += count * step(name)
                for feature, weight in local.items():
                    total[feature] += number * weight / len(shard) / len(shards)
            for feature, weight in local.items():
                mixed[feature] += weight / len(shards)
        weights = mixed
    shares = sum(range(1, epochs + 1))  # epoch e counts e times
    return ({f: w for f, w in weights.items() if w}, {f: w / shares for f, w in total.items() if w})


@pytest.mark.parametrize("seed", range(3))
def test_the_jobs_do_what_is_defined(must: Any, tmp_path: Path, seed: int) -> None:
    """Four shards: words that all of them have, that two have, and that one has."""
    choose = random.Random(seed)
    shards = []
    for number in range(4):
        vocabulary = ["all", "everyone", f"half{number // 2}", f"both{number // 2}", f"own{number}"]
        words = [choose.sample(vocabulary, choose.randint(1, 4)) for _ in range(7)] + [vocabulary[2:]]
        shards.append([[(word, choose.choice(LABELS)) for word in sentence] for sentence in words])
    corpus, run = write(tmp_path, shards), tmp_path / "run"
    options = ("--shards", 4, "--mixing", "scaled", "--epochs", 4, "--stop-threshold", -1)
    must("train", tmp_path / "task.yaml", "--train", corpus, "--run-dir", run, *options)
    assert len((run / "history.jsonl").read_text().splitlines()) == 4  # not separated before
    counts = read_model(str(run / "occurrences")).rows.values["shards"]
    assert sorted(counts.tolist()) == [1] * 2 * 4 + [2] * 2 * 4  # a feature and a pair feature each
    for which, expected in zip(("last", "averaged"), naive(shards, 4)):
        lines = [line.split("\t") for line in must("export", run, "--weights", which, "--output", "-").splitlines()]
        found = {(name, label): float(weight) for name, label, weight in lines}
        assert found == (expected if which == "last" else pytest.approx(expected, rel=1e-6))
        assert len(expected) > 20


def test_shards_with_the_same_features_are_mixed_uniformly(must: Any, tmp_path: Path) -> None:
    """The same three words in every sentence, in other orders and with other labels; three shards, so thirds."""
    choose, words = random.Random(5), ["x", "y", "z"]
    shards = [[[(word, choose.choice(LABELS)) for word in choose.sample(words, 3)] for _ in range(9)] for _ in range(3)]
    corpus, models = write(tmp_path, shards), {}
    for mixing in ("uniform", "scaled", "row"):
        options = ("--shards", 3, "--mixing", mixing, "--epochs", 5, "--stop-threshold", -1)
        must("train", tmp_path / "task.yaml", "--train", corpus, "--run-dir", tmp_path / mixing, *options)
        models[mixing] = (tmp_path / mixing / "model").read_bytes()
    assert models["uniform"] == models["scaled"] != models["row"]
    assert len(read_model(str(tmp_path / "scaled" / "occurrences")).rows.keys) == 0


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize("options", [(), ("--shards", 3, "--subsample")], ids=["serial", "sub-sampling"])
def test_one_shard_is_serial_training(train: Any, tmp_path: Path, options: tuple[Any, ...]) -> None:
    models = set()
    for mixing in ("row", "scaled"):
        train(tmp_path / mixing, *options, "--mixing", mixing, "--epochs", 3)
        models.add((tmp_path / mixing / "model").read_bytes())
    assert len(models) == 1


@pytest.mark.parametrize("how", [("-r", "local", "--reducers", 2), ("--reducers", 5)], ids=["local", "five reducers"])
def test_the_same_bytes_whatever_runs_it(counted: Path, train: Any, contents: Any, tmp_path: Path, how: Any) -> None:
    train(tmp_path / "run", *OPTIONS, *how)
    expected = deciding(contents(counted))
    assert {"occurrences", "model"} <= set(expected)
    assert deciding(contents(tmp_path / "run")) == expected


def test_other_runs_count_nothing(trained: Path) -> None:
    assert not (trained / "occurrences").exists()


def test_a_run_that_goes_on_does_not_count_again(counted: Path, train: Any, contents: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(run, *OPTIONS[:-1], 1)
    before = os.stat(run / "occurrences")
    train(run, *OPTIONS, "-r", "local")
    after = os.stat(run / "occurrences")
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert deciding(contents(run)) == deciding(contents(counted))


@pytest.mark.parametrize("appears", ["config.json", "epoch-0000", "occurrences", "epoch-0001"])
def test_a_killed_run_ends_with_the_same_bytes(
    counted: Path, train: Any, train_until: Any, contents: Any, tmp_path: Path, appears: str
) -> None:
    run = tmp_path / "run"
    train_until(run, appears, *OPTIONS)
    train(run, *OPTIONS)
    assert deciding(contents(run)) == deciding(contents(counted))


def test_shards_of_one_sentence(must: Any, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text("the DT B-NP\n\nкот NN B-VP\n", encoding="utf-8")
    given = (corpus / "task.yaml", "--train", tmp_path / "two.txt", "--shards", 2, "--mixing", "scaled")
    must("train", *given, "--run-dir", tmp_path / "run")
    tagged = must("predict", tmp_path / "run", tmp_path / "two.txt")
    assert [line.split()[2:] for line in tagged.split("\n") if line] == [["B-NP", "B-NP"], ["B-VP", "B-VP"]]


@pytest.mark.parametrize("learner", ["pa", "pa1", "pa2"])
def test_other_learners_are_refused(perceptron: Any, corpus: Path, tmp_path: Path, learner: str) -> None:
    given = (corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", tmp_path / "run")
    outcome = perceptron("train", *given, *OPTIONS, "--learner", learner)
    assert outcome.code == 2
    assert f"scaled is for the perceptron, not for {learner}; choose another mixing or learner" in outcome.err
    assert not (tmp_path / "run").exists()
