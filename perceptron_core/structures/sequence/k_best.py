"""The k best sequences of states of a finished search, exactly: the k best of every state, from left to right.

    best[0][c]  = [(alpha[0, c], c)]
    best[t][c]  = the k best of { (s + into[t][p, c]) + emissions[t, c]  for every p and every s in best[t-1][p] }
    the answer  = the k best of { s + stop[c]  for every c and every s in best[n-1][c] }

Only states that the search kept are used, so after a beam search these are the k best sequences within the beam. Equal
scores stay in the order of the state before, then of their ranks there: the first sequence is the one that `read_path`
reads. The compiled kernel does the same lazily: it finds the next best of a state when a longer sequence needs it.

Reference: L. Huang and D. Chiang, Better k-best parsing, IWPT 2005 (this is their Algorithm 1; the kernel's is 3).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from perceptron_core.structures.sequence.lattice import NEVER, Scores


class Scored(NamedTuple):
    score: np.float32
    states: tuple[int, ...]


def k_best(scores: Scores, alpha: np.ndarray, length: int, k: int) -> list[Scored]:
    """Up to k different sequences over the first `length` tokens, best first; alpha is the search's."""
    numbers = range(alpha.shape[1])
    states = [[Scored(alpha[0, c], (c,))] for c in numbers]
    for t in range(1, length):
        states = [
            [
                Scored(before.score + scores.emissions[t, c], (*before.states, c))
                for before in (_best(states, scores.steps_into(t, c), k) if alpha[t, c] > NEVER else ())
            ]
            for c in numbers
        ]
    return _best(states, scores.stop if length == len(alpha) else np.zeros_like(scores.stop), k)


def _best(states: Sequence[Sequence[Scored]], step: np.ndarray, k: int) -> list[Scored]:
    """The k best of all sequences, after the step from their last state."""
    stepped = [Scored(score + step[c], path) for c, state in enumerate(states) for score, path in state]
    possible = [scored for scored in stepped if scored.score > NEVER]
    return sorted(possible, key=lambda scored: -scored.score)[:k]  # stable, so equal scores stay in order
