"""Line charts in SVG: panels side by side, each with axes, its lines, and every line's name at its end.

It draws what it is given and knows no experiment. Colours stay apart for most colour-blind readers; a line is known
by its name at its end, too.
"""

import math
from collections.abc import Sequence
from typing import Callable, NamedTuple
from xml.sax.saxutils import escape

from perceptron_jobs.report.charts import ticks

Point = tuple[float, float]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f5539", "#6a4c93")
REFERENCE = "#444444"
GRID, AXIS, TEXT = "#e6e6e6", "#888888", "#333333"
PER_ROW = 2
WIDTH, HEIGHT = 330, 230  # of the plotted area of a panel
LEFT, LABELS, ABOVE, BELOW = 64, 130, 34, 56  # around it: numbers, lines' names, title, numbers
HEAD, MARGIN = 76, 16
LINE, CHARACTER = 14, 6.2  # the height of a line of small text, and about the width of one of its characters
MARKERS_UP_TO = 30  # points; the dots of a longer line would run into each other


class Panel(NamedTuple):
    title: str
    x_title: str
    lines: dict[str, list[Point]]
    log_x: bool = False
    x_ticks: Sequence[float] = ()  # where x has few values: these
    from_zero: bool = False
    log_y: bool = False  # of counts: none at all is drawn as one


class Chart(NamedTuple):
    title: str
    caption: str
    panels: Sequence[Panel]
    reference: str = ""  # the name of the line to compare with, drawn dashed and dark

    def size(self) -> tuple[int, int]:
        columns = min(PER_ROW, len(self.panels))
        rows = -(-len(self.panels) // PER_ROW)
        width = 2 * MARGIN + columns * (LEFT + WIDTH + LABELS)
        caption = len(_wrapped(self.caption, width - 2 * MARGIN))
        return width, HEAD + rows * (ABOVE + HEIGHT + BELOW) + caption * LINE + MARGIN

    def svg(self) -> str:
        width, height = self.size()
        colours = self._colours()
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" fill="{TEXT}">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            _text(MARGIN, 28, self.title, size=15, weight="bold"),
            *_legend(colours, self.reference, width),
        ]
        for number, panel in enumerate(self.panels):
            left = MARGIN + number % PER_ROW * (LEFT + WIDTH + LABELS) + LEFT
            top = HEAD + number // PER_ROW * (ABOVE + HEIGHT + BELOW) + ABOVE
            parts += _drawn(panel, left, top, colours, self.reference)
        lines = _wrapped(self.caption, width - 2 * MARGIN)
        for number, line in enumerate(lines):
            parts.append(_text(MARGIN, height - MARGIN - (len(lines) - 1 - number) * LINE, line, size=11))
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _colours(self) -> dict[str, str]:
        """A line has the same colour in every panel."""
        names = list(dict.fromkeys(name for panel in self.panels for name in panel.lines))
        others = [name for name in names if name != self.reference]
        colours = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(others)}
        return {name: colours.get(name, REFERENCE) for name in names}


def _drawn(panel: Panel, left: int, top: int, colours: dict[str, str], reference: str) -> list[str]:
    points = [point for line in panel.lines.values() for point in line] or [(1.0, 0.0)]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    if panel.log_y:
        y_ticks = [10.0**power for power in range(max(1, math.ceil(math.log10(max(*ys, 1.0)))) + 1)]
    else:
        y_ticks = ticks(0.0 if panel.from_zero else min(ys), max(ys), 5)
    x_ticks = list(panel.x_ticks) or (log_ticks(min(xs), max(xs)) if panel.log_x else inner_ticks(min(xs), max(xs)))
    scale: Callable[[float], float] = math.log if panel.log_x else float
    first, last = scale(min(xs)), scale(max(xs))
    if first == last:  # a single place: in the middle
        first, last = first - 1, last + 1
    bottom = top + HEIGHT

    def x_of(x: float) -> float:
        return left + (scale(x) - first) / (last - first) * WIDTH

    def height(y: float) -> float:
        return math.log(max(y, 1.0)) if panel.log_y else y

    lowest, highest = height(y_ticks[0]), height(y_ticks[-1])

    def y_of(y: float) -> float:
        return bottom - (height(y) - lowest) / (highest - lowest) * HEIGHT

    parts = [_text(left, top - 14, panel.title, weight="bold")]
    for tick in y_ticks:
        parts.append(_line([(left, y_of(tick)), (left + WIDTH, y_of(tick))], GRID, 1))
        parts.append(_text(left - 8, y_of(tick) + 4, f"{tick:,.10g}", anchor="end", size=11))
    for tick in x_ticks:
        parts.append(_line([(x_of(tick), bottom), (x_of(tick), bottom + 4)], AXIS, 1))
        parts.append(_text(x_of(tick), bottom + 18, f"{tick:,.10g}", anchor="middle", size=11))
    parts.append(_line([(left, bottom), (left + WIDTH, bottom)], AXIS, 1))
    parts.append(_text(left + WIDTH / 2, bottom + 38, panel.x_title, anchor="middle"))
    ends = {}
    for name, line in panel.lines.items():
        path = [(x_of(x), y_of(y)) for x, y in line]
        parts.append(_line(path, colours[name], 2, dashes=_dashes(name, reference)))
        if len(path) <= MARKERS_UP_TO:
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colours[name]}"/>' for x, y in path]
        ends[name] = path[-1]
    return parts + _end_labels(ends, left + WIDTH, bottom, colours)


def _end_labels(ends: dict[str, Point], right: float, bottom: float, colours: dict[str, str]) -> list[str]:
    """The lines' names at the right, as near to their ends as they can stand without covering each other."""
    places: list[float] = []
    for y in sorted(y for _, y in ends.values()):
        places.append(max(y, places[-1] + LINE) if places else y)
    overhang = max(0.0, places[-1] - bottom) if places else 0.0
    for i in range(len(places) - 1, -1, -1):  # push what hangs out below back up
        highest = bottom if i == len(places) - 1 else places[i + 1] - LINE
        places[i] = min(places[i], highest) if overhang else places[i]
    parts = []
    for name, place in zip(sorted(ends, key=lambda name: ends[name][1]), places):
        x, y = ends[name]
        parts.append(_line([(x + 4, y), (right + 8, place)], colours[name], 1, dashes="1 3"))
        parts.append(_text(right + 11, place + 4, name, size=11, colour=colours[name]))
    return parts


def _legend(colours: dict[str, str], reference: str, width: int) -> list[str]:
    parts, x, y = [], float(MARGIN), 50.0
    for name, colour in colours.items():
        needed = 30 + CHARACTER * len(name) + 18
        if x + needed > width and x > MARGIN:
            x, y = MARGIN, y + LINE + 2
        parts.append(_line([(x, y - 4), (x + 24, y - 4)], colour, 3, dashes=_dashes(name, reference)))
        parts.append(_text(x + 30, y, name, size=11))
        x += needed
    return parts


def inner_ticks(low: float, high: float) -> list[float]:
    """The round numbers between two; the whole ones alone, if there are several."""
    found = [tick for tick in ticks(low, high, 8) if low <= tick <= high]
    whole = [tick for tick in found if tick == int(tick)]
    return whole if len(whole) > 1 else found


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between two; the powers alone, if these are many; or the two themselves."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1,)):
        found = [factor * 10.0**power for power in powers for factor in factors if low <= factor * 10.0**power <= high]
        if 2 <= len(found) <= 8:
            return found
    return [float(f"{low:.2g}"), float(f"{high:.2g}")] if low < high else [low]


def _wrapped(text: str, width: float) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and CHARACTER * len(f"{lines[-1]} {word}") > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines if text else []


def _dashes(name: str, reference: str) -> str:
    return "6 4" if name == reference else "none"


def _line(points: Sequence[Point], colour: str, width: float, dashes: str = "none") -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}"/>'
    )


def _text(
    x: float, y: float, text: str, anchor: str = "start", size: int = 12, weight: str = "normal", colour: str = TEXT
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" '
        f'fill="{colour}">{escape(text)}</text>'
    )
