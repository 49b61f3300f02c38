"""Which prefix of a wrong guess to update on, for every search that goes from left to right.

    standard       the whole example
    early          up to where the search lost the gold (Collins & Roark 2004)
    max-violation  where the search's best prefix beats the gold prefix by most (Huang, Fayong & Guo 2012)

With an inexact search the whole example may not be a violation: the gold may score higher than the guess, but the
search has dropped it. The two prefixes are always violations. They are found in the trace of the search, which has one
Step per step of the search.
"""

from collections.abc import Sequence
from typing import Callable, NamedTuple

import numpy as np


class Step(NamedTuple):
    best: np.float32  # the best score of what the search kept up to here
    gold: np.float32  # the score of the gold up to here
    kept: bool  # whether the search still has the gold


Trace = Sequence[Step]


def standard(trace: Trace) -> int:
    return len(trace)


def early(trace: Trace) -> int:
    """The shortest prefix whose gold the search did not keep; the whole example if it kept the gold to the end."""
    return next((length for length, step in enumerate(trace, 1) if not step.kept), len(trace))


def max_violation(trace: Trace) -> int:
    """The prefix with the largest (best score − gold score); the longest of several equal ones."""
    longest, largest = len(trace), np.float32(-np.inf)
    for length, step in enumerate(trace, 1):
        violation = step.best - step.gold
        if violation >= largest:
            longest, largest = length, violation
    return longest


UPDATES: dict[str, Callable[[Trace], int]] = {
    "standard": standard,
    "early": early,
    "max-violation": max_violation,
}
