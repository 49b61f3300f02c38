"""Features as keys: hashed, composed by the templates, pooled over a text, and numbered."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from perceptron_core.hashing import extend_keys, hash_string


def hash_strings(strings: Sequence[Optional[str]]) -> np.ndarray:
    """The 64-bit hash of every string; 0 for None."""
    return np.array([0 if s is None else hash_string(s) for s in strings], np.uint64)


def compose_keys(
    program: Any, lengths: np.ndarray, ids: Sequence[np.ndarray], tables: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The keys of every token's features: (starts, keys), token t has keys[starts[t]:starts[t+1]]."""
    ends = np.repeat(np.cumsum(lengths), lengths)
    begins = ends - np.repeat(lengths, lengths)
    return compose_sites(program, Sites(np.arange(len(ends))[:, None], begins, ends), ids, tables)


class Sites(NamedTuple):
    """Where templates apply: the positions of each site, one per anchor, and where its sentence begins and ends."""

    positions: np.ndarray  # sites × anchors
    begins: np.ndarray
    ends: np.ndarray


def compose_sites(
    program: Any, sites: Sites, ids: Sequence[np.ndarray], tables: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The keys of every site's features: (starts, keys)."""
    begins, ends = sites.begins, sites.ends
    keys = np.zeros((len(begins), len(program.seeds)), np.uint64)
    for k, seed in enumerate(program.seeds):
        keys[:, k] = seed
        for p in range(program.part_starts[k], program.part_starts[k + 1]):
            column = program.part_columns[p]
            at = sites.positions[:, program.part_anchors[p]] + program.part_offsets[p]
            inside = (at >= begins) & (at < ends)
            types = ids[column][np.where(inside, at, 0)].astype(np.int64)
            values = tables[column][types * program.widths[column] + program.part_attributes[p]]
            left, right = at < begins, at >= ends
            values = np.where(inside, values, np.uint64(0))
            values[left] = program.before[p][(begins - at - 1)[left]]
            values[right] = program.after[p][(at - ends)[right]]
            mixed = extend_keys(keys[:, k], values)
            keys[:, k] = np.where((values == 0) | (keys[:, k] == 0), np.uint64(0), mixed)
    fires = keys != 0
    starts = np.append(0, np.cumsum(fires.sum(axis=1))).astype(np.int32)
    return starts, keys[fires]


def pool_keys(
    sizes: np.ndarray, starts: np.ndarray, keys: np.ndarray, constants: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different keys of every text: (starts, keys, sources), text i has keys[starts[i]:starts[i+1]].

    Text i is the next sizes[i] words; the keys of word w are keys[starts[w]:starts[w+1]]. A key stands where it first
    occurs, and sources says where that is in `keys`; the constants come last, their source is -1.
    """
    pooled_starts, pooled, sources, word = [0], [], [], 0
    for size in sizes.tolist():
        begin, word = int(starts[word]), word + size
        first_at: dict[int, int] = {}
        for at in range(begin, int(starts[word])):
            first_at.setdefault(int(keys[at]), at)
        pooled += [*first_at, *constants.tolist()]
        sources += [*first_at.values(), *[-1] * len(constants)]
        pooled_starts.append(len(pooled))
    return np.array(pooled_starts, np.int32), np.array(pooled, np.uint64), np.array(sources, np.int32)


class KeyTable:
    """Keys numbered in the order in which they are first seen."""

    def __init__(self) -> None:
        self._ids: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def intern(self, keys: np.ndarray) -> np.ndarray:
        """The number of every key; new keys get the next numbers."""
        ids = self._ids
        return np.array([ids.setdefault(key, len(ids)) for key in keys.tolist()], np.int32)

    def find(self, keys: np.ndarray) -> np.ndarray:
        """The number of every key, -1 for one never seen."""
        return np.array([self._ids.get(key, -1) for key in keys.tolist()], np.int32)

    def keys(self, first: int = 0) -> np.ndarray:
        """The keys numbered `first` and up, in the order of their numbers."""
        return np.array(list(self._ids)[first:], np.uint64)
