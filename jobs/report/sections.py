"""One run, section by section. Every section is "" where the run has nothing to tell of it."""

from collections.abc import Sequence
from statistics import median
from typing import Any, Optional

from perceptron_jobs.charts.over_epochs import Dot, Line, Part, dot_chart, line_chart, stacked_bars
from perceptron_jobs.charts.text import (
    BYTES,
    COUNT,
    PERCENT,
    SCORE,
    SECONDS,
    capital,
    count,
    counted,
    escape,
    megabytes,
    percent,
    seconds,
)
from perceptron_jobs.records.epoch_entry import EpochEntry, rate
from perceptron_jobs.report.classes import classes
from perceptron_jobs.report.content import RunContent
from perceptron_jobs.report.curve import SERIES, dev_lines, dev_name, dev_score, error_line
from perceptron_jobs.report.elements import Html, bar, code, data, element, figure, folded, joined, section, table
from perceptron_jobs.report.settings import configuration
from perceptron_jobs.report.trees import trees, worst_trees
from perceptron_jobs.training.phases import PHASES

SHARDS_IN_TABLE = 10
LABELS_AT_ONCE = 6
PARTS_OF_EPOCH = (*PHASES, "dev")
PART_COLOURS = dict(zip(PARTS_OF_EPOCH, (1, 2, 3, 4, 8, 6)))  # no two neighbours alike


def run_sections(run: RunContent) -> Html:
    told = (learning, shards, classes, trees, worst_trees, mistakes, features, epochs, configuration)
    return joined(part(run) for part in told)


def learning(run: RunContent) -> Html:
    history = run.history
    if not history:
        return section("Learning", lead="No epoch is complete yet.")
    dev = dev_lines(history)
    note = f"best in epoch {run.chosen_epoch}" if dev else ""
    figures = [
        figure(f"{capital(dev_name(history))} on dev", line_chart(dev, SCORE, False), dev, note, "main") if dev else "",
        *(
            figure(title, line_chart([line], unit), note=note, style="main" if unit is PERCENT else "")
            for title, note, line, unit in (
                ("Training errors", f"% of {run.examples}", error_line(history), PERCENT),
                ("Weights", "that are not zero", quantity(history, "weights", 3), COUNT),
                ("Shuffle", "from mappers to reducers", quantity(history, "shuffled", 5), BYTES),
            )
            if line.points
        ),
        _where_the_time_goes(history),
    ]
    return section("Learning", element("div", joined(figures), "figures"))


def quantity(history: Sequence[EpochEntry], key: str, colour: int, name: str = "") -> Line:
    """One number of every epoch that has it."""
    values = [(epoch.epoch, getattr(epoch, key)) for epoch in history]
    return Line(name or key, [(epoch, value) for epoch, value in values if value is not None], colour)


def _where_the_time_goes(history: Sequence[EpochEntry]) -> Html:
    timed = [epoch for epoch in history if epoch.phases]
    if not timed:
        return Html("")
    parts = [
        Part(name, [epoch.phases.get(name, 0.0) for epoch in timed], PART_COLOURS[name])
        for name in PARTS_OF_EPOCH
        if any(epoch.phases.get(name) for epoch in timed)
    ]
    drawing = stacked_bars([epoch.epoch for epoch in timed], parts, SECONDS)
    return figure("Seconds per epoch", drawing, parts, "where they go")


def shards(run: RunContent) -> Html:
    """Load and errors of every shard: a straggler stands out."""
    numbers = run.config.chosen_shards
    measured = [epoch for epoch in run.history if len(epoch.shards) == len(numbers)]
    if len(numbers) < 2 or not measured:
        return Html("")
    times, wrong = {}, {}
    for epoch in measured:
        of = [(f"epoch {epoch.epoch}, shard {number}", shard) for number, shard in zip(numbers, epoch.shards)]
        times[epoch.epoch] = [
            Dot(s.seconds, f"{where}: {seconds(s.seconds)} for {count(s.sentences or 0)} {run.examples}")
            for where, s in of
        ]
        wrong[epoch.epoch] = [
            Dot(100 * share, f"{where}: {count(s.errors or 0)} of {count(s.sentences or 0)} {run.examples}")
            for where, s in of
            for share in [rate(s.errors, s.sentences)]
            if share is not None
        ]
    slowest = sum(max(shard.seconds for shard in epoch.shards) for epoch in measured)
    usual = sum(median(shard.seconds for shard in epoch.shards) for epoch in measured)
    lead = (
        f"{len(numbers)} shards. An epoch lasts as long as its slowest shard: over {counted(len(measured), 'epoch')} "
        f"the slowest took {seconds(slowest)}, the median shard {seconds(usual)}."
    )
    figures = [
        figure(
            "Time of the shards", dot_chart(times, SECONDS, 1), note="a dot a shard, a line at the median", style="main"
        ),
        figure(
            "Errors of the shards", dot_chart(wrong, PERCENT, 2), note=f"% of the shard's {run.examples}", style="main"
        )
        if all(wrong.values())
        else "",
    ]
    return section("Shards", element("div", joined(figures), "figures"), _slowest_shards(run, measured), lead=lead)


def _slowest_shards(run: RunContent, measured: Sequence[EpochEntry]) -> Html:
    numbers = run.config.chosen_shards
    total = [sum(epoch.shards[i].seconds for epoch in measured) for i in range(len(numbers))]
    order = sorted(range(len(numbers)), key=lambda i: -total[i])[:SHARDS_IN_TABLE]
    most = max(total) or 1.0
    last = measured[-1].shards
    rows = [
        (
            f"shard {numbers[i]}",
            Html(f"{bar(total[i] / most)} {seconds(total[i])}"),
            count(last[i].sentences or 0),
            _share(rate(last[i].errors, last[i].sentences)),
        )
        for i in order
    ]
    wrong = f"errors in epoch {measured[-1].epoch}"
    return table(("slowest shards", "seconds in all", f"{run.examples} an epoch", wrong), rows, "numbers")


def _share(rate: Optional[float]) -> str:
    return "" if rate is None else percent(100 * rate)


def mistakes(run: RunContent) -> Html:
    if not run.mistakes or not run.mistakes["confusions"]:
        return Html("")
    found = run.mistakes
    all_wrong = found["wrong_tokens"]
    labelled = "relations" if "trees" in found else "tokens" if run.examples == "sentences" else run.examples
    shown = sum(confusion["count"] for confusion in found["confusions"])
    lead = (
        f"{count(all_wrong)} of {count(found['tokens'])} {labelled} of the dev set are wrong "
        f"({percent(100 * all_wrong / found['tokens'])}; {found['weights']} weights of epoch {found['epoch']}). The "
        f"most frequent confusions below are {100 * shown / all_wrong:.0f} % of them."
    )
    most = found["confusions"][0]["count"]
    items = []
    for rank, confusion in enumerate(found["confusions"]):
        summary = Html(
            f'<span class="pair">{code(confusion["gold"])} <span class="taken">taken for</span> '
            f"{code(confusion['guess'])}</span> {bar(confusion['count'] / most, 'c2')} "
            f'<span class="count">{count(confusion["count"])}</span>'
        )
        items.append(folded(summary, joined(map(_example, confusion["examples"])), is_open=rank == 0))
    return section("Mistakes", element("div", joined(items), "mistakes"), lead=Html(escape(lead)))


def _example(example: dict[str, Any]) -> Html:
    """The sentence with its mistake marked; what else is wrong in it is underlined."""
    words = ["…"] if example["cut"][0] else []
    for i, (word, gold, guess) in enumerate(zip(example["words"], example["gold"], example["guess"])):
        if i == example["at"]:
            labels = f"{code(gold)}<span class='taken'> taken for </span>{code(guess)}"
            words.append(f"<mark>{data(word)}<small>{labels}</small></mark>")
        elif gold != guess:
            words.append(f'<u title="{escape(f"{gold} taken for {guess}")}">{data(word)}</u>')
        else:
            words.append(data(word))
    words += ["…"] if example["cut"][1] else []
    return Html(f'<p class="example" dir="auto">{" ".join(words)}</p>')


def features(run: RunContent) -> Html:
    if not run.strongest:
        return section("Strongest features", lead=f"Not shown: {run.nameless}.") if run.nameless else Html("")
    cards = []
    for label, named in run.strongest.items():
        most = abs(named[0][1])
        rows = [
            Html(
                f"<li>{code(name)}{bar(abs(weight) / most, 'c1' if weight > 0 else 'c2')}"
                f'<span class="weight">{"+" if weight > 0 else "−"}{abs(weight):.2f}</span></li>'
            )
            for name, weight in named
        ]
        cards.append(element("div", joined([element("h3", code(label)), element("ol", joined(rows))]), "card"))
    first, more = cards[:LABELS_AT_ONCE], cards[LABELS_AT_ONCE:]
    lead = "What speaks most for (+) and against (−) a label, by weight; labels with many weights come first."
    left_out = len(run.config.labels) - len(cards)
    if left_out:
        lead += f" {counted(left_out, 'label')} left out; `perceptron inspect RUN --label L` shows any of them."
    rest = folded(f"{counted(len(more), 'more label')}", element("div", joined(more), "cards")) if more else ""
    return section("Strongest features", element("div", joined(first), "cards"), rest, lead=lead)


def epochs(run: RunContent) -> Html:
    """The figures behind the curves."""
    if not run.history:
        return Html("")
    scored = [series for series in SERIES if any(dev_score(epoch, series) is not None for epoch in run.history)]
    timed = [name for name in PARTS_OF_EPOCH if any(name in epoch.phases for epoch in run.history)]
    headings = ["epoch", "errors", "", *(f"{dev_name(run.history)} {series}" for series in scored)]
    headings += ["weights", "shuffle", "seconds", *timed, "mixing", "runner"]
    rows = []
    for epoch in run.history:
        scores = [dev_score(epoch, series) for series in scored]
        rows.append(
            [
                str(epoch.epoch),
                "" if epoch.errors is None else count(epoch.errors),
                _share(epoch.error_rate),
                *("" if score is None else f"{100 * score:.2f}" for score in scores),
                "" if epoch.weights is None else count(epoch.weights),
                "" if epoch.shuffled is None else megabytes(epoch.shuffled),
                "" if epoch.seconds is None else seconds(epoch.seconds),
                *(f"{epoch.phases[name]:.3f}" if name in epoch.phases else "" for name in timed),
                epoch.mixing or run.config.mixing,
                epoch.runner or "",
            ]
        )
    return section("Epochs", folded(f"{counted(len(rows), 'epoch')} in figures", table(headings, rows, "numbers")))
