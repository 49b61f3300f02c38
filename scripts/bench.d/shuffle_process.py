"""The size of all non-zero weights of every shard after each epoch, encoded as a shard's step is; prints JSON.

    shuffle_process.py PREPARED TASK EPOCHS MIXING

`all` are the weights that the shard ends with, which are the mixed vector's but for those it has changed; `own` are
of these only the weights of features that occur in the shard. Each weight travels with its lag, as in a step, for the
average.
"""

import json
import sys

import numpy as np
from shard_loop import fresh_weights, load, one_epoch

from perceptron_core.settings import Settings
from perceptron_core.structures.sequence.keys import joined_keys, transition_keys
from perceptron_core.task_file import read_task
from perceptron_core.training.epoch import ShardEpoch
from perceptron_core.weights.rows import Rows, drop_zeros, find_keys, select, spread, to_record, unite
from perceptron_core.wire import encode_line
from perceptron_jobs.corpora.prepared import read_prepared


def main(folder: str, task_path: str, epochs: str, mixing: str) -> None:
    task, prepared = read_task(task_path), read_prepared(folder)
    labels, settings = prepared.labels(), Settings()
    shards = [load(task, labels, settings, prepared.path(shard)) for shard in range(len(prepared.shards))]
    weights = fresh_weights()
    errors, everything, own = [], [], []
    for _ in range(int(epochs)):
        done = one_epoch(task, labels, settings, weights, shards, mixing)
        ends = [_end(weights, step.rows) for step in done.steps]
        errors.append(done.errors)
        everything.append(sum(map(_size, ends)))
        own.append(sum(_size(_of_shard(rows, epoch, labels)) for rows, epoch in zip(ends, done.shards)))
        weights = done.weights
    print(json.dumps({"errors": errors, "all": everything, "own": own}))


def _end(before: Rows, step: Rows) -> Rows:
    """A shard's non-zero weights after the epoch, and their lags."""
    union, (old, new) = unite([before, step])
    weight = spread(old, before.values["weight"], len(union.labels))
    weight[new] = step.values["weight"]
    lag = spread(new, step.values["lag"], len(union.labels))
    return drop_zeros(union.with_values(weight=weight.astype(np.float32), lag=lag))


def _of_shard(rows: Rows, epoch: ShardEpoch, labels: list[str]) -> Rows:
    numbers = epoch.numbers
    met = [numbers.emissions.keys(), joined_keys(numbers.pairs.keys(), labels), transition_keys(labels).ravel()]
    found = find_keys(rows, np.concatenate(met))
    return select(rows, np.unique(found[found >= 0]))


def _size(rows: Rows) -> int:
    return len(encode_line("00000", {"rows": to_record(rows)})) + 1


if __name__ == "__main__":
    main(*sys.argv[1:])
