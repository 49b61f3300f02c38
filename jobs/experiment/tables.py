"""The experiment's table: in Markdown for readers, with the papers' numbers beside ours, and in CSV for programs."""

import csv
import io
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from perceptron_jobs.experiment.cell import as_list
from perceptron_jobs.experiment.definition import Experiment, names_of_row
from perceptron_jobs.experiment.results import MEASURES, Result, mean_over_seeds

NONE = "–"


class Entry(NamedTuple):
    """The runs that share a place in the table; they differ only in their seeds."""

    row: tuple
    column: Optional[Any]
    values: dict[str, Optional[float]]
    seeds: int


def entries(experiment: Experiment, results: Sequence[Result]) -> list[Entry]:
    table, baseline = experiment.content["table"], experiment.content.get("baseline")
    pools: dict[tuple, list[Result]] = {}
    for result in results:
        pools.setdefault(result.cell.place(table), []).append(result)
    found = []
    for (row, column), pooled in pools.items():
        values = {name: mean_over_seeds(name, pooled, results, baseline) for name in as_list(table["values"])}
        found.append(Entry(row, column, values, len(pooled)))
    return _in_order(found)


def _in_order(found: Sequence[Entry]) -> list[Entry]:
    """The rows sorted axis by axis, each axis in the order in which the experiment names its values."""
    known = [list(dict.fromkeys(values)) for values in zip(*(entry.row for entry in found))]
    return sorted(found, key=lambda entry: [values.index(value) for values, value in zip(known, entry.row)])


def as_csv(experiment: Experiment, found: Sequence[Entry]) -> str:
    table = experiment.content["table"]
    measures, columns = as_list(table["values"]), [table["columns"]] if "columns" in table else []
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*as_list(table["rows"]), *columns, *measures, "seeds"])
    for entry in found:
        numbers = ["" if entry.values[name] is None else f"{entry.values[name]:.6g}" for name in measures]
        writer.writerow([*entry.row, *([entry.column] if columns else []), *numbers, entry.seeds])
    return out.getvalue()


def as_markdown(experiment: Experiment, found: Sequence[Entry], score: str) -> str:
    """One table of all measures; or, if the table has columns, one table per measure."""
    table = experiment.content["table"]
    measures, axes = as_list(table["values"]), [name.replace("_", "-") for name in as_list(table["rows"])]
    meanings = [f"{MEASURES[name].meaning}\n" for name in measures if MEASURES[name].meaning]
    if "columns" not in table:
        heads, numbers = _with_papers(experiment, found, score)
        rows = [[*_named(entry.row), *row] for entry, row in zip(found, numbers)]
        return "\n".join([_table([*axes, *heads], rows, len(axes)), *meanings])
    columns = list(dict.fromkeys(entry.column for entry in found))
    parts = []
    for name in measures:
        places = {(entry.row, entry.column): _shown(name, entry.values[name]) for entry in found}
        rows = [
            [*_named(row), *(places.get((row, column), NONE) for column in columns)]
            for row in dict.fromkeys(entry.row for entry in found)
        ]
        title = MEASURES[name].title.format(score=score)
        parts.append(f"{title[0].upper()}{title[1:]}:\n\n{_table([*axes, *map(str, columns)], rows, len(axes))}")
    return "\n".join([*parts, *meanings])


def _named(row: tuple) -> list[str]:
    """The values of a row; an option that the run was not given has none."""
    return [NONE if value is None else str(value) for value in row]


def _with_papers(experiment: Experiment, found: Sequence[Entry], score: str) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows of all measures, each with the papers' numbers beside it."""
    heads: list[str] = []
    columns: list[list[str]] = []
    for name in as_list(experiment.content["table"]["values"]):
        heads.append(MEASURES[name].title.format(score=score))
        columns.append([_shown(name, entry.values[name]) for entry in found])
        for paper, rows in experiment.content.get("papers", {}).items():
            if any(name in numbers for numbers in rows.values()):
                heads.append(paper)
                columns.append([_published(rows, entry.row, name) for entry in found])
    return heads, [list(row) for row in zip(*columns)]


def _published(rows: dict[str, dict[str, float]], row: tuple, name: str) -> str:
    numbers = [rows[called][name] for called in names_of_row(row) if name in rows.get(called, {})]
    return f"{numbers[0]:,}" if numbers else NONE


def _shown(name: str, value: Optional[float]) -> str:
    if value is None:
        return NONE
    decimals = MEASURES[name].decimals
    if decimals == 0 and value != int(value):  # a mean of counts
        decimals = 1
    return f"{value:,.{decimals}f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int) -> str:
    rule = ["---" if i < text_columns else "---:" for i in range(len(heads))]
    return "".join(f"| {' | '.join(row)} |\n" for row in [heads, rule, *rows])
