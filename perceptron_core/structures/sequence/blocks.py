"""Sequences as the kernel takes them: numbered features by groups, and the numbers of all features met so far."""

from typing import NamedTuple, Optional

import numpy as np

from perceptron_core.arrays import GrowingArray
from perceptron_core.features.filters import StepSizes, keep_only
from perceptron_core.features.keys import FeatureKeys
from perceptron_core.kernels import ALL_ONE, KeyTable

NOTHING = np.zeros(0, np.int32)


class FeatureBlock(NamedTuple):
    """Sentences with numbered features of every token. Each kind of features has `starts` and `ids`: token t has
    ids[starts[t]:starts[t+1]]. Kinds that a model does not have are empty."""

    lengths: np.ndarray
    gold: np.ndarray  # label numbers; empty in a block that is only decoded
    starts: np.ndarray
    ids: np.ndarray
    pair_starts: np.ndarray  # joined with the label before
    pair_ids: np.ndarray
    values: np.ndarray = ALL_ONE  # of the features `ids`
    triple_starts: np.ndarray = NOTHING  # joined with the two labels before
    triple_ids: np.ndarray = NOTHING
    skip_starts: np.ndarray = NOTHING  # joined with the label before the last
    skip_ids: np.ndarray = NOTHING

    def examples(self) -> int:
        return len(self.lengths)

    def tokens(self) -> int:
        return len(self.starts) - 1

    def size(self) -> int:
        return sum(array.nbytes for array in self)

    def between(self, first: int, last: int) -> "FeatureBlock":
        """The sentences from number `first` to before number `last`."""
        if (first, last) == (0, len(self.lengths)):
            return self
        begin = int(self.lengths[:first].sum())
        end = begin + int(self.lengths[first:last].sum())

        def ragged(starts: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            if not len(starts):
                return starts, ids
            return starts[begin : end + 1] - starts[begin], ids[starts[begin] : starts[end]]

        features, pairs = ragged(self.starts, self.ids), ragged(self.pair_starts, self.pair_ids)
        triples, skips = ragged(self.triple_starts, self.triple_ids), ragged(self.skip_starts, self.skip_ids)
        values = self.values[self.starts[begin] : self.starts[end]]
        return FeatureBlock(self.lengths[first:last], self.gold[begin:end], *features, *pairs, values, *triples, *skips)


class FeatureNumbers:
    """The numbers of the features met so far, one table per group; the groups `together` share one."""

    def __init__(
        self,
        groups: int,
        kept: Optional[KeyTable] = None,
        step_sizes: Optional[StepSizes] = None,
        together: tuple[int, ...] = (),
    ) -> None:
        self.kept, self.step_sizes = kept, step_sizes
        self.tables = [KeyTable() for _ in range(groups)]
        for group in together:
            self.tables[group] = self.tables[together[0]]
        self.sizes_of_steps = [GrowingArray(np.float64) for _ in range(groups)]  # empty where all are 1
        self._orders = [NOTHING] * groups

    def size(self) -> int:
        return 40 * sum(len(table) for table in self.tables)

    def order(self, group: int) -> np.ndarray:
        """The numbers of a group's features in the order of their keys."""
        if len(self._orders[group]) != len(self.tables[group]):
            self._orders[group] = np.argsort(self.tables[group].keys()).astype(np.int32)
        return self._orders[group]

    def number(self, lengths: np.ndarray, gold: np.ndarray, features: FeatureKeys) -> FeatureBlock:
        """The block; features that are not kept are left out."""
        if self.kept is not None:
            features = keep_only(features, self.kept)
        numbered = [(group.starts, table.intern(group.keys)) for table, group in zip(self.tables, features.groups)]
        if self.step_sizes is not None:
            for table, sizes in zip(self.tables, self.sizes_of_steps):
                sizes.extend(self.step_sizes.of(table.keys(len(sizes))))
        (starts, ids), (pair_starts, pair_ids), *others = numbered
        more = [column for group in others for column in group]
        return FeatureBlock(lengths, gold, starts, ids, pair_starts, pair_ids, features.values, *more)
