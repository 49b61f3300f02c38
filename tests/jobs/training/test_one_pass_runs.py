"""Whole runs of the baselines that learn in one pass: the same bytes however they run, and what is refused."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perceptron_core.errors import UserError
from perceptron_core.weights.model_file import read_model
from perceptron_jobs.engines.runners import Cluster, run_job
from perceptron_jobs.mr.sum_statistics import MRSumStatistics
from runs import deciding

LEARNERS = ("naive-bayes", "rocchio")


@pytest.fixture(scope="module", params=LEARNERS)
def learner(request: Any) -> str:
    return request.param


@pytest.fixture(scope="module")
def learnt(train: Any, corpus: Path, learner: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on three shards; tests only read it."""
    run = tmp_path_factory.mktemp("learnt") / "run"
    told = train(run, "--learner", learner, "--shards", 3, "--dev", corpus / "dev.txt")
    assert f"{learner} takes every token by itself" in told and "stopped: one pass is all it needs" in told
    assert "errors" not in told
    return run


@pytest.mark.parametrize(
    "how",
    [(), ("--shards", 2), ("--shards", 7), ("--shards", 3, "--reducers", 5), ("--shards", 40)],
    ids=["serial", "two", "seven", "five ranges", "forty"],
)
def test_the_model_is_the_same_for_any_number_of_shards(
    learnt: Path, train: Any, learner: str, tmp_path: Path, how: Any
) -> None:
    train(tmp_path / "run", "--learner", learner, *how)
    assert (tmp_path / "run" / "model").read_bytes() == (learnt / "model").read_bytes()


def test_the_same_bytes_by_processes_of_their_own(
    learnt: Path, train: Any, contents: Any, corpus: Path, learner: str, tmp_path: Path
) -> None:
    options = ("--shards", 3, "--dev", corpus / "dev.txt", "-r", "local", "--reducers", 2)
    train(tmp_path / "run", "--learner", learner, *options)
    expected = deciding(contents(learnt))
    assert ("idf" in expected) == (learner == "rocchio") and "epoch-0001/average" not in expected
    assert deciding(contents(tmp_path / "run")) == expected


@pytest.mark.parametrize("kernel", ["native", "reference"])
def test_both_kernels_count_the_same(learnt: Path, corpus: Path, learner: str, tmp_path: Path, kernel: str) -> None:
    from perceptron_core import kernels

    if kernel == "native" and kernels.native is None:
        pytest.skip("the kernel was not compiled")
    arguments = ["train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", tmp_path / "run"]
    subprocess.run(
        [sys.executable, "-m", "perceptron_jobs.cli.main", *map(str, arguments), "--learner", learner, "--quiet"],
        cwd=corpus,
        env={**os.environ, "PERCEPTRON_KERNEL": kernel},
        check=True,
        timeout=300,
    )
    assert (tmp_path / "run" / "model").read_bytes() == (learnt / "model").read_bytes()


@pytest.fixture(scope="module")
def undisturbed(train: Any, contents: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    run = tmp_path_factory.mktemp("undisturbed") / "run"
    train(run, "--learner", "rocchio", "--shards", 2)
    return deciding(contents(run))


@pytest.mark.parametrize("appears", ["config.json", "epoch-0000", "idf", "epoch-0001"])
def test_a_killed_run_ends_with_the_same_bytes(
    undisturbed: dict[str, bytes], train: Any, train_until: Any, contents: Any, tmp_path: Path, appears: str
) -> None:
    options = ("--learner", "rocchio", "--shards", 2)
    run = tmp_path / "run"
    train_until(run, appears, *options)
    before = os.stat(run / "idf").st_ino if (run / "idf").exists() else None
    train(run, *options)
    assert before in (None, os.stat(run / "idf").st_ino)  # what was counted is not counted again
    assert deciding(contents(run)) == undisturbed


def test_a_run_that_is_done_stays_done(learnt: Path, train: Any, corpus: Path, learner: str) -> None:
    before = (learnt / "model").read_bytes()
    told = train(learnt, "--learner", learner, "--shards", 3, "--dev", corpus / "dev.txt", "--epochs", 30)
    assert "one pass is all it needs" in told and (learnt / "model").read_bytes() == before
    assert len((learnt / "history.jsonl").read_text().splitlines()) == 1


def test_the_other_commands_take_the_model(learnt: Path, must: Any, corpus: Path, learner: str) -> None:
    entry = json.loads((learnt / "history.jsonl").read_text())
    scores = json.loads(must("evaluate", learnt, corpus / "dev.txt", "--json"))
    assert scores["f1"] == pytest.approx(entry["dev"]["last"], abs=1e-6) and scores["f1"] > 0.5
    assert entry["errors"] is None and entry["mixing"] == "sum" and entry["shuffled"] > 1000
    assert "B-VP" in must("predict", learnt, corpus / "dev.txt")
    assert "word[0]=" in must("inspect", learnt, "--label", "B-VP")
    page = (learnt / "report.html").read_text(encoding="utf-8")
    assert "Training errors" not in page and "Errors of the shards" not in page and "Time of the shards" in page
    assert {"naive-bayes": "naive Bayes", "rocchio": "Rocchio"}[learner] in page
    assert re.search(r"^ +1 +– .*◀ best$", must("report", learnt), re.MULTILINE)


def test_beside_a_perceptron_in_one_report(learnt: Path, trained: Path, must: Any, tmp_path: Path) -> None:
    must("report", learnt, trained, "--output", tmp_path / "both.html")
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "Training errors" in page and "Side by side" in page
    must("report", learnt, "--svg", tmp_path / "curve.svg")
    assert "training errors" not in (tmp_path / "curve.svg").read_text(encoding="utf-8")


def test_without_a_dev_set_the_report_says_what_there_is(train: Any, learner: str, tmp_path: Path, must: Any) -> None:
    train(tmp_path / "run", "--learner", learner)
    assert "weights from one pass over 50 sentences" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert re.search(r"^ +1 +–$", must("report", tmp_path / "run"), re.MULTILINE)


def test_rare_features_and_a_part_of_the_shards(train: Any, learner: str, tmp_path: Path) -> None:
    for name, options in {"all": (), "frequent": ("--min-count", 20), "part": ("--shards", 25, "--subsample")}.items():
        train(tmp_path / name, "--learner", learner, *options)
    keys = {path.name: set(read_model(str(path / "model")).rows.keys.tolist()) for path in tmp_path.iterdir()}
    assert keys["frequent"] < keys["all"] and keys["part"] < keys["all"]


@pytest.mark.parametrize(
    "options",
    [
        ("--mixing", "uniform"),
        ("--local-epochs", 2),
        ("--min-updates", 2),
        ("--update", "early"),
        ("--patience", 2),
        ("--init-model", "model"),
    ],
    ids=lambda options: options[0][2:],
)
def test_what_needs_updates_is_refused(
    perceptron: Any, corpus: Path, learner: str, tmp_path: Path, options: Any
) -> None:
    given = ("--train", corpus / "train.txt", "--dev", corpus / "dev.txt", "--run-dir", tmp_path / "run")
    refused = perceptron("train", corpus / "task.yaml", *given, "--learner", learner, *options)
    assert refused.code == 2 and not (tmp_path / "run").exists()
    assert f"{learner} counts once and updates nothing; leave out {options[0]}\n" in refused.err


def test_a_shard_given_twice_or_not_at_all_is_not_summed(learnt: Path, learner: str) -> None:
    shards = sorted(str(path) for path in (learnt / "prepared").glob("*-of-00003.gz"))
    arguments = ["--config", str(learnt / "config.json"), "--what", "naive-bayes", "--ranges", "2"]
    assert sorted({key for key, _ in run_job(MRSumStatistics, Cluster(), arguments, shards)}) == [
        "00000",
        "00001",
        "reducer",
    ]
    for inputs in (shards[:2], [*shards, shards[0]]):
        with pytest.raises(UserError, match="the shards are not whole"):
            list(run_job(MRSumStatistics, Cluster(), arguments, inputs))


def test_idf_is_no_model(learnt: Path, perceptron: Any, corpus: Path, learner: str) -> None:
    if learner == "rocchio":
        refused = perceptron("predict", learnt / "idf", corpus / "dev.txt")
        assert refused.code == 2 and "not weights; give the run directory" in refused.err
