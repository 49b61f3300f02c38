"""Where a value stands on an axis, and which values are named there."""

import math
from typing import Callable


class Scale:
    """An axis from one value to another, as it is (`float`) or by its logarithm."""

    def __init__(self, low: float, high: float, transform: Callable[[float], float] = float) -> None:
        self.transform = transform
        self.first, self.last = transform(low), transform(high)
        if self.first == self.last:  # a single value stands in the middle
            self.first, self.last = self.first - 1, self.last + 1

    def share(self, value: float) -> float:
        """0 at the beginning of the axis, 1 at its end."""
        return (self.transform(value) - self.first) / (self.last - self.first)


def log_of_count(count: float) -> float:
    """For an axis of counts: zero stands with one."""
    return math.log(max(count, 1.0))


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers, 1, 2 or 5 times a power of ten apart, from at or below `low` to at or above `high`."""
    if high - low < 1e-6:  # one value, or differences that no label could show
        low, high = (low, low + 1) if low == 0 else (high - 1, high)
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def inner_ticks(low: float, high: float) -> list[float]:
    """The round numbers between two; only the whole ones, if there are several."""
    found = [tick for tick in ticks(low, high, 8) if low <= tick <= high]
    whole = [tick for tick in found if tick == int(tick)]
    return whole if len(whole) > 1 else found


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between two; only the powers, if these are many; or the two themselves."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1,)):
        found = [factor * 10.0**power for power in powers for factor in factors if low <= factor * 10.0**power <= high]
        if 2 <= len(found) <= 8:
            return found
    return [float(f"{low:.2g}"), float(f"{high:.2g}")] if low < high else [low]


def powers_of_ten(highest: float) -> list[float]:
    """From 1 to at or above the highest."""
    return [10.0**power for power in range(max(1, math.ceil(math.log10(max(highest, 1.0)))) + 1)]
