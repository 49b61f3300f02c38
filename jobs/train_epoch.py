"""MRTrainEpoch: one epoch of iterative parameter mixing.

    input     header, block …, trailer → the records of one encoded shard (one map task is one shard)
    mapper    range      → {shard, its counts, origin, and the weights of that range which took part in an update}
    reducer   range      → {the mixed weights and mean steps of the range, the shards' counts and times}
              "reducer"  → {bytes that this reducer read, its times}

The key space is cut into --ranges equal ranges; every shard sends a record to each, empty or not, so the reducer of
a range has all that it needs to divide by. How many ranges there are, and which reducer gets which, does not change
the result. The mixed weights and the run's configuration come through the distributed cache, and for scaled mixing so
do the counts of MRCountOccurrences.
"""

import json
import sys
import time
from collections.abc import Iterator
from typing import Any, Optional

from jobs.job import Job
from jobs.protocol import ERROR, REDUCER, LineProtocol, error_record, pass_errors_on
from perceptron_core import residency
from perceptron_core.epoch import ShardEpoch
from perceptron_core.errors import UserError
from perceptron_core.features.rare import read_kept
from perceptron_core.mixing import ShardStep, mix
from perceptron_core.model import model_digest, read_model
from perceptron_core.occurrences import FeatureSteps
from perceptron_core.rows import cut, from_record, to_record
from perceptron_core.settings import Settings
from perceptron_core.task import Task

RESIDENT = "resident"  # the record that stands for a shard which this process has in memory
# When a process that is this task's alone was started, by the CPU time that Python and its imports have taken.
PROCESS_BEGAN = time.time() - time.process_time() if __name__ == "__main__" else None
STATUS_SECONDS = 30  # Hadoop kills a task that says nothing for ten minutes


class MRTrainEpoch(Job):
    def add_args(self) -> None:
        self.add_file_arg("--config", help="the run's configuration, JSON")
        self.add_file_arg("--weights", help="the mixed weights, a model file")
        self.add_file_arg("--kept", default=None, help="the features that are not too rare, if some are")
        self.add_file_arg("--occurrences", default=None, help="in how many shards features occur, for scaled mixing")
        self.add_passthru_arg("--epoch", type=int)
        self.add_passthru_arg("--mixing", help="the strategy of this epoch")
        self.add_passthru_arg("--ranges", type=int, default=1)
        self.add_passthru_arg("--threads", type=int, default=1, help="to decode a minibatch by")
        self.add_passthru_arg("--keep-shards", action="store_true", help="the driver is this process: see residency")

    def internal_protocol(self) -> LineProtocol:
        self.shuffled = LineProtocol()
        return self.shuffled

    def task_init(self, whole_model: bool) -> None:
        self.began = PROCESS_BEGAN or time.time()
        with open(self.options.config, encoding="utf-8") as file:
            self.config = json.load(file)
        self.weights = read_model(self.options.weights, whole_model)
        self.origin = f"epoch {self.options.epoch} from weights {model_digest(self.options.weights)}"

    def worked(self) -> list[float]:
        """When this task began and ended."""
        return [self.began, time.time()]

    def reducer_init(self) -> None:
        self.task_init(whole_model=True)

    def mapper_init(self) -> None:
        self.task_init(whole_model=False)  # a shard's features alone; the reducers verify the file
        self.error: Optional[UserError] = None
        self.last_status = time.monotonic()
        self.epoch = ShardEpoch(
            Task(self.config["task"]),
            self.config["labels"],
            Settings.from_record(self.config["settings"]),
            self.weights.rows,
            keep=self.options.keep_shards,
            progress=residency.report,
            kept=read_kept(self.options.kept) if self.options.kept else None,
            threads=self.options.threads,
            steps=self.feature_steps(),
        )

    def feature_steps(self) -> Optional[FeatureSteps]:
        if self.options.occurrences is None:
            return None
        counts = read_model(self.options.occurrences).rows
        return FeatureSteps(counts.keys, counts.values["shards"], len(self.config["chosen_shards"]))

    def mapper(self, kind: str, record: dict[str, Any]) -> None:
        if self.error is not None:
            return
        try:
            if kind == RESIDENT:
                shard = residency.find(record["name"])
                assert shard is not None, "the driver names only shards that are there"
                self.epoch.take_resident(shard)
            else:
                self.epoch.take(kind, record)
        except UserError as error:
            self.error = error
        except BaseException:
            header, done = self.epoch.reader.header or {}, self.epoch.stats.examples
            sys.stderr.write(f"while training on shard {header.get('shard', '?')}, after {done} sentences:\n")
            raise
        if time.monotonic() - self.last_status > STATUS_SECONDS:
            self.last_status = time.monotonic()
            self.set_status(f"{self.epoch.stats.examples} sentences")

    def mapper_final(self) -> Iterator[tuple[str, Any]]:
        try:
            if self.error is not None:
                raise self.error
            header, touched = self.epoch.finish()
        except UserError as error:
            yield error_record(error)
            return
        if self.options.keep_shards:
            residency.keep(f"{self.config['run']}/{header['shard']}", self.epoch.resident())
        chosen = self.config["chosen_shards"]
        step = {
            "shard": chosen.index(header["shard"]),
            "shards": len(chosen),
            "origin": self.origin,
            "stats": self.epoch.stats._asdict(),
            "worked": self.worked(),
        }
        del self.epoch  # its weights are not needed any more; mrjob keeps the job itself for longer
        for number, rows in enumerate(cut(touched, self.options.ranges)):
            yield f"{number:05d}", {**step, "rows": to_record(rows)}

    def reducer(self, key: str, records: Iterator[Any]) -> Iterator[tuple[str, Any]]:
        if key == ERROR:
            yield from pass_errors_on(key, records)
            return
        steps, stats, worked = [], {}, {}
        for record in records:
            counted = stats[record["shard"]] = record["stats"]
            worked[record["shard"]] = record["worked"]
            steps.append(
                ShardStep(
                    record["shard"],
                    record["shards"],
                    record["origin"],
                    counted["updates"],
                    counted["examples"],
                    from_record(record["rows"]),
                )
            )
        try:
            mixed = mix(self.options.mixing, self.weights.rows, steps)
        except UserError as error:
            yield error_record(error, order=1)  # a mapper's error, if there is one, is the cause of it
            return
        in_order = sorted(stats)
        shards = {"stats": [stats[shard] for shard in in_order], "worked": [worked[shard] for shard in in_order]}
        yield key, {"rows": to_record(mixed), **shards}

    def reducer_final(self) -> Iterator[tuple[str, Any]]:
        yield REDUCER, {"shuffled": self.shuffled.bytes_read, "worked": self.worked()}


if __name__ == "__main__":
    MRTrainEpoch.run()
