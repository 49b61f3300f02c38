"""MRTrainEpoch: one epoch of iterative parameter mixing.

    input     header, block …, trailer → the records of one encoded shard (one map task is one shard)
    mapper    range      → {shard, its counts, origin, and the weights of that range which took part in an update}
    reducer   range      → {the mixed weights and mean steps of the range, the shards' counts and times}
              "reducer"  → {bytes that this reducer read, its times}

The mixed weights and the run's configuration come through the distributed cache, and for scaled mixing so do the counts
of MRCountShards. Ranges and errors are explained in jobs/mr/shard_job.py.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any, Optional

from perceptron_core import schema
from perceptron_core.counting.rare import read_kept
from perceptron_core.errors import UserError
from perceptron_core.features.filters import StepSizes
from perceptron_core.settings import Settings
from perceptron_core.task import Task
from perceptron_core.training import resident as residency
from perceptron_core.training.epoch import EpochPlan, EpochStats, ShardEpoch
from perceptron_core.training.mixing import ShardStep, mix
from perceptron_core.training.rounds import RoundPart
from perceptron_core.weights.model_file import model_digest, read_model
from perceptron_core.weights.records import to_record
from perceptron_core.wire import DamagedRecord
from perceptron_jobs.mr.shard_job import COUNT, PLACED, WORKED, Pairs, ShardJob, place_among, received
from perceptron_jobs.records.run_config import RunConfig

STEPS, MIXED = {"weight": "f4", "lag": "f8"}, {"weight": "f4", "mean": "f8"}  # the columns that are sent
RESIDENT = "resident"  # a record instead of a shard that this process has in memory
NAMED = schema.record({"name": schema.text()})
STATUS_SECONDS = 30  # Hadoop kills a task that reports nothing for ten minutes


class MRTrainEpoch(ShardJob):
    SENT = schema.record({**PLACED, "stats": schema.record(dict.fromkeys(EpochStats._fields, COUNT)), "worked": WORKED})

    def add_args(self) -> None:
        super().add_args()
        self.add_file_arg("--config", help="the run's configuration, JSON")
        self.add_file_arg("--weights", help="the mixed weights, a model file")
        self.add_file_arg("--kept", default=None, help="the features that are not too rare, if some are")
        self.add_file_arg("--occurrences", default=None, help="in how many shards features occur, for scaled mixing")
        self.add_passthru_arg("--epoch", type=int)
        self.add_passthru_arg("--mixing", help="the strategy of this epoch")
        self.add_passthru_arg("--round", type=int, default=1, help="which part of every shard to train on")
        self.add_passthru_arg("--rounds", type=int, default=1, help="the number of parts")
        self.add_passthru_arg("--threads", type=int, default=1, help="that decode a minibatch together")
        self.add_passthru_arg("--keep-shards", action="store_true", help="keep them in memory for the next epoch")

    def begin(self) -> None:
        self.config = RunConfig.of_file(self.options.config)
        self.last_status = time.monotonic()
        plan = EpochPlan(
            Task(self.config.task),
            self.config.labels,
            Settings.from_record(self.config.settings),
            part=RoundPart(self.options.round - 1, self.options.rounds),
            kept=read_kept(self.options.kept) if self.options.kept else None,
            step_sizes=self.step_sizes(),
            threads=self.options.threads,
        )
        # Only the rows of the shard's features are read here; the reducers verify the file.
        weights = read_model(self.options.weights, whole=False).rows
        room = residency.room() if self.options.keep_shards else 0
        self.epoch = ShardEpoch(plan, weights, room, residency.report)

    def step_sizes(self) -> Optional[StepSizes]:
        if self.options.occurrences is None:
            return None
        counts = read_model(self.options.occurrences).rows
        return StepSizes(counts.keys, counts.values["shards"], len(self.config.chosen_shards))

    def take(self, kind: str, record: dict[str, Any]) -> None:
        try:
            if kind == RESIDENT:
                shard = None if schema.fault(record, NAMED) else residency.find(record["name"])
                if shard is None:  # the driver names only shards that are there
                    raise DamagedRecord("a shard has a record that only the driver writes; prepare the corpus again")
                self.epoch.take_resident(shard)
            else:
                self.epoch.take(kind, record)
        except UserError:
            raise
        except BaseException:
            header, done = self.epoch.reader.header or {}, self.epoch.stats.examples
            sys.stderr.write(f"while training on shard {header.get('shard', '?')}, after {done} sentences:\n")
            raise
        if time.monotonic() - self.last_status > STATUS_SECONDS:
            self.last_status = time.monotonic()
            self.set_status(f"{self.epoch.stats.examples} sentences")

    def finish(self) -> Pairs:
        header, touched = self.epoch.finish()
        resident = self.epoch.resident()
        if resident is not None:
            residency.keep(f"{self.config.run}/{header['shard']}", resident)
        stats = self.epoch.stats._asdict()
        del self.epoch  # frees its weights; mrjob keeps the job itself for longer
        origin = (
            f"epoch {self.options.epoch}, round {self.options.round}, from weights {model_digest(self.options.weights)}"
        )
        place = place_among(self.config.chosen_shards, header)
        yield from self.by_range(touched, **place, origin=origin, stats=stats, worked=self.worked())

    def reducer_init(self) -> None:
        super().reducer_init()
        self.mixed = read_model(self.options.weights)

    def combine(self, key: str, records: Iterator[Any]) -> Pairs:
        shards = received(records, len(self.mixed.labels), STEPS)
        steps = []
        for sent, rows in shards:
            counted = sent["stats"]["updates"], sent["stats"]["examples"]
            steps.append(ShardStep(sent["shard"], sent["shards"], sent["origin"], *counted, rows))
        mixed = to_record(mix(self.options.mixing, self.mixed.rows, steps))
        about = {name: [sent[name] for sent, _ in shards] for name in ("stats", "worked")}
        yield key, {"rows": mixed, **about}


if __name__ == "__main__":
    MRTrainEpoch.run()
