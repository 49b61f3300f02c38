"""The blocks of shards, and what mappers send to reducers; checksums are made anew."""

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import material
from mutators import mutated, mutated_text
from perceptron_core.counting.rare import token_counts
from perceptron_core.counting.summands import NaiveBayes
from perceptron_core.counting.sums import ShardSums
from perceptron_core.errors import UserError
from perceptron_core.shards.records import ShardReader
from perceptron_core.training.epoch import EpochStats, ShardEpoch
from perceptron_core.weights.model_file import write_model
from perceptron_core.weights.records import to_record
from perceptron_core.weights.rows import Rows
from perceptron_core.wire import decode_line, encode_line
from perceptron_jobs.mr.count_features import MRCountFeatures
from perceptron_jobs.mr.count_shards import MRCountShards
from perceptron_jobs.mr.protocol import ERROR
from perceptron_jobs.mr.sum_statistics import MRSumStatistics
from perceptron_jobs.mr.train_epoch import MRTrainEpoch
from pool import Target

TASKS = list(material.TASKS)


def lines_of(records: list[Any]) -> bytes:
    return b"".join(encode_line(kind, record) + b"\n" for kind, record in records)


def records_of(data: bytes) -> list[Any]:
    return [decode_line(line) for line in data.split(b"\n") if line]


def packed(random: Random, records: list[Any]) -> bytes:
    """The lines of a damaged list of records."""
    for _ in range(20):
        at = random.randrange(len(records))
        kind, record = records[at]
        changed = [*records[:at], (kind, mutated(random, record)), *records[at + 1 :]]
        if random.random() < 0.05:
            random.shuffle(changed)
        try:
            return lines_of(changed)
        except (OverflowError, ValueError, TypeError):  # an integer that msgpack has no form for
            continue
    return lines_of(records)


def damaged_shard(random: Random) -> bytes:
    """The number of the task, then the shard."""
    number = random.randrange(len(TASKS))
    return f"{number}".encode() + packed(random, material.trained(TASKS[number]).shards[0])


def read_shard(data: bytes, _: Path) -> None:
    """What the jobs over shards do with one: train, count features, sum."""
    name, lines = TASKS[int(data[:1])], data[1:]
    known = material.trained(name)
    plan = material.plan_of(name)
    records = records_of(lines)
    structure = plan.task.structure(known.options.settings.decoder)
    passes: list[Any] = [ShardEpoch(plan, known.weights.rows), Counted(plan.task.shard_reader(plan.labels), structure)]
    if name == "texts":
        naive_bayes = NaiveBayes(plan.task.features.constant_keys())
        passes.append(ShardSums(plan.task.shard_reader(plan.labels), structure, naive_bayes))
    for work in passes:
        for kind, record in records:
            work.take(kind, record)
        work.finish()


class Counted:
    """Counts the features of a shard."""

    def __init__(self, reader: ShardReader, structure: Any) -> None:
        self.reader, self.structure = reader, structure

    def take(self, kind: str, record: Any) -> None:
        encoded = self.reader.take(kind, record)
        if encoded is not None:
            token_counts([self.structure.keys(encoded, self.reader.tables(), self.reader.label_hashes)])

    def finish(self) -> None:
        self.reader.finish()


# ---------------------------------------------------------------- reducers


@cache
def jobs() -> dict[str, Any]:
    """A reducer of every job over shards."""
    folder, known = material.folder(), material.trained("pairs")
    config = json.loads((material.run_dir() / "config.json").read_bytes())
    config["labels"] = known.weights.labels
    (folder / "config").write_text(json.dumps(config))
    write_model(str(folder / "weights"), known.weights)
    given = ["--config", str(folder / "config")]
    made = {
        "train": MRTrainEpoch([*given, "--weights", str(folder / "weights"), "--epoch", "1", "--mixing", "row"]),
        "sums": MRSumStatistics([*given, "--what", "naive-bayes"]),
        "shards": MRCountShards(given),
        "features": MRCountFeatures(["--task", str(folder / "task"), "--least", "2"]),
    }
    for job in made.values():
        job.reducer_init()
    return made


@cache
def sent() -> dict[str, list[Any]]:
    """What two shards send to each of them."""
    steps = material.trained("pairs").steps
    labels = len(material.trained("pairs").weights.labels)

    def record(number: int, rows: Rows, **more: Any) -> tuple[str, Any]:
        return "00000", {"shard": number, "shards": 2, "origin": "here", "rows": to_record(rows), **more}

    def bare(rows: Rows) -> Rows:
        size = len(rows.keys)
        return rows._replace(starts=rows.starts[:1].repeat(size + 1), labels=rows.labels[:0], values={})

    worked, stats = [1.5, 2.5], EpochStats(4, 3, 3, 9, 2)._asdict()
    instances = steps[0].rows.starts[:1].repeat(labels)
    summed = {"worked": worked, "stats": {"examples": 4, "tokens": 9}, "instances": instances}
    sums = [step.rows.with_values(sum=step.rows.values["lag"].astype("i8")) for step in steps]
    keys = [bare(step.rows)._replace(counts=step.rows.labels[: len(step.rows.keys)].astype("i4")) for step in steps]
    single = [
        step.rows._replace(
            starts=step.rows.starts[:1] + range(len(step.rows.keys) + 1),
            labels=0 * step.rows.labels[: len(step.rows.keys)],
            values={},
        )
        for step in steps
    ]
    return {
        "train": [record(i, step.rows, worked=worked, stats=stats) for i, step in enumerate(steps)],
        "sums": [record(i, rows, **summed) for i, rows in enumerate(sums)],
        "shards": [record(i, rows) for i, rows in enumerate(single)],
        "features": [("00000", {"rows": to_record(rows)}) for rows in keys],
    }


def damaged_sent(random: Random) -> bytes:
    """The job's name in the first line, then what its reducer gets."""
    name = random.choice(("train", "train", "train", "sums", "shards", "features"))
    return name.encode() + b"\n" + packed(random, sent()[name])


def reduce(data: bytes, _: Path) -> None:
    name, _, lines = data.partition(b"\n")
    records = [record for _, record in records_of(lines)]
    for key, record in jobs()[name.decode()].reducer("00000", iter(records)):
        if key == ERROR:
            raise UserError(record["message"])
        encode_line(key, record)


WIRE = {
    "wire-bytes": Target(lambda random: b"train\n" + mutated_text(random, lines_of(sent()["train"])), reduce, jobs),
    "shard-blocks": Target(damaged_shard, read_shard),
    "mapper-rows": Target(damaged_sent, reduce, jobs),
}
