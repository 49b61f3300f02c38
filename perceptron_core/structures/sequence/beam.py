"""Beam search: after every token only the best few states survive.

A state of a first-order model is its last label, of a second-order model its last two, so sequences that end alike are
merged as in Viterbi, and a beam as wide as the set of states is exact.
"""

import numpy as np

from perceptron_core.structures.sequence.lattice import NEVER, Scores


def prune(states: np.ndarray, ranks: np.ndarray, beam: int) -> np.ndarray:
    """The beam's best states by rank, the lower state first where they tie; the others become -inf."""
    kept = np.argsort(-ranks, kind="stable")[:beam]
    pruned = np.full_like(states, NEVER)
    pruned[kept] = states[kept]
    return pruned


def beam_search(scores: Scores, beam: int) -> np.ndarray:
    """The best score up to every token and surviving state; the last token's rank by what they score with stopping."""
    alpha = np.empty_like(scores.emissions)
    reached = scores.start + scores.emissions[0]
    for t in range(len(alpha)):
        if t:
            reached = scores.reach(alpha[t - 1], t) + scores.emissions[t]
        alpha[t] = prune(reached, reached + scores.stop if t == len(alpha) - 1 else reached, beam)
    return alpha
