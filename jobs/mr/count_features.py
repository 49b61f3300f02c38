"""MRCountFeatures: on how many tokens each feature occurs; those that occur on --least tokens or more are kept.

    input     header, block …, trailer → the records of one encoded shard (one map task is one shard)
    mapper    range      → {features of that range with their counts in the shard, or in a part of it}
    reducer   range      → the keys of the features that are kept, ascending

How the corpus is split into shards does not change what is kept. Ranges and errors are explained in
jobs/mr/shard_job.py.
"""

import json
from collections.abc import Iterator
from typing import Any, Optional

from perceptron_core.counting.rare import Counter, kept_keys, sum_counts, token_counts
from perceptron_core.schema import record
from perceptron_core.shards.frame import checked_header
from perceptron_core.shards.records import ShardReader
from perceptron_core.task import Task
from perceptron_core.weights.records import from_record
from perceptron_core.weights.rows import Rows
from perceptron_core.wire import DamagedRecord
from perceptron_jobs.mr.shard_job import ROWS, Pairs, ShardJob


class MRCountFeatures(ShardJob):
    SENT = record(ROWS)

    def add_args(self) -> None:
        super().add_args()
        self.add_file_arg("--task", help="the task's record, JSON")
        self.add_passthru_arg("--least", type=int)

    def begin(self) -> None:
        with open(self.options.task, encoding="utf-8") as file:
            self.task = Task(json.load(file))
        self.reader: Optional[ShardReader] = None
        self.counter = Counter(self.options.least)

    def take(self, kind: str, record: dict[str, Any]) -> Optional[Pairs]:
        if self.reader is None:
            labels = checked_header(record)["labels"] if kind == "header" else ()
            self.reader = self.task.shard_reader(labels)
        encoded = self.reader.take(kind, record)
        if encoded is None:
            return None
        tables, hashes = self.reader.tables(), self.reader.label_hashes
        found = [structure.keys(encoded, tables, hashes) for structure in self.task.structures()]
        full = self.counter.add(token_counts(found))
        return None if full is None else self.by_range(full)

    def finish(self) -> Pairs:
        if self.reader is not None:
            self.reader.finish()
        yield from self.by_range(self.counter.finish())

    def combine(self, key: str, records: Iterator[Any]) -> Pairs:
        sent = [self.counts(record) for record in records]
        yield key, kept_keys(sum_counts(sent, self.options.least), self.options.least)

    def counts(self, record: Any) -> Rows:
        rows = from_record(record["rows"], 0, {})
        if rows.counts is None:
            raise DamagedRecord("a task sent features without their counts")
        return rows


if __name__ == "__main__":
    MRCountFeatures.run()
