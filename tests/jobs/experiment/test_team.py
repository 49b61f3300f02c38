"""Processors that decode minibatches together: their clock, what it is computed from, and what is shown of them."""

import csv
import json
import xml.etree.ElementTree as ET
from itertools import permutations, product

import pytest

from perceptron_jobs.experiment.cell import Cell, Corpus
from perceptron_jobs.experiment.results import Result, mean_over_seeds
from perceptron_jobs.experiment.team import Decoding, Team, in_order, longest_first, make_team
from perceptron_jobs.records.epoch_entry import EpochEntry, ShardEntry

SVG = "{http://www.w3.org/2000/svg}"


def test_the_longest_sentence_is_taken_first_by_whoever_is_free():
    sentences = [(2, 0.2), (9, 1.0), (4, 0.4), (5, 0.5)]
    assert longest_first(sentences, 2) == pytest.approx(1.1)  # 9; 5, 4, 2
    assert in_order(sentences, 2) == pytest.approx(1.2)
    assert longest_first(sentences, 1) == in_order(sentences, 1) == pytest.approx(2.1)
    assert longest_first(sentences, 9) == in_order(sentences, 9) == 1.0


@pytest.mark.parametrize("seconds", [*permutations([1, 2, 5, 8]), (1, 1, 1), (3,)])
def test_no_plan_is_better_than_the_best_one_or_worse_than_one_processor(seconds):
    best = min(
        max(sum(s for s, member in zip(seconds, members) if member == processor) for processor in range(2))
        for members in product(range(2), repeat=len(seconds))
    )
    sentences = list(zip(seconds, map(float, seconds)))
    for together in (longest_first(sentences, 2), in_order(sentences, 2)):
        assert best <= together <= sum(seconds)


def test_an_epoch_waits_for_the_slowest_of_every_minibatch_and_updates_alone():
    decoding = Decoding([3, 1, 1, 1, 4], [3.0, 1.0, 1.0, 1.0, 4.0], 2.0)
    team = make_team(decoding, 4, 2)
    assert (team.alone, team.together) == (10.0, 3.0 + 4.0), "minibatches of four, the last one of one sentence"
    assert (team.waiting, team.waiting_in_order) == pytest.approx((1 - 10 / 14, 1 - 10 / 16), abs=1e-6)
    assert team.loop == pytest.approx(12 / 9), "two seconds of updates are not shared"
    assert team.instead_of(12.5) == 9.5 and team.instead_of(9.0) == 7.0
    alone = make_team(decoding, 4, 1)
    assert alone.waiting == alone.waiting_in_order == 0 and alone.instead_of(12.5) == 12.5


def test_the_intrinsic_speed_up_is_against_the_same_run_on_one_processor():
    def run(name: str, shards: list[float], processors: int = 0, seed: int = 1) -> Result:
        options = {"seed": seed, "shards": len(shards), "minibatch": 4}
        cell = Cell(name, name, Corpus("c", "t", (), (), None), "shuffled", options, processors or None)
        first = EpochEntry(1, shards=[ShardEntry(99.0) for _ in shards])
        team = Team(8.0, 8.0 / processors, 0.0, 0.0, 1.0) if processors else None
        return Result(cell, [first, EpochEntry(2, shards=[ShardEntry(each) for each in shards])], "", team)

    results = [run("team", [10.0], 1), run("team", [10.0], 4), run("row", [6.0]), run("row", [1.0, 2.0])]
    measured = [mean_over_seeds("intrinsic", [result], results, None) for result in results]
    assert measured == pytest.approx([1, 10 / 4, 1, 3])
    assert mean_over_seeds("waiting", [results[3]], results, None) == pytest.approx(100 * (1 - 100.5 / 101))
    assert mean_over_seeds("waiting.in-order", [results[3]], results, None) is None
    assert mean_over_seeds("intrinsic", [run("team", [9.0], 4, seed=2)], results, None) is None


def test_a_team_is_simulated_from_one_training_and_what_was_timed_in_it(write, corpus, must, tmp_path, history):
    runs = {
        "serial": {"shards": 1},
        "team": {"minibatch": 8, "threads": 1, "processors": [1, 2, 8]},
        "measured": {"minibatch": 8, "threads": [1, 2]},
        "row": {"shards": [1, 2], "mixing": "row"},
    }
    figure = [
        {"x": "processors", "y": ["intrinsic", "waiting"]},
        {"x": "seconds", "y": "dev.averaged", "panels": "processors", "only": {"processors": [1, 8]}},
        {"x": "minibatch", "y": "dev.last", "lines": "minibatch"},
    ]
    table = {"rows": ["run", "processors"], "values": ["epoch.seconds", "intrinsic", "waiting", "waiting.in-order"]}
    path = write("teams", seeds=[1], runs=runs, table=table, figure=figure, papers=None)
    said = must("experiment", path, "--data", corpus, "--output", tmp_path)
    name = "phrases_shards-1_epochs-3_minibatch-8_threads-1_seed-1"
    assert "4 trainings, 0 done already" in said and said.count(f"timing the decoding of {name}\n") == 1
    timed = json.loads((tmp_path / "decoding" / f"{name}.json").read_text())
    lengths = [len(s.split("\n")) for s in (corpus / "train.txt").read_text(encoding="utf-8").strip().split("\n\n")]
    assert sorted(timed["tokens"]) == sorted(lengths) and len(timed["seconds"]) == len(lengths)
    assert timed["updates"] >= 0 and all(seconds >= 0 for seconds in timed["seconds"]) and sum(timed["seconds"]) > 0
    kept = json.loads((tmp_path / "teams.json").read_text())["runs"][name]
    assert kept["decoding"] == f"decoding/{name}.json" and list(kept["processors"]) == ["1", "2", "8"]
    for processors, team in kept["processors"].items():
        again = make_team(Decoding(**timed), 8, int(processors))
        assert {key: value for key, value in team.items() if key != "seconds"} == again._asdict()
    with open(tmp_path / "teams.csv", newline="") as file:
        rows = {(row["run"], row["processors"]): row for row in csv.DictReader(file)}
    assert list(rows) == [
        *(("serial", "1"), ("team", "1"), ("team", "2"), ("team", "8")),
        *(("measured", "1"), ("measured", "2"), ("row", "1"), ("row", "2")),
    ]
    assert float(rows["team", "1"]["waiting"]) == 0 < float(rows["team", "8"]["waiting"])
    assert rows["row", "2"]["waiting.in-order"] == ""
    learned = [[epoch["weights"] for epoch in history(tmp_path, name.replace("-1_seed", f"-{p}_seed"))] for p in (1, 2)]
    assert learned[0] == learned[1], "threads change no bit"
    texts = [text.text for text in ET.parse(tmp_path / "teams.svg").getroot().iter(f"{SVG}text")]
    assert {"processors", "minibatch", "minibatch 8", "seconds on a simulated cluster"} <= set(texts)
    assert "phrases, processors 8: dev F1, averaged weights" in texts
    assert "phrases, processors 2: dev F1, averaged weights" not in texts
    assert "timing" not in must("experiment", path, "--data", corpus, "--output", tmp_path), "it is measured once"
