"""Beam search: after every token only the best few states are kept.

A state of a first-order model is its last label, of a second-order model its last two. So sequences with the same end
are merged as in Viterbi, and a beam as wide as the set of states is exact.
"""

import numpy as np

from perceptron_core.structures.sequence.lattice import NEVER, Scores


def prune(states: np.ndarray, ranks: np.ndarray, beam: int) -> np.ndarray:
    """Keep the `beam` best states by rank, the lower state of equal ones; the others become -inf."""
    kept = np.argsort(-ranks, kind="stable")[:beam]
    pruned = np.full_like(states, NEVER)
    pruned[kept] = states[kept]
    return pruned


def beam_search(scores: Scores, beam: int) -> np.ndarray:
    """The best score up to every token and state that was kept; at the last token, by their score with stop."""
    alpha = np.empty_like(scores.emissions)
    reached = scores.start + scores.emissions[0]
    for t in range(len(alpha)):
        if t:
            reached = scores.reach(alpha[t - 1], t) + scores.emissions[t]
        alpha[t] = prune(reached, reached + scores.stop if t == len(alpha) - 1 else reached, beam)
    return alpha
