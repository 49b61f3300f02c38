"""Greedy search, left to right: each token gets its best label given the label before, which is not changed later."""

import numpy as np

from perceptron_core.structures.sequence.lattice import NEVER, Scores


def greedy(scores: Scores, beam: int = 0) -> np.ndarray:
    """The scores of the one sequence that is followed; `beam` is not used."""
    alpha = np.full_like(scores.emissions, NEVER)
    so_far, step = np.float32(0), scores.start
    for t in range(len(alpha)):
        options = (so_far + step) + scores.emissions[t]
        chosen = int(np.argmax(options + scores.stop if t == len(alpha) - 1 else options))
        so_far = alpha[t, chosen] = options[chosen]
        step = scores.into[min(t + 1, len(alpha) - 1)][chosen]
    return alpha
