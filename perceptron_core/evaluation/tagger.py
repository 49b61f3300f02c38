"""Files with guesses in them: sentences are read with their text, and written back with what a model says of them."""

from collections.abc import Iterator, Sequence
from typing import Optional

from perceptron_core.corpus import Opener, Piece, Sentence, make_format, open_local
from perceptron_core.evaluation.predictor import Predictor
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model


class Tagger:
    """Tags with one model; `fmt` names the input's format, if it is not the task's own."""

    def __init__(self, model: Model, which: str, task: Task, fmt: Optional[str] = None) -> None:
        self.task, self.predictor = task, Predictor(model, which, task)
        columns, predict = task.record["columns"], task.record["predict"]
        self.format = make_format(fmt, columns, predict) if fmt else task.format
        self.format.check_labels(model.labels)

    def read(self, piece: Piece, opener: Opener = open_local) -> Iterator[Sentence]:
        """The sentences of a piece of a file, with or without labels."""
        return self.task.read(piece, "optional", keep_text=True, fmt=self.format, opener=opener)

    def tag(self, sentences: Sequence[Sentence]) -> str:
        """The sentences' text, with the guesses in it."""
        guesses = self.predictor.predict(sentences)
        return "".join(self.format.write(s, *self.task.as_output(guess)) for s, guess in zip(sentences, guesses))
