"""What the decoders share: the scores of a sentence, and how the result of a search is read.

A search fills alpha[t, c], the best score of a sequence of states that ends in state c at token t, -inf where no such
sequence was kept. In a first-order model a state is a label. The sequence itself is read backwards: came_from is the
argmax that the search took. All scores are float32, and ties go to the lowest state.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from perceptron_core.structures.prefixes import Step

NEVER = np.float32(-np.inf)


class Scores(NamedTuple):
    """A sentence of n tokens over S states, as numbers only."""

    emissions: np.ndarray  # n × S
    start: np.ndarray  # S: stepping into the first token
    into: Sequence[np.ndarray]  # into[t]: S × S, stepping from a state at t-1 to a state at t; into[0] is not used
    stop: np.ndarray  # S: ending there

    def reach(self, before: np.ndarray, t: int) -> np.ndarray:
        """The best score of stepping into each state of token t, from states with these scores."""
        return (before[:, None] + self.into[t]).max(axis=0)

    def steps_into(self, t: int, state: int) -> np.ndarray:
        """The score of stepping into this state of token t, from each state."""
        return self.into[t][:, state]


def came_from(scores: Scores, alpha: np.ndarray, t: int, state: int) -> int:
    """The state at t-1 on the best sequence that has `state` at t."""
    return int(np.argmax(alpha[t - 1] + scores.steps_into(t, state)))


def best_state(scores: Scores, alpha: np.ndarray, length: int) -> int:
    """The last state of the best sequence over the first `length` tokens."""
    last = alpha[length - 1]
    return int(np.argmax(last + scores.stop if length == len(alpha) else last))


def read_path(scores: Scores, alpha: np.ndarray, length: int) -> list[int]:
    """The best sequence of states over the first `length` tokens."""
    path = [best_state(scores, alpha, length)]
    for t in range(length - 1, 0, -1):
        path.append(came_from(scores, alpha, t, path[-1]))
    return path[::-1]


def trace(scores: Scores, alpha: np.ndarray, gold: Sequence[int], gold_scores: np.ndarray) -> list[Step]:
    """What the choice of a prefix needs of the search; `gold` are states, gold_scores their score up to each token."""
    steps = []
    for t, state in enumerate(gold):
        best = best_state(scores, alpha, t + 1)
        top = alpha[t, best]
        if t == len(alpha) - 1:
            top = top + scores.stop[best]
        kept = alpha[t, state] > NEVER and (t == 0 or came_from(scores, alpha, t, state) == gold[t - 1])
        steps.append(Step(top, gold_scores[t], bool(kept)))
    return steps
