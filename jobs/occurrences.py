"""MRCountOccurrences: in how many shards each feature occurs, for *scaled* mixing.

    input     header, block …, trailer → the records of one encoded shard (one map task is one shard)
    mapper    range      → {shard, the keys of its features in that range}
    reducer   range      → {the features of the range that are not in all shards, and in how many they are}

The key space is cut into --ranges equal ranges, as in MRTrainEpoch.
"""

import json
from collections.abc import Iterator
from typing import Any, Optional

from jobs.job import Job
from jobs.protocol import ERROR, error_record, pass_errors_on
from perceptron_core.errors import UserError
from perceptron_core.mixing import check_complete
from perceptron_core.occurrences import ShardFeatures, count_shards
from perceptron_core.rows import cut, from_record, to_record
from perceptron_core.shards import ShardReader
from perceptron_core.task import Task


class MRCountOccurrences(Job):
    def add_args(self) -> None:
        self.add_file_arg("--config", help="the run's configuration, JSON")
        self.add_passthru_arg("--ranges", type=int, default=1)

    def mapper_init(self) -> None:
        with open(self.options.config, encoding="utf-8") as file:
            self.config = json.load(file)
        task = Task(self.config["task"])
        self.features = ShardFeatures(ShardReader(task.features, task.fingerprint, self.config["labels"]))
        self.error: Optional[UserError] = None

    def mapper(self, kind: str, record: dict[str, Any]) -> None:
        if self.error is not None:
            return
        try:
            self.features.take(kind, record)
        except UserError as error:
            self.error = error

    def mapper_final(self) -> Iterator[tuple[str, Any]]:
        try:
            if self.error is not None:
                raise self.error
            header, features = self.features.finish()
        except UserError as error:
            yield error_record(error)
            return
        chosen = self.config["chosen_shards"]
        place = {"shard": chosen.index(header["shard"]), "shards": len(chosen), "origin": f"run {self.config['run']}"}
        for number, rows in enumerate(cut(features, self.options.ranges)):
            yield f"{number:05d}", {**place, "rows": to_record(rows)}

    def reducer(self, key: str, records: Iterator[Any]) -> Iterator[tuple[str, Any]]:
        if key == ERROR:
            yield from pass_errors_on(key, records)
            return
        sent = list(records)
        try:
            check_complete([(record["shard"], record["shards"], record["origin"]) for record in sent])
        except UserError as error:
            yield error_record(error, order=1)  # a mapper's error, if there is one, is the cause of it
            return
        yield key, to_record(count_shards([from_record(record["rows"]) for record in sent]))


if __name__ == "__main__":
    MRCountOccurrences.run()
