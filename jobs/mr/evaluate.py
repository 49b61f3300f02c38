"""MREvaluate: mappers count, the reducer sums; whoever reads the sums makes the score.

input     piece      → {file: number in the list, path, first}
mapper    metric     → counts of this piece: of a model's guesses, or without --model of the last two columns
reducer   metric     → the sums
          "labels"   → whether all labels are chunk labels (O, B-X, I-X …), which decides how to score without a model
"""

from collections.abc import Iterator
from typing import Any, Optional

from perceptron_core.corpus import Piece
from perceptron_core.corpus.label_encodings import looks_like_chunks
from perceptron_core.errors import UserError
from perceptron_core.evaluation.metrics import LABEL_METRICS, METRICS
from perceptron_core.evaluation.metrics.predicted import read_predicted
from perceptron_core.evaluation.predictor import Predictor
from perceptron_core.shards.builder import in_chunks
from perceptron_core.task import Task
from perceptron_core.weights.model_file import read_model
from perceptron_jobs.mr.job import Job
from perceptron_jobs.mr.protocol import ERROR, PIECES_INPUT_FORMAT, PIECES_JOBCONF, error_record, pass_errors_on
from perceptron_jobs.storage import open_file

CHUNK = 4096
LABELS = "labels"


class MREvaluate(Job):
    HADOOP_INPUT_FORMAT, JOBCONF = PIECES_INPUT_FORMAT, PIECES_JOBCONF

    def add_args(self) -> None:
        self.add_file_arg("--model", default=None, help="a model file; without one the input has the guesses")
        self.add_file_arg("--python", default=None, help="the user's Python file, if the features need one")
        self.add_passthru_arg("--weights", choices=["averaged", "last"], default="averaged")

    def mapper_init(self) -> None:
        self.predictor: Optional[Predictor] = None
        if self.options.model:
            self.model = read_model(self.options.model, whole=False)  # the command that runs this job has checked it
            self.task = Task(self.model.task, self.options.python)

    def mapper(self, _: str, record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        piece = Piece(**record)
        try:
            if self.options.model:
                self.predictor = self.predictor or Predictor(self.model, self.options.weights, self.task)
                yield from self._predict_and_count(piece, self.predictor)
            else:
                yield from self._count(piece)
        except UserError as error:
            yield error_record(error, piece.file)

    def _predict_and_count(self, piece: Piece, predictor: Predictor) -> Iterator[tuple[str, Any]]:
        task, metric = self.task, self.task.record["metric"]
        counts = METRICS[metric]()
        for sentences in in_chunks(task.read(piece, "required", opener=open_file), CHUNK):
            for sentence, guess in zip(sentences, predictor.predict(sentences)):
                counts.add_targets(task.as_counted(sentence.targets or ((),)), task.as_counted(guess))
        yield metric, counts.to_record()

    def _count(self, piece: Piece) -> Iterator[tuple[str, Any]]:
        counts = {name: metric() for name, metric in LABEL_METRICS.items()}
        labels: set[str] = set()
        for gold, guess in read_predicted(piece.path, open_file):
            labels.update(gold, guess)
            for counted in counts.values():
                counted.add_sentence(gold, guess)
        for name, counted in counts.items():
            yield name, counted.to_record()
        yield LABELS, looks_like_chunks(labels)

    def reducer(self, key: str, records: Iterator[Any]) -> Iterator[tuple[str, Any]]:
        if key == ERROR:
            yield from pass_errors_on(key, records)
        elif key == LABELS:
            yield LABELS, all(records)
        else:
            total = METRICS[key]()
            for record in records:
                total.add(METRICS[key].from_record(record))
            yield key, total.to_record()


if __name__ == "__main__":
    MREvaluate.run()
