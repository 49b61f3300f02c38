"""Learners: given a violated constraint's (loss, margin, ‖Δ‖²), how far to move along Δ. They know no structure.

Those in ONE_PASS have no constraints to move by: they count (see perceptron_core/sums.py).
"""

from typing import Callable

from perceptron_core.learners.passive_aggressive import pa, pa1, pa2
from perceptron_core.learners.perceptron import perceptron

LEARNERS: dict[str, Callable[[float, float, float, float], float]] = {
    "perceptron": perceptron,
    "pa": pa,
    "pa1": pa1,
    "pa2": pa2,
}

ONE_PASS = ("naive-bayes", "rocchio")
