"""Guessing with a trained model: sentences in, columns of strings out."""

from collections.abc import Iterator, Sequence

from perceptron_core.corpus import Sentence
from perceptron_core.corpus.sentence import Targets
from perceptron_core.errors import UserError
from perceptron_core.settings import Settings
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
    """Guesses with one model; what it learned about word types and features is kept from call to call."""

    def __init__(self, model: Model, which: str, task: Task) -> None:
        settings = Settings.from_record(model.settings)
        self.labels = model.labels
        self.structure = task.structure(settings.check().decoder)
        self.structure.check(settings)
        self.encoder = task.encoder()
        self.engine = self.structure.engine(model.labels, settings, choose_weights(model, which))

    def predict(self, sentences: Sequence[Sentence]) -> Iterator[Targets]:
        """The predicted columns of each sentence, labels in the encoding that was trained."""
        encoded = self.encoder.encode(sentences).unlabelled()
        guess = self.engine.decode(self.engine.take(encoded, self.encoder.type_tables()))
        yield from self.structure.fields(guess, self.labels, encoded.lengths)
