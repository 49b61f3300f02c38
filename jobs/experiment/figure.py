"""The experiment's figure: which results are the points of which line in which panel."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from perceptron_jobs.charts.panels import Chart, Panel
from perceptron_jobs.charts.svg import Point
from perceptron_jobs.experiment.cell import as_list
from perceptron_jobs.experiment.clock import CAPTION
from perceptron_jobs.experiment.definition import CURVE_AXES, Experiment
from perceptron_jobs.experiment.results import CURVES, MEASURES, Result, mean_over_seeds
from perceptron_jobs.experiment.team import TEAM_CAPTION

X_TITLES = {"seconds": "seconds on a simulated cluster"}
LOG_AXES = ("seconds", "seconds.measured", "shards", "features")
COUNTS = ("errors",)  # drawn on a logarithmic scale


def draw(experiment: Experiment, results: Sequence[Result]) -> Chart:
    """All panels of the figure in one chart, or of all figures if there is a list of them."""
    figures, baseline = as_list(experiment.content["figure"]), experiment.content.get("baseline")
    references = [result for result in results if result.cell.group == baseline]
    panels = [panel for figure in figures for panel in _panels(experiment, figure, results)]
    seeds = {result.cell.options["seed"] for result in results}
    timed = any(figure["x"] == "seconds" or "speedup" in as_list(figure["y"]) for figure in figures)
    caption = f"{CAPTION} " if timed else ""
    caption += f"{TEAM_CAPTION} " if any(result.cell.processors for result in results) else ""
    caption += f"Mean of {len(seeds)} seeds." if len(seeds) > 1 else "One seed."
    source = experiment.content.get("source")
    caption += f" Source: {source}." if source else ""
    return Chart(experiment.content["title"], caption, panels, references[0].cell.run if references else "")


def _panels(experiment: Experiment, figure: dict[str, Any], results: Sequence[Result]) -> list[Panel]:
    """One panel per corpus, value of the axis `panels`, and y. The baseline is in all of them; if there are several,
    the one with that value."""
    baseline, axis = experiment.content.get("baseline"), figure.get("panels", "corpus")
    references = [result for result in results if result.cell.group == baseline]
    others = [result for result in results if result.cell.group != baseline and _is_chosen(result, figure)]
    places = dict.fromkeys((r.cell.corpus.name, r.cell.axes.get(axis)) for r in others or references)
    panels = []
    for corpus, value in places:
        shown = [r for r in references if r.cell.corpus.name == corpus]
        shown = [r for r in shown if r.cell.axes.get(axis) == value] or shown
        shown += [r for r in others if (r.cell.corpus.name, r.cell.axes.get(axis)) == (corpus, value)]
        for y in as_list(figure["y"]):
            title = _title(corpus, axis, value, y, shown[0].score_name)
            panels.append(_panel(experiment, figure, results, shown, y, title))
    return panels


def _is_chosen(result: Result, figure: dict[str, Any]) -> bool:
    return all(result.cell.axes.get(name) in as_list(values) for name, values in figure.get("only", {}).items())


def _title(corpus: str, axis: str, value: Any, y: str, score: str) -> str:
    what = (CURVES.get(y) or MEASURES[y]).title.format(score=score)
    return f"{corpus}: {what}" if axis == "corpus" else f"{corpus}, {axis} {value}: {what}"


def _panel(
    experiment: Experiment,
    figure: dict[str, Any],
    results: Sequence[Result],
    shown: Sequence[Result],
    y: str,
    title: str,
) -> Panel:
    x, baseline = figure["x"], experiment.content.get("baseline")
    is_curve, is_axis = x in CURVE_AXES, any(x in result.cell.axes for result in results)
    lines: dict[str, list[Point]] = {}
    for pooled in _by_seed(shown):
        axes = pooled[0].cell.axes
        line = lines.setdefault(_line_name(axes, figure.get("lines", "run")), [])
        if is_curve:
            line += _curve(pooled, x, y)
        else:
            at = axes.get(x) if is_axis else mean_over_seeds(x, pooled, results, baseline)
            value = mean_over_seeds(y, pooled, results, baseline)
            line += [] if at is None or value is None else [(at, value)]
    # A curve goes from epoch to epoch, in the order of the file, whatever the clock says.
    lines = {name: points if is_curve else sorted(points) for name, points in lines.items() if points}
    places = sorted({at for line in lines.values() for at, _ in line})
    for name in {result.cell.run for result in shown if result.cell.group == baseline}:
        if is_axis and len(lines.get(name, ())) == 1:  # a line to compare every number of shards with
            lines[name] = [(at, lines[name][0][1]) for at in places]
    return Panel(
        title,
        X_TITLES.get(x) or (x.replace("_", "-") if is_curve or is_axis else MEASURES[x].title),
        lines,
        log_x=x in LOG_AXES,
        x_ticks=places if is_axis else (),
        from_zero=not y.startswith(("dev", "uas")),
        log_y=y in COUNTS,
    )


def _line_name(axes: dict[str, Any], axis: str) -> str:
    value = axes.get(axis, axes["run"])
    return value if isinstance(value, str) else f"{axis} {value}"


def _by_seed(results: Sequence[Result]) -> list[list[Result]]:
    """The results, grouped so that those of a group differ only in the seed."""
    pools: dict[tuple, list[Result]] = {}
    for result in results:
        options = sorted((name, value) for name, value in result.cell.axes.items() if name != "seed")
        pools.setdefault(tuple(options), []).append(result)
    return list(pools.values())


def _curve(pooled: Sequence[Result], x: str, y: str) -> list[Point]:
    """The mean curve of several seeds, as long as the shortest of them."""
    xs = [[e.epoch for e in r.history] if x == "epoch" else r.seconds_until() for r in pooled]
    ys = [result.curve(y) for result in pooled]
    return [(fmean(at), fmean(values)) for at, values in zip(zip(*xs), zip(*ys))]
