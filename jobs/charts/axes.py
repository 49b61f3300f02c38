"""An area to draw in, with a scale to the right and a scale upwards."""

from collections.abc import Iterable, Iterator
from typing import Callable, NamedTuple

from perceptron_jobs.charts.scales import Scale
from perceptron_jobs.charts.svg import Point, straight, text

TICK = 4  # units long


class Area(NamedTuple):
    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height


class Axes(NamedTuple):
    area: Area
    across: Scale
    up: Scale

    def x(self, value: float) -> float:
        return self.area.left + self.across.share(value) * self.area.width

    def y(self, value: float) -> float:
        return self.area.bottom - self.up.share(value) * self.area.height

    def path(self, points: Iterable[Point]) -> list[Point]:
        return [(self.x(x), self.y(y)) for x, y in points]

    def grid(self, ticks: Iterable[float], name: Callable[[float], str]) -> Iterator[str]:
        """A line across for each tick, with its name at the left; and the axis below."""
        left, right, bottom = self.area.left, self.area.right, self.area.bottom
        for tick in ticks:
            y = self.y(tick)
            yield straight("grid", (left, y), (right, y))
            yield text(left - 7, y + 4, name(tick), "end", "tick")
        yield straight("axis", (left, bottom), (right, bottom))

    def below(self, ticks: Iterable[float], name: Callable[[float], str], marked: bool = False) -> Iterator[str]:
        """The names of ticks below the axis, on request with a small line to each."""
        bottom = self.area.bottom
        for tick in ticks:
            if marked:
                yield straight("axis", (self.x(tick), bottom), (self.x(tick), bottom + TICK))
            yield text(self.x(tick), bottom + (18 if marked else 16), name(tick), "middle", "tick")
