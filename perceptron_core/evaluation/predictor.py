"""Tagging with a trained model: sentences in, label sequences out."""

from collections.abc import Iterator, Sequence

import numpy as np

from perceptron_core.corpus import Sentence
from perceptron_core.errors import UserError
from perceptron_core.settings import Settings
from perceptron_core.structures.sequence.model import FeatureNumbers, SequenceModel
from perceptron_core.structures.tokens import history
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.rows import Rows


def choose_weights(model: Model, which: str) -> Rows:
    """The model's averaged or last weights as a column "weight"."""
    column = {"averaged": "averaged", "last": "weight"}[which]
    if column not in model.rows.values:
        have = " and ".join(sorted({"averaged": "averaged", "weight": "last"}[name] for name in model.rows.values))
        raise UserError(f"the model has no {which} weights, only its {have} ones; use --weights {have}")
    return model.rows.with_values(weight=model.rows.values[column])


class Predictor:
    """Tags with one model; what it learned about word types and features is kept from call to call."""

    def __init__(self, model: Model, which: str, task: Task) -> None:
        self.labels, self.task = model.labels, task
        self.encoder = task.encoder()
        self.numbers = FeatureNumbers()
        self.model = SequenceModel(
            model.labels,
            Settings.from_record(model.settings),
            choose_weights(model, which),
            self.numbers,
            task.allowed_transitions(model.labels),
        )

    def predict(self, sentences: Sequence[Sentence]) -> Iterator[list[str]]:
        """The labels of each sentence, in the encoding that was trained."""
        encoded = self.encoder.encode(sentences)
        block = self.numbers.number(encoded.lengths, np.zeros(0, np.int32), self.encoder.keys(encoded))
        tables = [table.rows() for table in self.encoder.tables]
        guesses = history.decode(self.model, self.task.features, encoded, tables, block)
        yield from split_labels(self.labels, guesses, block.lengths)


def split_labels(names: Sequence[str], numbers: np.ndarray, lengths: np.ndarray) -> Iterator[list[str]]:
    """Label numbers of consecutive sentences as lists of names."""
    texts = [names[i] for i in numbers.tolist()]
    begin = 0
    for length in lengths.tolist():
        yield texts[begin : begin + length]
        begin += length
