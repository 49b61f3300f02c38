"""MRPrepare: a corpus becomes S encoded shards: mappers read sentences and deal them, reducers build the shards.

    input     piece                   → a piece of a file, see perceptron_core/corpus/pieces.py
    mapper    shard                   → {sentences of this piece that go to the shard, as numbers}
    reducer   header, block …, trailer → the records of a shard, one shard after the other

How sentences are dealt and shards are built: perceptron_core/shards/builder.py. The output of a reducer is the shards,
line by line, so reducers write no other files.
"""

import json
from collections.abc import Iterator
from typing import Any

from perceptron_core.corpus import Piece
from perceptron_core.errors import UserError
from perceptron_core.shards.builder import PieceEncoder, ShardBuilder, in_chunks
from perceptron_core.task import Task
from perceptron_jobs.mr.job import Job
from perceptron_jobs.mr.protocol import (
    ERROR,
    ERRORS_COUNTER,
    PIECES_INPUT_FORMAT,
    PIECES_JOBCONF,
    ShardProtocol,
    error_record,
    pass_errors_on,
)
from perceptron_jobs.storage import open_file

CHUNK = 4096  # sentences that are encoded at a time


def partition(key: str, reducers: int) -> int:
    """The reducer to which Hadoop's default partitioner sends a key, if there are this many."""
    code = 1
    for byte in key.encode("ascii"):
        code = (31 * code + byte) & 0xFFFFFFFF
    return (code & 0x7FFFFFFF) % reducers


def shard_keys(shards: int) -> list[str]:
    """One key per shard, so chosen that with as many reducers as shards each reducer builds the shard of its number."""
    keys: dict[int, str] = {}
    number = 0
    while len(keys) < shards:
        keys.setdefault(partition(str(number), shards), str(number))
        number += 1
    return [keys[shard] for shard in range(shards)]


class MRPrepare(Job):
    HADOOP_INPUT_FORMAT, JOBCONF = PIECES_INPUT_FORMAT, PIECES_JOBCONF
    OUTPUT_PROTOCOL = ShardProtocol

    def add_args(self) -> None:
        self.add_file_arg("--task", help="the task's record, JSON")
        self.add_file_arg("--python", default=None, help="the user's Python file, if the features need one")
        self.add_passthru_arg("--shards", type=int)
        self.add_passthru_arg("--seed", type=int)

    def task_init(self) -> None:
        with open(self.options.task, encoding="utf-8") as file:
            self.task = Task(json.load(file), self.options.python)

    mapper_init = reducer_init = task_init

    def mapper(self, _: str, record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        piece, shards = Piece(**record), self.options.shards
        keys = shard_keys(shards)
        for key in keys:  # so that shards without a sentence are built, too
            yield key, None
        try:
            encoder = PieceEncoder(self.task.encoder(), self.options.seed, piece.file, piece.first, shards)
            for sentences in in_chunks(self.task.read(piece, "required", opener=open_file), CHUNK):
                encoder = encoder.renewed(self.task.encoder)
                for shard, encoded in encoder.encode(sentences):
                    yield keys[shard], encoded
        except UserError as error:
            self.increment_counter(*ERRORS_COUNTER)
            yield error_record(error, piece.file)

    def reducer(self, key: str, records: Iterator[Any]) -> Iterator[tuple[str, Any]]:
        if key == ERROR:
            yield from pass_errors_on(key, records)
            return
        builder = ShardBuilder(self.task.features, self.task.layout)
        for record in filter(None, records):
            builder.add(record)
        identity = {
            "shard": partition(key, self.options.shards),
            "shards": self.options.shards,
            "seed": self.options.seed,
            "features": self.task.fingerprint,
        }
        yield from builder.finish(identity)


if __name__ == "__main__":
    MRPrepare.run()
