"""Learning in one pass: whole numbers are summed over the instances, and the weights follow from the sums.

    for each instance (x, y) of the shard:               # in the mappers; an instance is a text or a token
        n[y] += 1
        for each summand (f, label, amount) of x:  sums[f, label] += amount
    add up the shards' sums and n                        # in the reducers
    w = weights(sums, n)                                 # once, in the driver

Sums of whole numbers do not depend on their order, so the bytes of the model do not depend on the shards. Which
summands an instance has, and how sums become weights, is defined by the learner (summands.py). Transitions and
label-bigram features are not features of an instance, and have no summands.
"""

from typing import Any, NamedTuple, Optional, Protocol

import numpy as np

from perceptron_core.features.filters import keep_only
from perceptron_core.features.keys import FeatureKeys
from perceptron_core.kernels import KeyTable
from perceptron_core.shards.records import ShardReader
from perceptron_core.structures.base import Structure
from perceptron_core.weights.rows import Rows, from_entries

MOST = 1 << 22  # summands that wait to be added up: some 64 MB


class Summands(NamedTuple):
    """What instances add to the sums."""

    keys: np.ndarray
    labels: np.ndarray
    amounts: np.ndarray  # int64


class SummingPass(Protocol):
    """One pass of a learner over the corpus."""

    def summands(self, features: FeatureKeys, gold: np.ndarray) -> Summands:
        """What the instances of a block, which have these labels, add to the sums."""


class ShardSums:
    """Adds up one shard's records as they come in."""

    def __init__(
        self, reader: ShardReader, structure: Structure, summing: SummingPass, kept: Optional[KeyTable] = None
    ) -> None:
        self.reader, self.structure, self.summing, self.kept = reader, structure, summing, kept
        self.labels = len(reader.label_numbers)
        self.instances = np.zeros(self.labels, np.int64)
        self.table = KeyTable()
        self.waiting = [_nothing()]  # the first has the sums of all summands before the others

    def take(self, kind: str, record: dict[str, Any]) -> None:
        encoded = self.reader.take(kind, record)
        if encoded is None:
            return
        features = self.structure.keys(encoded, self.reader.tables(), self.reader.label_hashes)
        if self.kept is not None:
            features = keep_only(features, self.kept)
        self.instances += np.bincount(encoded.labels, minlength=self.labels)
        keys, labels, amounts = self.summing.summands(features, encoded.labels)
        codes = self.table.intern(keys).astype(np.int64) * self.labels + labels
        self.waiting.append(_add_up(codes, amounts))
        if sum(len(codes) for codes, _ in self.waiting[1:]) > max(MOST, len(self.waiting[0][0])):
            self.waiting = [self._all()]

    def _all(self) -> tuple[np.ndarray, np.ndarray]:
        codes, amounts = (np.concatenate(arrays) for arrays in zip(*self.waiting))
        return _add_up(codes, amounts)

    def finish(self) -> tuple[dict[str, Any], Rows]:
        """The shard's header, and the sums of its summands ("sum", int64)."""
        header = self.reader.finish()
        codes, amounts = self._all()
        numbers, labels = np.divmod(codes, max(1, self.labels))
        return header, from_entries(self.table.keys()[numbers], labels, sum=amounts)


def _nothing() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def _add_up(codes: np.ndarray, amounts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different codes, and the sum of each one's amounts."""
    if not len(codes):
        return _nothing()
    order = np.argsort(codes)
    codes, amounts = codes[order], amounts[order]
    firsts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    return codes[firsts], np.add.reduceat(amounts, firsts)
