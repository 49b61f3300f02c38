"""Rare features: what occurs on fewer than K tokens of the training corpus is not used as a feature.

    n_f = Σ over the tokens of all shards: 1 if feature f fires on the token     # a sum, so the same for any S
    kept = the f with n_f ≥ K
    a training task sees only the features in `kept`

A label-bigram feature is counted without its previous label, which depends on the training, not on the corpus.
Transitions are not counted. Counting stops at K. This is the baseline ("pruned") of Goldberg & Elhadad 2011;
their own proposal is in weights/relevance.py.

Counts are rows without weights (rows.py), so that they are merged, split and sent like weights.
"""

from collections.abc import Sequence
from typing import Optional

import numpy as np

from perceptron_core.features.encoding import FeatureKeys
from perceptron_core.kernels import KeyTable
from perceptron_core.weights.rows import Rows, empty, interleave
from perceptron_core.wire import decode_line, encode_line

MOST = 1 << 22  # counts that a counter keeps: some 100 MB


def token_counts(features: FeatureKeys) -> Rows:
    """On how many tokens each feature fires."""
    parts = [
        _once_per_token(features.starts, features.keys),
        _once_per_token(features.pair_starts, features.pair_keys),
    ]
    keys, counts = np.unique(np.concatenate(parts), return_counts=True)
    return empty()._replace(keys=keys, starts=np.zeros(len(keys) + 1, np.int64), counts=counts.astype(np.int32))


def _once_per_token(starts: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The keys of every token, each once."""
    tokens = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((keys, tokens))
    keys, tokens = keys[order], tokens[order]
    new = np.ones(len(keys), bool)
    new[1:] = (keys[1:] != keys[:-1]) | (tokens[1:] != tokens[:-1])
    return keys[new]


def sum_counts(parts: Sequence[Rows], least: int) -> Rows:
    """The sums of the counts, each at most `least`."""
    rows = interleave(parts)
    assert rows.counts is not None
    return rows._replace(counts=np.minimum(rows.counts, least))


class Counter:
    """Counts block after block in limited memory: when there are too many counts, `add` returns them to be sent."""

    def __init__(self, least: int, most: int = MOST) -> None:
        self.least, self.most = least, most
        self.parts = [no_counts()]

    def add(self, counts: Rows) -> Optional[Rows]:
        """The sums, if there are too many to keep."""
        self.parts.append(counts)
        if sum(len(part.keys) for part in self.parts) <= self.most:
            return None
        self.parts = [sum_counts(self.parts, self.least)]
        return self.finish() if len(self.parts[0].keys) > self.most // 2 else None

    def finish(self) -> Rows:
        """The sums since the last that were returned."""
        parts, self.parts = self.parts, [no_counts()]
        return sum_counts(parts, self.least)


def no_counts() -> Rows:
    return empty()._replace(counts=np.zeros(0, np.int32))


def kept_keys(counts: Rows, least: int) -> np.ndarray:
    """The features that occur often enough, ascending."""
    assert counts.counts is not None
    return counts.keys[counts.counts >= least]


def kept_file(keys: np.ndarray) -> bytes:
    """The features that are kept, as the file that training tasks get."""
    return encode_line("kept", keys) + b"\n"


def read_kept(path: str) -> KeyTable:
    with open(path, "rb") as file:
        _, keys = decode_line(file.read())
    table = KeyTable()
    table.intern(keys)
    return table


def keep_only(features: FeatureKeys, kept: KeyTable) -> FeatureKeys:
    """The same tokens with only the features in the table."""
    there, pairs_there = kept.find(features.keys) >= 0, kept.find(features.pair_keys) >= 0
    return FeatureKeys(
        _starts_of(features.starts, there),
        features.keys[there],
        _starts_of(features.pair_starts, pairs_there),
        features.pair_keys[pairs_there],
        features.values[there] if len(features.values) else features.values,
    )


def _starts_of(starts: np.ndarray, there: np.ndarray) -> np.ndarray:
    return np.append(0, np.cumsum(there))[starts].astype(np.int32)
