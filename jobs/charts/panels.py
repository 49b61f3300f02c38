"""Line charts side by side: panels, each with axes, its lines, and every line's name at its end.

A line is known by its colour, by its marks, and by its name at its end.
"""

import math
from collections.abc import Sequence
from typing import Callable, NamedTuple

from perceptron_jobs.charts.axes import Area, Axes
from perceptron_jobs.charts.scales import Scale, inner_ticks, log_of_count, log_ticks, powers_of_ten, ticks
from perceptron_jobs.charts.style import REFERENCE, STYLE, ground, next_colour
from perceptron_jobs.charts.svg import Drawing, Point, colour_class, framed, line, straight, text

PER_ROW = 2
WIDTH, HEIGHT = 330, 230  # of the plotted area of a panel
LEFT, LABELS, ABOVE, BELOW = 64, 130, 34, 56  # around it: numbers, lines' names, title, numbers
HEAD, MARGIN = 76, 16
LINE, CHARACTER = 14, 6.2  # the height of a line of small text, and about the width of one of its characters
MARKERS_UP_TO = 30  # points; the marks of a longer line would run into each other


class Panel(NamedTuple):
    title: str
    x_title: str
    lines: dict[str, list[Point]]
    log_x: bool = False
    x_ticks: Sequence[float] = ()  # these, if x has few values
    from_zero: bool = False
    log_y: bool = False  # for counts: zero stands with one

    def axes(self, area: Area) -> tuple[Axes, list[float], list[float]]:
        """The axes, and the ticks of x and of y."""
        points = [point for path in self.lines.values() for point in path] or [(1.0, 0.0)]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        up = powers_of_ten(max(ys)) if self.log_y else ticks(0.0 if self.from_zero else min(ys), max(ys), 5)
        inner = log_ticks if self.log_x else inner_ticks
        across = list(self.x_ticks) or inner(min(xs), max(xs))
        log: Callable[[float], float] = math.log if self.log_x else float
        x_scale = Scale(min(xs), max(xs), log)
        return Axes(area, x_scale, Scale(up[0], up[-1], log_of_count if self.log_y else float)), across, up


class Chart(NamedTuple):
    title: str
    caption: str
    panels: Sequence[Panel]
    reference: str = ""  # the name of the line that others are compared with, drawn dashed and dark

    def size(self) -> tuple[int, int]:
        columns = min(PER_ROW, len(self.panels))
        rows = -(-len(self.panels) // PER_ROW)
        width = 2 * MARGIN + columns * (LEFT + WIDTH + LABELS)
        caption = len(_wrapped(self.caption, width - 2 * MARGIN))
        return width, HEAD + rows * (ABOVE + HEIGHT + BELOW) + caption * LINE + MARGIN

    def svg(self) -> str:
        width, height = self.size()
        colours = self._colours()
        parts = [STYLE, ground(width, height), text(MARGIN, 28, self.title, style="heading"), *_legend(colours, width)]
        for number, panel in enumerate(self.panels):
            left = MARGIN + number % PER_ROW * (LEFT + WIDTH + LABELS) + LEFT
            top = HEAD + number // PER_ROW * (ABOVE + HEIGHT + BELOW) + ABOVE
            parts += _drawn(panel, Area(left, top, WIDTH, HEIGHT), colours)
        lines = _wrapped(self.caption, width - 2 * MARGIN)
        for number, words in enumerate(lines):
            y = height - MARGIN - (len(lines) - 1 - number) * LINE
            parts.append(text(MARGIN, y, words, style="caption"))
        return framed(self.title, parts, width, height, f' width="{width}" height="{height}"') + "\n"

    def _colours(self) -> dict[str, int]:
        """A line has the same colour in every panel."""
        names = list(dict.fromkeys(name for panel in self.panels for name in panel.lines))
        others = [name for name in names if name != self.reference]
        return {name: REFERENCE if name == self.reference else next_colour(others.index(name)) for name in names}


def _drawn(panel: Panel, area: Area, colours: dict[str, int]) -> Drawing:
    axes, across, up = panel.axes(area)
    parts = [text(area.left, area.top - 14, panel.title, style="panel")]
    parts += axes.grid(up, _number)
    parts += axes.below(across, _number, marked=True)
    parts.append(text(area.left + area.width / 2, area.bottom + 38, panel.x_title, "middle"))
    ends = {}
    for name, points in panel.lines.items():
        path, colour = axes.path(points), colours[name]
        parts += line(path, colour, colour == REFERENCE, len(path) <= MARKERS_UP_TO)
        ends[name] = path[-1]
    return parts + _end_labels(ends, area, colours)


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _end_labels(ends: dict[str, Point], area: Area, colours: dict[str, int]) -> Drawing:
    """The lines' names at the right, as near to their ends as they can stand without covering each other."""
    places: list[float] = []
    for y in sorted(y for _, y in ends.values()):
        places.append(max(y, places[-1] + LINE) if places else y)
    overhang = max(0.0, places[-1] - area.bottom) if places else 0.0
    for i in range(len(places) - 1, -1, -1):  # push what hangs out below back up
        highest = area.bottom if i == len(places) - 1 else places[i + 1] - LINE
        places[i] = min(places[i], highest) if overhang else places[i]
    parts = []
    for name, place in zip(sorted(ends, key=lambda name: ends[name][1]), places):
        x, y = ends[name]
        colour = colour_class(colours[name])
        parts.append(straight(f"leader {colour}", (x + 4, y), (area.right + 8, place)))
        parts.append(text(area.right + 11, place + 4, name, style=f"name {colour}"))
    return parts


def _legend(colours: dict[str, int], width: int) -> Drawing:
    x, y = float(MARGIN), 50.0
    parts: Drawing = []
    for name, colour in colours.items():
        needed = 30 + CHARACTER * len(name) + 18
        if x + needed > width and x > MARGIN:
            x, y = MARGIN, y + LINE + 2
        parts += line([(x, y - 4), (x + 24, y - 4)], colour, colour == REFERENCE, marked=False)
        parts.append(text(x + 30, y, name, style="name"))
        x += needed
    return parts


def _wrapped(words: str, width: float) -> list[str]:
    lines = [""]
    for word in words.split():
        if lines[-1] and CHARACTER * len(f"{lines[-1]} {word}") > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines if words else []
