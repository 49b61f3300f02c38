"""MRPredict: tags files, without a reducer; every input line comes back, in order, with the guesses added.

input     piece        → {file: number in the list, path, first}
mapper    file.chunk   → text: some sentences as the input had them, with their guesses
"""

from collections.abc import Iterator
from typing import Any, Optional

from perceptron_core.corpus import Piece
from perceptron_core.errors import UserError
from perceptron_core.evaluation.tagger import Tagger
from perceptron_core.shards.builder import in_chunks
from perceptron_core.task import Task
from perceptron_core.weights.model_file import read_model
from perceptron_jobs.mr.job import Job
from perceptron_jobs.mr.protocol import PIECES_INPUT_FORMAT, PIECES_JOBCONF, error_record
from perceptron_jobs.storage import open_file

CHUNK = 4096


class MRPredict(Job):
    HADOOP_INPUT_FORMAT, JOBCONF = PIECES_INPUT_FORMAT, PIECES_JOBCONF

    def add_args(self) -> None:
        self.add_file_arg("--model", help="a model file")
        self.add_file_arg("--python", default=None, help="the user's Python file, if the features need one")
        self.add_passthru_arg("--weights", choices=["averaged", "last"], default="averaged")
        self.add_passthru_arg("--format", default=None, help="of the input, if it is not the task's own")

    def mapper_init(self) -> None:
        self.model = read_model(self.options.model, whole=False)  # the command that runs this job has checked it
        self.task = Task(self.model.task, self.options.python)
        self.tagger: Optional[Tagger] = None

    def mapper(self, _: str, record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        piece = Piece(**record)
        try:
            if self.tagger is None:
                self.tagger = Tagger(self.model, self.options.weights, self.task, self.options.format)
            for number, sentences in enumerate(in_chunks(self.tagger.read(piece, open_file), CHUNK)):
                yield f"{piece.file:06d}.{piece.number:06d}.{number:08d}", self.tagger.tag(sentences)
        except UserError as error:
            yield error_record(error, piece.file)


if __name__ == "__main__":
    MRPredict.run()
