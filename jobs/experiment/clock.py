"""The clock of a cluster that has a node for every shard, computed from what one machine has measured.

An epoch, or each of its rounds, takes as long as its slowest shard, then the shuffle, the slowest reducer, and the
publication of the mixed weights. The number of reducers is the one that the run was given (--reducers). Serial training
goes through the same job, with one shard. The clock leaves out what a real cluster adds (starting tasks, its network),
and the scoring of the dev set, which is not a part of training. Shards stay in memory after the first epoch, as they do
in the process that was measured.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Optional, Union

from perceptron_jobs.experiment.team import Team
from perceptron_jobs.records.epoch_entry import EpochEntry, RoundEntry

CAPTION = (
    "The clock is that of a simulated cluster with one node per shard: the measured seconds of the slowest shard, plus "
    "those of the shuffle, the slowest reducer and the publication, added up over the epochs."
)


def mixing_seconds(epoch: EpochEntry) -> float:
    """From the last shard's end until the mixed weights are there."""
    return sum(_mixing_seconds(part) for part in epoch.rounds_or_itself())


def _mixing_seconds(part: Union[RoundEntry, EpochEntry]) -> float:
    phases = part.phases
    reducers = part.reducers or [phases["reduce"]]  # older runs only have the sum of all reducers
    return phases["shuffle"] + max(reducers) + phases["publish"]


def training_seconds(epoch: EpochEntry, team: Optional[Team] = None) -> float:
    """Until the slowest shard is done, and with a team of processors, until it is."""
    slowest = sum(max(shard.seconds for shard in part.shards) for part in epoch.rounds_or_itself())
    return team.instead_of(slowest) if team else slowest


def epoch_seconds(epoch: EpochEntry, team: Optional[Team] = None) -> float:
    return training_seconds(epoch, team) + mixing_seconds(epoch)


def seconds_until(history: Sequence[EpochEntry], team: Optional[Team] = None) -> list[float]:
    """What the clock shows after each epoch."""
    return list(accumulate(epoch_seconds(epoch, team) for epoch in history))


def inputs(history: Sequence[EpochEntry]) -> list[dict[str, Any]]:
    """What goes into the simulation, to be kept beside what comes out of it: one entry per round."""
    return [
        {
            "epoch": epoch.epoch,
            "round": number,
            "shard_seconds": [shard.seconds for shard in part.shards],
            "reducer_seconds": part.reducers,
            "mixing_seconds": round(_mixing_seconds(part), 3),
            "measured_seconds": epoch.seconds,
            "runner": epoch.runner,
        }
        for epoch in history
        for number, part in enumerate(epoch.rounds_or_itself(), start=1)
    ]
