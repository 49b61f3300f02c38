"""Learning curves: what the rows say, which epoch is marked, and that the picture is well-formed."""

import re
import xml.etree.ElementTree as ElementTree
from typing import Any, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_jobs.records.epoch_entry import EpochEntry
from perceptron_jobs.report import learning_curve, learning_curve_svg

SVG = "{http://www.w3.org/2000/svg}"


def epoch(number: int, errors: int, averaged: Optional[float] = None, last: Optional[float] = None) -> EpochEntry:
    record: dict[str, Any] = {"epoch": number, "errors": errors, "sentences": 200, "seconds": 0.5}
    scores = {"averaged": averaged, "last": last}
    if averaged is not None or last is not None:
        record["dev"] = {"name": "F1", **{k: v for k, v in scores.items() if v is not None}}
    return EpochEntry.from_record(record)


RUN = [epoch(1, 100, 0.80, 0.78), epoch(2, 50, 0.90, 0.95), epoch(3, 25, 0.85, 0.84)]
HISTORIES = {
    "a run": RUN,
    "one epoch": RUN[:1],
    "no dev set": [epoch(1, 100), epoch(2, 0)],
    "dev now and then": [epoch(1, 100), epoch(2, 50, 0.9), epoch(3, 25)],
    "last weights only": [epoch(1, 100, last=0.7), epoch(2, 50, last=0.6)],
    "equal scores": [epoch(1, 0, 0.5), epoch(2, 0, 0.5)],
    "scores a hair apart": [epoch(1, 0, 0.0), epoch(2, 0, 5e-324)],
    "200 epochs": [epoch(i, 200 - i, 0.5 + i / 1000) for i in range(1, 201)],
    "no sentences": [EpochEntry(1, errors=0, seconds=0.0)],
}


def test_rows_tell_errors_and_the_averaged_score_and_mark_the_best() -> None:
    heading, *rows = learning_curve(RUN).split("\n")
    assert "F1 on dev (averaged)" in heading
    assert [re.findall(r"[\d.]+", row) for row in rows] == [
        ["1", "50.00", "80.00"],
        ["2", "25.00", "90.00"],
        ["3", "12.50", "85.00"],
    ]
    assert [row.endswith("◀ best") for row in rows] == [False, True, False]


def test_bars_are_in_proportion() -> None:
    _, *rows = learning_curve(RUN, width=76).split("\n")
    error_bars = [row[17:38] for row in rows]
    dev_bars = [row[48:].replace(" ◀ best", "") for row in rows]
    full = "█" * 21
    assert error_bars == [full, f"{'█' * 10}▌".ljust(21), f"{'█' * 5}▎".ljust(21)]
    assert dev_bars == ["▏", full, "█" * 10 + "▌"]


def test_the_first_of_equal_epochs_is_the_best() -> None:
    rows = learning_curve(HISTORIES["equal scores"]).split("\n")[1:]
    assert [row.endswith("◀ best") for row in rows] == [True, False]


def test_last_weights_are_shown_where_nothing_was_averaged() -> None:
    heading, first, second = learning_curve(HISTORIES["last weights only"]).split("\n")
    assert "(last)" in heading
    assert "70.00" in first and first.endswith("◀ best")
    assert "60.00" in second


def test_without_a_dev_set_no_epoch_is_best() -> None:
    chart = learning_curve(HISTORIES["no dev set"])
    assert "dev" not in chart and "best" not in chart


def test_before_the_first_epoch() -> None:
    assert learning_curve([]) == "no epoch is complete yet"
    ElementTree.fromstring(learning_curve_svg([], "начало"))


@pytest.mark.parametrize("name", HISTORIES)
@pytest.mark.parametrize("width", [60, 72, 120])
def test_a_row_an_epoch_within_the_width(name: str, width: int) -> None:
    lines = learning_curve(HISTORIES[name], width).split("\n")
    assert len(lines) == 1 + len(HISTORIES[name])
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def lines_of(svg: str) -> list[list[tuple[float, float]]]:
    """The drawn curves, from the first panel to the last."""
    lines = ElementTree.fromstring(svg).iter(f"{SVG}polyline")
    return [[tuple(map(float, point.split(","))) for point in line.attrib["points"].split()] for line in lines]


@pytest.mark.parametrize("name", HISTORIES)
def test_the_picture_is_valid_and_within_its_frame(name: str) -> None:
    history = HISTORIES[name]
    svg = learning_curve_svg(history, 'Kanal <1> & "2": 词性')
    root = ElementTree.fromstring(svg)
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert 'Kanal <1> & "2": 词性' in texts
    curves = lines_of(svg)
    assert len(curves) == 1 + len({key for e in history if e.dev for key in e.dev.record()} - {"name"})
    assert len(curves[0]) == len(history)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    panels = [group for group in root.iter(f"{SVG}g") if "transform" in group.attrib]
    assert len(panels) == 1 + any(e.dev for e in history)
    for x, y in (point for curve in curves for point in curve):
        assert 0 <= x <= width
        assert 0 <= y <= height / len(panels)


def test_better_is_higher_in_the_picture() -> None:
    errors, averaged, last = lines_of(learning_curve_svg(RUN, "run"))
    assert errors[0][1] < errors[1][1] < errors[2][1]
    assert averaged[1][1] < averaged[2][1] < averaged[0][1]
    assert last[1][1] < averaged[1][1]
    assert [x for x, _ in errors] == [x for x, _ in last]


@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.none() | st.floats(0, 1), st.none() | st.floats(0, 1)),
        min_size=1,
        max_size=60,
    ),
    st.text(),
)
def test_any_history_can_be_drawn(records: list, title: str) -> None:
    history = [epoch(i, *record) for i, record in enumerate(records, start=1)]
    assert len(learning_curve(history).split("\n")) == 1 + len(history)
    ElementTree.fromstring(learning_curve_svg(history, title))
