"""In how many of a run's shards a feature occurs, and the local steps of *scaled* mixing, which follow from it.

    c_f     = the shards in which feature f occurs             counted once a run
    step_f  = S / c_f                                          what an update's amount is multiplied by: StepSizes

A label-pair feature is counted by its own key, whatever the label before it. Transitions, starts and stops are in every
shard, by definition, and so is a feature that is not in the counts: their step is 1. See `mixing` for the reason.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from perceptron_core.kernels import KeyTable
from perceptron_core.shards.records import ShardReader
from perceptron_core.structures.base import Structure
from perceptron_core.weights.rows import Rows


class ShardFeatures:
    """Collects the distinct features of one shard from its records."""

    def __init__(self, reader: ShardReader, structure: Structure) -> None:
        self.reader, self.structure = reader, structure
        self.table = KeyTable()

    def take(self, kind: str, record: dict[str, Any]) -> None:
        encoded = self.reader.take(kind, record)
        if encoded is not None:
            for group in self.structure.keys(encoded, self.reader.tables(), self.reader.label_hashes).groups:
                self.table.intern(group.keys)

    def finish(self) -> tuple[dict[str, Any], Rows]:
        """The shard's header, and its features' keys."""
        return self.reader.finish(), _by_key(np.sort(self.table.keys()))


def _by_key(keys: np.ndarray, **values: np.ndarray) -> Rows:
    """Rows of one entry each."""
    return Rows(keys, np.arange(len(keys) + 1), np.zeros(len(keys), np.uint32), values)


def count_shards(shards: Sequence[Rows]) -> Rows:
    """c_f ("shards") of every feature that is not in all of the shards."""
    keys, counts = np.unique(np.concatenate([rows.keys for rows in shards]), return_counts=True)
    some = counts < len(shards)
    return _by_key(keys[some], shards=counts[some].astype(np.uint32))
