"""Our training loop without mrjob, for what is measured inside a process: the core's epoch, mixing and encoding."""

import gzip
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Union

from perceptron_core.settings import Settings
from perceptron_core.task import Task
from perceptron_core.training.epoch import Resident, ShardEpoch
from perceptron_core.training.mixing import ShardStep, apply, mix
from perceptron_core.weights.rows import Rows, empty
from perceptron_core.wire import decode_line


def fresh_weights() -> Rows:
    return empty(weight="f4")


def records(path: str) -> Iterator[tuple[str, Any]]:
    """A shard's file, as its mapper gets it."""
    with gzip.open(path) as file:
        for line in file:
            yield decode_line(line)


def load(task: Task, labels: Sequence[str], settings: Settings, path: str) -> Resident:
    """A shard in memory, as an inline run has it from its second epoch on."""
    epoch = ShardEpoch(task, labels, settings, fresh_weights(), keep=True)
    for kind, record in records(path):
        epoch.take(kind, record)
    return epoch.resident()


def train_shard(
    task: Task, labels: Sequence[str], settings: Settings, weights: Rows, shard: Union[str, Resident]
) -> tuple[ShardEpoch, Rows]:
    """A shard's epoch, from its file or from memory: the epoch, and the step that its mapper would send."""
    epoch = ShardEpoch(task, labels, settings, weights)
    if isinstance(shard, Resident):
        epoch.take_resident(shard)
    else:
        for kind, record in records(shard):
            epoch.take(kind, record)
    return epoch, epoch.finish()[1]


class Epoch(NamedTuple):
    weights: Rows  # the mixed ones, after it
    errors: int
    steps: list[ShardStep]
    shards: list[ShardEpoch]


def one_epoch(
    task: Task,
    labels: Sequence[str],
    settings: Settings,
    weights: Rows,
    shards: Sequence[Union[str, Resident]],
    mixing: str = "row",
) -> Epoch:
    """An epoch on every shard, mixed."""
    steps, epochs = [], []
    for number, shard in enumerate(shards):
        epoch, rows = train_shard(task, labels, settings, weights, shard)
        steps.append(ShardStep(number, len(shards), "", epoch.stats.updates, epoch.stats.examples, rows))
        epochs.append(epoch)
    mixed = apply(weights, mix(mixing, weights, steps))
    return Epoch(mixed, sum(epoch.stats.errors for epoch in epochs), steps, epochs)
