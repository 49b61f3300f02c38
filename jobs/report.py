"""Learning curves of a training run: as text for the terminal and as an SVG picture.

Both take the run's history, one dictionary an epoch with the keys `epoch`, `errors`, `sentences`, `seconds`
and, where a dev set was given, `dev`: {"name": "F1", "averaged": 0.893, "last": 0.88}. This module only
draws; reading the run directory and printing are the command line's business.
"""

import math
from collections.abc import Sequence
from typing import Any, Optional
from xml.sax.saxutils import escape

Epoch = dict[str, Any]
Point = tuple[float, float]

EIGHTHS = " ▏▎▍▌▋▊▉"
SERIES = ("averaged", "last")


def learning_curve(history: list[Epoch], width: int = 72) -> str:
    """One row an epoch: training errors and dev score, with bars; a dev bar spans lowest to highest score."""
    if not history:
        return "no epoch is complete yet"
    errors = [_error_rate(epoch) for epoch in history]
    series = _main_series(history)
    if series is None:
        bar_width = max(4, width - len("epoch  100.00 %  "))
        rows = [columns.rstrip() for columns in _error_columns(history, errors, bar_width)]
        return "\n".join(["epoch    errors", *rows])

    room = width - len("epoch  100.00 %  ") - len("  100.00  ") - len(" ◀ best")
    bar_width = max(4, room // 2)
    heading = f"{'epoch    errors':<{17 + bar_width}}   {_dev_name(history)} on dev ({series})"
    scores = [_score(epoch, series) for epoch in history]
    known = [score for score in scores if score is not None]
    lowest, highest = min(known), max(known)
    rows = []
    for columns, score in zip(_error_columns(history, errors, bar_width), scores):
        if score is None:
            rows.append(columns.rstrip())
            continue
        # The lowest score keeps a sliver, so that it is not mistaken for a missing one.
        share = (score - lowest) / (highest - lowest) if highest > lowest else 1.0
        bar = _bar(max(share, 1 / 8 / bar_width), bar_width)
        rows.append(f"{columns}  {100 * score:6.2f}  {bar}".rstrip())
    rows[scores.index(highest)] += " ◀ best"
    return "\n".join([heading, *rows])


def _error_columns(history: list[Epoch], errors: list[float], bar_width: int) -> list[str]:
    most = max(errors) or 1.0
    return [
        f"{epoch['epoch']:5d}  {100 * rate:6.2f} %  {_bar(rate / most, bar_width):<{bar_width}}"
        for epoch, rate in zip(history, errors)
    ]


def _bar(share: float, width: int) -> str:
    whole, eighths = divmod(round(share * width * 8), 8)
    return ("█" * whole + EIGHTHS[eighths]).rstrip()


def _error_rate(epoch: Epoch) -> float:
    return epoch["errors"] / epoch["sentences"] if epoch["sentences"] else 0.0


def _score(epoch: Epoch, series: str) -> Optional[float]:
    return (epoch.get("dev") or {}).get(series)


def _main_series(history: list[Epoch]) -> Optional[str]:
    """The averaged weights are what a run is judged by; without them, the last; None without a dev set."""
    for series in SERIES:
        if any(_score(epoch, series) is not None for epoch in history):
            return series
    return None


def _dev_name(history: list[Epoch]) -> str:
    return next((str(epoch["dev"]["name"]) for epoch in history if "name" in (epoch.get("dev") or {})), "score")


# The picture: one panel for the training errors, one below it for the dev scores, over the same epochs.
WIDTH, PANEL_HEIGHT, LEFT, RIGHT, TOP, GAP, BOTTOM = 640, 170, 64, 20, 64, 50, 46
COLOURS = {"errors": "#b3541e", "averaged": "#1f5fa8", "last": "#7a9cc6"}
MARKERS_UP_TO = 40  # points; the dots of a longer line would run into each other


def learning_curve_svg(history: list[Epoch], title: str) -> str:
    """The same run as a line chart, in SVG."""
    errors = [(epoch["epoch"], 100 * _error_rate(epoch)) for epoch in history]
    dev = {}
    for series in SERIES:
        scores = [(epoch["epoch"], _score(epoch, series)) for epoch in history]
        dev[series] = [(x, 100 * score) for x, score in scores if score is not None]
    dev = {series: points for series, points in dev.items() if points}
    panels = [_Panel("training errors, % of sentences", {"errors": errors}, TOP, from_zero=True)]
    if dev:
        top = TOP + PANEL_HEIGHT + GAP
        panels.append(_Panel(f"{_dev_name(history)} on dev, %", dev, top, from_zero=False))

    height = TOP + len(panels) * PANEL_HEIGHT + (len(panels) - 1) * GAP + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" fill="#333">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        _text(LEFT, 26, title, size=15, weight="bold"),
    ]
    epochs = [epoch["epoch"] for epoch in history] or [1]
    for panel in panels:
        parts += panel.drawn(min(epochs), max(epochs))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, height - 10, "epoch", anchor="middle"))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


class _Panel:
    """A titled pair of axes with its lines."""

    def __init__(self, title: str, lines: dict[str, list[Point]], top: float, from_zero: bool) -> None:
        self.title = title
        self.lines = lines
        self.top = top
        self.from_zero = from_zero

    def drawn(self, first: int, last: int) -> list[str]:
        values = [y for points in self.lines.values() for _, y in points] or [0.0]
        y_ticks = _ticks(0.0, max(values) or 1.0, 5) if self.from_zero else _ticks(min(values), max(values), 5)
        low, high = y_ticks[0], y_ticks[-1]
        # A single epoch has no extent: give it one, so that it lands in the middle of the panel.
        left, right = (first - 1, last + 1) if first == last else (first, last)
        bottom, x_end = self.top + PANEL_HEIGHT, WIDTH - RIGHT

        def x_of(epoch: float) -> float:
            return LEFT + (epoch - left) / (right - left) * (x_end - LEFT)

        def y_of(value: float) -> float:
            return bottom - (value - low) / (high - low) * PANEL_HEIGHT

        parts = [_text(LEFT, self.top - 10, self.title, weight="bold")]
        for tick in y_ticks:
            y = y_of(tick)
            parts.append(_line([(LEFT, y), (x_end, y)], "#e4e4e4", 1))
            parts.append(_text(LEFT - 8, y + 4, f"{tick:.10g}", anchor="end"))
        for tick in _ticks(first, last, 10):
            if first <= tick <= last and tick == int(tick):
                parts.append(_line([(x_of(tick), bottom), (x_of(tick), bottom + 4)], "#888", 1))
                parts.append(_text(x_of(tick), bottom + 18, f"{tick:.0f}", anchor="middle"))
        parts.append(_line([(LEFT, bottom), (x_end, bottom)], "#888", 1))
        for name, points in self.lines.items():
            path = [(x_of(x), y_of(y)) for x, y in points]
            parts.append(_line(path, COLOURS[name], 2))
            if len(path) <= MARKERS_UP_TO:
                parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[name]}"/>' for x, y in path]
        return parts + self._legend()

    def _legend(self) -> list[str]:
        if "errors" in self.lines:
            return []  # its title says it all
        parts = []
        x = WIDTH - RIGHT - 90 * len(self.lines)
        for name in self.lines:
            parts.append(_line([(x, self.top - 14), (x + 20, self.top - 14)], COLOURS[name], 3))
            parts.append(_text(x + 26, self.top - 10, name))
            x += 90
        return parts


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers, 1, 2 or 5 times a power of ten apart, from at or below `low` to at or above `high`."""
    if high - low < 1e-6:  # one value, or differences that no label could show
        low, high = low - 1, high + 1
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _line(points: Sequence[Point], colour: str, width: float) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 12, weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}">'
        f"{escape(text)}</text>"
    )
