"""Mixing without a theorem: three instances on three shards, on which it goes round in a circle until it falls back."""

import json
from pathlib import Path
from typing import Any

import pytest

INSTANCES = {"111": "0", "011": "1", "101": "1"}


@pytest.mark.parametrize("mixing", ["touched", "row"])
def test_a_circle_until_the_fall_back(problem_of: Any, must: Any, tmp_path: Path, mixing: str) -> None:
    problem_of(INSTANCES).write(tmp_path)
    run = tmp_path / "run"

    def train(epochs: int) -> tuple[str, list[dict[str, Any]]]:
        options = ("--train", tmp_path / "train.txt", "--shards", 3, "--mixing", mixing, "--epochs", epochs)
        said = must("train", tmp_path / "task.yaml", "--run-dir", run, *options)
        return said, [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]

    weights = []
    for epoch in range(1, 7):
        _, history = train(epoch)
        assert [shard["sentences"] for shard in history[-1]["shards"]] == [1, 1, 1]
        weights.append((run / f"epoch-{epoch:04d}" / "weights").read_bytes())
    assert weights[0] == weights[2] == weights[4] != weights[1] == weights[3] == weights[5]  # round and round
    said, history = train(100)
    assert "no fewer errors for 10 epochs: uniform mixing from now on" in said
    assert "stopped: the training set is separated" in said
    # The errors are 2, 1, 2, 1 …, so epoch 2 has their minimum, and epochs 3 to 12 bring no new one.
    assert [entry["errors"] for entry in history[:12]] == [2, 1] * 6
    assert [entry["mixing"] for entry in history] == [mixing] * 12 + ["uniform"] * (len(history) - 12)


@pytest.mark.parametrize("mixing", ["uniform", "errors", "examples", "scaled"])
def test_those_with_a_theorem_separate_them(problem_of: Any, learn: Any, mixing: str) -> None:
    training = learn(problem_of(INSTANCES), "--shards", 3, "--mixing", mixing)
    assert "stopped: the training set is separated" in training.said and "from now on" not in training.said
