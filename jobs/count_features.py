"""MRCountFeatures: which features occur on --least tokens of the prepared corpus or more.

    input     header, block …, trailer → the records of one encoded shard (one map task is one shard)
    mapper    range      → {features of that range with their counts in the shard, or in a part of it}
    reducer   range      → the keys of the features that are kept, ascending

The key space is cut into --ranges equal ranges; a shard sends a record to each, empty or not. Neither their number
nor that of the shards changes what is kept.
"""

import json
from collections.abc import Iterator
from typing import Any, Optional

from jobs.job import Job
from jobs.protocol import ERROR, error_record, pass_errors_on
from perceptron_core.errors import UserError
from perceptron_core.features.rare import Counter, add_up, kept_keys, occurrences
from perceptron_core.rows import Rows, cut, from_record, to_record
from perceptron_core.shards import ShardReader
from perceptron_core.task import Task


class MRCountFeatures(Job):
    def add_args(self) -> None:
        self.add_file_arg("--task", help="the task's record, JSON")
        self.add_passthru_arg("--least", type=int)
        self.add_passthru_arg("--ranges", type=int)

    def mapper_init(self) -> None:
        with open(self.options.task, encoding="utf-8") as file:
            self.task = Task(json.load(file))
        self.reader: Optional[ShardReader] = None
        self.counter = Counter(self.options.least)
        self.error: Optional[UserError] = None

    def mapper(self, kind: str, record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        if self.error is not None:
            return
        try:
            if self.reader is None:
                self.reader = ShardReader(self.task.features, self.task.fingerprint, record.get("labels", ()))
            encoded = self.reader.take(kind, record)
            full = None if encoded is None else self.counter.add(occurrences(self.reader.keys(encoded)))
        except UserError as error:
            self.error = error
            return
        if full is not None:
            yield from self.by_range(full)

    def by_range(self, counts: Rows) -> Iterator[tuple[str, Any]]:
        for number, rows in enumerate(cut(counts, self.options.ranges)):
            yield f"{number:05d}", to_record(rows)

    def mapper_final(self) -> Iterator[tuple[str, Any]]:
        try:
            if self.error is not None:
                raise self.error
            if self.reader is not None:
                self.reader.finish()
        except UserError as error:
            yield error_record(error)
            return
        yield from self.by_range(self.counter.finish())

    def reducer(self, key: str, records: Iterator[Any]) -> Iterator[tuple[str, Any]]:
        if key == ERROR:
            yield from pass_errors_on(key, records)
            return
        counts = add_up([from_record(record) for record in records], self.options.least)
        yield key, kept_keys(counts, self.options.least)


if __name__ == "__main__":
    MRCountFeatures.run()
