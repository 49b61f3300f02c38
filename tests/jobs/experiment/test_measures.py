"""The clock of the simulated cluster, the measures of a run, and the tables of a grid."""

import csv
import json
from collections.abc import Sequence
from typing import Any

import pytest

from perceptron_jobs.experiment import model_size
from perceptron_jobs.experiment.cell import Cell, Corpus
from perceptron_jobs.experiment.clock import inputs, seconds_until
from perceptron_jobs.experiment.results import MEASURES, Result, baseline_of, mean_over_seeds
from perceptron_jobs.records.epoch_entry import EpochEntry


def epoch(number: int, seconds: Sequence[float], averaged: float, last: float = 0.5, errors: int = 9) -> EpochEntry:
    record = {
        "epoch": number,
        "errors": errors,
        "seconds": 99.0,
        "runner": "inline",
        "shards": [{"seconds": each} for each in seconds],
        "phases": {"submit": 7.0, "map": 8.0, "shuffle": 0.5, "reduce": 0.4, "publish": 0.25, "dev": 9.0},
        "reducers": [0.15, 0.25],
        "dev": {"name": "F1", "averaged": averaged, "last": last, "score": averaged},
    }
    return EpochEntry.from_record(record)


def result(*epochs: EpochEntry, limit: int = 9) -> Result:
    return Result(Cell("r", "r", Corpus("c", "t", (), (), None), "shuffled", {"seed": 1, "epochs": limit}), [*epochs])


def test_the_clock_waits_for_the_slowest_shard_and_the_mixing():
    run = [epoch(1, [1.0, 3.0, 2.0], 0.5), epoch(2, [1.0, 0.5, 0.5], 0.6)]
    assert seconds_until(run) == [4.0, 6.0]
    assert inputs(run)[0]["shard_seconds"] == [1.0, 3.0, 2.0] and inputs(run)[0]["mixing_seconds"] == 1.0


def test_the_clock_waits_in_every_round():
    rounds = [epoch(1, [1.0, 3.0], 0.5), epoch(1, [2.0, 1.0], 0.5)]
    history = [epoch(1, [3.0, 4.0], 0.5)._replace(rounds=rounds), epoch(2, [1.0, 1.0], 0.5)]
    assert seconds_until(history) == [3.0 + 1.0 + 2.0 + 1.0, 9.0]
    kept = [(entry["epoch"], entry["round"], entry["shard_seconds"]) for entry in inputs(history)]
    assert kept == [(1, 1, [1.0, 3.0]), (1, 2, [2.0, 1.0]), (2, 1, [1.0, 1.0])]


def test_measures():
    serial = result(epoch(1, [9.0], 0.80), epoch(2, [9.0], 0.898), epoch(3, [9.0], 0.90, errors=2))
    ours = result(*(epoch(n, [0.5, 1.0], score) for n, score in enumerate([0.7, 0.8, 0.89, 0.8971, 0.95], start=1)))
    slow = result(epoch(1, [1.0], 0.8969), epoch(2, [1.0], 0.8969), limit=2)

    def measured(name: str, run: Result) -> Any:
        return MEASURES[name].of(run, serial)

    assert measured("seconds.measured", serial) == 3 * (99 - 9)
    assert measured("dev.averaged", serial) == pytest.approx(90) and measured("errors", serial) == 2
    assert [measured("arrival", run) for run in (serial, ours, slow)] == [2, 4, None]
    assert measured("efficiency", ours) == 0.5 and measured("speedup", ours) == pytest.approx(20 / 8)
    assert measured("efficiency", slow) is None and MEASURES["speedup"].of(ours, None) is None
    assert measured("convergence", ours) == 5 and measured("convergence", slow) is None
    late = result(*(epoch(n, [1.0], 0.9, last=n / 100) for n in range(1, 8)))
    assert measured("dev.last.late", late) == pytest.approx(5)


def test_seeds_arrive_together():
    """By their mean scores: one of the runs never comes within 0.3 of the end of its own baseline."""

    def curve(seed: int, group: str, *scores: float) -> Result:
        cell = Cell(group, group, Corpus("c", "t", (), (), None), "shuffled", {"seed": seed, "shards": 1, "epochs": 9})
        return Result(cell, [epoch(n, [2.0], score) for n, score in enumerate(scores, start=1)])

    serial = [curve(1, "serial", 0.80, 0.89, 0.90), curve(2, "serial", 0.82, 0.89, 0.92)]
    ours = [curve(1, "ours", 0.85, 0.915, 0.92), curve(2, "ours", 0.85, 0.90, 0.91)]
    assert MEASURES["arrival"].of(ours[1], serial[1]) is None

    def measured(name: str) -> Any:
        return mean_over_seeds(name, ours, [*serial, *ours], "serial")

    assert measured("arrival") == 2 and measured("efficiency") == 3 / 2 and measured("speedup") == pytest.approx(9 / 6)
    assert measured("dev.averaged") == pytest.approx(91.5)
    assert mean_over_seeds("efficiency", ours, ours, "serial") is None


def test_a_run_is_compared_with_the_baseline_on_as_many_shards():
    def run(group: str, shards: int, corpus: str = "c", seed: int = 1) -> Result:
        place = Corpus(corpus, "t", (), (), None)
        return Result(Cell(group, group, place, "shuffled", {"seed": seed, "shards": shards}), [])

    others = [run("all", 1, seed=2), run("all", 1, "d"), run("all", 1), run("all", 10)]
    assert baseline_of(run("few", 10), others, "all") is others[3]
    assert baseline_of(run("few", 1), others, "all") is baseline_of(run("few", 5), others, "all") is others[2]
    assert baseline_of(run("few", 1, "e"), others, "all") is None


def test_the_model_that_is_measured_is_that_of_the_last_epoch(must, corpus, tmp_path):
    given = ("--train", corpus / "train.txt", "--run-dir", tmp_path / "run", "--epochs", 2)
    must("train", corpus / "task.yaml", *given, "--min-updates", 2)
    size = model_size.model_size(str(tmp_path / "run"))
    assert size.bytes == (tmp_path / "run" / "model").stat().st_size, "without a dev set the last epoch is the model"
    must("export", tmp_path / "run", "--output", tmp_path / "weights.tsv")
    lines = (tmp_path / "weights.tsv").read_text(encoding="utf-8").splitlines()
    named = [line.split("\t")[:2] for line in lines]
    transitions = [feature for feature, _ in named if feature.startswith(("<", "label"))]
    assert size.features == len(transitions) + len({feature for feature, _ in named} - set(transitions))


def test_sparse_runs_are_measured_beside_the_whole_one(write, corpus, must, tmp_path, history):
    runs = {"all": {}, "pruned({min-count})": {"min-count": 20}, "SAP({min_updates})": {"min-updates": [2, 3]}}
    table = {
        "rows": ["corpus", "run", "min_count"],
        "values": ["features", "fewer", "megabytes", "dev.averaged", "loss", "shuffled"],
    }
    papers = {"Someone 1999": {"phrases, SAP(2)": {"features": 47906}, "phrases": {"dev.averaged": 96}}}
    path = write("sparse", seeds=[1], runs=runs, table=table, papers=papers, baseline="all", figure=None)
    must("experiment", path, "--data", corpus, "--output", tmp_path)
    assert sorted(folder.name for folder in (tmp_path / "prepared").iterdir()) == [
        "phrases_shards-1_min-count-20_seed-1",
        "phrases_shards-1_seed-1",
    ]
    with open(tmp_path / "sparse.csv", newline="") as file:
        rows = {row["run"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["all", "pruned(20)", "SAP(2)", "SAP(3)"]
    features = [int(row["features"]) for row in rows.values()]
    assert 0 < max(features[1:]) < features[0]
    assert float(rows["SAP(3)"]["fewer"]) == pytest.approx(features[0] / features[3], rel=1e-4)
    assert float(rows["all"]["megabytes"]) > float(rows["SAP(3)"]["megabytes"]) and float(rows["all"]["loss"]) == 0
    lost = float(rows["all"]["dev.averaged"]) - float(rows["pruned(20)"]["dev.averaged"])
    assert float(rows["pruned(20)"]["loss"]) == pytest.approx(lost, abs=1e-3)
    shuffled = sum(epoch["shuffled"] for epoch in history(tmp_path, "phrases_shards-1_epochs-3_seed-1"))
    assert float(rows["all"]["shuffled"]) == pytest.approx(shuffled / 1e6, rel=1e-4)
    text = (tmp_path / "sparse.md").read_text(encoding="utf-8")
    assert f"| phrases | SAP(2) | – | {features[2]:,} | 47,906 |" in text and text.count("| 96 |") == 4
    assert f"| phrases | all | – | {features[0]:,} | – | 1.0 |" in text
    assert f"| phrases | pruned(20) | 20 | {features[1]:,} |" in text and "| corpus | run | min-count |" in text


def test_the_heads_of_a_parser_are_scored_apart(must, tmp_path, write):
    """UAS, which is not the headline, is that of `evaluate`; where there are no trees, there is none."""
    tree = "1\tdogs\t_\t{0}\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n3\t{1}\t_\tADV\t_\t_\t{2}\n\n"
    texts = [
        tree.format(tag, *rest) for tag in ("NOUN", "X") for rest in (("now", "2\tobl\t_\t_"), ("!", "1\tx\t_\t_"))
    ]
    (tmp_path / "train.conllu").write_text("".join(texts[:2]))
    (tmp_path / "dev.conllu").write_text("".join(texts[1:]).replace("nsubj", "csubj"))
    trees = {"task": "parsing-fast", "train": str(tmp_path / "train.conllu"), "dev": str(tmp_path / "dev.conllu")}
    table = {"rows": "run", "values": ["uas.last", "uas.averaged", "uas.lost", "dev.averaged"]}
    changes = {"seeds": [1], "options": {"epochs": 1}, "runs": {"serial": {}}, "papers": None, "table": table}
    path = write("parsers", corpora={"trees": trees}, figure=None, **changes)
    must("experiment", path, "--data", tmp_path, "--output", tmp_path / "out")
    run = tmp_path / "out" / "runs" / "trees_shards-1_epochs-1_seed-1"
    with open(tmp_path / "out" / "parsers.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    for which in ("last", "averaged"):
        scores = json.loads(must("evaluate", run, tmp_path / "dev.conllu", "--weights", which, "--json"))
        assert float(row[f"uas.{which}"]) == pytest.approx(100 * scores["uas"], abs=1e-3)
        assert scores["las"] < scores["uas"] > 0
    assert float(row["uas.lost"]) == 0 and float(row["uas.averaged"]) > float(row["dev.averaged"])


def test_where_there_are_no_trees_there_is_no_attachment(done, write, corpus, must):
    output, _ = done
    path = write("heads", table={"rows": ["run", "shards"], "values": ["uas.averaged", "uas.lost"]}, papers=None)
    must("experiment", path, "--data", corpus, "--output", output)
    assert "| serial | 1 | – | – |" in (output / "heads.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------- tables


def test_the_table_is_the_mean_over_the_seeds(done, history):
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


def test_the_clocks_inputs_are_kept(done, history):
    output, _ = done
    kept = json.loads((output / "grid.json").read_text())["runs"]["phrases_shards-3_epochs-3_mixing-row_seed-1"]
    measured = history(output, "phrases_shards-3_epochs-3_mixing-row_seed-1")
    assert [(e["epoch"], e["round"]) for e in kept["epochs"]] == [(1, 1), (2, 1), (3, 1)]
    assert [e["shard_seconds"] for e in kept["epochs"]] == [[s["seconds"] for s in e["shards"]] for e in measured]
    clock = seconds_until([EpochEntry.from_record(e) for e in measured])
    assert kept["seconds"] == [round(seconds, 3) for seconds in clock]
