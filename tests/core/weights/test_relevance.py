"""--min-updates through the commands: which features a model holds, what a run keeps, and that nothing else decides."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_core.training.mixing import MIXINGS, ShardStep, apply, mix
from perceptron_core.weights.model_file import read_model
from perceptron_core.weights.records import from_record, to_record
from perceptron_core.weights.relevance import counted_from, relevant
from perceptron_core.weights.rows import Rows, drop_zeros, from_entries
from perceptron_jobs.training.run_dir import RunDir
from perceptron_jobs.training.whole import open_model
from runs import deciding

OPTIONS = ("--shards", 3, "--mixing", "uniform", "--epochs", 4, "--min-updates", 3)


@pytest.fixture(scope="module")
def run(train: Any, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sparse") / "run"
    train(folder, *OPTIONS, "--dev", corpus / "dev.txt")
    return folder


# ---------------------------------------------------------------- the model


def test_the_model_holds_the_relevant_features_alone(run: Path) -> None:
    known = RunDir(str(run))
    epoch = known.chosen_epoch()
    weights, average, model = known.weights(epoch), known.average(epoch), read_model(str(run / "model"))
    assert average is not None and weights.rows.counts is not None and model.rows.counts is None
    shown = set(weights.rows.keys[weights.rows.counts >= 3].tolist())
    moved = set(weights.rows.keys.tolist()) | set(average.rows.keys.tolist())
    assert set(model.rows.keys.tolist()) <= shown < moved
    hidden = weights.rows.counts < 3
    assert (np.diff(weights.rows.starts)[hidden] > 0).any()  # going on needs their weights


def test_it_scores_as_training_did(run: Path, corpus: Path, must: Any) -> None:
    """The dev scores of the run, from the model by the evaluate command; from an epoch's file with its counts, too."""
    entry = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    known = RunDir(str(run))
    chosen = entry[known.chosen_epoch() - 1]["dev"]
    for which in ("last", "averaged"):
        said = json.loads(must("evaluate", run / "model", corpus / "dev.txt", "--weights", which, "--json"))
        assert round(said["f1"], 6) == chosen[which]
    weights = run / f"epoch-{known.chosen_epoch():04d}" / "weights"
    said = json.loads(must("evaluate", weights, corpus / "dev.txt", "--weights", "last", "--json"))
    assert round(said["f1"], 6) == chosen["last"]
    assert open_model(str(weights)).rows.counts is None


def test_its_features_have_names(run: Path, must: Any) -> None:
    lines = must("export", run, "--output", "-").splitlines()
    model = read_model(str(run / "model"))
    assert len(lines) >= np.count_nonzero(model.rows.values["averaged"])


def test_one_update_is_enough_for_the_ordinary_model(train: Any, contents: Any, tmp_path: Path) -> None:
    train(tmp_path / "one", *OPTIONS[:-1], 1)
    train(tmp_path / "none", *OPTIONS[:-2])
    assert deciding(contents(tmp_path / "one")) == deciding(contents(tmp_path / "none"))
    assert b"min_updates" not in (tmp_path / "one" / "config.json").read_bytes()


def test_another_model_s_features_are_relevant(run: Path, train: Any, tmp_path: Path) -> None:
    train(tmp_path / "run", *OPTIONS[:-4], "--epochs", 1, "--min-updates", 9, "--init-model", run)
    first = read_model(str(run / "model")).rows
    weights = RunDir(str(tmp_path / "run")).weights(1).rows
    assert weights.counts is not None
    drawn = relevant(weights, 9).keys
    last = drop_zeros(first.with_values(weight=first.values["weight"]))
    assert np.isin(last.keys, weights.keys[weights.counts >= 9]).all()
    assert len(drawn) and (weights.counts < 9).any()


# ---------------------------------------------------------------- the same bytes


def test_inline_local_and_any_number_of_reducers(run: Path, train: Any, contents: Any, corpus: Path, tmp_path: Path):
    expected = deciding(contents(run))
    train(tmp_path / "local", *OPTIONS, "--dev", corpus / "dev.txt", "-r", "local", "--reducers", 2)
    assert deciding(contents(tmp_path / "local")) == expected


def test_going_on_gives_the_same_bytes(run: Path, train: Any, contents: Any, corpus: Path, tmp_path: Path) -> None:
    train(tmp_path / "run", *OPTIONS, "--epochs", 2, "--dev", corpus / "dev.txt")
    train(tmp_path / "run", *OPTIONS, "--dev", corpus / "dev.txt", "-r", "local")
    assert deciding(contents(tmp_path / "run")) == deciding(contents(run))


def test_one_shard_is_the_same_under_every_mixing(train: Any, tmp_path: Path) -> None:
    models = set()
    for mixing in set(MIXINGS) - {"scaled"}:  # which is not for pa
        train(tmp_path / mixing, "--mixing", mixing, "--learner", "pa", "--epochs", 3, "--min-updates", 2)
        models.add((tmp_path / mixing / "model").read_bytes())
    assert len(models) == 1


def test_a_run_with_another_number_is_refused(run: Path, perceptron: Any, corpus: Path) -> None:
    files = ("--train", corpus / "train.txt", "--run-dir", run)
    outcome = perceptron("train", corpus / "task.yaml", *files, *OPTIONS[:-1], 4)
    assert outcome.code == 2
    assert "settings: min_updates was 3, now 4" in outcome.err


@pytest.mark.parametrize("number", ["0", "-2", "many", "1.5"])
def test_a_number_that_is_none_is_refused(number: str, perceptron: Any, corpus: Path, tmp_path: Path) -> None:
    files = ("--train", corpus / "train.txt", "--run-dir", tmp_path / "run")
    outcome = perceptron("train", corpus / "task.yaml", *files, "--min-updates", number)
    assert outcome.code == 2 and "--min-updates" in outcome.err
    assert not (tmp_path / "run").exists()


# ---------------------------------------------------------------- rows with counts


def counted(keys: list[int], weights: list[float], counts: list[int]) -> Rows:
    rows = from_entries(
        np.array(keys, np.uint64), np.zeros(len(keys)), weight=np.array(weights, "f4"), lag=np.zeros(len(keys))
    )
    return rows._replace(counts=np.array(counts, np.int32))


@pytest.mark.parametrize("strategy", MIXINGS)
def test_counts_add_up_whatever_the_mixing(strategy: str) -> None:
    before = counted([1, 3, 5], [1, 1, 1], [7, 1, 0])
    shards = [counted([1, 3], [2, 3], [0, 2]), counted([3, 9], [0, 4], [1, 4])]
    steps = [ShardStep(i, 2, "here", 2, 5, rows) for i, rows in enumerate(shards)]
    mixed = mix(strategy, before, steps)
    assert mixed.counts is not None and mixed.counts.tolist() == [0, 3, 4]
    after = apply(before, mixed)
    assert (after.keys.tolist(), after.counts.tolist()) == ([1, 3, 5, 9], [7, 4, 0, 4])  # type: ignore[union-attr]


def test_identical_shards_count_twice_what_one_does() -> None:
    before, rows = counted([1], [1], [2]), counted([1, 2], [3, 3], [1, 2])
    one = mix("uniform", before, [ShardStep(0, 1, "here", 2, 5, rows)])
    two = mix("uniform", before, [ShardStep(i, 2, "here", 2, 5, rows) for i in range(2)])
    assert one.values["weight"].tolist() == two.values["weight"].tolist()
    assert (one.counts * 2).tolist() == two.counts.tolist()  # type: ignore[operator, union-attr]


def test_a_count_outlives_its_weights() -> None:
    """A feature whose weights are back at zero has proved as much as before."""
    rows = drop_zeros(counted([1, 2, 3], [0, 5, 0], [4, 1, 0]).with_values(weight=np.array([0, 5, 0], "f4")))
    assert (rows.keys.tolist(), rows.counts.tolist()) == ([1, 2], [4, 1])  # type: ignore[union-attr]
    assert rows.starts.tolist() == [0, 0, 1]
    assert relevant(rows, 1).keys.tolist() == [2]  # there is nothing to score with in the other
    back = from_record(to_record(rows), 1, {"weight": "f4"})
    assert back.counts is not None and back.counts.tolist() == [4, 1] and back.starts.tolist() == [0, 0, 1]


def test_without_counts_everything_is_relevant() -> None:
    rows = counted([1, 2], [1, 1], [0, 0])._replace(counts=None)
    assert relevant(rows, 5) is rows
    assert relevant(counted_from(rows, 5), 5).keys.tolist() == [1, 2]
