"""Medians, paired ratios and their spread: what a table says about repeated measurements."""

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple, Optional


class Spread(NamedTuple):
    """The middle of some numbers, and how far they reach."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    return Spread(median(values), min(values), max(values))


def paired_ratios(above: Sequence[float], below: Sequence[float]) -> Spread:
    """Of measurements made in turns: the i-th of one against the i-th of the other, so that a busy minute of the
    machine spoils a pair and not the comparison."""
    if len(above) != len(below):
        raise ValueError(f"{len(above)} measurements cannot be paired with {len(below)}")
    return spread([a / b for a, b in zip(above, below)])


def deviation_from_flat(values: Sequence[float]) -> float:
    """How far the numbers stray from their median, as a share of it (0.1 is 10 %); infinite if the median is 0."""
    middle = median(values)
    if middle <= 0:
        return math.inf
    return max(abs(value - middle) for value in values) / middle


class Goal(NamedTuple):
    """What a ratio should be: at least, or at most."""

    at_least: Optional[float] = None
    at_most: Optional[float] = None

    def text(self) -> str:
        return f"≥ {self.at_least:g}×" if self.at_least is not None else f"≤ {self.at_most:g}×"

    def met(self, ratio: float) -> bool:
        return ratio >= self.at_least if self.at_least is not None else ratio <= self.at_most
