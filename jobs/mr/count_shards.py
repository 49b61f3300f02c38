"""MRCountShards: in how many of the run's shards each feature occurs, for *scaled* mixing.

    input     header, block …, trailer → the records of one encoded shard (one map task is one shard)
    mapper    range      → {shard, the keys of its features in that range}
    reducer   range      → {the features of the range that are not in all shards, and in how many they are}

Ranges and errors are explained in jobs/mr/shard_job.py.
"""

from collections.abc import Iterator
from typing import Any

from perceptron_core.counting.shard_counts import ShardFeatures, count_shards
from perceptron_core.schema import record
from perceptron_core.task import Task
from perceptron_core.weights.records import to_record
from perceptron_jobs.mr.shard_job import PLACED, Pairs, ShardJob, place_among, received
from perceptron_jobs.records.run_config import RunConfig

COUNTED = {"shards": "u4"}  # the columns of a reducer's rows


class MRCountShards(ShardJob):
    SENT = record(PLACED)

    def add_args(self) -> None:
        super().add_args()
        self.add_file_arg("--config", help="the run's configuration, JSON")

    def begin(self) -> None:
        self.config = RunConfig.of_file(self.options.config)
        task = Task(self.config.task)
        structure = task.structure(self.config.settings["decoder"])
        self.features = ShardFeatures(task.shard_reader(self.config.labels), structure)

    def take(self, kind: str, record: dict[str, Any]) -> None:
        self.features.take(kind, record)

    def finish(self) -> Pairs:
        header, features = self.features.finish()
        place = place_among(self.config.chosen_shards, header)
        yield from self.by_range(features, **place, origin=f"run {self.config.run}")

    def combine(self, key: str, records: Iterator[Any]) -> Pairs:
        yield key, {"rows": to_record(count_shards([rows for _, rows in received(records, 1, {})]))}


if __name__ == "__main__":
    MRCountShards.run()
