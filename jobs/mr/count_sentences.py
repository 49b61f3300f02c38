"""MRCountSentences: the sentences of each piece of a file, so that every sentence has an ordinal before it is dealt.

input     piece        → a piece of a file
mapper    file.number  → its sentences
"""

import json
from collections.abc import Iterator
from typing import Any

from perceptron_core.corpus import Piece
from perceptron_core.errors import UserError
from perceptron_core.task import Task
from perceptron_jobs.mr.job import Job
from perceptron_jobs.mr.protocol import PIECES_INPUT_FORMAT, PIECES_JOBCONF, error_record
from perceptron_jobs.storage import open_file


class MRCountSentences(Job):
    HADOOP_INPUT_FORMAT, JOBCONF = PIECES_INPUT_FORMAT, PIECES_JOBCONF

    def add_args(self) -> None:
        self.add_file_arg("--task", help="the task's record, JSON")

    def mapper_init(self) -> None:
        with open(self.options.task, encoding="utf-8") as file:
            self.task = Task(json.load(file))

    def mapper(self, _: str, record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        piece = Piece(**record)
        try:
            sentences = sum(1 for _ in self.task.read(piece, "required", opener=open_file))
            yield f"{piece.file:06d}.{piece.number:06d}", sentences
        except UserError as error:
            yield error_record(error, piece.file)


if __name__ == "__main__":
    MRCountSentences.run()
