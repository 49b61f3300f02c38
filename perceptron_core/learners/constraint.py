"""What a learner sees of a violated constraint: z was found, but y is right, and w should separate them."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Constraint(NamedTuple):
    delta: Mapping[Any, float]  # Δ = Φ(x, y) − Φ(x, z): count by weight, never zero as a whole
    loss: float  # wrong tokens of z
    margin: float  # w · Δ
    norm: float  # ‖Δ‖²
