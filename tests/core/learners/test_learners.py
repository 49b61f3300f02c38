"""Training one shard through the mixing is a textbook structured perceptron (or PA), written here with dicts."""

import math
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy as np
import pytest

from perceptron_core.corpus import Sentence
from perceptron_core.features.feature_set import template_key
from perceptron_core.hashing import extend_key, hash_string
from perceptron_core.kernels import COMPILED
from perceptron_core.learners import LEARNERS
from perceptron_core.settings import Settings
from perceptron_core.shards.records import ShardContent, write_shard
from perceptron_core.task import Task
from perceptron_core.task_file import read_task
from perceptron_core.training.epoch import EpochStats, ShardEpoch
from perceptron_core.training.mixing import MIXINGS, ShardStep, add_average, apply, averaged_rows
from perceptron_core.training.mixing import mix as mix_shards
from perceptron_core.weights.relevance import counted_from, relevant
from perceptron_core.weights.rows import Rows, empty

LABELS = ["дело", "имя", "名"]
TASK = """
columns: [word, label]
predict: label
features: ["word[0]", "word[-1]", "suffix2[0]", "label[-1] & word[0]"]
"""

Phi = Counter  # (key, label number) → how often


class Trained(NamedTuple):
    weights: dict[tuple[int, int], float]
    averaged: dict[tuple[int, int], float]
    stats: list[EpochStats]
    relevant: set[int]  # keys


def make_task(folder: Path, text: str = TASK) -> Task:
    path = folder / "task.yaml"
    path.write_text(text, encoding="utf-8")
    return read_task(str(path))


def sentence(*tokens: tuple[str, str]) -> Sentence:
    words, labels = zip(*tokens)
    return Sentence((list(words),), list(labels), 1)


def random_corpus(seed: int, sentences: int = 25) -> list[Sentence]:
    """Words that tell something, not everything, about their labels."""
    random = np.random.default_rng(seed)
    words = ["Иван", "пошёл", "в", "北京", "大学", "лес", "x", "да"]
    corpus = []
    for _ in range(sentences):
        chosen = random.integers(0, len(words), int(random.integers(1, 6)))
        noise = random.integers(0, 4, len(chosen)) == 0
        labels = np.where(noise, random.integers(0, 3, len(chosen)), chosen % 3)
        corpus.append(sentence(*((words[w], LABELS[c]) for w, c in zip(chosen, labels))))
    return corpus


def shard_records(task: Task, sentences: Sequence[Sentence], shard: int = 0, shards: int = 1) -> list[Any]:
    """The records of a shard with its sentences in this order, as they are."""
    encoder = task.encoder()
    encoded = encoder.encode(sentences)
    tables = [table.rows() for table in encoder.tables]
    content = ShardContent(encoded, tables, encoder.extra.rows(), list(encoder.labels))
    identity = {"shard": shard, "shards": shards, "seed": 1, "features": task.fingerprint}
    return list(write_shard(content, task.features.unigrams.widths, identity))


def entries(rows: Rows, column: str) -> dict[tuple[int, int], float]:
    return dict(zip(zip(rows.entry_keys().tolist(), rows.labels.tolist()), rows.values[column].tolist()))


def train_one_shard(task: Task, records: Sequence[Any], settings: Settings, mixing: str, epochs: int) -> Trained:
    weights, sums, all_stats = empty(weight="f4"), empty(sum="f8"), []
    if settings.min_updates > 1:
        weights = counted_from(weights, 0)
    for number in range(1, epochs + 1):
        epoch = ShardEpoch(task, LABELS, settings, weights)
        for kind, record in records:
            epoch.take(kind, record)
        header, rows = epoch.finish()
        stats = epoch.stats
        step = ShardStep(header["shard"], header["shards"], "here", stats.updates, stats.examples, rows)
        mixed = mix_shards(mixing, weights, [step])
        sums = add_average(sums, weights, mixed, number)
        weights = apply(weights, mixed)
        all_stats.append(stats)
    both = averaged_rows(weights, sums, epochs)
    exact = sums.with_values(averaged=sums.values["sum"] / (epochs * (epochs + 1) / 2))
    shown = relevant(both, settings.min_updates)
    return Trained(entries(weights, "weight"), entries(exact, "averaged"), all_stats, set(shown.keys.tolist()))


# ---------------------------------------------------------------- the textbook


def transition_key(before: int, after: int) -> int:
    return extend_key(extend_key(hash_string("transition"), hash_string(LABELS[before])), hash_string(LABELS[after]))


def structural_keys() -> set[int]:
    labels = range(len(LABELS))
    ends = {extend_key(hash_string(name), hash_string(LABELS[c])) for name in ("start", "stop") for c in labels}
    return ends | {transition_key(p, c) for p in labels for c in labels}


class Textbook:
    """Dicts, a Viterbi with the scores' float32, whole feature vectors, and Collins's average of all weights, but that
    those of epoch e count e times; the update counts are Goldberg and Elhadad's."""

    def __init__(self, task: Task, settings: Settings) -> None:
        self.task, self.settings = task, settings
        self.weights: dict[tuple[int, int], np.float32] = {}
        self.total: Counter = Counter()
        self.epoch = self.examples = 0
        self.updates = Counter(dict.fromkeys(structural_keys(), settings.min_updates))  # U, by key

    def token_keys(self, words: Sequence[str], t: int, bigram: bool) -> list[int]:
        encoder = self.task.encoder()
        keys = []
        for template in self.task.features.templates:
            if template.bigram != bigram:
                continue
            values = []
            for part in template.parts:
                at = t + part.offset
                if 0 <= at < len(words):
                    values.append(encoder.attribute(0, part.attribute)(words[at]))
                else:
                    values.append(f"<{at if at < 0 else at - len(words) + 1:+d}>")
            if None not in values:
                keys.append(template_key(template, values))
        return keys

    def step_features(self, features: Any, t: int, before: int, after: int) -> list[tuple[int, int]]:
        """What stepping from a label to a label at token t > 0 adds."""
        found = []
        if self.settings.transitions:
            found.append((transition_key(before, after), after))
        return found + [(extend_key(key, hash_string(LABELS[before])), after) for key in features[t][1]]

    def end_features(self, name: str, label: int) -> list[tuple[int, int]]:
        return [(extend_key(hash_string(name), hash_string(LABELS[label])), label)] if self.settings.start_stop else []

    def phi(self, features: Any, labels: Sequence[int]) -> Phi:
        counts: Phi = Counter(self.end_features("start", labels[0]))
        for t, label in enumerate(labels):
            counts.update((key, label) for key in features[t][0])
            if t:
                counts.update(self.step_features(features, t, labels[t - 1], label))
        counts.update(self.end_features("stop", labels[-1]))
        return counts

    def seen(self, entry: tuple[int, int]) -> np.float32:
        """A weight as scoring sees it."""
        relevant = self.updates[entry[0]] >= self.settings.min_updates
        return self.weights.get(entry, np.float32(0)) if relevant else np.float32(0)

    def score(self, found: Sequence[tuple[int, int]]) -> np.float32:
        total = np.float32(0)
        for entry in found:
            total = total + self.seen(entry)
        return total

    def viterbi(self, features: Any) -> list[int]:
        labels = range(len(LABELS))
        best: dict[int, tuple[np.float32, list[int]]] = {}
        for t, (keys, _) in enumerate(features):
            emission = [self.score([(key, c) for key in keys]) for c in labels]
            if t == 0:
                best = {c: (self.score(self.end_features("start", c)) + emission[c], [c]) for c in labels}
                continue
            grown = {}
            for c in labels:
                steps = [(best[p][0] + self.score(self.step_features(features, t, p, c)), -p) for p in labels]
                top, p = max(steps)  # of equals the lowest label
                grown[c] = (top + emission[c], [*best[-p][1], c])
            best = grown
        ends = [(best[c][0] + self.score(self.end_features("stop", c)), -c) for c in labels]
        return best[-max(ends)[1]][1]

    def find(self, words: Sequence[str], gold: list[int]) -> Optional[Phi]:
        """Δ, if the guess is wrong."""
        features = [[self.token_keys(words, t, bigram) for bigram in (False, True)] for t in range(len(words))]
        guess = self.viterbi(features)
        if guess == gold:
            return None
        delta = self.phi(features, gold)
        delta.subtract(self.phi(features, guess))
        return delta

    def train_minibatches(self, corpus: Sequence[Sentence], size: int) -> tuple[int, int]:
        """(errors, updates) of a perceptron that steps by the mean of Δ over the wrong sentences of a minibatch."""
        errors = updates = 0
        for first in range(0, len(corpus), size):
            minibatch = corpus[first : first + size]
            found = [self.find(s.columns[0], [LABELS.index(label) for label in s.labels or ()]) for s in minibatch]
            deltas = [delta for delta in found if delta is not None]
            before = list(self.weights.items())
            step: dict[Any, float] = {}
            for delta in deltas:
                for entry, count in delta.items():
                    step[entry] = step.get(entry, 0.0) + count * (1 / len(deltas))
            for entry, amount in ((entry, amount) for entry, amount in step.items() if amount):
                self.weights[entry] = np.float32(float(self.weights.get(entry, np.float32(0))) + amount)
            self.updates.update({key for (key, _), amount in step.items() if amount})
            for entry, weight in before:  # the weights that the sentences but the last were followed by
                self.total[entry] += self.epoch * (len(minibatch) - 1) * float(weight)
            for entry, weight in self.weights.items():
                self.total[entry] += self.epoch * float(weight)
            self.examples += self.epoch * len(minibatch)
            errors += len(deltas)
            updates += bool(deltas)
        return errors, updates

    def train_on(self, words: Sequence[str], gold: list[int]) -> bool:
        features = [[self.token_keys(words, t, bigram) for bigram in (False, True)] for t in range(len(words))]
        guess = self.viterbi(features)
        if guess != gold:
            delta = self.phi(features, gold)
            delta.subtract(self.phi(features, guess))
            margin = math.fsum(count * float(self.seen(e)) for e, count in delta.items())
            norm = sum(count * count for count in delta.values())
            loss = sum(a != b for a, b in zip(gold, guess))
            c = self.settings.aggressiveness
            tau = {
                "perceptron": lambda: 1.0,
                "pa": lambda: (loss - margin) / norm,
                "pa1": lambda: min(c, (loss - margin) / norm),
                "pa2": lambda: (loss - margin) / (norm + 1 / (2 * c)),
                "mira": lambda: min(c, (loss - margin) / norm),
            }[self.settings.learner]()
            for entry, count in delta.items():
                if count:
                    old = float(self.weights.get(entry, np.float32(0)))
                    self.weights[entry] = np.float32(old + tau * count)
            self.updates.update({key for (key, _), count in delta.items() if count})
        self.examples += self.epoch
        for entry, weight in self.weights.items():
            self.total[entry] += self.epoch * float(weight)
        return guess != gold

    def train(self, corpus: Sequence[Sentence]) -> int:
        self.epoch += 1
        return sum(self.train_on(s.columns[0], [LABELS.index(label) for label in s.labels or ()]) for s in corpus)


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
    task, corpus = make_task(tmp_path), random_corpus(3)
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


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("learner", LEARNERS)
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
        epoch = ShardEpoch(task, LABELS, settings, empty(weight="f4"), threads=threads)
        for kind, record in shard_records(task, corpus):
            epoch.take(kind, record)
        _, rows = epoch.finish()
        assert epoch.stats.errors > epoch.stats.updates > 0
        return tuple(array.tobytes() for array in (rows.keys, rows.labels, *rows.values.values()))

    assert len({train(threads, tokens) for threads in (1, 2, 3) for tokens in (8, 50, 8192)}) == 1


def test_threads_end_with_the_epoch(tmp_path: Path) -> None:
    task, before = make_task(tmp_path), set(threading.enumerate())
    epoch = ShardEpoch(task, LABELS, Settings(minibatch=8), empty(weight="f4"), threads=4)
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
    epoch = ShardEpoch(task, LABELS, settings, empty(weight="f4"), keep=True)
    for kind, record in shard_records(task, random_corpus(6)):
        epoch.take(kind, record)
    header, read = epoch.finish()
    resident = epoch.resident()
    assert resident.size() > sum(block.ids.nbytes for block in resident.blocks)
    heard: list[int] = []
    again = ShardEpoch(task, LABELS, settings, empty(weight="f4"), progress=heard.append)
    again.take_resident(resident)
    kept_header, kept = again.finish()
    assert kept_header == header
    assert again.stats == epoch.stats and sum(heard) == epoch.stats.examples
    for column in ("weight", "lag"):
        assert entries(kept, column) == entries(read, column) != {}


def test_an_empty_shard_trains_nothing(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    trained = train_one_shard(task, shard_records(task, []), Settings(), "errors", 2)
    assert trained == Trained({}, {}, [EpochStats()] * 2, set())


# ---------------------------------------------------------------- by hand


PLAIN = """
columns: [word, label]
predict: label
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
