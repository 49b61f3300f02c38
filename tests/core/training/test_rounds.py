"""The first epoch in rounds: every sentence once, mixed in between, the same on every runner and after a kill."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.shards.dealing import deal
from perceptron_core.training.rounds import ROUNDS, parts, usual_rounds
from perceptron_core.weights.model_file import read_model
from perceptron_core.weights.rows import spread, unite
from runs import deciding

CHUNKS = "columns: [word, pos, chunk]\npredict: chunk\nfeatures: [{}]\n"
TASKS = {
    "label pairs": CHUNKS.format("'word[-1..0]', 'pos[0]', 'label[-1] & pos[0]'"),
    "history": CHUNKS.format("'word[0]', 'label[-1]', 'label[-2] & pos[0]'") + "options: {decoder: greedy}\n",
    "numbers": "kind: classification\nformat: svmlight\n",
}


@given(st.integers(0, 1000), st.integers(1, 20))
def test_the_rounds_of_a_shard_are_all_of_it_once(sentences: int, rounds: int) -> None:
    spans = [part.span(sentences) for part in parts(rounds)]
    assert [place for span in spans for place in range(*span)] == list(range(sentences))
    sizes = [last - first for first, last in spans]
    assert max(sizes) - min(sizes) <= 1


def test_who_has_rounds() -> None:
    assert [usual_rounds("row", shards, 1, False) for shards in (1, 3, 4, 10, 16, 100)] == [1, 1, 2, 5, ROUNDS, ROUNDS]
    assert usual_rounds("touched", 20, 1, False) == ROUNDS
    assert {usual_rounds(name, 10, 1, False) for name in ("uniform", "errors", "examples", "scaled")} == {1}
    assert usual_rounds("row", 10, 2, False) == usual_rounds("row", 10, 1, True) == 1


@pytest.mark.parametrize("kind", TASKS)
def test_on_one_shard_rounds_change_nothing(
    kind: str, must: Any, corpus: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """Bit for bit; but for the average, whose parts are added up in another order. Blocks end anywhere."""
    monkeypatch.setattr("perceptron_core.shards.records.BLOCK_TOKENS", 30)
    (tmp_path / "task.yaml").write_text(TASKS[kind])
    train = corpus / "train.txt"
    if kind == "numbers":
        train = tmp_path / "train.txt"
        lines = [f"{n % 3} a:{n % 7 / 4} b:{n % 5 - 2} c{n % 4}:0.5\n" for n in range(1, 60)]
        train.write_text("".join(lines))
    found = []
    for rounds in (1, 3, 7):
        run = tmp_path / str(rounds)
        must("train", tmp_path / "task.yaml", "--train", train, "--run-dir", run, "--epochs", 1, "--rounds", rounds)
        (entry,) = map(json.loads, (run / "history.jsonl").read_text().splitlines())
        counted = {
            name: entry[name] for name in ("sentences", "errors", "updates", "tokens", "wrong_tokens", "weights")
        }
        sums = read_model(str(run / "epoch-0001" / "average")).rows
        found.append(((run / "epoch-0001" / "weights").read_bytes(), counted, sums))
        assert len(entry.get("rounds", [entry])) == rounds
    first, *others = found
    assert first[1]["errors"] > 10
    for other in others:
        assert other[:2] == first[:2]
        union, places = unite([first[2], other[2]])  # a sum that is zero in one may be next to nothing in the other
        sums = [
            spread(place, rows.values["sum"], len(union.labels)) for place, rows in zip(places, (first[2], other[2]))
        ]
        np.testing.assert_allclose(*sums, rtol=0, atol=1e-12)


def dealt(shards: Sequence[Sequence[str]]) -> str:
    """A corpus of which each shard is dealt these sentences, in this order."""
    numbers, places = deal(1, 0, 0, len(shards) * len(shards[0]), len(shards))
    order = sorted(range(len(numbers)), key=lambda ordinal: (numbers[ordinal], places[ordinal]))
    texts = dict(zip(order, (text for shard in shards for text in shard)))
    return "\n\n".join(texts[ordinal] for ordinal in range(len(texts)))


@pytest.mark.parametrize("mixing", ["row", "errors"])
def test_a_round_goes_on_from_the_mixture_of_the_one_before(
    mixing: str, must: Any, corpus: Path, tmp_path: Path
) -> None:
    """Three rounds are three trainings, each on a third of every shard, that start from one another's weights."""
    texts = (corpus / "train.txt").read_text(encoding="utf-8").strip().split("\n\n")
    shards = [texts[:12], texts[12:24], texts[24:36]]
    task = (corpus / "task.yaml").read_text(encoding="utf-8")
    labels = sorted({line.split()[-1] for text in texts for line in text.splitlines()})
    (tmp_path / "task.yaml").write_text(f"{task}labels: {json.dumps(labels)}\n", encoding="utf-8")

    def train(name: str, content: list[list[str]], *options: object) -> bytes:
        (tmp_path / f"{name}.txt").write_text(dealt(content), encoding="utf-8")
        given_options = ("--train", tmp_path / f"{name}.txt", "--run-dir", tmp_path / name, "--shards", 3)
        must("train", tmp_path / "task.yaml", *given_options, "--epochs", 1, "--mixing", mixing, *options)
        return (tmp_path / name / "epoch-0001" / "weights").read_bytes()

    in_rounds, before, after_each = train("rounds", shards, "--rounds", 3), [], []
    for number in range(3):
        third = [shard[4 * number : 4 * number + 4] for shard in shards]
        after_each.append(train(f"third-{number}", third, "--rounds", 1, *before))
        before = ["--init-model", tmp_path / f"third-{number}" / "epoch-0001" / "weights"]
    assert in_rounds == after_each[-1] and len({*after_each}) == 3


def test_rounds_are_the_same_on_local_and_with_many_reducers(train: Any, contents: Any, tmp_path: Path) -> None:
    ways = {"inline": (), "local": ("-r", "local"), "reducers": ("--reducers", 4)}
    for name, way in ways.items():
        train(tmp_path / name, "--shards", 3, "--rounds", 3, "--learner", "pa", "--epochs", 2, *way)
    first, *others = (deciding(contents(tmp_path / name)) for name in ways)
    assert all(other == first for other in others)
    assert not [name for name in first if name.startswith("round")]


def test_the_number_of_rounds_follows_from_the_shards(train: Any, tmp_path: Path) -> None:
    train(tmp_path / "run", "--shards", 7, "--epochs", 1)
    assert json.loads((tmp_path / "run" / "config.json").read_text())["rounds"] == 3


def test_a_run_tells_of_its_rounds(train: Any, tmp_path: Path) -> None:
    train(tmp_path / "run", "--shards", 4, "--rounds", 4, "--epochs", 2)
    first, second = map(json.loads, (tmp_path / "run" / "history.jsonl").read_text().splitlines())
    assert "rounds" not in second and second["sentences"] == first["sentences"] == 50
    assert len(first["rounds"]) == 4 and sum(shard["sentences"] for shard in first["shards"]) == 50
    for shard, seconds in enumerate(zip(*(part["shards"] for part in first["rounds"]))):
        assert first["shards"][shard]["seconds"] == pytest.approx(sum(part["seconds"] for part in seconds), abs=0.01)
    for phase, took in first["phases"].items():
        told = sum(part["phases"].get(phase, 0.0) for part in first["rounds"])
        assert phase == "dev" or took == pytest.approx(told, abs=0.01)
    assert sum(first["phases"].values()) == pytest.approx(first["seconds"], abs=0.01)
