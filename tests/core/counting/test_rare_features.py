"""--min-count: which features are kept, that nothing but the corpus decides it, and that training sees no others."""

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.counting.rare import Counter as FeatureCounter
from perceptron_core.counting.rare import kept_keys, sum_counts, token_counts
from perceptron_core.errors import UserError
from perceptron_core.features.feature_set import template_key
from perceptron_core.features.filters import keep_only
from perceptron_core.features.keys import FeatureKeys, KeyGroup, joined_keys
from perceptron_core.kernels import KeyTable
from perceptron_core.structures.sequence.keys import transition_keys
from perceptron_core.task import Task
from perceptron_core.task_file import read_task
from perceptron_core.weights.model_file import read_model
from perceptron_core.wire import decode_line
from perceptron_jobs.engines.runners import Cluster, run_job
from perceptron_jobs.mr.count_features import MRCountFeatures
from runs import deciding

TASK = """\
columns: [word, pos, chunk]
predict: chunk
features: ["word[0]", "pos[-1] & word[0]", "label[-1] & pos[0]"]
bias: false
"""
OPTIONS = ("--shards", 3, "--mixing", "uniform", "--epochs", 3, "--min-count", 4)


def kept(folder: Path) -> list[int]:
    return decode_line((folder / "kept").read_bytes())[1].tolist()


@pytest.fixture(scope="module")
def simple(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("simple") / "simple.yaml"
    path.write_text(TASK)
    return path


@pytest.fixture(scope="module")
def run(train: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rare") / "run"
    train(folder, *OPTIONS)
    return folder


def counted_by_hand(task: Task, path: Path) -> Counter:
    """Key → tokens, from the text of the corpus."""
    unigram, pair, bigram = task.features.templates
    counts: Counter = Counter()
    for sentence in path.read_text(encoding="utf-8").split("\n\n"):
        before = "<-1>"
        for line in sentence.strip().splitlines():
            word, pos, _ = line.split()
            counts[template_key(unigram, [word])] += 1
            counts[template_key(pair, [before, word])] += 1
            counts[template_key(bigram, [pos])] += 1
            before = pos
    return counts


# ---------------------------------------------------------------- counting


@pytest.mark.parametrize("least", [2, 3, 10])
def test_what_is_kept_is_what_one_counts_by_hand(
    least: int, simple: Path, corpus: Path, must: Any, tmp_path: Path
) -> None:
    counts = counted_by_hand(read_task(str(simple)), corpus / "train.txt")
    expected = sorted(key for key, count in counts.items() if count >= least)
    assert 0 < len(expected) < len(counts)
    options = ("--output", tmp_path / "p", "--min-count", least)
    said = must("prepare", simple, "--train", corpus / "train.txt", *options)
    assert kept(tmp_path / "p") == expected
    assert f"{len(expected)} features occur on {least} tokens or more" in said


def test_neither_shards_nor_runner_nor_reducers_decide(corpus: Path, must: Any, tmp_path: Path) -> None:
    ways = [(1, "inline", 1), (3, "inline", 4), (7, "inline", 1), (3, "local", 2), (40, "inline", 1)]
    files = set()
    for number, (shards, runner, reducers) in enumerate(ways):
        output = tmp_path / str(number)
        options = ("--shards", shards, "-r", runner, "--reducers", reducers, "--min-count", 3, "--seed", number)
        must("prepare", corpus / "task.yaml", "--train", corpus / "train.txt", "--output", output, *options)
        files.add((output / "kept").read_bytes())
    assert len(files) == 1


def features_of(tokens: Sequence[Sequence[int]], pairs: Sequence[Sequence[int]] = ()) -> FeatureKeys:
    def flat(lists: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
        starts = np.append(0, np.cumsum([len(keys) for keys in lists])).astype(np.int32)
        return starts, np.array([key for keys in lists for key in keys], np.uint64)

    return FeatureKeys((KeyGroup(*flat(tokens)), KeyGroup(*flat(pairs or [[] for _ in tokens]))))


def test_a_feature_that_a_token_has_twice_occurs_once() -> None:
    rows = token_counts([features_of([[7, 5, 7], [7], []], [[9, 9], [9], [5]])])
    assert rows.counts is not None
    assert dict(zip(rows.keys.tolist(), rows.counts.tolist())) == {5: 2, 7: 2, 9: 2}


TOKENS = st.lists(st.lists(st.integers(1, 12), max_size=4), max_size=6)


@given(st.lists(TOKENS, max_size=8), st.integers(1, 5), st.integers(0, 12))
def test_what_a_counter_gives_up_early_is_not_lost(blocks: Any, least: int, most: int) -> None:
    counter = FeatureCounter(least, most)
    sums = [counter.add(token_counts([features_of(tokens)])) for tokens in blocks]
    total = sum_counts([*(part for part in sums if part is not None), counter.finish()], least)
    expected = Counter(key for tokens in blocks for keys in tokens for key in set(keys))
    assert kept_keys(total, least).tolist() == sorted(key for key, count in expected.items() if count >= least)
    assert len(counter.finish().keys) == 0


@given(TOKENS, TOKENS, st.sets(st.integers(1, 12)))
def test_only_what_is_kept_is_left(tokens: Any, pairs: Any, chosen: set[int]) -> None:
    tokens, pairs = tokens[: len(pairs)], pairs[: len(tokens)]
    table = KeyTable()
    table.intern(np.array(sorted(chosen), np.uint64))
    found = keep_only(features_of(tokens, pairs), table)
    expected = features_of(*([[k for k in keys if k in chosen] for keys in lists] for lists in (tokens, pairs)))
    for ours, theirs in zip(found.groups, expected.groups):
        for one, other in zip(ours, theirs):
            assert one.tolist() == other.tolist() and one.dtype == other.dtype


# ---------------------------------------------------------------- training


def test_the_model_has_no_other_feature(simple: Path, corpus: Path, must: Any, tmp_path: Path) -> None:
    files = ("--train", corpus / "train.txt", "--run-dir", tmp_path / "run")
    must("train", simple, *files, "--min-count", 5, "--epochs", 3)
    model = read_model(str(tmp_path / "run" / "model"))
    keys = np.array(kept(tmp_path / "run" / "prepared"), np.uint64)
    pairs, structure = joined_keys(keys, model.labels), transition_keys(model.labels).ravel()
    assert np.isin(model.rows.keys, np.concatenate([keys, pairs, structure])).all()
    for some in (keys, pairs, structure):
        assert np.isin(model.rows.keys, some).any()
    must("train", simple, *files[:2], "--run-dir", tmp_path / "all", "--epochs", 3)
    everything = read_model(str(tmp_path / "all" / "model")).rows
    assert len(everything.keys) > len(model.rows.keys)
    assert len(must("export", tmp_path / "run", "--output", "-").splitlines()) >= len(model.rows.keys)  # names


def test_all_runners_and_going_on_give_the_same_bytes(run: Path, train: Any, contents: Any, tmp_path: Path) -> None:
    train(tmp_path / "local", *OPTIONS, "-r", "local", "--reducers", 2)
    assert deciding(contents(tmp_path / "local")) == deciding(contents(run))
    train(tmp_path / "two", *OPTIONS, "--epochs", 1)
    train(tmp_path / "two", *OPTIONS)
    assert deciding(contents(tmp_path / "two")) == deciding(contents(run))


def test_a_corpus_that_was_prepared_so(run: Path, must: Any, corpus: Path, tmp_path: Path) -> None:
    made = ("--train", corpus / "train.txt", "--output", tmp_path / "p", "--shards", 3, "--min-count", 4)
    must("prepare", corpus / "task.yaml", *made)
    options = ("--prepared", tmp_path / "p", "--run-dir", tmp_path / "run", *OPTIONS[2:-2])
    must("train", corpus / "task.yaml", *options)
    assert (tmp_path / "run" / "model").read_bytes() == (run / "model").read_bytes()


def test_one_token_is_enough_for_every_feature(train: Any, contents: Any, tmp_path: Path) -> None:
    train(tmp_path / "one", *OPTIONS[:-1], 1)
    train(tmp_path / "none", *OPTIONS[:-2])
    assert deciding(contents(tmp_path / "one")) == deciding(contents(tmp_path / "none"))
    assert "kept" not in json.loads((tmp_path / "one" / "prepared" / "prepared.json").read_text())


def test_if_all_are_too_rare_transitions_are_left(train: Any, tmp_path: Path) -> None:
    train(tmp_path / "run", "--epochs", 2, "--min-count", 1_000_000)
    model = read_model(str(tmp_path / "run" / "model"))
    assert len(model.rows.keys) and np.isin(model.rows.keys, transition_keys(model.labels).ravel()).all()


# ---------------------------------------------------------------- refused


def test_what_does_not_fit_is_refused(run: Path, perceptron: Any, corpus: Path, tmp_path: Path) -> None:
    def train(*options: object) -> str:
        outcome = perceptron("train", corpus / "task.yaml", *options)
        assert outcome.code == 2
        return outcome.err

    files = ("--train", corpus / "train.txt")
    assert "min_count was 4, now 5" in train(*files, "--run-dir", run, *OPTIONS[:-1], 5)
    assert "min_count was 4, now None" in train(*files, "--run-dir", run, *OPTIONS[:-2])
    ready = ("--prepared", run / "prepared", "--run-dir", tmp_path / "run")
    assert "was prepared with other min-count (4, not 2)" in train(*ready, "--min-count", 2)
    assert "give only one of the two" in train(*ready, "--init-model", run)
    for number in ("0", "-1", "few"):
        assert "--min-count" in train(*files, "--run-dir", tmp_path / "run", "--min-count", number)
    assert not (tmp_path / "run").exists()


def test_a_list_that_was_lost_or_altered_is_noticed(perceptron: Any, must: Any, corpus: Path, tmp_path: Path) -> None:
    made = ("--train", corpus / "train.txt", "--output", tmp_path / "p", "--min-count", 4)
    must("prepare", corpus / "task.yaml", *made)
    options = ("--prepared", tmp_path / "p", "--run-dir", tmp_path / "run")
    data = (tmp_path / "p" / "kept").read_bytes()
    (tmp_path / "p" / "kept").write_bytes(data[:-5] + b"other")
    outcome = perceptron("train", corpus / "task.yaml", *options)
    assert outcome.code == 2 and "the list of features was altered since it was prepared" in outcome.err
    (tmp_path / "p" / "kept").unlink()
    outcome = perceptron("train", corpus / "task.yaml", *options)
    assert outcome.code == 2 and "the list of features is missing" in outcome.err


def test_a_damaged_shard_is_the_user_s_to_mend(corpus: Path, must: Any, tmp_path: Path) -> None:
    must("prepare", corpus / "task.yaml", "--train", corpus / "train.txt", "--output", tmp_path / "p")
    record = tmp_path / "task.json"
    record.write_text(json.dumps(read_task(str(corpus / "task.yaml")).record))
    cut = tmp_path / "shard"
    lines = gzip.decompress((tmp_path / "p" / "shard-00000-of-00001.gz").read_bytes()).splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[:-1]))
    arguments = ["--task", str(record), "--least", "2", "--ranges", "1"]
    with pytest.raises(UserError, match="ends before its trailer"):
        list(run_job(MRCountFeatures, Cluster(), arguments, [str(cut)]))
