"""Training one shard through the mixing is a textbook structured perceptron (or PA)."""

import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from perceptron_core.features.feature_set import template_key
from perceptron_core.kernels import COMPILED
from perceptron_core.learners import LEARNERS
from perceptron_core.settings import Settings
from perceptron_core.task import Task
from perceptron_core.training import resident as residency
from perceptron_core.training.epoch import EpochPlan, EpochStats, ShardEpoch
from perceptron_core.training.in_memory import InMemory, Options
from perceptron_core.training.mixing import MIXINGS, SCALED
from perceptron_core.weights.rows import Rows, empty
from textbook import LABELS, TASK, Textbook, make_task, random_corpus, sentence, shard_records


class Trained(NamedTuple):
    weights: dict[tuple[int, int], float]
    averaged: dict[tuple[int, int], float]
    stats: list[EpochStats]
    relevant: set[int]  # keys


def entries(rows: Rows, column: str) -> dict[tuple[int, int], float]:
    return dict(zip(zip(rows.entry_keys().tolist(), rows.labels.tolist()), rows.values[column].tolist()))


def train_one_shard(task: Task, records: Sequence[Any], settings: Settings, mixing: str, epochs: int) -> Trained:
    training = InMemory(task, [list(records)], Options(settings, mixing=mixing, rounds=1))
    history = [training.epoch() for _ in range(epochs)]
    weights, average = training.standing
    assert average is not None
    exact = average.rows.with_values(averaged=average.rows.values["sum"] / (epochs * (epochs + 1) / 2))
    stats = [EpochStats(*(entry[name] for name in EpochStats._fields)) for entry in history]
    shown = training.standing.model().rows.keys.tolist()
    return Trained(entries(weights.rows, "weight"), entries(exact, "averaged"), stats, set(shown))


def assert_equal_models(trained: Trained, textbook: Textbook) -> None:
    assert any(textbook.weights.values())
    ours = {entry: weight for entry, weight in trained.weights.items() if weight}
    assert ours == {entry: float(weight) for entry, weight in textbook.weights.items() if weight}
    for entry, total in textbook.total.items():
        assert trained.averaged.get(entry, 0.0) == pytest.approx(total / textbook.examples, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("min_updates", [1, 4])
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("model", [(True, True), (True, False), (False, True), (False, False)])
def test_one_shard_is_the_textbook(tmp_path: Path, learner: str, model: tuple[bool, bool], min_updates: int) -> None:
    scored = f"transitions: {model[0]}\nstart_stop: {model[1]}\n".lower()
    task, corpus = make_task(tmp_path, TASK + scored), random_corpus(3)
    settings = Settings(learner, 0.05, transitions=model[0], start_stop=model[1], min_updates=min_updates)
    textbook = Textbook(task, settings)
    errors = [textbook.train(corpus) for _ in range(3)]
    trained = train_one_shard(task, shard_records(task, corpus), settings, "uniform", 3)
    assert [stats.errors for stats in trained.stats] == errors
    assert [stats.updates for stats in trained.stats] == errors
    assert [stats.examples for stats in trained.stats] == [len(corpus)] * 3
    assert_equal_models(trained, textbook)
    weighty = {key for (key, _), total in textbook.total.items() if total}
    expected = {key for key in weighty if textbook.updates[key] >= min_updates}
    assert trained.relevant == expected
    assert expected < weighty if min_updates > 1 else expected == weighty


@pytest.mark.parametrize(
    ("learner", "mixing"),
    [(learner, mixing) for learner in LEARNERS for mixing in MIXINGS if mixing != SCALED or learner == "perceptron"],
)
def test_one_shard_is_serial_under_every_mixing(tmp_path: Path, learner: str, mixing: str) -> None:
    task, corpus = make_task(tmp_path), random_corpus(4)
    settings = Settings(learner, 0.05)
    textbook = Textbook(task, settings)
    for _ in range(2):
        textbook.train(corpus)
    assert_equal_models(train_one_shard(task, shard_records(task, corpus), settings, mixing, 2), textbook)


@pytest.mark.parametrize("learner", LEARNERS)
def test_local_epochs_are_passes_without_mixing(tmp_path: Path, learner: str) -> None:
    task, corpus = make_task(tmp_path), random_corpus(5)
    settings = Settings(learner, local_epochs=3)
    textbook = Textbook(task, settings)
    errors = textbook.train(3 * corpus)  # in one epoch, so that they count alike in the average
    trained = train_one_shard(task, shard_records(task, corpus), settings, "uniform", 1)
    assert trained.stats[0].errors == errors
    assert trained.stats[0].examples == 3 * len(corpus)
    assert_equal_models(trained, textbook)


@pytest.mark.parametrize("minibatch", [2, 7, 25, 100])
@pytest.mark.parametrize("local_epochs", [1, 2])
def test_minibatches_are_the_textbooks_in_blocks_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minibatch: int, local_epochs: int
) -> None:
    """A pass ends the last minibatch; a block does not."""
    task, corpus = make_task(tmp_path), random_corpus(7)
    textbook = Textbook(task, Settings())
    counted = []
    for textbook.epoch in (1, 2):
        counted += [textbook.train_minibatches(corpus, minibatch) for _ in range(local_epochs)]
    for tokens in (1, 10, 8192):
        monkeypatch.setattr("perceptron_core.shards.records.BLOCK_TOKENS", tokens)
        records = shard_records(task, corpus)
        assert (len(records) == 3) == (tokens == 8192)
        settings = Settings(minibatch=minibatch, local_epochs=local_epochs)
        trained = train_one_shard(task, records, settings, "uniform", 2)
        assert sum(stats.errors for stats in trained.stats) == sum(errors for errors, _ in counted)
        assert sum(stats.updates for stats in trained.stats) == sum(updates for _, updates in counted)
        assert sum(stats.examples for stats in trained.stats) == 2 * local_epochs * len(corpus)
        assert_equal_models(trained, textbook)


def test_threads_and_blocks_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, corpus = make_task(tmp_path), random_corpus(8, sentences=60)
    settings = Settings("mira", None, minibatch=8, k_best=3)

    def train(threads: int, tokens: int) -> tuple[bytes, ...]:
        monkeypatch.setattr("perceptron_core.shards.records.BLOCK_TOKENS", tokens)
        epoch = ShardEpoch(EpochPlan(task, LABELS, settings, threads=threads), empty(weight="f4"))
        for kind, record in shard_records(task, corpus):
            epoch.take(kind, record)
        _, rows = epoch.finish()
        assert epoch.stats.errors > epoch.stats.updates > 0
        return tuple(array.tobytes() for array in (rows.keys, rows.labels, *rows.values.values()))

    assert len({train(threads, tokens) for threads in (1, 2, 3) for tokens in (8, 50, 8192)}) == 1


def test_threads_end_with_the_epoch(tmp_path: Path) -> None:
    task, before = make_task(tmp_path), set(threading.enumerate())
    epoch = ShardEpoch(EpochPlan(task, LABELS, Settings(minibatch=8), threads=4), empty(weight="f4"))
    for kind, record in shard_records(task, random_corpus(9)):
        epoch.take(kind, record)
    helpers = set(threading.enumerate()) - before
    assert len(helpers) == (3 if COMPILED else 0)
    del epoch
    for helper in helpers:
        helper.join(timeout=60)
    assert not any(helper.is_alive() for helper in helpers)


def test_a_resident_shard_trains_like_one_that_is_read(tmp_path: Path) -> None:
    task, settings = make_task(tmp_path), Settings("pa", local_epochs=2)
    epoch = ShardEpoch(EpochPlan(task, LABELS, settings), empty(weight="f4"), room=1 << 20)
    for kind, record in shard_records(task, random_corpus(6)):
        epoch.take(kind, record)
    header, read = epoch.finish()
    resident = epoch.resident()
    assert resident is not None
    assert resident.size() > sum(block.ids.nbytes for block in resident.blocks)
    heard: list[int] = []
    again = ShardEpoch(EpochPlan(task, LABELS, settings), empty(weight="f4"), progress=heard.append)
    again.take_resident(resident)
    kept_header, kept = again.finish()
    assert kept_header == header
    assert again.stats == epoch.stats and sum(heard) == epoch.stats.examples
    for column in ("weight", "lag"):
        assert entries(kept, column) == entries(read, column) != {}


@pytest.mark.parametrize("room", [0, 1500, 1 << 20])
def test_blocks_for_more_passes_may_be_on_disk(room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perceptron_core.shards.records.BLOCK_TOKENS", 8)
    task, settings = make_task(tmp_path), Settings("pa", local_epochs=3)

    def train(passes_room: int) -> tuple[Any, ...]:
        monkeypatch.setattr("perceptron_core.training.epoch.PASSES_ROOM", passes_room)
        epoch = ShardEpoch(EpochPlan(task, LABELS, settings), empty(weight="f4"))
        for kind, record in shard_records(task, random_corpus(6)):
            epoch.take(kind, record)
        _, rows = epoch.finish()
        assert epoch.kept is not None and epoch.kept.in_memory() == (passes_room == 1 << 20)
        assert epoch.resident() is None
        return epoch.stats, entries(rows, "weight"), entries(rows, "lag")

    assert train(room) == train(1 << 20)


def test_a_shard_for_which_there_is_no_room_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perceptron_core.shards.records.BLOCK_TOKENS", 8)
    task = make_task(tmp_path)
    trained = {}
    for room in (1, 2000, 1 << 20):
        epoch = ShardEpoch(EpochPlan(task, LABELS, Settings()), empty(weight="f4"), room)
        for kind, record in shard_records(task, random_corpus(6)):
            epoch.take(kind, record)
        trained[room] = entries(epoch.finish()[1], "weight")
        assert (epoch.resident() is None) == (room < 1 << 20)
    assert trained[1] == trained[2000] == trained[1 << 20]


def test_shards_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residency, "LIMIT", 100)
    shard = SimpleNamespace(size=lambda: 40)
    try:
        for name in "abcd":
            residency.keep(name, shard)  # type: ignore[arg-type]
        assert [residency.find(name) is not None for name in "abcd"] == [True, True, False, False]
        assert residency.room() == 20
    finally:
        residency.clear()
    assert residency.room() == 100


def test_an_empty_shard_trains_nothing(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    trained = train_one_shard(task, shard_records(task, []), Settings(), "errors", 2)
    assert trained == Trained({}, {}, [EpochStats()] * 2, set())


# ---------------------------------------------------------------- by hand


PLAIN = """
columns: [word, label]
predict: label
labels: [дело, имя, 名]
features: ["word[0]"]
transitions: false
start_stop: false
"""


@pytest.mark.parametrize(
    "learner, tau",
    [("perceptron", 1.0), ("pa", 2 / 12), ("pa1", 0.125), ("pa2", 2 / (12 + 1 / 0.25))],
)
def test_repeated_features_count_in_the_norm(tmp_path: Path, learner: str, tau: float) -> None:
    """Two tokens, both wrong: Δ is ±2 for the bias and ±1 for each word, so ‖Δ‖² = 2·4 + 4·1 = 12, not 8; loss 2."""
    task = make_task(tmp_path, PLAIN)
    corpus = [sentence(("да", LABELS[1]), ("нет", LABELS[1]))]
    settings = Settings(learner, 0.125, transitions=False, start_stop=False)
    trained = train_one_shard(task, shard_records(task, corpus), settings, "uniform", 1)
    word, bias = task.features.templates
    step = {template_key(bias, ()): 2 * tau, template_key(word, ["да"]): tau, template_key(word, ["нет"]): tau}
    right = {(key, 1): float(np.float32(size)) for key, size in step.items()}
    wrong = {(key, 0): -float(np.float32(size)) for key, size in step.items()}
    assert trained.weights == {**right, **wrong}
    assert trained.stats == [EpochStats(examples=1, errors=1, updates=1, tokens=2, wrong_tokens=2)]
