"""What the decoders share: the scores of a sentence, and the reading of a finished search.

A search fills alpha[t, c], the best score of a label sequence that ends in label c at token t, -inf where no
such sequence was kept. The sequence itself is read off backwards: came_from is the argmax that the search took.
All scores are float32, and ties go to the lowest label.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

NEVER = np.float32(-np.inf)


class Scores(NamedTuple):
    """A sentence of n tokens over L labels, as numbers only."""

    emissions: np.ndarray  # n × L
    start: np.ndarray  # L: stepping into the first token
    into: Sequence[np.ndarray]  # into[t]: L × L, stepping from a label at t-1 to a label at t; into[0] is not used
    stop: np.ndarray  # L: ending there


def came_from(scores: Scores, alpha: np.ndarray, t: int, label: int) -> int:
    """The label at t-1 on the best sequence that has `label` at t."""
    return int(np.argmax(alpha[t - 1] + scores.into[t][:, label]))


def best_label(scores: Scores, alpha: np.ndarray, length: int) -> int:
    """The last label of the best sequence over the first `length` tokens."""
    last = alpha[length - 1]
    return int(np.argmax(last + scores.stop if length == len(alpha) else last))


def trace(scores: Scores, alpha: np.ndarray, length: int) -> list[int]:
    """The best label sequence over the first `length` tokens."""
    path = [best_label(scores, alpha, length)]
    for t in range(length - 1, 0, -1):
        path.append(came_from(scores, alpha, t, path[-1]))
    return path[::-1]
