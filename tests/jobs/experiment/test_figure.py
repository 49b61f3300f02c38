"""Charts, and their pictures."""

import struct
import xml.etree.ElementTree as ET

import pytest

from perceptron_jobs.charts.panels import LINE, Chart, Panel
from perceptron_jobs.charts.scales import inner_ticks, log_ticks, ticks
from perceptron_jobs.experiment import png

SVG = "{http://www.w3.org/2000/svg}"


def marks(drawn: ET.Element, style: str = "mark") -> list[tuple[float, float]]:
    """Where the points of the lines are."""
    found = [path.get("transform", "") for path in drawn.iter(f"{SVG}path") if style in path.get("class", "")]
    return [tuple(map(float, each[len("translate(") : -1].split())) for each in found]


def test_the_figure_has_a_panel_a_number_of_shards_and_the_baseline_in_each(done):
    output, _ = done
    drawn = ET.parse(output / "grid.svg").getroot()
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert drawn.find(f"{SVG}title").text == "Tiny <grid>" and any("A paper & its Fig. 1" in text for text in texts)
    for shards in (1, 3):
        assert f"phrases, shards {shards}: training errors (sentences)" in texts
        assert f"phrases, shards {shards}: dev F1, averaged weights" in texts
    assert texts.count("serial") == texts.count("row") == 1 + 4, "in the legend, and at the end of a line in each panel"


def test_a_run_may_stand_where_a_measure_of_it_says(done, write, corpus, must):
    output, _ = done
    figure = {"x": "features", "y": "dev.averaged", "panels": "shards"}
    runs = {"row": {"shards": [1, 3], "mixing": "row"}, "uniform": {"shards": [1, 3], "mixing": "uniform"}}
    path = write("sizes", seeds=[1], runs=runs, baseline="row", papers=None, figure=figure)
    must("experiment", path, "--data", corpus, "--output", output)
    drawn = ET.parse(output / "sizes.svg").getroot()
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert texts.count("features") == 2, "the axis of both panels"
    assert len(marks(drawn, "mark c0")) == 2, (
        "the baseline has a size: it is a point, in each panel its own, not a line through it"
    )


def test_labels_and_points_stay_inside_and_apart():
    lines = {f"line {i}": [(x, 50 + i * 1e-3) for x in (1.0, 10.0, 100.0)] for i in range(12)}
    chart = Chart(
        "t", "words " * 60, [Panel("p", "x", lines, log_x=True), Panel("q", "x", {"one": [(3.0, 1.0)]})], "one"
    )
    drawn, (width, height) = ET.fromstring(chart.svg()), chart.size()
    assert marks(drawn) and all(0 < x < width and 0 < y < height for x, y in marks(drawn))
    ends = [t for t in drawn.iter(f"{SVG}text") if (t.text or "").startswith("line ") and t.get("class") != "name"]
    places = sorted(float(text.get("y")) for text in ends)
    assert len(places) == 12 and min(b - a for a, b in zip(places, places[1:])) >= LINE - 0.2
    assert places[0] > 0 and places[-1] < height


def test_counts_fall_by_powers_of_ten_and_none_stands_with_one():
    line = [(1.0, 2000.0), (2.0, 200.0), (3.0, 20.0), (4.0, 1.0), (5.0, 0.0)]
    drawn = ET.fromstring(Chart("t", "", [Panel("p", "x", {"line": line}, log_y=True)]).svg())
    heights = [y for _, y in marks(drawn)]
    assert heights[1] - heights[0] == pytest.approx(heights[2] - heights[1], abs=0.2) and heights[3] == heights[4]
    assert {"1", "10", "100", "1,000", "10,000"} <= {text.text for text in drawn.iter(f"{SVG}text")}


def test_ticks_are_round_and_cover_what_is_drawn():
    assert ticks(0, 4.7, 5) == [0, 1, 2, 3, 4, 5] and ticks(88.1, 90.3, 5) == [88, 88.5, 89, 89.5, 90, 90.5]
    assert inner_ticks(1, 3) == [1, 2, 3] and inner_ticks(0.3, 1.3) == [0.4, 0.6, 0.8, 1, 1.2]
    assert log_ticks(0.05, 2.5) == [0.05, 0.1, 0.2, 0.5, 1, 2] and log_ticks(1.2, 1.7) == [1.2, 1.7]


def test_a_png_is_drawn_where_a_program_can_and_missed_in_a_sentence_where_not(monkeypatch, tmp_path):
    chart = Chart("t", "", [Panel("p", "x", {"line": [(1.0, 1.0), (2.0, 3.0)]})])
    (tmp_path / "chart.svg").write_text(chart.svg(), encoding="utf-8")
    svg, picture = str(tmp_path / "chart.svg"), tmp_path / "chart.png"
    problem = png.write_png(svg, chart.size(), str(picture))
    if problem is None:
        data = picture.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", data[16:24]) == tuple(png.SCALE * side for side in chart.size())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert png.write_png(svg, chart.size(), str(picture)) == (
        f"no PNG: neither rsvg-convert nor chromium is on the PATH; the figure is {svg}"
    )
    assert not picture.exists(), "no older picture stays beside a newer figure"
