"""The size of all non-zero weights of every shard after each epoch, encoded as a shard's step is; prints JSON.

    shuffle_process.py PREPARED TASK EPOCHS MIXING

`all` are the weights that the shard ends with, which are the mixed vector's but for those it has changed; `own` are
of these only the weights of features that occur in the shard. Each weight travels with its lag, as in a step, for the
average.
"""

import json
import sys

import numpy as np
from prepared_records import shard_records

from perceptron_core.features.keys import joined_keys
from perceptron_core.settings import Settings
from perceptron_core.shards.records import Record
from perceptron_core.task import Task
from perceptron_core.task_file import read_task
from perceptron_core.training.in_memory import InMemory, Options
from perceptron_core.training.mixing import mix
from perceptron_core.weights.records import to_record
from perceptron_core.weights.rows import Rows, drop_zeros, find_keys, select, spread, unite
from perceptron_core.wire import encode_line
from perceptron_jobs.corpora.prepared import read_prepared


def main(folder: str, task_path: str, epochs: str, mixing: str) -> None:
    task, prepared = read_task(task_path), read_prepared(folder)
    shards = shard_records(prepared)
    training = InMemory(task, shards, Options(Settings(average=False)))
    met = [_features(task, training.labels, records) for records in shards]
    errors, everything, own = [], [], []
    for epoch in range(1, int(epochs) + 1):
        weights = training.standing.weights.rows
        steps, stats = training.shard_steps()
        ends = [_end(weights, step.rows) for step in steps]
        errors.append(stats.errors)
        everything.append(sum(map(_size, ends)))
        own.append(sum(_size(_with_keys(rows, keys)) for rows, keys in zip(ends, met)))
        training.standing = training.standing.after(mix(mixing, weights, steps), epoch)
    print(json.dumps({"errors": errors, "all": everything, "own": own}))


def _end(before: Rows, step: Rows) -> Rows:
    """A shard's non-zero weights after the epoch, and their lags."""
    union, (old, new) = unite([before, step])
    weight = spread(old, before.values["weight"], len(union.labels))
    weight[new] = step.values["weight"]
    lag = spread(new, step.values["lag"], len(union.labels))
    return drop_zeros(union.with_values(weight=weight.astype(np.float32), lag=lag))


def _features(task: Task, labels: list[str], records: list[Record]) -> np.ndarray:
    """The keys of all weights of a shard's features; transitions are in every shard."""
    structure, reader = task.structure(Settings().decoder), task.shard_reader(labels)
    met = [np.array(list(structure.fixed_names(labels)), np.uint64)]
    for kind, record in records:
        encoded = reader.take(kind, record)
        if encoded is not None:
            groups = structure.keys(encoded, reader.tables(), reader.label_hashes).groups
            met += [joined_keys(np.unique(group.keys), labels, before) for before, group in enumerate(groups)]
    return np.unique(np.concatenate(met))


def _with_keys(rows: Rows, keys: np.ndarray) -> Rows:
    found = find_keys(rows, keys)
    return select(rows, found[found >= 0])


def _size(rows: Rows) -> int:
    return len(encode_line("00000", {"rows": to_record(rows)})) + 1


if __name__ == "__main__":
    main(*sys.argv[1:])
