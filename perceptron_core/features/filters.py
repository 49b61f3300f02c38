"""What a run may do with features before they are numbered: leave out rare ones, and change their step sizes.

The counts that decide it (of tokens, of shards) are made beforehand: see perceptron_core/counting.
"""

from typing import NamedTuple

import numpy as np

from perceptron_core.features.keys import FeatureKeys, KeyGroup
from perceptron_core.kernels import KeyTable


def keep_only(features: FeatureKeys, kept: KeyTable) -> FeatureKeys:
    """The same sites with only the features in the table."""
    there = [kept.find(group.keys) >= 0 for group in features.groups]
    groups = tuple(KeyGroup(_starts_of(g.starts, t), g.keys[t]) for g, t in zip(features.groups, there))
    return FeatureKeys(groups, features.values[there[0]] if len(features.values) else features.values)


def _starts_of(starts: np.ndarray, there: np.ndarray) -> np.ndarray:
    return np.append(0, np.cumsum(there))[starts].astype(np.int32)


class StepSizes(NamedTuple):
    """What an update's amount is multiplied by, for scaled mixing: S / c_f, where c_f of the S shards have feature f.

    Features that are in all shards are not listed; see counting/shard_counts.py."""

    keys: np.ndarray  # ascending
    counts: np.ndarray  # c_f
    shards: int  # S

    def of(self, keys: np.ndarray) -> np.ndarray:
        """The step size of each key."""
        at = np.searchsorted(self.keys, keys)
        there = at < len(self.keys)
        there[there] = self.keys[at[there]] == keys[there]
        sizes = np.ones(len(keys))
        sizes[there] = self.shards / self.counts[at[there]]
        return sizes
