"""Learning curves of a training run: as text for the terminal and as a picture that stands by itself.

Both take the run's history, one entry per epoch.
"""

from collections.abc import Sequence
from typing import Optional

from perceptron_jobs.charts.over_epochs import HEIGHT, LEFT, WIDTH, Line, line_chart, svg
from perceptron_jobs.charts.style import STYLE, ground
from perceptron_jobs.charts.svg import text
from perceptron_jobs.charts.text import PERCENT, SCORE
from perceptron_jobs.records.epoch_entry import EpochEntry

EIGHTHS = " ▏▎▍▌▋▊▉"
SERIES = ("averaged", "last")


def learning_curve(history: Sequence[EpochEntry], width: int = 72) -> str:
    """One row per epoch: training errors and dev score, with bars; a dev bar spans lowest to highest score."""
    if not history:
        return "no epoch is complete yet"
    errors = [epoch.error_rate for epoch in history]
    series = _main_series(history)
    if series is None:
        bar_width = max(4, width - len("epoch  100.00 %  "))
        rows = [columns.rstrip() for columns in _error_columns(history, errors, bar_width)]
        return "\n".join(["epoch    errors", *rows])

    room = width - len("epoch  100.00 %  ") - len("  100.00  ") - len(" ◀ best")
    bar_width = max(4, room // 2)
    heading = f"{'epoch    errors':<{17 + bar_width}}   {dev_name(history)} on dev ({series})"
    scores = [dev_score(epoch, series) for epoch in history]
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


def _error_columns(history: Sequence[EpochEntry], errors: list[Optional[float]], bar_width: int) -> list[str]:
    most = max((rate for rate in errors if rate is not None), default=0.0) or 1.0
    shown = ["–" if rate is None else f"{100 * rate:.2f} %" for rate in errors]
    bars = [_bar((rate or 0.0) / most, bar_width) for rate in errors]
    return [f"{epoch.epoch:5d}  {rate:>8}  {bar:<{bar_width}}" for epoch, rate, bar in zip(history, shown, bars)]


def _bar(share: float, width: int) -> str:
    whole, eighths = divmod(round(share * width * 8), 8)
    return ("█" * whole + EIGHTHS[eighths]).rstrip()


def dev_score(epoch: EpochEntry, series: str) -> Optional[float]:
    return getattr(epoch.dev, series) if epoch.dev else None


def _main_series(history: Sequence[EpochEntry]) -> Optional[str]:
    """The averaged weights are what a run is judged by; without them, the last; None without a dev set."""
    for series in SERIES:
        if any(dev_score(epoch, series) is not None for epoch in history):
            return series
    return None


def dev_name(history: Sequence[EpochEntry]) -> str:
    return next((epoch.dev.name for epoch in history if epoch.dev and epoch.dev.name), "score")


# The picture: one panel for the training errors, one below it for the dev scores, over the same epochs.
HEADING, PANEL_HEADING = 34, 24


def error_line(history: Sequence[EpochEntry], name: str = "errors", colour: int = 2) -> Line:
    rates = [(epoch.epoch, epoch.error_rate) for epoch in history]
    return Line(name, [(x, 100 * rate) for x, rate in rates if rate is not None], colour)


def dev_lines(history: Sequence[EpochEntry], prefix: str = "", colour: int = 1) -> list[Line]:
    """The scores of the averaged and of the last weights, as far as there are any."""
    lines = []
    for series in SERIES:
        scores = [(epoch.epoch, dev_score(epoch, series)) for epoch in history]
        points = [(x, 100 * score) for x, score in scores if score is not None]
        if points:
            lines.append(Line(prefix + series, points, colour, dashed=series == "last"))
    return lines


def learning_curve_svg(history: Sequence[EpochEntry], title: str) -> str:
    """The same run as a line chart, in SVG."""
    panels = []
    errors = error_line(history)
    if errors.points:
        panels.append(("training errors, % of sentences", line_chart([errors], PERCENT)))
    dev = dev_lines(history)
    if dev:
        names = " and ".join(f"{line.name} (dashed)" if line.dashed else line.name for line in dev)
        panels.append((f"{dev_name(history)} on dev, %: {names}", line_chart(dev, SCORE, from_zero=False)))
    height = HEADING + len(panels) * (PANEL_HEADING + HEIGHT)
    drawing = [
        STYLE,
        ground(WIDTH, height),
        text(12, 22, title, style="heading"),
    ]
    for number, (heading, parts) in enumerate(panels):
        y = HEADING + number * (PANEL_HEADING + HEIGHT)
        drawing.append(text(LEFT, y + 16, heading, style="panel"))
        drawing += [f'<g transform="translate(0 {y + PANEL_HEADING})">', *parts, "</g>"]
    return svg(title, drawing, height, f' width="{1.6 * WIDTH:.0f}" height="{1.6 * height:.0f}"') + "\n"
