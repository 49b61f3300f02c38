"""Which prefix of a wrongly decoded sentence to update on.

    standard       the whole sentence
    early          up to where the search lost the gold labels (Collins & Roark 2004)
    max-violation  where the search's best prefix beats the gold prefix by most (Huang, Fayong & Guo 2012)

With an inexact search the whole sentence may be no violation at all (the gold would have scored higher had it been
kept); the two prefixes always are.
"""

from collections.abc import Sequence
from typing import Callable

import numpy as np

from perceptron_core.structures.sequence.lattice import NEVER, Scores, best_label, came_from


def standard(scores: Scores, alpha: np.ndarray, gold: Sequence[int], gold_scores: np.ndarray) -> int:
    return len(alpha)


def early(scores: Scores, alpha: np.ndarray, gold: Sequence[int], gold_scores: np.ndarray) -> int:
    """The shortest prefix whose gold labels the search did not keep; the whole if it kept them to the end."""
    for t, label in enumerate(gold):
        if alpha[t, label] == NEVER or (t and came_from(scores, alpha, t, label) != gold[t - 1]):
            return t + 1
    return len(alpha)


def max_violation(scores: Scores, alpha: np.ndarray, gold: Sequence[int], gold_scores: np.ndarray) -> int:
    """The prefix of the largest (best score − gold score); the longest where several are equal."""
    longest, largest = len(alpha), NEVER
    for length in range(1, len(alpha) + 1):
        label = best_label(scores, alpha, length)
        best = alpha[length - 1, label]
        if length == len(alpha):
            best = best + scores.stop[label]
        violation = best - gold_scores[length - 1]
        if violation >= largest:
            longest, largest = length, violation
    return longest


UPDATES: dict[str, Callable[[Scores, np.ndarray, Sequence[int], np.ndarray], int]] = {
    "standard": standard,
    "early": early,
    "max-violation": max_violation,
}
