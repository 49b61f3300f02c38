"""What a benchmark hands back, and its tables: rows that compare us with a rival, and further tables."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

from arithmetic import Spread

HEADER = ["benchmark", "work", "ours", "rival", "rival's", "ratio", "goal", "met", "memory", "accuracy"]
UNITS = {"s": (1.0, "s"), "MB": (2**20, "MB"), "B": (1.0, "B")}  # unit → (divisor, name)


class Row(NamedTuple):
    """Ours against one rival; what was not measured is None."""

    benchmark: str
    work: str
    rival: str
    goal: str = "–"
    met: Optional[bool] = None
    unit: str = "s"  # of ours and theirs
    ours: Optional[Spread] = None
    theirs: Optional[Spread] = None
    ratio: Optional[Spread] = None
    memory: tuple[Optional[float], Optional[float]] = (None, None)  # bytes, ours and theirs
    accuracy: tuple[Optional[float], Optional[float]] = (None, None)  # 0 … 1
    instead: str = ""  # shown in place of the rival's figures: why there are none, or what was found
    note: str = ""


class Detail(NamedTuple):
    """A further table."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]


class Outcome(NamedTuple):
    rows: Sequence[Row]
    details: Sequence[Detail] = ()
    raw: Optional[dict[str, object]] = None  # every measurement, for the JSON file
    figures: Mapping[str, str] = {}  # file name → SVG


def number(value: float) -> str:
    """Three digits, or more if there are more before the point."""
    if value == 0:
        return "0"
    digits = max(0, 2 - len(str(int(abs(value)))) + 1) if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}"


def with_spread(spread: Optional[Spread], unit: str) -> str:
    """`4.21 s (4.10–4.55)`."""
    if spread is None:
        return "–"
    divisor, name = UNITS.get(unit, (1.0, unit))
    middle, low, high = (number(value / divisor) for value in spread)
    mark = "" if name == "×" else " "
    return f"{middle}{mark}{name}" if low == high else f"{middle}{mark}{name} ({low}–{high})"


def _pair(values: Sequence[Optional[float]], scale: float, suffix: str) -> str:
    if all(value is None for value in values):
        return "–"
    return " / ".join("–" if value is None else number(value * scale) for value in values) + suffix


def cells(row: Row) -> list[str]:
    """A row as the table shows it."""
    met = "–" if row.met is None else "yes" if row.met else "no"
    return [
        row.benchmark,
        row.work,
        with_spread(row.ours, row.unit),
        row.rival,
        row.instead or with_spread(row.theirs, row.unit),
        with_spread(row.ratio, "×"),
        row.goal,
        met,
        _pair(row.memory, 2**-20, " MB"),
        _pair(row.accuracy, 100, " %"),
    ]


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table whose columns are aligned, so that it can be read on a terminal as well."""
    texts = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in (header, *rows)]
    widths = [max(len(line[column]) for line in texts) for column in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths)) + " |"

    return "\n".join(
        [line(texts[0]), "|" + "|".join("-" * (width + 2) for width in widths) + "|", *map(line, texts[1:])]
    )


def document(outcomes: Sequence[Outcome], remarks: Sequence[str]) -> str:
    """All that was measured, as Markdown."""
    rows = [row for outcome in outcomes for row in outcome.rows]
    parts = [*remarks, table(HEADER, [cells(row) for row in rows])]
    notes = [f"- {row.benchmark}, {row.rival}: {row.note}" for row in rows if row.note]
    if notes:
        parts.append("\n".join(notes))
    for outcome in outcomes:
        parts += [f"{detail.title}\n\n{table(detail.header, detail.rows)}" for detail in outcome.details]
    return "\n\n".join(parts) + "\n"
