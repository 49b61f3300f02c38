"""The whole page: what it is about, several runs side by side, then each run by itself."""

import pkgutil
from collections.abc import Sequence
from typing import Optional

from perceptron_core.corpus import TREE
from perceptron_jobs.charts.over_epochs import Line, line_chart
from perceptron_jobs.charts.text import (
    BYTES,
    COUNT,
    PERCENT,
    SCORE,
    SECONDS,
    Unit,
    capital,
    count,
    counted,
    escape,
    megabytes,
    percent,
    seconds,
)
from perceptron_jobs.report.content import RunContent
from perceptron_jobs.report.curve import SERIES, dev_lines, dev_name, dev_score, error_line
from perceptron_jobs.report.elements import Html, Text, element, figure, folded, joined, section, shown, table
from perceptron_jobs.report.sections import quantity, run_sections
from perceptron_jobs.report.settings import settings

COLOURS = 8
LEARNERS = {
    "perceptron": "perceptron",
    "mira": "MIRA learner",
    "naive-bayes": "naive Bayes learner",
    "rocchio": "Rocchio learner",
}
# Nothing is fetched and nothing is run, whatever stands in the data.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M1 14L6 6l4 3 5-8' "
    "fill='none' stroke='%230072b2' stroke-width='2.5'/%3E%3C/svg%3E"
)


def report_html(runs: Sequence[RunContent]) -> str:
    """One self-contained file."""
    one = len(runs) == 1
    title = runs[0].name if one else ", ".join(run.name for run in runs)
    if one:
        body = joined([_header(runs[0]), run_sections(runs[0])])
    else:
        alone = [folded(element("h2", run.name), run_sections(run)) for run in runs]
        body = joined([_comparison(runs), section("Run by run"), element("div", joined(alone), "runs")])
    style = (pkgutil.get_data(__package__, "style.css") or b"").decode()
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}: training report</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n<link rel="icon" href="{ICON}">\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


# ---------------------------------------------------------------- one run


def _header(run: RunContent) -> Html:
    parts = [element("p", "perceptron · training report", "kicker"), element("h1", run.name)]
    if run.history:
        number, what = _headline(run)
        parts.append(Html(f'<p class="headline"><strong>{escape(number)}</strong> {escape(what)}</p>'))
    parts.append(element("p", _summary(run), "lead"))
    tiles = [
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in final_figures(run).items()
    ]
    parts.append(element("dl", joined(tiles), "tiles"))
    return element("header", joined(parts))


def _headline(run: RunContent) -> tuple[str, str]:
    """The one number by which the run is judged, and what it is."""
    best = _best(run)
    if best is None:
        last = run.history[-1]
        rate = last.error_rate
        if rate is None:
            return count(last.weights or 0), f"weights from one pass over {count(last.sentences)} {run.examples}"
        return f"{100 * rate:.1f} %", f"of the training {run.examples} wrong in epoch {last.epoch}"
    series, score = best
    return f"{100 * score:.2f}", f"{dev_name(run.history)} on dev, {series} weights of epoch {run.chosen_epoch}"


def _best(run: RunContent) -> Optional[tuple[str, float]]:
    """Which weights of the chosen epoch count, and their dev score."""
    for epoch in run.history:
        for series in SERIES:
            score = dev_score(epoch, series)
            if epoch.epoch == run.chosen_epoch and score is not None:
                return series, score
    return None


def _summary(run: RunContent) -> str:
    config = run.config
    how = config.training_settings()
    shards = len(config.chosen_shards)
    split = f"on {shards} shards, mixed by “{config.mixing}”" if shards > 1 else "serially"
    learner = LEARNERS.get(how.learner, f"passive-aggressive learner ({how.learner})")
    what = f"“{config.task['predict']}” ({counted(len(config.labels), 'label')})"
    if run.kind == TREE:
        what = f"dependency trees ({counted(len(config.labels), 'relation')})"
    text = f"Predicts {what} by a {learner}"
    if run.examples == "sentences":
        text += f" with {how.decoder} search"
    if not run.history:
        return f"{text}, trained {split}."
    last = run.history[-1]
    examples = f"{count(last.sentences / how.local_epochs)} {run.examples}"
    return f"{text}, trained {split} on {examples} for {counted(len(run.history), 'epoch')}."


def final_figures(run: RunContent) -> dict[str, str]:
    """What is left to say at the end of a run, as far as it is known."""
    if not run.history:
        return {}
    last = run.history[-1]
    figures = {}
    for epoch in run.history:
        for series in SERIES:
            score = dev_score(epoch, series)
            if epoch.epoch == run.chosen_epoch and score is not None:
                figures[f"{dev_name(run.history)}, {series}"] = f"{100 * score:.2f}"
    figures["chosen epoch"] = f"{run.chosen_epoch} of {last.epoch}"
    rate = last.error_rate
    if rate is not None:
        figures["training errors"] = percent(100 * rate)
    if last.weights is not None:
        figures["weights"] = count(last.weights)
    shuffled = [epoch.shuffled for epoch in run.history if epoch.shuffled is not None]
    if len(shuffled) == len(run.history):
        figures["shuffled in all"] = megabytes(sum(shuffled))
    took = [epoch.seconds for epoch in run.history if epoch.seconds is not None]
    if len(took) == len(run.history):
        figures["time in all"] = seconds(sum(took))
    return figures


# ---------------------------------------------------------------- several


def _comparison(runs: Sequence[RunContent]) -> Html:
    scored = [(best[1], run) for run in runs for best in [_best(run)] if best]
    parts = [element("p", "perceptron · training report", "kicker"), element("h1", f"{len(runs)} runs")]
    measures = {(run.config.task["predict"], dev_name(run.history)) for _, run in scored}
    if len(measures) == 1:  # else there is nothing to be the best in
        best = max(scored, key=lambda pair: pair[0])[1]
        number, what = _headline(best)
        said = f"{what}; the best of them is {best.name}"
        parts.append(Html(f'<p class="headline"><strong>{escape(number)}</strong> {escape(said)}</p>'))
    named = [_swatch(i, run.name) for i, run in enumerate(runs)]
    figures = [final_figures(run) for run in runs]
    names = list(dict.fromkeys(name for of_run in figures for name in of_run))
    final = table(
        ["run", *names], [[named[i], *(f.get(n, "") for n in names)] for i, f in enumerate(figures)], "numbers"
    )
    return joined(
        [
            element("header", joined(parts)),
            section("Side by side", final, element("div", joined(_overlaid(runs)), "figures")),
            _differences(runs, named),
        ]
    )


def _colour(i: int) -> int:
    return i % COLOURS + 1


def _swatch(i: int, name: str) -> Html:
    return Html(f'<span class="swatch c{_colour(i)}"></span>{shown(name)}')


def _overlaid(runs: Sequence[RunContent]) -> list[Html]:
    trained = [(run, _colour(i)) for i, run in enumerate(runs) if run.history]
    if not trained:
        return []
    dev = [line for run, colour in trained for line in dev_lines(run.history, f"{run.name}, ", colour)]
    examples = " or ".join(sorted({run.examples for run, _ in trained}))
    score_names = sorted({dev_name(run.history) for run, _ in trained if dev_lines(run.history)})
    charts: list[tuple[str, str, list[Line], Unit, bool]] = [
        (f"{capital(' / '.join(score_names))} on dev", "dashed: the last weights", dev, SCORE, False),
        ("Training errors", f"% of {examples}", [error_line(r.history, r.name, c) for r, c in trained], PERCENT, True),
    ]
    for title, note, key, unit in (
        ("Weights", "that are not zero", "weights", COUNT),
        ("Shuffle", "from mappers to reducers", "shuffled", BYTES),
        ("Seconds per epoch", "", "seconds", SECONDS),
    ):
        charts.append((title, note, [quantity(r.history, key, c, r.name) for r, c in trained], unit, True))
    drawn = []
    for title, note, lines, unit, from_zero in charts:
        lines = [line for line in lines if line.points]
        if lines:
            style = "main" if unit in (SCORE, PERCENT) else ""
            drawn.append(figure(title, line_chart(lines, unit, from_zero), lines, note, style))
    return drawn


def _differences(runs: Sequence[RunContent], named: Sequence[Html]) -> Html:
    """A row for everything that is not the same in all configurations."""
    configured = [{**settings(run.config), "data": _fingerprint(run)} for run in runs]
    rows: list[list[Text]] = []
    for name in dict.fromkeys(name for of_run in configured for name in of_run):
        values = [of_run.get(name, "") for of_run in configured]
        if name != "run" and len(set(values)) > 1:
            rows.append([name, *_only_the_difference(values)])
    if not rows:
        return section("Differences", lead="The runs have the same configuration and the same data.")
    return section("Differences", table(["setting", *named], rows), lead="What is not the same in all configurations.")


def _only_the_difference(values: list[str]) -> list[Text]:
    """Of long lists, what not all of them have."""
    lists = [value.split(", ") for value in values]
    if max(map(len, lists)) < 5:
        return [value or "–" for value in values]
    common = set(lists[0]).intersection(*lists[1:])
    return [", ".join(["…"] * bool(common) + [item for item in items if item not in common]) or "–" for items in lists]


def _fingerprint(run: RunContent) -> str:
    return ", ".join(" ".join(str(value)[:16] for value in file.values()) for file in run.config.data)
