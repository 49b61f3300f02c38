"""Decoders: scores in, label sequences out; they never see features."""

from typing import Callable

import numpy as np

from perceptron_core.decoders.beam import beam_search
from perceptron_core.decoders.greedy import greedy
from perceptron_core.decoders.lattice import Scores, trace
from perceptron_core.decoders.viterbi import viterbi

DECODERS: dict[str, Callable[[Scores, int], np.ndarray]] = {
    "viterbi": viterbi,
    "beam": beam_search,
    "greedy": greedy,
}

__all__ = ["DECODERS", "Scores", "trace"]
