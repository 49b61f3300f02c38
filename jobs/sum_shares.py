"""MRSumShares: one pass of a learner that counts, see perceptron_core/sums.py.

    input     header, block …, trailer → the records of one encoded shard (one map task is one shard)
    mapper    range      → {shard, its counts, the instances of each label, and the sums of that range}
    reducer   range      → {the sums over all shards, the instances of each label, the shards' counts and times}
              "reducer"  → {bytes that this reducer read, its times}

The key space is cut into --ranges equal ranges, as in MRTrainEpoch. For Rocchio's vectors the inverse document
frequencies, which a job of this kind has counted before, come through the distributed cache.
"""

import json
import time
from collections.abc import Iterator
from typing import Any, Optional

from jobs.job import Job
from jobs.protocol import ERROR, REDUCER, LineProtocol, error_record, pass_errors_on
from perceptron_core.errors import UserError
from perceptron_core.features.rare import read_kept
from perceptron_core.mixing import check_complete
from perceptron_core.model import read_model
from perceptron_core.one_pass import DocumentFrequencies, NaiveBayes, Rocchio
from perceptron_core.rows import add_up, cut, from_record, to_record
from perceptron_core.shards import ShardReader
from perceptron_core.sums import ShardSums, Summand
from perceptron_core.task import Task

COUNTS, FREQUENCIES, VECTORS = "naive-bayes", "document-frequencies", "rocchio"
PROCESS_BEGAN = time.time() - time.process_time() if __name__ == "__main__" else None


class MRSumShares(Job):
    def add_args(self) -> None:
        self.add_file_arg("--config", help="the run's configuration, JSON")
        self.add_file_arg("--kept", default=None, help="the features that are not too rare, if some are")
        self.add_file_arg("--idf", default=None, help="inverse document frequencies, for rocchio")
        self.add_passthru_arg("--what", choices=[COUNTS, FREQUENCIES, VECTORS], help="whose shares are summed")
        self.add_passthru_arg("--ranges", type=int, default=1)

    def internal_protocol(self) -> LineProtocol:
        self.shuffled = LineProtocol()
        return self.shuffled

    def reducer_init(self) -> None:
        self.began = PROCESS_BEGAN or time.time()

    def worked(self) -> list[float]:
        """When this task began and ended."""
        return [self.began, time.time()]

    def mapper_init(self) -> None:
        self.began = PROCESS_BEGAN or time.time()
        with open(self.options.config, encoding="utf-8") as file:
            self.config = json.load(file)
        task = Task(self.config["task"])
        reader = ShardReader(task.features, task.fingerprint, self.config["labels"])
        kept = read_kept(self.options.kept) if self.options.kept else None
        self.sums = ShardSums(reader, self.summand(task), kept)
        self.error: Optional[UserError] = None

    def summand(self, task: Task) -> Summand:
        if self.options.what == COUNTS:
            return NaiveBayes(task.features.constant_keys())
        if self.options.what == FREQUENCIES:
            return DocumentFrequencies()
        return Rocchio(read_model(self.options.idf).rows)

    def mapper(self, kind: str, record: dict[str, Any]) -> None:
        if self.error is not None:
            return
        try:
            self.sums.take(kind, record)
        except UserError as error:
            self.error = error

    def mapper_final(self) -> Iterator[tuple[str, Any]]:
        try:
            if self.error is not None:
                raise self.error
            header, sums = self.sums.finish()
        except UserError as error:
            yield error_record(error)
            return
        chosen = self.config["chosen_shards"]
        shard = {
            "shard": chosen.index(header["shard"]),
            "shards": len(chosen),
            "origin": f"{self.options.what} of run {self.config['run']}",
            "stats": {"examples": header["sentences"], "tokens": header["tokens"]},
            "instances": self.sums.instances,
            "worked": self.worked(),
        }
        for number, rows in enumerate(cut(sums, self.options.ranges)):
            yield f"{number:05d}", {**shard, "rows": to_record(rows)}

    def reducer(self, key: str, records: Iterator[Any]) -> Iterator[tuple[str, Any]]:
        if key == ERROR:
            yield from pass_errors_on(key, records)
            return
        shards = sorted(records, key=lambda record: record["shard"])
        try:
            check_complete([(shard["shard"], shard["shards"], shard["origin"]) for shard in shards])
        except UserError as error:
            yield error_record(error, order=1)  # a mapper's error, if there is one, is the cause of it
            return
        yield (
            key,
            {
                "rows": to_record(add_up([from_record(shard["rows"]) for shard in shards])),
                "instances": sum(shard["instances"] for shard in shards),
                "stats": [shard["stats"] for shard in shards],
                "worked": [shard["worked"] for shard in shards],
            },
        )

    def reducer_final(self) -> Iterator[tuple[str, Any]]:
        yield REDUCER, {"shuffled": self.shuffled.bytes_read, "worked": self.worked()}


if __name__ == "__main__":
    MRSumShares.run()
