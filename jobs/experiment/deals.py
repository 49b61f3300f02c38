"""Which sentences go to which shard, when they are not dealt evenly and shuffled as `perceptron prepare` does.

Corpora in the wild are neither: files of a day differ in size, and a split of a big file holds what stood together
in it. A deal is a function (length of each sentence, shards, seed) → for each shard its sentences, in their order.
"""

from collections.abc import Sequence
from typing import Callable

import numpy as np

SHUFFLED = "shuffled"

Deal = Callable[[Sequence[int], int, int], list[np.ndarray]]


def _unequal(lengths: Sequence[int], shards: int, seed: int) -> list[np.ndarray]:
    """Shuffled, but shard i is 1/i the size of the first: of ten shards the largest has a third of all sentences."""
    shares = np.cumsum(1 / np.arange(1, shards + 1))
    shuffled = np.random.default_rng(seed).permutation(len(lengths))
    return np.split(shuffled, np.rint(len(lengths) * shares[:-1] / shares[-1]).astype(int))


def _in_order(lengths: Sequence[int], shards: int, seed: int) -> list[np.ndarray]:
    """As the corpus stands: its first part is the first shard, and so on; what is alike stays together."""
    return np.array_split(np.arange(len(lengths)), shards)


def _sorted(lengths: Sequence[int], shards: int, seed: int) -> list[np.ndarray]:
    """From the shortest sentence to the longest, then as in order: no two shards have seen the same kind."""
    return np.array_split(np.argsort(lengths, kind="stable"), shards)


DEALS: dict[str, Deal] = {"unequal": _unequal, "in-order": _in_order, "sorted": _sorted}  # and SHUFFLED
