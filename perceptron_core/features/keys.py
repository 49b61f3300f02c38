"""The keys of the features at each site: structures compose them; they are then counted, filtered and numbered."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from perceptron_core.errors import UserError
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import TypeTables
from perceptron_core.features.feature_set import EXTRACTOR_SEED, Program
from perceptron_core.hashing import extend_key, extend_keys, hash_string
from perceptron_core.kernels import ALL_ONE, compose_keys

MOST_KEYS = 2_000_000_000  # their numbers are of 32 bits
NO_KEYS = np.zeros(0, np.uint64)


class KeyGroup(NamedTuple):
    """The keys of some templates at every site: site s has keys[starts[s]:starts[s+1]]."""

    starts: np.ndarray  # int32
    keys: np.ndarray  # uint64


class FeatureKeys(NamedTuple):
    """The keys of all features of every site. The first group is joined only with the site's own label; the structure
    decides which labels the other groups are joined with."""

    groups: tuple[KeyGroup, ...]
    values: np.ndarray = ALL_ONE  # of the first group's features

    @property
    def starts(self) -> np.ndarray:
        return self.groups[0].starts

    @property
    def keys(self) -> np.ndarray:
        return self.groups[0].keys


def compose(program: Program, encoded: Encoded, tables: TypeTables) -> KeyGroup:
    """The keys of a program's templates at every word."""
    if not len(program.seeds):
        return KeyGroup(np.zeros(int(encoded.words().sum()) + 1, np.int32), NO_KEYS)
    if len(program.seeds) * int(encoded.words().sum()) > MOST_KEYS:
        raise UserError("a sentence or text is too long: it has more than 2,000 million features; split it")
    return KeyGroup(*compose_keys(program, encoded.words(), encoded.ids, tables.columns))


def with_extracted(group: KeyGroup, encoded: Encoded, tables: TypeTables) -> KeyGroup:
    """Each token's keys followed by those of the features that the extractor has found there."""
    if not len(encoded.extra_sizes):
        return group
    keys = extend_keys(EXTRACTOR_SEED, tables.extra[encoded.extra_ids])
    return KeyGroup(*append_per_token(*group, encoded.extra_sizes, keys))


def append_per_token(
    starts: np.ndarray, keys: np.ndarray, more_sizes: np.ndarray, more_keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The keys of each token, followed by the token's own of `more_keys`."""
    sizes = np.diff(starts)
    token = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.repeat(np.arange(len(sizes)), more_sizes)])
    order = np.argsort(token, kind="stable")
    joined = np.append(0, np.cumsum(sizes + more_sizes)).astype(np.int32)
    return joined, np.concatenate([keys, more_keys])[order]


# ---------------------------------------------------------------- features joined with labels that a search decides


def label_hashes(labels: Sequence[str]) -> np.ndarray:
    return np.array([hash_string(label) for label in labels], np.uint64)


def joined_keys(keys: np.ndarray, labels: Sequence[str], count: int = 1) -> np.ndarray:
    """The keys that features become with `count` labels before: keys × labels (× labels), flat; the nearest first."""
    hashes = label_hashes(labels)
    for _ in range(count):
        keys = extend_keys(keys[:, None], hashes[None, :]).ravel()
    return keys


def joined_key(key: int, labels: Sequence[str]) -> int:
    """The key that one feature becomes with these labels before, the nearest first."""
    for label in labels:
        key = extend_key(key, hash_string(label))
    return key
