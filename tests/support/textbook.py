"""A textbook structured perceptron (or PA, or MIRA) with dicts, and a random corpus to train it on."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np

from perceptron_core.corpus import Sentence
from perceptron_core.features.feature_set import template_key
from perceptron_core.hashing import extend_key, hash_string
from perceptron_core.settings import Settings
from perceptron_core.shards.records import ShardPart, Summary, write_shard
from perceptron_core.task import Task
from perceptron_core.task_file import read_task

LABELS = ["дело", "имя", "名"]
TASK = """
columns: [word, label]
predict: label
labels: [дело, имя, 名]
features: ["word[0]", "word[-1]", "suffix2[0]", "label[-1] & word[0]"]
"""

Phi = Counter  # (key, label number) → how often


def make_task(folder: Path, text: str = TASK) -> Task:
    path = folder / "task.yaml"
    path.write_text(text, encoding="utf-8")
    return read_task(str(path))


def sentence(*tokens: tuple[str, str]) -> Sentence:
    words, labels = zip(*tokens)
    return Sentence((list(words),), (list(labels),), 1)


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
    summary = Summary(len(sentences), encoded.tokens(), list(encoder.labels))
    parts = [ShardPart(encoded, encoder.type_tables())]
    identity = {"shard": shard, "shards": shards, "seed": 1, "features": task.fingerprint}
    return list(write_shard(summary, parts, task.features.widths, identity))


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
