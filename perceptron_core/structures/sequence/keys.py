"""The keys of weights that have labels in them: transitions, and features joined with the labels before."""

from collections.abc import Sequence

import numpy as np

from perceptron_core.hashing import extend_key, extend_keys, hash_string


def label_hashes(labels: Sequence[str]) -> np.ndarray:
    return np.array([hash_string(label) for label in labels], np.uint64)


def transition_keys(labels: Sequence[str]) -> np.ndarray:
    """The key of every transition weight, (L+2) × L: from label to label, from the start, to the end.

    Each weight has a key of its own, so that mixing by rows counts it by itself; its label is the column.
    """
    names = label_hashes(labels)
    between = extend_keys(extend_keys(hash_string("transition"), names)[:, None], names[None, :])
    start = extend_keys(hash_string("start"), names)
    stop = extend_keys(hash_string("stop"), names)
    return np.concatenate([between, start[None, :], stop[None, :]])


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
