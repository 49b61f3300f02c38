"""MRSumStatistics: what naive Bayes and Rocchio count, summed over all shards; see perceptron_core/counting/sums.py.

    input     header, block …, trailer → the records of one encoded shard (one map task is one shard)
    mapper    range      → {shard, its counts, the instances of each label, and the sums of that range}
    reducer   range      → {the sums over all shards, the instances of each label, the shards' counts and times}
              "reducer"  → {bytes that this reducer read, its times}

Rocchio's vectors need the inverse document frequencies, which come from an earlier job of this class through the
distributed cache. Ranges and errors are explained in jobs/mr/shard_job.py.
"""

from collections.abc import Iterator
from typing import Any

from perceptron_core.arrays import typed
from perceptron_core.counting.rare import read_kept
from perceptron_core.counting.summands import DocumentFrequencies, NaiveBayes, Rocchio
from perceptron_core.counting.sums import ShardSums, SummingPass
from perceptron_core.schema import anything, record, whole
from perceptron_core.task import Task
from perceptron_core.weights.model_file import read_model
from perceptron_core.weights.records import to_record
from perceptron_core.weights.rows import add_up
from perceptron_core.wire import DamagedRecord
from perceptron_jobs.mr.shard_job import PLACED, WORKED, Pairs, ShardJob, place_among, received
from perceptron_jobs.records.run_config import RunConfig

COUNTS, FREQUENCIES, VECTORS = "naive-bayes", "document-frequencies", "rocchio"
SUMS = {"sum": "i8"}  # the columns of the rows that are sent


class MRSumStatistics(ShardJob):
    SENT = record(
        {
            **PLACED,
            "stats": record({"examples": whole(), "tokens": whole()}),
            "instances": anything,
            "worked": WORKED,
        }
    )

    def add_args(self) -> None:
        super().add_args()
        self.add_file_arg("--config", help="the run's configuration, JSON")
        self.add_file_arg("--kept", default=None, help="the features that are not too rare, if some are")
        self.add_file_arg("--idf", default=None, help="inverse document frequencies, for rocchio")
        self.add_passthru_arg("--what", choices=[COUNTS, FREQUENCIES, VECTORS], help="what is summed")

    def begin(self) -> None:
        self.config = RunConfig.of_file(self.options.config)
        task = Task(self.config.task)
        kept = read_kept(self.options.kept) if self.options.kept else None
        structure = task.structure(self.config.settings["decoder"])
        self.sums = ShardSums(task.shard_reader(self.config.labels), structure, self.summand(task), kept)

    def summand(self, task: Task) -> SummingPass:
        if self.options.what == COUNTS:
            return NaiveBayes(task.features.constant_keys())
        if self.options.what == FREQUENCIES:
            return DocumentFrequencies()
        return Rocchio(read_model(self.options.idf).rows)

    def take(self, kind: str, record: dict[str, Any]) -> None:
        self.sums.take(kind, record)

    def finish(self) -> Pairs:
        header, sums = self.sums.finish()
        yield from self.by_range(
            sums,
            **place_among(self.config.chosen_shards, header),
            origin=f"{self.options.what} of run {self.config.run}",
            stats={"examples": header["sentences"], "tokens": header["tokens"]},
            instances=self.sums.instances,
            worked=self.worked(),
        )

    def reducer_init(self) -> None:
        super().reducer_init()
        self.labels = len(RunConfig.of_file(self.options.config).labels)

    def combine(self, key: str, records: Iterator[Any]) -> Pairs:
        shards = received(records, self.labels, SUMS)
        try:
            instances = [typed(sent["instances"], "<i8") for sent, _ in shards]
        except ValueError as error:
            raise DamagedRecord(f"a task did not send how many instances each label has ({error})") from error
        if any(len(counts) != self.labels for counts in instances):
            raise DamagedRecord("a task counted the instances of other labels")
        yield (
            key,
            {
                "rows": to_record(add_up([rows for _, rows in shards])),
                "instances": sum(instances),
                "stats": [sent["stats"] for sent, _ in shards],
                "worked": [sent["worked"] for sent, _ in shards],
            },
        )


if __name__ == "__main__":
    MRSumStatistics.run()
