"""What the jobs of an epoch tell of themselves: one job, or one per round if the first epoch has rounds."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from perceptron_jobs.records.epoch_entry import EpochEntry, RoundEntry, ShardEntry
from perceptron_jobs.training.phases import Interval, seconds_by_phase


class JobRecord(NamedTuple):
    stats: list[dict[str, int]]  # of each shard
    shuffled: int  # bytes
    mappers: list[Interval]
    reducers: list[Interval]

    def shard_seconds(self) -> list[float]:
        return [round(end - start, 3) for _, (start, end) in zip(self.stats, self.mappers)]

    def reducer_seconds(self) -> list[float]:
        """Of each reducer; whether they ran one after the other or at the same time depends on the runner."""
        return [round(end - start, 3) for start, end in self.reducers]


def counted(epoch: int, jobs: Sequence[JobRecord]) -> EpochEntry:
    """An epoch's counts, over all and by shard, which makes a straggler visible."""
    by_shard = [_sum(stats) for stats in zip(*(job.stats for job in jobs))]
    total, took = _sum(by_shard), zip(*(job.shard_seconds() for job in jobs))
    return EpochEntry(
        epoch,
        total["examples"],
        errors=total.get("errors"),  # a learner of one pass makes no guesses, and so has none
        updates=total.get("updates"),
        tokens=total.get("tokens"),
        wrong_tokens=total.get("wrong_tokens"),
        shuffled=sum(job.shuffled for job in jobs),
        shards=[
            ShardEntry(round(sum(seconds), 3), shard["examples"], shard.get("errors"))
            for shard, seconds in zip(by_shard, took)
        ],
        reducers=[seconds for job in jobs for seconds in job.reducer_seconds()],
    )


def timed(
    entry: EpochEntry, jobs: Sequence[JobRecord], began: float, ends: Sequence[float], scoring: float
) -> EpochEntry:
    """The entry with the epoch's seconds and where they went.

    `ends` says when the result of each job was there. Scoring the dev set comes before the last of them, and is not a
    phase of MapReduce. If there are several jobs, the times of each are in the entry, too.
    """
    until = [*ends[:-1], ends[-1] - scoring]
    split = [
        seconds_by_phase(since, job.mappers, job.reducers, end) for job, since, end in zip(jobs, [began, *ends], until)
    ]
    rounds = [
        RoundEntry([ShardEntry(seconds) for seconds in job.shard_seconds()], _rounded(phases), job.reducer_seconds())
        for job, phases in zip(jobs, split)
    ]
    return entry._replace(
        seconds=round(ends[-1] - began, 3),
        phases={**_rounded(_sum(split)), "dev": round(scoring, 3)},
        rounds=rounds if len(jobs) > 1 else (),
    )


def _sum(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def _rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in seconds.items()}
