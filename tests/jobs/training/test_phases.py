"""How the seconds of an epoch are divided into phases."""

import json

from perceptron_jobs.training.phases import PHASES, seconds_by_phase


def test_the_phases_follow_one_another():
    mappers, reducers = [(3.0, 7.0), (2.0, 8.0)], [(10.0, 11.0), (9.5, 12.0)]
    split = seconds_by_phase(0.0, mappers, reducers, 15.0)
    assert split == {"submit": 2.0, "map": 6.0, "shuffle": 1.5, "reduce": 2.5, "publish": 3.0}


def test_another_machines_clock_makes_no_phase_negative():
    """The node's clock is 100 s behind, or ahead, of the driver's."""
    for skew in (-100.0, 100.0):
        mappers, reducers = [(skew + 2.0, skew + 8.0)], [(skew + 9.5, skew + 12.0)]
        split = seconds_by_phase(0.0, mappers, reducers, 15.0)
        assert min(split.values()) >= 0
        assert sum(split.values()) == 15.0


def test_a_run_remembers_them_and_its_shards(trained):
    history = [json.loads(line) for line in (trained / "history.jsonl").read_text().splitlines()]
    for entry in history:
        assert set(entry["phases"]) == {*PHASES, "dev"}
        assert abs(sum(entry["phases"].values()) - entry["seconds"]) < 0.01
        assert sum(shard["sentences"] for shard in entry["shards"]) == entry["sentences"]
        assert sum(shard["errors"] for shard in entry["shards"]) == entry["errors"]
