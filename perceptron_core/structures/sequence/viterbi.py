"""Viterbi: the exact search.

alpha[0, c] = start[c] + emissions[0, c]
alpha[t, c] = max over p of (alpha[t-1, p] + into[t][p, c]) + emissions[t, c]
"""

import numpy as np

from perceptron_core.structures.sequence.lattice import Scores


def viterbi(scores: Scores, beam: int = 0) -> np.ndarray:
    """The best score up to every token and state; `beam` is not used."""
    alpha = np.empty_like(scores.emissions)
    alpha[0] = scores.start + scores.emissions[0]
    for t in range(1, len(alpha)):
        alpha[t] = scores.reach(alpha[t - 1], t) + scores.emissions[t]
    return alpha
