"""The experiment's figure: which results are the points of which line in which panel."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from jobs.experiment.chart import Chart, Panel, Point
from jobs.experiment.clock import CAPTION, seconds_until
from jobs.experiment.definition import Experiment, as_list
from jobs.experiment.results import CURVES, MEASURES, Result, mean_over_seeds

X_TITLES = {"epoch": "epoch", "seconds": "seconds on a simulated cluster", "shards": "shards"}


def draw(experiment: Experiment, results: Sequence[Result]) -> Chart:
    """A panel for every corpus, every value of the axis `panels`, and every y; the baseline is in all of them."""
    figure, baseline = experiment.content["figure"], experiment.content.get("baseline")
    axis = figure.get("panels", "corpus")
    references = [result for result in results if result.cell.group == baseline]
    others = [result for result in results if result.cell.group != baseline]
    places = dict.fromkeys((r.cell.corpus.name, r.cell.axes.get(axis)) for r in others or references)
    panels = []
    for corpus, value in places:
        shown = [r for r in references if r.cell.corpus.name == corpus]
        shown += [r for r in others if (r.cell.corpus.name, r.cell.axes.get(axis)) == (corpus, value)]
        for y in as_list(figure["y"]):
            panels.append(_panel(experiment, results, shown, y, _title(corpus, axis, value, y, shown[0].score_name)))
    seeds = {result.cell.options["seed"] for result in results}
    caption = f"{CAPTION} " if figure["x"] == "seconds" or "speedup" in as_list(figure["y"]) else ""
    caption += f"Mean of {len(seeds)} seeds." if len(seeds) > 1 else "One seed."
    source = experiment.content.get("source")
    caption += f" Source: {source}." if source else ""
    return Chart(experiment.content["title"], caption, panels, references[0].cell.run if references else "")


def _title(corpus: str, axis: str, value: Any, y: str, score: str) -> str:
    what = (CURVES.get(y) or MEASURES[y]).title.format(score=score)
    return f"{corpus}: {what}" if axis == "corpus" else f"{corpus}, {axis} {value}: {what}"


def _panel(experiment: Experiment, results: Sequence[Result], shown: Sequence[Result], y: str, title: str) -> Panel:
    x, baseline = experiment.content["figure"]["x"], experiment.content.get("baseline")
    lines: dict[str, list[Point]] = {}
    for pooled in _by_seed(shown):
        line = lines.setdefault(pooled[0].cell.run, [])
        if x == "shards":
            value = mean_over_seeds(y, pooled, results, baseline)
            line += [] if value is None else [(pooled[0].cell.options["shards"], value)]
        else:
            line += _curve(pooled, x, y)
    # A curve goes from epoch to epoch, and from run to run as the file has them, whatever the clock says.
    lines = {name: sorted(points) if x == "shards" else points for name, points in lines.items() if points}
    places = sorted({at for line in lines.values() for at, _ in line})
    for name in {result.cell.run for result in shown if result.cell.group == baseline}:
        if x == "shards" and len(lines.get(name, ())) == 1:  # what every number of shards is compared with
            lines[name] = [(at, lines[name][0][1]) for at in places]
    return Panel(
        title,
        X_TITLES[x],
        lines,
        log_x=x != "epoch",
        x_ticks=places if x == "shards" else (),
        from_zero=not y.startswith("dev"),
    )


def _by_seed(results: Sequence[Result]) -> list[list[Result]]:
    """The results in pools that differ only in the seed."""
    pools: dict[tuple, list[Result]] = {}
    for result in results:
        options = sorted((name, value) for name, value in result.cell.axes.items() if name != "seed")
        pools.setdefault(tuple(options), []).append(result)
    return list(pools.values())


def _curve(pooled: Sequence[Result], x: str, y: str) -> list[Point]:
    """The mean curve of several seeds, as far as all of them go."""
    xs = [[e["epoch"] for e in r.history] if x == "epoch" else seconds_until(r.history) for r in pooled]
    ys = [result.curve(y) for result in pooled]
    return [(fmean(at), fmean(values)) for at, values in zip(zip(*xs), zip(*ys))]
