"""Charts: one mark, bar or dot per value, at the place of the value, inside the frame."""

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_jobs.charts.over_epochs import HEIGHT, WIDTH, Dot, Line, Part, dot_chart, line_chart, stacked_bars, svg
from perceptron_jobs.charts.scales import ticks
from perceptron_jobs.charts.text import BYTES, COUNT, PERCENT, SECONDS, escape, megabytes, seconds

SVG = "{http://www.w3.org/2000/svg}"


def elements(drawing: list[str], style: str) -> list[ElementTree.Element]:
    """Those of a class."""
    root = ElementTree.fromstring(svg("a title", drawing))
    return [element for element in root.iter() if style in element.get("class", "").split()]


def told(drawing: list[str]) -> list[str]:
    root = ElementTree.fromstring(svg("a title", drawing))
    return [title.text or "" for title in root.iter(f"{SVG}title")][1:]


def test_lines_have_a_mark_a_value_and_tell_all_values_of_an_epoch() -> None:
    lines = [Line("a & b", [(1, 80.0), (2, 40.0)], 1), Line("last", [(2, 60.0)], 2, dashed=True)]
    drawing = line_chart(lines, PERCENT)
    assert len(elements(drawing, "mark")) == 3 and len(elements(drawing, "line")) == 2
    assert told(drawing) == ["epoch 1\na & b: 80.00\xa0%", "epoch 2\na & b: 40.00\xa0%\nlast: 60.00\xa0%"]


def test_a_long_line_has_no_marks() -> None:
    drawing = line_chart([Line("a", [(x, x) for x in range(1, 200)], 1)], COUNT)
    assert not elements(drawing, "mark") and len(told(drawing)) == 199


def test_the_parts_of_a_bar_stand_on_each_other_in_proportion() -> None:
    drawing = stacked_bars([1, 2], [Part("map", [3.0, 1.0], 1), Part("reduce", [1.0, 0.0], 2)], SECONDS)
    bars = [{name: float(bar.attrib[name]) for name in ("y", "height", "x")} for bar in elements(drawing, "bar")]
    assert len(bars) == 4
    below, above, other, nothing = bars
    assert below["height"] == pytest.approx(3 * above["height"], abs=0.1) and nothing["height"] == 0
    assert above["y"] + above["height"] == pytest.approx(below["y"], abs=0.02)
    assert other["height"] == pytest.approx(above["height"], abs=0.02) and other["x"] > below["x"] == above["x"]
    assert told(drawing)[0] == "epoch 1: 4.00\xa0s\nmap: 3.00\xa0s\nreduce: 1.00\xa0s"


def test_a_straggler_is_the_highest_dot() -> None:
    drawing = dot_chart({1: [Dot(1.0, "shard 0"), Dot(9.0, "shard 1"), Dot(1.2, "shard 2")]}, SECONDS, 1)
    heights = {dot.find(f"{SVG}title").text: float(dot.attrib["cy"]) for dot in elements(drawing, "dot")}
    assert min(heights, key=heights.get) == "shard 1" and len(heights) == 3


def test_of_many_shards_the_extremes_are_shown() -> None:
    columns = {epoch: [Dot((7 * i) % 1000, str(i)) for i in range(1000)] for epoch in range(1, 31)}
    dots = elements(dot_chart(columns, SECONDS, 1), "dot")
    assert len(dots) == 1500
    shown = {dot.find(f"{SVG}title").text for dot in dots}
    assert {"0", str(next(i for i in range(1000) if 7 * i % 1000 == 999))} <= shown


@given(
    st.lists(st.lists(st.floats(0, 1e12), min_size=1, max_size=4), min_size=1, max_size=50),
    st.sampled_from([PERCENT, COUNT, BYTES, SECONDS]),
)
def test_whatever_the_values_all_is_within_the_frame(values: list, unit) -> None:
    lines = line_chart([Line("x", [(i, v[0]) for i, v in enumerate(values, 1)], 1)], unit)
    dots = dot_chart({i: [Dot(v, "") for v in of] for i, of in enumerate(values, 1)}, unit, 2)
    bars = stacked_bars(range(1, len(values) + 1), [Part("x", [v[0] for v in values], 1)], unit)
    (line,) = elements(lines, "line")
    points = [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
    assert len(points) == len(values) and all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)
    for dot in elements(dots, "dot"):
        assert 0 <= float(dot.attrib["cx"]) <= WIDTH and 0 <= float(dot.attrib["cy"]) <= HEIGHT
    for bar in elements(bars, "bar"):
        assert 0 <= float(bar.attrib["y"]) <= HEIGHT and 0 <= float(bar.attrib["height"]) <= HEIGHT


@given(st.floats(0, 1e15), st.floats(0, 1e15))
def test_ticks_are_few_and_enclose_the_values(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    found = ticks(low, high, 5)
    assert found[0] <= low + 1e-9 * high + 1e-6 and found[-1] >= high - 1e-9 * high - 1e-6
    assert 2 <= len(found) <= 7 and found == sorted(set(found))


def test_numbers_in_words() -> None:
    assert [seconds(value) for value in (0.0123, 1.5, 75.04, 3600 * 5 + 120)] == [
        "0.012\xa0s",
        "1.50\xa0s",
        "75.0\xa0s",
        "5\xa0h 2\xa0min",
    ]
    assert [megabytes(value) for value in (500, 2.5e6, 3e9)] == ["0.5\xa0kB", "2.5\xa0MB", "3.0\xa0GB"]
    assert [COUNT.tick(value) for value in (0, 500, 20000, 1.5e6)] == ["0", "500", "20k", "1.5M"]


def test_what_cannot_be_shown_is_replaced() -> None:
    assert escape("a\x00\ud800\x1b<b>&\"'кот") == "a\ufffd\ufffd\ufffd&lt;b&gt;&amp;&quot;&#x27;кот"
