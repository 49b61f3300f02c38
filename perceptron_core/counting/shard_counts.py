"""In how many of a run's shards a feature occurs, and the step sizes of *scaled* mixing, which follow from it.

    c_f     = the number of shards in which feature f occurs   counted once per run
    step_f  = S / c_f                                          every local update of f is multiplied by it

A label-bigram feature is counted without its previous label. Transitions, starts and stops count as being in every
shard, and so does a feature without a count: their step size is 1. See training/mixing.py for the reason.
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
        """The shard's header, and the keys of its features."""
        return self.reader.finish(), _by_key(np.sort(self.table.keys()))


def _by_key(keys: np.ndarray, **values: np.ndarray) -> Rows:
    """Rows of one entry each."""
    return Rows(keys, np.arange(len(keys) + 1), np.zeros(len(keys), np.uint32), values)


def count_shards(shards: Sequence[Rows]) -> Rows:
    """c_f ("shards") of every feature that is not in all shards."""
    keys, counts = np.unique(np.concatenate([rows.keys for rows in shards]), return_counts=True)
    some = counts < len(shards)
    return _by_key(keys[some], shards=counts[some].astype(np.uint32))
