"""A held-out set that is scored after every epoch: read, encoded and numbered once."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from perceptron_core.corpus import Opener, open_local
from perceptron_core.evaluation.metrics import METRICS, ClassCounts, Counts
from perceptron_core.evaluation.mistakes import find_mistakes
from perceptron_core.evaluation.predictor import split_labels
from perceptron_core.settings import Settings
from perceptron_core.structures.sequence.model import FeatureNumbers, SequenceModel
from perceptron_core.structures.tokens import history
from perceptron_core.task import Task
from perceptron_core.weights.rows import Rows


class HeldOut:
    def __init__(self, task: Task, files: Sequence[str], opener: Opener = open_local) -> None:
        sentences = [sentence for path in files for sentence in task.read(path, "required", opener=opener)]
        encoder = task.encoder()
        encoded = encoder.encode(sentences)
        self.task, self.encoded = task, encoded
        self.tables = [table.rows() for table in encoder.tables]
        self.numbers = FeatureNumbers()
        self.block = self.numbers.number(encoded.lengths, np.zeros(0, np.int32), encoder.keys(encoded))
        self.metric = METRICS[task.record["metric"]]
        self.label_names = list(encoder.labels)
        self.words = [task.labelled(sentence) for sentence in sentences]
        self.gold = [task.as_counted(sentence.labels or ()) for sentence in sentences]

    def score(self, labels: Sequence[str], settings: Settings, weights: Rows) -> Counts:
        """The counts of these weights' guesses against the gold labels."""
        return self._count(self._guesses(labels, settings, weights))

    def _count(self, guesses: Iterable[Sequence[str]]) -> Counts:
        counts = self.metric()
        for gold, guess in zip(self.gold, guesses):
            counts.add_sentence(gold, guess)
        return counts

    def mistakes(self, labels: Sequence[str], settings: Settings, weights: Rows) -> dict[str, Any]:
        """The most frequent confusions of these weights' guesses, with examples; and the classes' scores, if these are
        what is counted."""
        guesses = list(self._guesses(labels, settings, weights))
        found = find_mistakes(zip(self.words, self.gold, guesses))
        if self.metric is ClassCounts:
            found["classes"] = self._count(guesses).score()
        return found

    def _guesses(self, labels: Sequence[str], settings: Settings, weights: Rows) -> Iterator[Sequence[str]]:
        allowed = self.task.allowed_transitions(labels)
        model = SequenceModel(labels, settings, weights, self.numbers, allowed)
        guesses = history.decode(model, self.task.features, self.encoded, self.tables, self.block)
        return map(self.task.as_counted, split_labels(labels, guesses, self.block.lengths))
