"""Decoders: from scores to label sequences; they never see features."""

from typing import Callable

import numpy as np

from perceptron_core.structures.sequence.beam import beam_search
from perceptron_core.structures.sequence.greedy import greedy
from perceptron_core.structures.sequence.lattice import Scores
from perceptron_core.structures.sequence.viterbi import viterbi

DECODERS: dict[str, Callable[[Scores, int], np.ndarray]] = {
    "viterbi": viterbi,
    "beam": beam_search,
    "greedy": greedy,
}

__all__ = ["DECODERS", "Scores"]
