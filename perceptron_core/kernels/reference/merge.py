"""Sorted rows of weights united, and a shard's step added to what is being mixed."""

import numpy as np


def unite_two(
    keys_a: np.ndarray,
    starts_a: np.ndarray,
    labels_a: np.ndarray,
    keys_b: np.ndarray,
    starts_b: np.ndarray,
    labels_b: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(keys, starts, labels) of all (key, label) pairs, and for both inputs where each of its entries went."""
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
    old: np.ndarray,
    moved: np.ndarray,
    mean: np.ndarray,
    present: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """Add one shard's step to what is being mixed; its i-th weight is the place[i]-th of these arrays."""
    change = value.astype(np.float64) - old[place]
    moved[place] += multiple * change
    mean[place] += multiple * (change - lag / examples)
    present[place] += multiple
    low[place] = np.minimum(low[place], value)
    high[place] = np.maximum(high[place], value)
