"""The clock of a cluster that has a node for every shard, computed from what one machine has measured.

An epoch, or each of its rounds, takes as long as its slowest shard, then the shuffle, the slowest reducer, and the
publication of the mixed weights; how many reducers share the mixing is what the run was asked for (--reducers). Serial
training goes through the same job, with one shard. Not in it are what a real cluster adds (starting tasks, its network)
and the scoring of the dev set, which is no part of training. Shards stay in memory after the first epoch, as they do in
the process that was measured.
"""

from itertools import accumulate
from typing import Any, Optional

from perceptron_jobs.experiment.team import Team

CAPTION = (
    "The clock is that of a simulated cluster with a node a shard: the measured seconds of the slowest shard, plus "
    "those of the shuffle, the slowest reducer and the publication, added up over the epochs."
)

Epoch = dict[str, Any]  # a line of history.jsonl


def rounds_of(epoch: Epoch) -> list[dict[str, Any]]:
    """Each with its shards, reducers and phases; an epoch without rounds is one."""
    return epoch.get("rounds", [epoch])


def mixing_seconds(epoch: Epoch) -> float:
    """From the last shard's end until the mixed weights are there."""
    return sum(_mixing_seconds(part) for part in rounds_of(epoch))


def _mixing_seconds(part: dict[str, Any]) -> float:
    phases = part["phases"]
    reducers = part.get("reducers", [phases["reduce"]])  # older runs tell of all of them together
    return phases["shuffle"] + max(reducers) + phases["publish"]


def training_seconds(epoch: Epoch, team: Optional[Team] = None) -> float:
    """Until the slowest shard is done, and with a team of processors, until it is."""
    slowest = sum(max(shard["seconds"] for shard in part["shards"]) for part in rounds_of(epoch))
    return team.instead_of(slowest) if team else slowest


def epoch_seconds(epoch: Epoch, team: Optional[Team] = None) -> float:
    return training_seconds(epoch, team) + mixing_seconds(epoch)


def seconds_until(history: list[Epoch], team: Optional[Team] = None) -> list[float]:
    """What the clock shows after each epoch."""
    return list(accumulate(epoch_seconds(epoch, team) for epoch in history))


def inputs(history: list[Epoch]) -> list[dict[str, Any]]:
    """What goes into the simulation, to be kept beside what comes out of it: one entry a round."""
    return [
        {
            "epoch": epoch["epoch"],
            "round": number,
            "shard_seconds": [shard["seconds"] for shard in part["shards"]],
            "reducer_seconds": part.get("reducers"),
            "mixing_seconds": round(_mixing_seconds(part), 3),
            "measured_seconds": epoch["seconds"],
            "runner": epoch["runner"],
        }
        for epoch in history
        for number, part in enumerate(rounds_of(epoch), start=1)
    ]
