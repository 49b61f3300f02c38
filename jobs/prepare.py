"""MRPrepare: a corpus becomes S encoded shards, by (mapper) reading and dealing sentences, (reducer) building shards.

    input     piece      → {file: number in the list, path, first: ordinal of its first sentence}
    mapper    shard      → {sentences of this piece that go to the shard, as numbers}      see shard_builder
    reducer   "shard"    → {shard, file, sentences, tokens, labels, bytes, sha256}

Each reducer writes its shards as files, one .gz and one gzip member each, into --output; beside each the strings of
its types, from which `inspect` and `export` make the names of features.
"""

import gzip
import hashlib
import io
import json
import os
from collections.abc import Iterator
from typing import Any

import msgpack
from mrjob.job import MRJob

from jobs.protocol import ERROR, LineProtocol, error_record, pass_errors_on
from perceptron_core.atomic import written_atomically
from perceptron_core.errors import UserError
from perceptron_core.shard_builder import PieceEncoder, ShardBuilder, corpus_order, in_chunks
from perceptron_core.shards import write_shard
from perceptron_core.task import Task
from perceptron_core.wire import encode_line

CHUNK = 4096  # sentences that are encoded at a time


def shard_name(shard: int, shards: int) -> str:
    return f"shard-{shard:05d}-of-{shards:05d}"


def gzipped(data: bytes) -> bytes:
    """One gzip member without a time or a name, so that equal content is equal bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=buffer, mtime=0) as file:
        file.write(data)
    return buffer.getvalue()


class MRPrepare(MRJob):
    INPUT_PROTOCOL = INTERNAL_PROTOCOL = OUTPUT_PROTOCOL = LineProtocol

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--task", help="the task's record, JSON")
        self.add_file_arg("--python", default=None, help="the user's Python file, if the features need one")
        self.add_passthru_arg("--shards", type=int)
        self.add_passthru_arg("--seed", type=int)
        self.add_passthru_arg("--output", help="the folder that the shards are written to")

    def task_init(self) -> None:
        with open(self.options.task, encoding="utf-8") as file:
            self.task = Task(json.load(file), self.options.python)

    mapper_init = reducer_init = task_init

    def mapper(self, _: str, piece: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        shards = self.options.shards
        for shard in range(shards):  # every shard is built, also one that gets no sentence
            yield f"{shard:05d}", None
        try:
            encoder = PieceEncoder(self.task.encoder(), self.options.seed, piece["file"], piece["first"], shards)
            for sentences in in_chunks(self.task.read(piece["path"], "required"), CHUNK):
                for shard, record in encoder.encode(sentences):
                    yield f"{shard:05d}", record
        except UserError as error:
            yield error_record(error, piece["file"])

    def reducer(self, key: str, records: Iterator[Any]) -> Iterator[tuple[str, Any]]:
        if key == ERROR:
            yield from pass_errors_on(key, records)
            return
        features = self.task.features
        builder = ShardBuilder(len(features.columns), features.extractor is not None)
        for record in sorted(filter(None, records), key=corpus_order):
            builder.add(record)
        content, types = builder.finish()
        shard, shards = int(key), self.options.shards
        identity = {
            "shard": shard,
            "shards": shards,
            "seed": self.options.seed,
            "features": self.task.fingerprint,
        }
        lines = [encode_line(*record) for record in write_shard(content, features.unigrams.widths, identity)]
        data = gzipped(b"\n".join(lines) + b"\n")
        path = os.path.join(self.options.output, shard_name(shard, shards))
        with written_atomically(path + ".gz") as file:
            file.write(data)
        with written_atomically(path + ".types.gz") as file:
            file.write(gzipped(msgpack.packb(types)))
        yield (
            "shard",
            {
                "shard": shard,
                "file": os.path.basename(path) + ".gz",
                "sentences": len(content.encoded.lengths),
                "tokens": len(content.encoded.labels),
                "labels": list(content.label_names),
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
            },
        )


if __name__ == "__main__":
    MRPrepare.run()
