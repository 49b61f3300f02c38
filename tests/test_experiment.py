"""`perceptron experiment`: what a file may say, that the grid is trained once and no more, and that the tables and
figures show what the runs have measured."""

import configparser
import csv
import json
import os
import signal
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import yaml

from jobs.cli.options import READY_EXPERIMENTS
from jobs.experiment import deals, png
from jobs.experiment.chart import LINE, Chart, Panel, log_ticks, ticks
from jobs.experiment.clock import inputs, seconds_until
from jobs.experiment.corpora import prepare_dealt
from jobs.experiment.definition import Cell, Corpus, find_experiment, read_experiment
from jobs.experiment.results import MEASURES, Result
from perceptron_core.dealing import deal
from perceptron_core.errors import InputError
from perceptron_core.task import read_task

CORPUS = {"task": "task.yaml", "train": "train.txt", "dev": "dev.txt"}
GRID = {
    "title": "Tiny <grid>",
    "source": "A paper & its Fig. 1",
    "corpora": {"phrases": CORPUS},
    "seeds": [1, 2],
    "options": {"epochs": 3},
    "runs": {"serial": {"shards": 1}, "{mixing}": {"shards": [1, 3], "mixing": ["uniform", "row"]}},
    "baseline": "serial",
    "table": {"rows": ["run", "shards"], "values": ["dev.last", "dev.averaged", "errors", "epochs"]},
    "figure": {"x": "epoch", "y": ["errors", "dev.averaged"], "panels": "shards"},
    "papers": {"Someone 1999": {"serial": {"dev.last": 85.8}}},
}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def write(corpus: Path) -> Callable[..., Path]:
    """An experiment's file beside the corpus' task: write(path's stem, what differs from GRID…)."""

    def make(name: str, **changes: Any) -> Path:
        path = corpus / f"{name}.yaml"
        content = {key: value for key, value in {**GRID, **changes}.items() if value is not None}
        path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return path

    return make


@pytest.fixture(scope="module")
def done(corpus: Path, must: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """GRID, trained: the output folder and what was said; tests only read it."""
    path = corpus / "grid.yaml"
    path.write_text(yaml.safe_dump(GRID, sort_keys=False), encoding="utf-8")
    output = tmp_path_factory.mktemp("done")
    return output, must("experiment", path, "--data", corpus, "--output", output)


def history(output: Path, run: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (output / "runs" / run / "history.jsonl").read_text().splitlines()]


def without_times(output: Path) -> dict[str, list[Any]]:
    """What the runs have learned, epoch by epoch."""
    return {
        run.name: [(epoch["errors"], epoch["weights"], epoch["dev"]) for epoch in history(output, run.name)]
        for run in sorted((output / "runs").iterdir())
    }


# ---------------------------------------------------------------- the grid


def test_every_training_of_the_grid_is_an_ordinary_run(done, must):
    output, _ = done
    runs = sorted(path.name for path in (output / "runs").iterdir())
    assert runs == sorted(
        f"phrases_shards-{which}_seed-{seed}"
        for seed in (1, 2)
        for which in ("1_epochs-3", "3_epochs-3_mixing-uniform", "3_epochs-3_mixing-row")
    ), "one shard has nothing to mix, so all strategies share its run"
    config = json.loads((output / "runs" / "phrases_shards-3_epochs-3_mixing-row_seed-2" / "config.json").read_text())
    assert (config["shards"], config["seed"], config["mixing"]) == (3, 2, "row")
    assert must("report", output / "runs" / runs[0]).count("\n") >= 4


def test_the_same_training_by_hand_gives_the_same_model(done, train, tmp_path):
    output, _ = done
    train(tmp_path / "run", "--shards", 3, "--mixing", "uniform", "--epochs", 3, "--seed", 2)
    ours = output / "runs" / "phrases_shards-3_epochs-3_mixing-uniform_seed-2" / "epoch-0003" / "weights"
    assert ours.read_bytes() == (tmp_path / "run" / "epoch-0003" / "weights").read_bytes()


def test_corpora_are_prepared_once_for_all_that_share_them(done):
    output, said = done
    assert "preparing 4 corpora\n6 trainings, 0 done already" in said
    names = sorted(path.name for path in (output / "prepared").iterdir())
    assert names == [f"phrases_shards-{shards}_seed-{seed}" for shards in (1, 3) for seed in (1, 2)]
    assert not list((output / "runs").glob("*/prepared"))


def test_what_is_done_is_skipped_and_shown_again(done, corpus, must):
    output, _ = done
    kept = {path: path.stat().st_mtime_ns for path in (output / "runs").rglob("*")}
    (output / "grid.csv").unlink()
    said = must("experiment", corpus / "grid.yaml", "--data", corpus, "--output", output)
    assert "6 trainings, 6 done already" in said and "[" not in said and (output / "grid.csv").exists()
    assert {path: path.stat().st_mtime_ns for path in (output / "runs").rglob("*")} == kept


def test_experiments_may_share_their_runs(done, write, corpus, must, contents):
    output, _ = done
    one = write("other", runs={"S={shards}": {"shards": 3, "mixing": "row"}}, baseline=None, papers=None, figure=None)
    before = contents(output / "runs")
    said = must("experiment", one, "--data", corpus, "--output", output)
    assert "2 trainings, 2 done already" in said and contents(output / "runs") == before
    assert (output / "other.md").exists() and not (output / "other.svg").exists()


def test_an_interrupted_grid_goes_on_and_ends_the_same(done, corpus, must, tmp_path):
    command = [sys.executable, "-m", "jobs.cli.main", "experiment", str(corpus / "grid.yaml"), "--data", str(corpus)]
    with subprocess.Popen(
        [*command, "--output", str(tmp_path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        while not list(tmp_path.glob("runs/*/model")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)  # to the command alone, not to the trainings that it has started
        assert process.communicate()[1] == b"perceptron: interrupted\n" and process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    said = must("experiment", corpus / "grid.yaml", "--data", corpus, "--output", tmp_path)
    assert "6 trainings, 0 done already" not in said
    assert without_times(tmp_path) == without_times(done[0])


def test_a_run_that_was_stopped_between_epochs_goes_on(done, write, corpus, must, tmp_path):
    run = tmp_path / "runs" / "phrases_shards-3_epochs-3_mixing-row_seed-1"
    must("prepare", corpus / "task.yaml", "--train", corpus / "train.txt", "--shards", 3, "--output", tmp_path / "p")
    given = ("--prepared", tmp_path / "p", "--dev", corpus / "dev.txt", "--mixing", "row", "--epochs", 1)
    must("train", corpus / "task.yaml", "--run-dir", run, *given)
    (run / "model").unlink()  # as it is while a run goes on
    (before,) = history(tmp_path, run.name)
    one = write("one", seeds=[1], runs={"row": {"shards": 3, "mixing": "row"}}, baseline=None, papers=None, figure=None)
    must("experiment", one, "--data", corpus, "--output", tmp_path)
    assert history(tmp_path, run.name)[0]["shards"] == before["shards"], "the first epoch was not trained again"
    assert without_times(tmp_path)[run.name] == without_times(done[0])[run.name]


def test_another_runner_gives_the_same_numbers(done, corpus, write, must, tmp_path):
    runs = {"row": {"shards": 3, "mixing": "row"}}
    one = write("one", seeds=[2], runs=runs, baseline=None, papers=None, figure=None)
    said = must("experiment", one, "--data", corpus, "--output", tmp_path, "-r", "local")
    assert "1 training, 0 done already; 1 at a time" in said
    (name,) = without_times(tmp_path)
    assert without_times(tmp_path)[name] == without_times(done[0])[name]
    assert {epoch["runner"] for epoch in history(tmp_path, name)} == {"local"}


def test_a_limit_takes_sentences_from_the_whole_corpus_and_full_lifts_it(write, corpus, must, tmp_path):
    small = write(
        "small", corpora={"phrases": {**CORPUS, "limit": 10}}, seeds=[1], full_seeds=[1, 2], runs={"serial": {}}
    )
    must("experiment", small, "--data", corpus, "--output", tmp_path)
    sentences = (corpus / "train.txt").read_text(encoding="utf-8").strip().split("\n\n")
    taken = (tmp_path / "corpora" / "phrases-10.txt").read_text(encoding="utf-8").strip().split("\n\n")
    assert taken == sentences[::5]
    assert history(tmp_path, "phrases-10_shards-1_epochs-3_seed-1")[0]["sentences"] == 10
    must("experiment", small, "--data", corpus, "--output", tmp_path, "--full")
    assert [history(tmp_path, f"phrases_shards-1_epochs-3_seed-{s}")[0]["sentences"] for s in (1, 2)] == [50, 50]


# ---------------------------------------------------------------- what it refuses

BAD = {
    "an unknown key": ({"titel": "x"}, "the experiment: `titel` is not known; there are title, source"),
    "no runs": ({"runs": None}, "`runs` is missing"),
    "a key of another type": ({"seeds": 3}, "`seeds` has to be a list, not 3"),
    "runs that are none": ({"runs": {"serial": 3}}, "runs: serial: names with their values are wanted, not 3"),
    "an unknown option": ({"runs": {"serial": {"shard": 3}}}, "runs: serial: `shard` is not known"),
    "an option of the grid's own": ({"options": {"run-dir": "x"}}, "`run_dir` is not known"),
    "a value that train refuses": (
        {"runs": {"serial": {"mixing": ["sum"]}}},
        "argument --mixing: invalid choice: 'sum'",
    ),
    "no average": ({"options": {"average": False}}, "`average` is not known"),
    "an unknown deal": ({"runs": {"serial": {"deal": "cut"}}}, "deal: `cut` is not known; there are shuffled, unequal"),
    "an unknown corpus": ({"runs": {"serial": {"corpus": "ptb"}}}, "corpus: `ptb` is not known; there are phrases"),
    "a corpus without dev": ({"corpora": {"p": {"task": "pos", "train": "x"}}}, "corpora: p: `dev` is missing"),
    "a limit that is none": ({"corpora": {"phrases": {**CORPUS, "limit": "all"}}}, "`limit` has to be a number of"),
    "a file that is none": ({"corpora": {"phrases": {**CORPUS, "train": 3}}}, "`train` has to be a name, not 3"),
    "a name of nothing": ({"runs": {"{mixture}": {}}}, "what stands in braces has to be an option of the run"),
    "an unknown baseline": ({"baseline": "sereal"}, "baseline: `sereal` is not known; there are serial, {mixing}"),
    "an unknown measure": ({"table": {"rows": "run", "values": "f1"}}, "table: values: `f1` is not known"),
    "an unknown axis": ({"table": {"rows": "learner", "values": "errors"}}, "table: rows: `learner` is not known"),
    "an unknown x": ({"figure": {"x": "time", "y": "errors"}}, "figure: x: `time` is not known; there are epoch"),
    "no curve": ({"figure": {"x": "epoch", "y": "speedup"}}, "figure: y: `speedup` is not known"),
    "a row of no paper": ({"papers": {"X": {"parallel": {}}}}, "papers: X: `parallel` is not known"),
}


@pytest.mark.parametrize("why", BAD)
def test_a_mistake_in_the_file_is_told_before_anything_is_trained(why, write, corpus, perceptron, tmp_path):
    changes, sentence = BAD[why]
    path = write("bad", **{"baseline": None, "papers": None, **changes})
    refused = perceptron("experiment", path, "--data", corpus, "--output", tmp_path / "out")
    assert refused.code == 2 and sentence in refused.err
    assert refused.err.startswith(f"perceptron: {path}: ") and not (tmp_path / "out").exists()


def test_runs_that_differ_in_more_than_the_seed_do_not_share_a_row(done, write, corpus, perceptron):
    output, _ = done
    path = write("pooled", table={"rows": "run", "values": "errors"}, papers=None)
    refused = perceptron("experiment", path, "--data", corpus, "--output", output)
    assert refused.code == 2 and "table: runs that differ in shards share a place" in refused.err


def test_a_training_that_is_refused_ends_the_grid_with_its_sentence(write, corpus, perceptron, tmp_path):
    (tmp_path / "broken.txt").write_text("a DT B-NP\nb NN\n")
    path = write("broken", corpora={"phrases": {**CORPUS, "train": str(tmp_path / "broken.txt")}})
    refused = perceptron("experiment", path, "--data", corpus, "--output", tmp_path / "out")
    assert refused.code == 2 and "phrases_shards-1_seed-" in refused.err and "broken.txt:2" in refused.err


@pytest.mark.parametrize("limit", [None, 20])
def test_a_corpus_that_has_changed_is_refused(limit, write, corpus, must, perceptron, tmp_path):
    text = (corpus / "train.txt").read_text(encoding="utf-8")
    mine = tmp_path / "train.txt"
    mine.write_text(text, encoding="utf-8")
    corpora = {"phrases": {**CORPUS, "train": str(mine), "limit": limit}}
    path = write("changed", corpora=corpora, seeds=[1], runs={"serial": {}})
    must("experiment", path, "--data", corpus, "--output", tmp_path / "out")
    mine.write_text(text.replace("the", "that"), encoding="utf-8")
    refused = perceptron("experiment", path, "--data", corpus, "--output", tmp_path / "out")
    assert refused.code == 2 and "was made of another corpus" in refused.err


def test_where_the_corpora_are_has_to_be_said(perceptron, monkeypatch, tmp_path):
    monkeypatch.delenv("PERCEPTRON_DATA", raising=False)
    refused = perceptron("experiment", "mixing", "--output", tmp_path)
    assert refused.code == 2 and "--data DIR or by PERCEPTRON_DATA" in refused.err
    refused = perceptron("experiment", "mixin", "--data", tmp_path, "--output", tmp_path)
    assert refused.code == 2 and "give a file, or a ready one: ner-strategies" in refused.err


# ---------------------------------------------------------------- the ready ones


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", READY_EXPERIMENTS)
def test_the_ready_experiments_are_sound(name, full):
    experiment = read_experiment(find_experiment(name), "corpora", full)
    assert experiment.name == name and experiment.content["source"]
    assert {cell.options["seed"] for cell in experiment.cells} == ({1, 2, 3} if full else {1})
    assert all(cell.corpus.limit is None or not full for cell in experiment.cells)
    assert "table" in experiment.content or "figure" in experiment.content


def test_the_ready_experiments_are_installed_with_the_package():
    top = Path(__file__).resolve().parent.parent
    setup = configparser.ConfigParser()
    assert setup.read(top / "setup.cfg")
    patterns = setup["options.package_data"]["jobs.configs"].split(", ")
    packed = {path.name: path for pattern in patterns for path in (top / "configs").glob(pattern)}
    for name in READY_EXPERIMENTS:
        found = Path(find_experiment(name))  # in the tree, or where the package was installed
        assert found.read_bytes() == packed[found.name].read_bytes()


def test_a_strategy_is_added_by_its_name_alone(tmp_path):
    text = Path(find_experiment("mixing")).read_text(encoding="utf-8")
    assert text.count("[uniform, errors, touched, row") == 1
    (tmp_path / "more.yaml").write_text(text.replace("[uniform, errors, ", "[uniform, errors, examples, "))
    before = {cell.run for cell in read_experiment(find_experiment("mixing"), "", False).cells}
    after = {cell.run for cell in read_experiment(str(tmp_path / "more.yaml"), "", False).cells}
    assert after - before == {"examples"}


# ---------------------------------------------------------------- deals


def cell_of(corpus: Path, deal_name: str, shards: int) -> Cell:
    place = Corpus("phrases", str(corpus / "task.yaml"), (str(corpus / "train.txt"),), (), None)
    return Cell("run", "run", place, deal_name, {"shards": shards, "seed": 1})


@pytest.mark.parametrize("name", deals.DEALS)
@pytest.mark.parametrize("shards", [1, 4, 10])
def test_a_deal_gives_every_sentence_to_one_shard(name, shards):
    lengths = [3, 1, 2, 9, 9, 1, 4]
    parts = deals.DEALS[name](lengths, shards, 7)
    assert len(parts) == shards and sorted(np.concatenate(parts).tolist()) == list(range(7))


def test_the_deals_are_what_they_are_called():
    lengths = [5, 3, 4, 1, 2, 6]
    assert [part.tolist() for part in deals.DEALS["in-order"](lengths, 3, 1)] == [[0, 1], [2, 3], [4, 5]]
    assert [part.tolist() for part in deals.DEALS["sorted"](lengths, 3, 1)] == [[3, 4], [1, 2], [0, 5]]
    sizes = [len(part) for part in deals.DEALS["unequal"]([1] * 2929, 10, 1)]
    assert sizes == [1000, 500, 333, 250, 200, 167, 143, 125, 111, 100]


def test_a_deal_like_that_of_prepare_builds_the_same_shards(corpus, must, monkeypatch, tmp_path):
    def like_prepare(lengths: Sequence[int], shards: int, seed: int) -> list[np.ndarray]:
        shard_of, places = deal(seed, 0, 0, len(lengths), shards)
        order = np.argsort(places, kind="stable")
        return [order[shard_of[order] == shard] for shard in range(shards)]

    monkeypatch.setitem(deals.DEALS, "like-prepare", like_prepare)
    cell = cell_of(corpus, "like-prepare", 4)
    prepare_dealt(cell, read_task(cell.corpus.task), cell.corpus.train, str(tmp_path / "dealt"))
    must("prepare", cell.corpus.task, "--train", *cell.corpus.train, "--shards", 4, "--output", tmp_path / "prepared")
    for path in (tmp_path / "prepared").glob("*.gz"):
        assert (tmp_path / "dealt" / path.name).read_bytes() == path.read_bytes()
    ours, theirs = (json.loads((tmp_path / f / "prepared.json").read_text()) for f in ("dealt", "prepared"))
    assert [{**entry, "deal": "like-prepare"} for entry in theirs.pop("data")] == ours.pop("data") and ours == theirs


def test_a_skewed_grid_is_trained_on_skewed_shards(write, corpus, must, tmp_path):
    runs = {"{deal}, {mixing}": {"shards": 4, "deal": ["unequal", "sorted"], "mixing": ["uniform", "examples"]}}
    table = {"rows": "deal", "columns": "mixing", "values": ["dev.last", "errors"]}
    path = write("skewed", seeds=[1], runs=runs, table=table, figure=None, baseline=None, papers=None)
    must("experiment", path, "--data", corpus, "--output", tmp_path)
    last = history(tmp_path, "phrases_unequal_shards-4_epochs-3_mixing-uniform_seed-1")[-1]
    assert [shard["sentences"] for shard in last["shards"]] == [24, 12, 8, 6]
    content = json.loads((tmp_path / "prepared" / "phrases_sorted_shards-4_seed-1" / "prepared.json").read_text())
    mean_lengths = [shard["tokens"] / shard["sentences"] for shard in content["shards"]]
    assert mean_lengths == sorted(mean_lengths) and mean_lengths[0] < mean_lengths[-1] / 2
    assert (tmp_path / "skewed.md").read_text().count("| deal | uniform | examples |") == 2


# ---------------------------------------------------------------- the clock and the measures


def epoch(number: int, seconds: Sequence[float], averaged: float, last: float = 0.5, errors: int = 9) -> dict[str, Any]:
    return {
        "epoch": number,
        "errors": errors,
        "seconds": 99.0,
        "runner": "inline",
        "shards": [{"seconds": each} for each in seconds],
        "phases": {"submit": 7.0, "map": 8.0, "shuffle": 0.5, "reduce": 0.25, "publish": 0.25, "dev": 9.0},
        "dev": {"name": "F1", "averaged": averaged, "last": last, "score": averaged},
    }


def result(*epochs: dict[str, Any], limit: int = 9) -> Result:
    return Result(Cell("r", "r", Corpus("c", "t", (), (), None), "shuffled", {"seed": 1, "epochs": limit}), [*epochs])


def test_the_clock_waits_for_the_slowest_shard_and_the_mixing():
    run = [epoch(1, [1.0, 3.0, 2.0], 0.5), epoch(2, [1.0, 0.5, 0.5], 0.6)]
    assert seconds_until(run) == [4.0, 6.0]
    assert inputs(run)[0]["shard_seconds"] == [1.0, 3.0, 2.0] and inputs(run)[0]["mixing_seconds"] == 1.0


def test_measures():
    serial = result(epoch(1, [9.0], 0.80), epoch(2, [9.0], 0.898), epoch(3, [9.0], 0.90, errors=2))
    ours = result(*(epoch(n, [0.5, 1.0], score) for n, score in enumerate([0.7, 0.8, 0.89, 0.8971, 0.95], start=1)))
    slow = result(epoch(1, [1.0], 0.8969), epoch(2, [1.0], 0.8969), limit=2)

    def measured(name: str, run: Result) -> Any:
        return MEASURES[name].of(run, serial)

    assert measured("dev.averaged", serial) == pytest.approx(90) and measured("errors", serial) == 2
    assert [measured("arrival", run) for run in (serial, ours, slow)] == [2, 4, None]
    assert measured("efficiency", ours) == 0.5 and measured("speedup", ours) == pytest.approx(20 / 8)
    assert measured("efficiency", slow) is None and MEASURES["speedup"].of(ours, None) is None
    assert measured("convergence", ours) == 5 and measured("convergence", slow) is None
    late = result(*(epoch(n, [1.0], 0.9, last=n / 100) for n in range(1, 8)))
    assert measured("dev.last.late", late) == pytest.approx(5)


# ---------------------------------------------------------------- tables and figures


def test_the_table_is_the_mean_over_the_seeds(done):
    output, _ = done
    with open(output / "grid.csv", newline="") as file:
        rows = {(row["run"], row["shards"]): row for row in csv.DictReader(file)}
    assert list(rows) == [("serial", "1"), ("uniform", "1"), ("uniform", "3"), ("row", "1"), ("row", "3")]
    lasts = [history(output, f"phrases_shards-3_epochs-3_mixing-row_seed-{seed}")[-1] for seed in (1, 2)]
    assert float(rows["row", "3"]["dev.last"]) == pytest.approx(50 * sum(e["dev"]["last"] for e in lasts), abs=1e-3)
    assert float(rows["row", "3"]["errors"]) == sum(e["errors"] for e in lasts) / 2 and rows["row", "3"]["seeds"] == "2"
    assert {**rows["uniform", "1"], "run": ""} == {**rows["serial", "1"], "run": ""}
    text = (output / "grid.md").read_text(encoding="utf-8")
    assert "| run | shards | dev F1, last weights | Someone 1999 | dev F1, averaged weights |" in text
    assert f"| serial | 1 | {float(rows['serial', '1']['dev.last']):.2f} | 85.8 |" in text
    assert f"| row | 3 | {float(rows['row', '3']['dev.last']):.2f} | – |" in text


def test_the_clocks_inputs_are_kept(done):
    output, _ = done
    kept = json.loads((output / "grid.json").read_text())["runs"]["phrases_shards-3_epochs-3_mixing-row_seed-1"]
    measured = history(output, "phrases_shards-3_epochs-3_mixing-row_seed-1")
    assert [e["shard_seconds"] for e in kept["epochs"]] == [[s["seconds"] for s in e["shards"]] for e in measured]
    assert kept["seconds"] == [round(seconds, 3) for seconds in seconds_until(measured)]


def test_the_figure_has_a_panel_a_number_of_shards_and_the_baseline_in_each(done):
    output, _ = done
    drawn = ET.parse(output / "grid.svg").getroot()
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert drawn.find(f"{SVG}title").text == "Tiny <grid>" and any("A paper & its Fig. 1" in text for text in texts)
    for shards in (1, 3):
        assert f"phrases, shards {shards}: training errors (sentences)" in texts
        assert f"phrases, shards {shards}: dev F1, averaged weights" in texts
    assert texts.count("serial") == texts.count("row") == 1 + 4, "in the legend, and at the end of a line in each panel"


def test_labels_and_points_stay_inside_and_apart():
    lines = {f"line {i}": [(x, 50 + i * 1e-3) for x in (1.0, 10.0, 100.0)] for i in range(12)}
    chart = Chart(
        "t", "words " * 60, [Panel("p", "x", lines, log_x=True), Panel("q", "x", {"one": [(3.0, 1.0)]})], "one"
    )
    drawn, (width, height) = ET.fromstring(chart.svg()), chart.size()
    for mark in drawn.iter(f"{SVG}circle"):
        assert 0 < float(mark.get("cx")) < width and 0 < float(mark.get("cy")) < height
    ends = [t for t in drawn.iter(f"{SVG}text") if (t.text or "").startswith("line ") and t.get("fill") != "#333333"]
    places = sorted(float(text.get("y")) for text in ends)
    assert len(places) == 12 and min(b - a for a, b in zip(places, places[1:])) >= LINE - 0.2
    assert places[0] > 0 and places[-1] < height


def test_ticks_are_round_and_cover_what_is_drawn():
    assert ticks(0, 4.7) == [0, 1, 2, 3, 4, 5] and ticks(88.1, 90.3) == [88, 88.5, 89, 89.5, 90, 90.5]
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


def test_a_wrong_file_is_named(tmp_path):
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(InputError, match="holds no experiment"):
        read_experiment(str(tmp_path / "list.yaml"), None, False)
