"""Charts over the epochs of a run, as SVG: lines, stacked bars, and a dot a shard.

An element says what it is by its class and leaves its looks to the style sheet of whoever embeds it. What the pointer
is over is told by <title> elements, so a chart needs no script. Charts are drawn 380 units wide, so that their text
is readable on a phone; on a desktop they stand side by side.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from perceptron_jobs.report.text import Unit, escape

WIDTH, HEIGHT = 380, 230
LEFT, RIGHT, TOP, BOTTOM = 54, 10, 12, 38
MARKERS_UP_TO = 40  # epochs; the marks of a longer line would run into each other
MARKS = (  # a shape for every colour, for those who cannot tell the colours
    "M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z",
    "M-2.8-2.8h5.6v5.6h-5.6z",
    "M0-3.9L3.6 2.8h-7.2z",
    "M0-4.2L4.2 0 0 4.2-4.2 0z",
)

Point = tuple[float, float]
Drawing = list[str]  # elements of SVG


class Line(NamedTuple):
    name: str
    points: Sequence[Point]  # epoch, value
    colour: int  # 1 … 8, of the style sheet
    dashed: bool = False

    def style(self) -> str:
        return f"c{self.colour}" + " dashed" * self.dashed


class Part(NamedTuple):
    """A part of every bar in a stack."""

    name: str
    values: Sequence[float]
    colour: int


class Dot(NamedTuple):
    value: float
    told: str


class _Axes:
    """Epochs to the right, values upwards."""

    def __init__(self, epochs: Sequence[int], low: float, high: float, unit: Unit) -> None:
        self.epochs, self.unit = epochs, unit
        self.y_ticks = ticks(low, high, 5)
        self.low, self.high = self.y_ticks[0], self.y_ticks[-1]
        self.bottom, self.end = HEIGHT - BOTTOM, WIDTH - RIGHT
        self.slot = (self.end - LEFT) / (max(epochs) - min(epochs) + 1)

    def x(self, epoch: float) -> float:
        """The middle of the epoch's slot."""
        return LEFT + (epoch - min(self.epochs) + 0.5) * self.slot

    def y(self, value: float) -> float:
        return self.bottom - (value - self.low) / (self.high - self.low) * (self.bottom - TOP)

    def drawn(self) -> Iterator[str]:
        for tick in self.y_ticks:
            y = self.y(tick)
            yield f'<path class="grid" d="M{LEFT} {y:.1f}H{self.end}"/>'
            yield text(LEFT - 7, y + 4, self.unit.tick(tick), "end")
        yield f'<path class="axis" d="M{LEFT} {self.bottom}H{self.end}"/>'
        first, last = min(self.epochs), max(self.epochs)
        for tick in ticks(first, last, 8) if last > first else [first]:
            if first <= tick <= last and tick == int(tick):
                yield text(self.x(tick), self.bottom + 16, f"{tick:.0f}", "middle")
        yield text((LEFT + self.end) / 2, HEIGHT - 4, "epoch", "middle")

    def told(self, texts: dict[int, str]) -> Iterator[str]:
        """A slot an epoch that tells its values."""
        height = self.bottom - TOP
        for epoch, text in texts.items():
            x = self.x(epoch)
            yield (
                f'<g class="slot"><title>{escape(text)}</title>'
                f'<rect x="{x - self.slot / 2:.1f}" y="{TOP}" width="{self.slot:.1f}" height="{height}"/>'
                f'<path d="M{x:.1f} {TOP}v{height}"/></g>'
            )


def line_chart(lines: Sequence[Line], unit: Unit, from_zero: bool = True) -> Drawing:
    """Lines over the same epochs; where they do not start from zero, the differences show."""
    values = [y for line in lines for _, y in line.points]
    epochs = sorted({int(x) for line in lines for x, _ in line.points})
    axes = _Axes(epochs, 0.0 if from_zero else min(values), max(values), unit)
    parts = [*axes.drawn()]
    for line in lines:
        path = [(axes.x(x), axes.y(y)) for x, y in line.points]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
        parts.append(f'<polyline class="line {line.style()}" points="{points}"/>')
        if len(epochs) <= MARKERS_UP_TO:
            mark = MARKS[(line.colour - 1) % len(MARKS)]
            for x, y in path:
                parts.append(f'<path class="mark {line.style()}" transform="translate({x:.1f} {y:.1f})" d="{mark}"/>')
    told = {}
    for epoch in epochs:
        here = [f"{line.name}: {unit.full(y)}" for line in lines for x, y in line.points if x == epoch]
        told[epoch] = "\n".join([f"epoch {epoch}", *here])
    return [*parts, *axes.told(told)]


def stacked_bars(epochs: Sequence[int], parts: Sequence[Part], unit: Unit) -> Drawing:
    """A bar an epoch, its parts on top of each other."""
    totals = [sum(part.values[i] for part in parts) for i in range(len(epochs))]
    axes = _Axes(epochs, 0.0, max(totals), unit)
    drawn, told = [*axes.drawn()], {}
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
    axes = _Axes(list(columns), 0.0, max(values), unit)
    parts = [*axes.drawn()]
    at_most = max(5, 1500 // len(columns))  # of a thousand shards the outliers and a sample of the others will do
    for epoch, dots in columns.items():
        ordered = sorted(dots, key=lambda dot: dot.value)
        x, median = axes.x(epoch), axes.y(ordered[len(ordered) // 2].value)
        half = min(0.35 * axes.slot, 16.0)
        parts.append(
            f'<path class="range c{colour}" d="M{x:.1f} {axes.y(ordered[0].value):.1f}'
            f'V{axes.y(ordered[-1].value):.1f}"/>'
        )
        shown = _sampled(ordered, at_most)
        # Many of them are spread out a little to the sides, so as not to hide one another.
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
    """As many, evenly, the first and the last among them."""
    if len(ordered) <= at_most:
        return ordered
    step = (len(ordered) - 1) / (at_most - 1)
    return [ordered[round(i * step)] for i in range(at_most)]


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers, 1, 2 or 5 times a power of ten apart, from at or below `low` to at or above `high`."""
    if high - low < 1e-6:  # one value, or differences that no label could show
        low, high = (low, low + 1) if low == 0 else (high - 1, high)
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def svg(title: str, drawing: Drawing, height: int = HEIGHT, more: str = "") -> str:
    """The drawing in its frame, under the name that a screen reader tells."""
    frame = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"{more}>'
    return "\n".join([frame, f"<title>{escape(title)}</title>", *drawing, "</svg>"])


def text(x: float, y: float, words: str, anchor: str = "start", style: str = "") -> str:
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
