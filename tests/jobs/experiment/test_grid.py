"""The grid is trained exactly once, interrupted or not, and its cells are ordinary runs."""

import json
import os
import signal
import subprocess
import sys

import pytest

from perceptron_jobs.experiment.grid import run_commands
from waiting import started, still_runs, wait_until


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


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_grid_goes_on_and_ends_the_same(how, done, corpus, must, tmp_path, learned):
    command = [
        sys.executable,
        "-m",
        "perceptron_jobs.cli.main",
        "experiment",
        str(corpus / "grid.yaml"),
        "--data",
        str(corpus),
    ]
    with started(
        [*command, "--output", str(tmp_path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        wait_until("the first model", lambda: list(tmp_path.glob("runs/*/model")), alive=still_runs(process))
        process.send_signal(how)  # only to the command, not to the trainings that it has started
        said = process.communicate(timeout=60)[1]
        assert (said, process.returncode) == (b"perceptron: interrupted\n", 130)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    said = must("experiment", corpus / "grid.yaml", "--data", corpus, "--output", tmp_path)
    assert "6 trainings, 0 done already" not in said
    assert learned(tmp_path) == learned(done[0])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_a_process_starts_leaves_none_behind(how, monkeypatch, tmp_path):
    started = []

    class Interrupted(subprocess.Popen):
        def __init__(self, *given, **options):
            super().__init__(*given, **options)
            started.append(self)
            os.kill(os.getpid(), how)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_commands({"help": ["--help"], "more": ["--help"]}, 2, str(tmp_path), lambda name, seconds: None)
    assert [process.returncode is not None for process in started] == [True], "waited for, and no other was started"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_run_that_was_stopped_between_epochs_goes_on(done, write, corpus, must, tmp_path, history, learned):
    run = tmp_path / "runs" / "phrases_shards-3_epochs-3_mixing-row_seed-1"
    must("prepare", corpus / "task.yaml", "--train", corpus / "train.txt", "--shards", 3, "--output", tmp_path / "p")
    given = ("--prepared", tmp_path / "p", "--dev", corpus / "dev.txt", "--mixing", "row", "--epochs", 1)
    must("train", corpus / "task.yaml", "--run-dir", run, *given)
    (run / "model").unlink()  # as it is while a run goes on
    (before,) = history(tmp_path, run.name)
    one = write("one", seeds=[1], runs={"row": {"shards": 3, "mixing": "row"}}, baseline=None, papers=None, figure=None)
    must("experiment", one, "--data", corpus, "--output", tmp_path)
    assert history(tmp_path, run.name)[0]["shards"] == before["shards"], "the first epoch was not trained again"
    assert learned(tmp_path)[run.name] == learned(done[0])[run.name]


def test_another_runner_gives_the_same_numbers(done, corpus, write, must, tmp_path, history, learned):
    runs = {"row": {"shards": 3, "mixing": "row"}}
    one = write("one", seeds=[2], runs=runs, baseline=None, papers=None, figure=None)
    said = must("experiment", one, "--data", corpus, "--output", tmp_path, "-r", "local")
    assert "1 training, 0 done already; 1 at a time" in said
    (name,) = learned(tmp_path)
    assert learned(tmp_path)[name] == learned(done[0])[name]
    assert {epoch["runner"] for epoch in history(tmp_path, name)} == {"local"}


def test_a_limit_takes_sentences_from_the_whole_corpus_and_full_lifts_it(write, corpus, must, tmp_path, history):
    small = write("small", phrases={"limit": 10}, seeds=[1], full_seeds=[1, 2], runs={"serial": {}})
    must("experiment", small, "--data", corpus, "--output", tmp_path)
    sentences = (corpus / "train.txt").read_text(encoding="utf-8").strip().split("\n\n")
    taken = (tmp_path / "corpora" / "phrases-10.txt").read_text(encoding="utf-8").strip().split("\n\n")
    assert taken == sentences[::5]
    assert history(tmp_path, "phrases-10_shards-1_epochs-3_seed-1")[0]["sentences"] == 10
    must("experiment", small, "--data", corpus, "--output", tmp_path, "--full")
    assert [history(tmp_path, f"phrases_shards-1_epochs-3_seed-{s}")[0]["sentences"] for s in (1, 2)] == [50, 50]


def test_packages_of_the_current_folder_do_not_stand_in_for_the_installed_ones(tmp_path, monkeypatch):
    """As in a source tree, whose packages lack the compiled kernel."""
    for name in ("perceptron_jobs", "perceptron_core"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package')\n")
    monkeypatch.chdir(tmp_path)
    run_commands({"help": ["--help"]}, 1, str(tmp_path), lambda name, seconds: None)
    assert "usage: perceptron" in (tmp_path / "help.log").read_text()
