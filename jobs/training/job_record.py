"""What the jobs of an epoch tell of themselves: one job, or, where the first epoch has rounds, a job a round."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from perceptron_jobs.training.phases import Interval, seconds_by_phase

COUNTS = ("errors", "updates", "tokens", "wrong_tokens")


class JobRecord(NamedTuple):
    stats: list[dict[str, int]]  # of each shard
    shuffled: int  # bytes
    mappers: list[Interval]
    reducers: list[Interval]

    def shard_seconds(self) -> list[float]:
        return [round(end - start, 3) for _, (start, end) in zip(self.stats, self.mappers)]

    def reducer_seconds(self) -> list[float]:
        """One after the other or at the same time, as the runner has it."""
        return [round(end - start, 3) for start, end in self.reducers]


def counts_of(jobs: Sequence[JobRecord]) -> dict[str, Any]:
    """An epoch's counts, over all and by shard, which makes a straggler visible."""
    by_shard = [_sum(stats) for stats in zip(*(job.stats for job in jobs))]
    total, took = _sum(by_shard), zip(*(job.shard_seconds() for job in jobs))
    return {
        "sentences": total["examples"],
        **{name: total.get(name) for name in COUNTS},  # who learns in one pass makes no guesses
        "shuffled": sum(job.shuffled for job in jobs),
        "shards": [
            {"sentences": shard["examples"], "errors": shard.get("errors"), "seconds": round(sum(seconds), 3)}
            for shard, seconds in zip(by_shard, took)
        ],
        "reducers": [seconds for job in jobs for seconds in job.reducer_seconds()],
    }


def times_of(jobs: Sequence[JobRecord], began: float, ends: Sequence[float], scoring: float) -> dict[str, Any]:
    """The epoch's seconds, and where they went, given when each job's result was there; scoring the dev set, which
    comes before the last of these ends, is no phase of MapReduce. Of several jobs each is told by itself, too."""
    until = [*ends[:-1], ends[-1] - scoring]
    split = [
        seconds_by_phase(since, job.mappers, job.reducers, end) for job, since, end in zip(jobs, [began, *ends], until)
    ]
    times: dict[str, Any] = {"seconds": round(ends[-1] - began, 3)}
    times["phases"] = {**_rounded(_sum(split)), "dev": round(scoring, 3)}
    if len(jobs) > 1:
        times["rounds"] = [
            {
                "shards": [{"seconds": seconds} for seconds in job.shard_seconds()],
                "reducers": job.reducer_seconds(),
                "phases": _rounded(phases),
            }
            for job, phases in zip(jobs, split)
        ]
    return times


def _sum(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def _rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in seconds.items()}
