"""Beam search: after every token only the best few states survive.

A state of a first-order model is its last label, so sequences that end alike are merged as in Viterbi, and a beam
as wide as the label set is exact.
"""

import numpy as np

from perceptron_core.decoders.lattice import NEVER, Scores


def prune(states: np.ndarray, beam: int) -> np.ndarray:
    """The beam's best states, the lower label first where they tie; the others become -inf."""
    kept = np.argsort(-states, kind="stable")[:beam]
    pruned = np.full_like(states, NEVER)
    pruned[kept] = states[kept]
    return pruned


def beam_search(scores: Scores, beam: int) -> np.ndarray:
    """The best score up to every token and surviving label."""
    alpha = np.empty_like(scores.emissions)
    alpha[0] = prune(scores.start + scores.emissions[0], beam)
    for t in range(1, len(alpha)):
        reached = (alpha[t - 1][:, None] + scores.into[t]).max(axis=0) + scores.emissions[t]
        alpha[t] = prune(reached, beam)
    return alpha
