"""The clock of the simulated cluster, the measures of a run, and the tables of a grid."""

import csv
import json
from collections.abc import Sequence
from typing import Any

import pytest

from jobs.experiment.clock import inputs, seconds_until
from jobs.experiment.definition import Cell, Corpus
from jobs.experiment.results import MEASURES, Result


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
    assert [e["shard_seconds"] for e in kept["epochs"]] == [[s["seconds"] for s in e["shards"]] for e in measured]
    assert kept["seconds"] == [round(seconds, 3) for seconds in seconds_until(measured)]
