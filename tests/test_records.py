"""The classes of a run's JSON files: what is read is written again to the byte, and damage is told."""

import json
from pathlib import Path

import pytest

from perceptron_core.errors import InputError
from perceptron_jobs.corpora.prepared import read_prepared
from perceptron_jobs.records.epoch_entry import EpochEntry
from perceptron_jobs.records.prepared_manifest import Manifest
from perceptron_jobs.records.run_config import RunConfig
from perceptron_jobs.training.run_dir import RunDir


def test_a_configuration_is_written_as_it_was_read(trained: Path) -> None:
    text = (trained / "config.json").read_text(encoding="utf-8")
    config = RunConfig.from_record(json.loads(text))
    assert json.dumps(config.record(), indent=1) + "\n" == text
    assert config.identified() == config, "the run's identity is a hash of the rest"
    assert config._replace(seed=config.seed + 1).identified().run != config.run


def test_numbers_of_one_are_not_recorded(trained: Path) -> None:
    config = RunDir(str(trained)).config()
    assert config is not None
    told = config._replace(rounds=1, min_count=1).record()
    assert "rounds" not in told and "min_count" not in told
    assert config._replace(rounds=3, min_count=2).record()["rounds"] == 3


def test_a_history_is_written_as_it_was_read(trained: Path) -> None:
    lines = (trained / "history.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.dumps(EpochEntry.from_record(json.loads(line)).record()) for line in lines] == lines


def test_a_manifest_is_written_as_it_was_read(trained: Path) -> None:
    data = (trained / "prepared" / "prepared.json").read_bytes()
    assert Manifest.from_record(json.loads(data)).as_json() == data


@pytest.mark.parametrize(
    "change", [{"unknown": 1}, {"labels": None, "shards": None}], ids=["something unknown", "something missing"]
)
def test_a_damaged_record_is_refused(trained: Path, tmp_path: Path, change: dict) -> None:
    for name in ("config.json", "prepared.json"):
        record = json.loads((trained / ("prepared" if name == "prepared.json" else ".") / name).read_text())
        changed = {key: value for key, value in {**record, **change}.items() if value is not None}
        (tmp_path / name).write_text(json.dumps(changed))
    with pytest.raises(InputError, match="config.json: .*damaged"):
        RunDir(str(tmp_path)).config()
    with pytest.raises(InputError, match="prepared.json: is damaged"):
        read_prepared(str(tmp_path))
