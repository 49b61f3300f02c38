"""Guessing with a trained model: sentences in, columns of strings out."""

from collections.abc import Iterator, Sequence

from perceptron_core.corpus import Sentence
from perceptron_core.corpus.sentence import Targets
from perceptron_core.errors import UserError
from perceptron_core.settings import Settings
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.rows import Rows

ROOM = 128 << 20  # bytes, roughly: millions of features


def choose_weights(model: Model, which: str) -> Rows:
    """The model's averaged or last weights as a column "weight"."""
    column = {"averaged": "averaged", "last": "weight"}[which]
    if column not in model.rows.values:
        have = " and ".join(sorted({"averaged": "averaged", "weight": "last"}[name] for name in model.rows.values))
        raise UserError(f"the model has no {which} weights, only its {have} ones; use --weights {have}")
    return model.rows.with_values(weight=model.rows.values[column])


class Predictor:
    """Guesses with one model. What it learned about word types and features is kept from call to call, up to ROOM; then
    it begins anew, so that its memory is bounded by the model and not by the text. The guesses stay the same."""

    def __init__(self, model: Model, which: str, task: Task) -> None:
        self.task, self.labels = task, model.labels
        self.settings = Settings.from_record(model.settings).check()
        self.weights = choose_weights(model, which)
        self.structure = task.structure(self.settings.decoder)
        self.structure.check(self.settings)
        self._begin()

    def _begin(self) -> None:
        self.encoder, self.memory = self.task.encoder(), self.structure.memory()
        self.engine = self.structure.engine(self.labels, self.settings, self.weights, self.memory)

    def predict(self, sentences: Sequence[Sentence]) -> Iterator[Targets]:
        """The predicted columns of each sentence, labels in the encoding that was trained."""
        if self.encoder.size() + self.memory.size() > ROOM:
            self._begin()
        encoded = self.encoder.encode(sentences).unlabelled()
        guess = self.engine.decode(self.engine.take(encoded, self.encoder.type_tables()))
        yield from self.structure.fields(guess, self.labels, encoded.lengths)
