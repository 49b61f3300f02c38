"""Unites sorted rows of weights, adds a shard's step to what is being mixed, and applies the mixed step."""

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

Entries = tuple[Any, ...]  # (keys, starts, labels, values); for replace_weights, also the rows' counts or None


def unite_two(
    keys_a: np.ndarray,
    starts_a: np.ndarray,
    labels_a: np.ndarray,
    keys_b: np.ndarray,
    starts_b: np.ndarray,
    labels_b: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(keys, starts, labels) of all (key, label) pairs, and for both inputs where each of its entries is in them."""
    keys = np.union1d(keys_a, keys_b)
    width = 1 + max(int(labels.max()) if len(labels) else 0 for labels in (labels_a, labels_b))

    def codes(own_keys: np.ndarray, starts: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return np.repeat(np.searchsorted(keys, own_keys), np.diff(starts)) * width + labels

    codes_a, codes_b = codes(keys_a, starts_a, labels_a), codes(keys_b, starts_b, labels_b)
    united = np.union1d(codes_a, codes_b)
    row, labels = np.divmod(united, width)
    starts = np.searchsorted(row, np.arange(len(keys) + 1))
    place_a, place_b = np.searchsorted(united, codes_a), np.searchsorted(united, codes_b)
    return keys, starts, labels.astype(np.uint32), place_a, place_b


def add_step(
    place: np.ndarray,
    value: np.ndarray,
    lag: np.ndarray,
    examples: int,
    multiple: int,
    mixed: Sequence[np.ndarray],
) -> None:
    """Add one shard's step to what is being mixed (old, moved, mean, present, low, high); its i-th weight is the
    place[i]-th of these arrays."""
    old, moved, mean, present, low, high = mixed
    change = value.astype(np.float64) - old[place]
    moved[place] += multiple * change
    mean[place] += multiple * (change - lag / examples)
    present[place] += multiple
    low[place] = np.minimum(low[place], value)
    high[place] = np.maximum(high[place], value)


def replace_weights(
    before: Entries, after: Entries
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Optional[np.ndarray]]:
    """(keys, starts, labels, weights, counts) of two such tuples: after's weights where it has any, before's elsewhere,
    without zeros; the counts are added, and None if `after` has none. A row without weights stays if it has a count."""
    *old, weights_a, counts_a = before
    *new, weights_b, counts_b = after
    keys, starts, labels, place_a, place_b = unite_two(*old, *new)
    weights = np.zeros(len(labels), np.float32)
    weights[place_a] = weights_a
    weights[place_b] = weights_b
    counts = None
    if counts_b is not None:
        counts = np.zeros(len(keys), np.int32)
        counts[np.searchsorted(keys, old[0])] += 0 if counts_a is None else counts_a
        counts[np.searchsorted(keys, new[0])] += counts_b
    keep = weights != 0
    used, starts = rows_left(starts, keep, counts)
    return keys[used], starts, labels[keep], weights[keep], None if counts is None else counts[used]


def add_averages(
    before: Entries, last: Entries, step: Entries, share: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(keys, starts, labels, totals) of three such tuples: sum + share * (weight + mean), each zero where there is
    none; without zeros."""
    *rows_a, sums = before
    *rows_b, weights = last
    *rows_c, means = step
    *both, place_b, place_c = unite_two(*rows_b, *rows_c)
    keys, starts, labels, place_a, place_both = unite_two(*rows_a, *both)
    total, weight, mean = np.zeros((3, len(labels)))
    total[place_a], weight[place_both[place_b]], mean[place_both[place_c]] = sums, weights, means
    total += share * (weight + mean)
    keep = total != 0
    used, starts = rows_left(starts, keep, None)
    return keys[used], starts, labels[keep], total[keep]


def rows_left(starts: np.ndarray, keep: np.ndarray, counts: Optional[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Which rows stay if these entries are kept (those that have one, or a count), and where their entries start."""
    kept_before = np.append(0, np.cumsum(keep))
    sizes = np.diff(kept_before[starts])
    used = sizes > 0 if counts is None else (sizes > 0) | (counts > 0)
    return used, np.append(0, np.cumsum(sizes[used])).astype(np.int64)
