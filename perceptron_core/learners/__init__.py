"""Learners: given a violated constraint's (loss, margin, ‖Δ‖²), how far to move along Δ. They know no structure.

SET_LEARNERS take several constraints at once (of a minibatch, or the k best of a sentence) and say how far to move
along each Δ. Those in ONE_PASS count instead (see perceptron_core/counting/sums.py).
"""

from collections.abc import Sequence
from typing import Callable

from perceptron_core.learners.constraint import Constraint
from perceptron_core.learners.mira import mira, mira_set
from perceptron_core.learners.passive_aggressive import pa, pa1, pa2
from perceptron_core.learners.perceptron import perceptron, perceptron_set

LEARNERS: dict[str, Callable[[float, float, float, float], float]] = {
    "perceptron": perceptron,
    "pa": pa,
    "pa1": pa1,
    "pa2": pa2,
    "mira": mira,
}
SET_LEARNERS: dict[str, Callable[[Sequence[Constraint], float], list[float]]] = {
    "perceptron": perceptron_set,
    "mira": mira_set,
}
ONE_PASS = ("naive-bayes", "rocchio")
