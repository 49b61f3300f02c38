"""The keys of transitions."""

from collections.abc import Sequence

import numpy as np

from perceptron_core.features.keys import label_hashes
from perceptron_core.hashing import extend_keys, hash_string


def transition_keys(labels: Sequence[str]) -> np.ndarray:
    """The key of every transition weight, (L+2) × L: from label to label, from the start, to the end.

    Each weight has a key of its own, so that mixing by rows counts it by itself; its label is the column.
    """
    names = label_hashes(labels)
    between = extend_keys(extend_keys(hash_string("transition"), names)[:, None], names[None, :])
    start = extend_keys(hash_string("start"), names)
    stop = extend_keys(hash_string("stop"), names)
    return np.concatenate([between, start[None, :], stop[None, :]])
