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

from perceptron_core.arrays import typed
from perceptron_core.features.keys import FeatureKeys
from perceptron_core.kernels import KeyTable
from perceptron_core.weights.checks import check_keys
from perceptron_core.weights.rows import Rows, empty, interleave
from perceptron_core.wire import DamagedRecord, decode_line, encode_file_line

MOST = 1 << 22  # counts that a counter keeps: some 100 MB


def token_counts(found: Sequence[FeatureKeys]) -> Rows:
    """On how many tokens each feature fires; where a task may become several structures, by the keys of all."""
    groups = [group for features in found for group in features.groups]
    tokens = np.concatenate([np.repeat(np.arange(len(g.starts) - 1), np.diff(g.starts)) for g in groups])
    keys, counts = np.unique(_once_per_token(tokens, np.concatenate([g.keys for g in groups])), return_counts=True)
    return empty()._replace(keys=keys, starts=np.zeros(len(keys) + 1, np.int64), counts=counts.astype(np.int32))


def _once_per_token(tokens: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The keys of every token, each once."""
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
    return encode_file_line("kept", keys) + b"\n"


def read_kept(path: str) -> KeyTable:
    with open(path, "rb") as file:
        _, keys = decode_line(file.read())
    try:
        check_keys(typed(keys, "<u8"))
    except ValueError as error:
        raise DamagedRecord(f"the list of features is damaged ({error}); prepare the corpus again") from error
    table = KeyTable()
    table.intern(keys)
    return table
