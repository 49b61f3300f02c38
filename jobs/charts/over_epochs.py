"""Charts over the epochs of a run: lines, stacked bars, and one dot per shard.

What the pointer is over is told by <title> elements, so a chart needs no script. Charts are drawn 380 units wide, so
that their text is readable on a phone; on a desktop they stand side by side.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from perceptron_jobs.charts.axes import Area, Axes
from perceptron_jobs.charts.scales import Scale, ticks
from perceptron_jobs.charts.svg import Drawing, Point, framed, line, text
from perceptron_jobs.charts.text import Unit, escape

WIDTH, HEIGHT = 380, 230
LEFT, RIGHT, TOP, BOTTOM = 54, 10, 12, 38
AREA = Area(LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM)
MARKERS_UP_TO = 40  # epochs; the marks of a longer line would run into each other
MOST_DOTS = 1500  # of all epochs together


class Line(NamedTuple):
    name: str
    points: Sequence[Point]  # epoch, value
    colour: int  # 1 … 8, of the style sheet
    dashed: bool = False


class Part(NamedTuple):
    """A part of every bar in a stack."""

    name: str
    values: Sequence[float]
    colour: int


class Dot(NamedTuple):
    value: float
    told: str


class _Axes(Axes):
    """Epochs to the right, each in a slot of its own; values upwards."""

    @classmethod
    def over(cls, epochs: Sequence[int], up: Sequence[float]) -> "_Axes":
        return cls(AREA, Scale(min(epochs) - 0.5, max(epochs) + 0.5), Scale(up[0], up[-1]))

    @property
    def slot(self) -> float:
        """The width of an epoch."""
        return self.area.width / (self.across.last - self.across.first)

    def drawn(self, epochs: Sequence[int], up: Sequence[float], unit: Unit) -> Iterator[str]:
        yield from self.grid(up, unit.tick)
        first, last = min(epochs), max(epochs)
        named = ticks(first, last, 8) if last > first else [first]
        whole = [tick for tick in named if first <= tick <= last and tick == int(tick)]
        yield from self.below(whole, lambda tick: f"{tick:.0f}")
        yield text(self.area.left + self.area.width / 2, HEIGHT - 4, "epoch", "middle")

    def told(self, texts: dict[int, str]) -> Iterator[str]:
        """One slot per epoch, which tells its values."""
        for epoch, words in texts.items():
            x = self.x(epoch)
            yield (
                f'<g class="slot"><title>{escape(words)}</title>'
                f'<rect x="{x - self.slot / 2:.1f}" y="{TOP}" width="{self.slot:.1f}" height="{self.area.height}"/>'
                f'<path d="M{x:.1f} {TOP}v{self.area.height}"/></g>'
            )


def line_chart(lines: Sequence[Line], unit: Unit, from_zero: bool = True) -> Drawing:
    """Lines over the same epochs; if they do not start from zero, the differences show."""
    values = [y for each in lines for _, y in each.points]
    epochs = sorted({int(x) for each in lines for x, _ in each.points})
    up = ticks(0.0 if from_zero else min(values), max(values), 5)
    axes = _Axes.over(epochs, up)
    parts = [*axes.drawn(epochs, up, unit)]
    for each in lines:
        parts += line(axes.path(each.points), each.colour, each.dashed, len(epochs) <= MARKERS_UP_TO)
    told = {}
    for epoch in epochs:
        here = [f"{each.name}: {unit.full(y)}" for each in lines for x, y in each.points if x == epoch]
        told[epoch] = "\n".join([f"epoch {epoch}", *here])
    return [*parts, *axes.told(told)]


def stacked_bars(epochs: Sequence[int], parts: Sequence[Part], unit: Unit) -> Drawing:
    """One bar per epoch, its parts on top of each other."""
    totals = [sum(part.values[i] for part in parts) for i in range(len(epochs))]
    up = ticks(0.0, max(totals), 5)
    axes = _Axes.over(epochs, up)
    drawn, told = [*axes.drawn(epochs, up, unit)], {}
    for i, epoch in enumerate(epochs):
        width, below = min(0.7 * axes.slot, 40.0), 0.0
        for part in parts:
            y, height = axes.y(below + part.values[i]), axes.y(below) - axes.y(below + part.values[i])
            drawn.append(
                f'<rect class="bar c{part.colour}" x="{axes.x(epoch) - width / 2:.1f}" y="{y:.2f}" '
                f'width="{width:.1f}" height="{height:.2f}"/>'
            )
            below += part.values[i]
        here = [f"{part.name}: {unit.full(part.values[i])}" for part in parts]
        told[epoch] = "\n".join([f"epoch {epoch}: {unit.full(totals[i])}", *here])
    return [*drawn, *axes.told(told)]


def dot_chart(columns: dict[int, list[Dot]], unit: Unit, colour: int) -> Drawing:
    """An epoch's values as dots above each other, from the lowest to the highest, and a bar at their median."""
    values = [dot.value for dots in columns.values() for dot in dots]
    epochs, up = list(columns), ticks(0.0, max(values), 5)
    axes = _Axes.over(epochs, up)
    parts = [*axes.drawn(epochs, up, unit)]
    at_most = max(5, MOST_DOTS // len(columns))  # a thousand shards are shown by the outliers and a sample
    for epoch, dots in columns.items():
        ordered = sorted(dots, key=lambda dot: dot.value)
        x, median = axes.x(epoch), axes.y(ordered[len(ordered) // 2].value)
        half = min(0.35 * axes.slot, 16.0)
        parts.append(
            f'<path class="range c{colour}" d="M{x:.1f} {axes.y(ordered[0].value):.1f}'
            f'V{axes.y(ordered[-1].value):.1f}"/>'
        )
        shown = _sampled(ordered, at_most)
        # Many of them are spread out a little to the sides, so that they do not hide one another.
        aside, radius = (min(0.09 * axes.slot, 3.5), 3) if len(shown) > 8 else (0.0, 4)
        for rank, dot in enumerate(shown):
            at = x + aside * (2 * rank % 5 - 2)
            parts.append(
                f'<circle class="dot c{colour}" cx="{at:.1f}" cy="{axes.y(dot.value):.1f}" r="{radius}">'
                f"<title>{escape(dot.told)}</title></circle>"
            )
        parts.append(f'<path class="median" d="M{x - half:.1f} {median:.1f}h{2 * half:.1f}"/>')
    return parts


def _sampled(ordered: list[Dot], at_most: int) -> list[Dot]:
    """Evenly spread ones, with the first and the last among them."""
    if len(ordered) <= at_most:
        return ordered
    step = (len(ordered) - 1) / (at_most - 1)
    return [ordered[round(i * step)] for i in range(at_most)]


def svg(title: str, drawing: Drawing, height: int = HEIGHT, more: str = "") -> str:
    """A picture as wide as these charts are."""
    return framed(title, drawing, WIDTH, height, more)
