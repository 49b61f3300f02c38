"""Ways to deal sentences to shards unevenly. `perceptron prepare` shuffles them and deals them evenly.

Corpora are often split otherwise: the files of different days differ in size, and a part of a big file holds what
stood together in it. A deal is a function (length of each sentence, shards, seed) → for each shard its sentences, in
order.
"""

from collections.abc import Sequence
from typing import Callable

import numpy as np

SHUFFLED = "shuffled"

Deal = Callable[[Sequence[int], int, int], list[np.ndarray]]


def _unequal(lengths: Sequence[int], shards: int, seed: int) -> list[np.ndarray]:
    """Shuffled, but shard i has 1/i of the first one's size; the largest of ten has a third of the sentences."""
    shares = np.cumsum(1 / np.arange(1, shards + 1))
    shuffled = np.random.default_rng(seed).permutation(len(lengths))
    return np.split(shuffled, np.rint(len(lengths) * shares[:-1] / shares[-1]).astype(int))


def _in_order(lengths: Sequence[int], shards: int, seed: int) -> list[np.ndarray]:
    """In the order of the corpus: its first part is the first shard, and so on. What is alike stays together."""
    return np.array_split(np.arange(len(lengths)), shards)


def _sorted(lengths: Sequence[int], shards: int, seed: int) -> list[np.ndarray]:
    """From the shortest sentence to the longest: every shard has sentences of another length."""
    return np.array_split(np.argsort(lengths, kind="stable"), shards)


UNEVEN: dict[str, Deal] = {"unequal": _unequal, "in-order": _in_order, "sorted": _sorted}  # and SHUFFLED
