"""A run that is killed at any moment, continued elsewhere, or given other options keeps its weights."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, Optional

import pytest

from runs import deciding
from waiting import read_line, started, still_runs, wait_until

OPTIONS = ("--shards", 3, "--mixing", "uniform", "--epochs", 3)
IN_ROUNDS = (*OPTIONS, "--rounds", 2)
CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink"}


class Observer:
    """Calls `look` before every change to a file below `folder`; Python's audit hooks cannot be removed again."""

    folder: Optional[str] = None
    look: Callable[[], None]
    installed = False

    @classmethod
    def hear(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if cls.folder is None or not (event in CHANGES or (event == "open" and cls._writes(arguments[2]))):
            return
        paths = [os.fspath(path) for path in arguments[:2] if isinstance(path, (str, os.PathLike))]
        if any(path.startswith(cls.folder) for path in paths):
            folder, cls.folder = cls.folder, None  # what `look` does is not observed
            cls.look()
            cls.folder = folder

    @staticmethod
    def _writes(flags: Any) -> bool:
        return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


@pytest.fixture
def observe() -> Iterator[Callable[[Path, Callable[[], None]], None]]:
    def begin(folder: Path, look: Callable[[], None]) -> None:
        Observer.folder, Observer.look = str(folder), staticmethod(look)
        if not Observer.installed:
            sys.addaudithook(Observer.hear)
            Observer.installed = True

    yield begin
    Observer.folder = None


@pytest.fixture(scope="module")
def undisturbed(train, contents, tmp_path_factory) -> dict[str, bytes]:
    run = tmp_path_factory.mktemp("undisturbed") / "run"
    train(run, *OPTIONS)
    return deciding(contents(run))


# ---------------------------------------------------------------- killed


def test_killed_before_any_change_to_a_file_it_ends_with_the_same_bytes(train, contents, observe, tmp_path):
    """The run directory is copied before every change: this is what a kill at that moment would leave behind."""
    train(tmp_path / "undisturbed", *IN_ROUNDS)
    undisturbed = deciding(contents(tmp_path / "undisturbed"))
    states: list[Path] = []
    seen = set()

    def copy_run() -> None:
        state = contents(run) if run.exists() else {}
        now = tuple(sorted(state.items()))
        if now not in seen:
            seen.add(now)
            states.append(tmp_path / f"state-{len(states):03d}")
            shutil.copytree(run, states[-1]) if run.exists() else states[-1].mkdir()

    run = tmp_path / "run"
    observe(run, copy_run)
    train(run, *IN_ROUNDS)
    observe(tmp_path / "nowhere", copy_run)
    assert len(states) > 40
    assert any(name.endswith(".tmp/") for state in states for name in contents(state))
    assert any(name == "round-1" for state in states for name in contents(state))
    assert deciding(contents(run)) == undisturbed
    for state in states:
        before = list(contents(state))
        train(state, *IN_ROUNDS)
        assert deciding(contents(state)) == undisturbed, f"after a kill that left {before}"
        history = [json.loads(line)["epoch"] for line in (state / "history.jsonl").read_text().splitlines()]
        assert history == [1, 2, 3]


def start(corpus: Path, run: Path, *options: object) -> Any:
    arguments = ["train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", run, *options]
    command = [sys.executable, "-m", "perceptron_jobs.cli.main", *map(str, arguments)]
    scratch = run.parent / "tmp"
    scratch.mkdir(exist_ok=True)
    # Not in the repository's folder, whose packages would stand in for the installed ones.
    return started(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=corpus,
        env={**os.environ, "TMPDIR": str(scratch)},
    )


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_really_killed_again_and_again(runner, corpus, train, contents, tmp_path):
    longer = ("--shards", 3, "--mixing", "uniform", "--stop-threshold", 0, "--epochs")
    last = 25 if runner == "inline" else 6  # more than can be done before it is killed
    run = tmp_path / "run"
    for appears in ("prepared", "epoch-0001", "epoch-0003")[runner == "local" :: 1 + (runner == "local")]:
        with start(corpus, run, *longer, last, "-r", runner) as process:
            appeared = (run / appears).exists
            wait_until(f"{appears} in the run directory", appeared, alive=still_runs(process), pause=0.001)
            process.kill()  # its tasks, if it has processes for them, end by themselves
            assert process.wait(60) == -signal.SIGKILL
    train(run, *longer, last)
    train(tmp_path / "undisturbed", *longer, last)
    assert deciding(contents(run)) == deciding(contents(tmp_path / "undisturbed"))


def test_interrupted_from_the_keyboard(corpus, train, contents, tmp_path):
    with start(corpus, tmp_path / "run", "--stop-threshold", 0, "--epochs", 25) as process:
        appeared = (tmp_path / "run" / "epoch-0002").exists
        wait_until("the second epoch", appeared, alive=still_runs(process), pause=0.001)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == b"perceptron: interrupted\n"
        assert process.returncode == 130
    train(tmp_path / "run", "--stop-threshold", 0, "--epochs", 25)
    train(tmp_path / "undisturbed", "--stop-threshold", 0, "--epochs", 25)
    assert deciding(contents(tmp_path / "run")) == deciding(contents(tmp_path / "undisturbed"))


# ---------------------------------------------------------------- going on


def test_more_epochs_are_the_same_as_a_longer_run(undisturbed, train, contents, tmp_path):
    for epochs in (1, 2, 3):
        said = train(tmp_path / "run", *OPTIONS[:-1], epochs)
    assert "continuing after epoch 2" in said and said.count("errors") == 1
    assert deciding(contents(tmp_path / "run")) == undisturbed


def test_a_finished_run_stays_as_it_is(train, contents, tmp_path):
    train(tmp_path / "run", *OPTIONS)
    before = contents(tmp_path / "run")
    for epochs in (3, 1):
        assert f"stopped: {epochs} epochs are done" in train(tmp_path / "run", *OPTIONS[:-1], epochs)
        assert contents(tmp_path / "run") == before


def test_a_copied_run_goes_on(undisturbed, train, contents, tmp_path):
    train(tmp_path / "run", *OPTIONS[:-1], 1)
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    shutil.rmtree(tmp_path / "run")
    train(tmp_path / "copy", *OPTIONS)
    assert deciding(contents(tmp_path / "copy")) == undisturbed


def test_the_corpus_may_have_moved(undisturbed, corpus, train, must, contents, tmp_path):
    train(tmp_path / "run", *OPTIONS[:-1], 1)
    shutil.copy(corpus / "train.txt", tmp_path / "moved.txt")
    options = ("--train", tmp_path / "moved.txt", "--run-dir", tmp_path / "run", *OPTIONS)
    must("train", corpus / "task.yaml", *options)
    assert deciding(contents(tmp_path / "run")) == undisturbed


def test_the_best_epoch_survives_a_resume(corpus, train, contents, tmp_path):
    dev = ("--dev", corpus / "dev.txt", "--patience", 3, "--stop-threshold", 0)
    train(tmp_path / "whole", *OPTIONS[:-1], 6, *dev)
    for epochs in (2, 4, 6):
        train(tmp_path / "parts", *OPTIONS[:-1], epochs, *dev)
    assert deciding(contents(tmp_path / "parts")) == deciding(contents(tmp_path / "whole"))
    assert len(list((tmp_path / "parts").glob("epoch-*"))) == 2


# ---------------------------------------------------------------- asked for something else

CHANGED = {
    "seed": (["--seed", 2], "seed was 1, now 2"),
    "shards": (["--shards", 4], "shards was 3, now 4"),
    "mixing": (["--mixing", "errors"], "mixing was 'uniform', now 'errors'"),
    "learner": (["--learner", "pa"], "learner was 'perceptron', now 'pa'"),
    "aggressiveness": (["--aggressiveness", 2], "aggressiveness was 1.0, now 2.0"),
    "decoder": (["--decoder", "greedy"], "decoder was 'viterbi', now 'greedy'"),
    "beam": (["--beam", 3], "beam was 8, now 3"),
    "update": (["--update", "early"], "update was 'standard', now 'early'"),
    "rounds": (["--rounds", 3], "rounds was None, now 3"),
    "local epochs": (["--local-epochs", 2], "local_epochs was 1, now 2"),
    "average": (["--no-average"], "average was True, now False"),
    "subsample": (["--subsample"], "subsample was False, now True"),
    "data": (["--train", "{dev}"], "data"),
    "more data": (["--train", "{train}", "{dev}"], "data"),
    "init model": (["--init-model", "{model}"], "init_model was None"),
    "features": (['features: ["word[0]"]'], "templates"),
    "transitions": (["transitions: false"], "transitions was True, now False"),
    "label order": (["labels: [O, B-VP, B-NP, I-NP, B-名, I-名]"], "labels"),
    "encoding": (["encoding: iob1"], "encoding"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_what_decides_the_weights_must_not_change(what, trained, corpus, perceptron, contents, tmp_path):
    options, named = CHANGED[what]
    names = {"dev": corpus / "dev.txt", "train": corpus / "train.txt", "model": trained / "model"}
    options = [option.format(**names) if isinstance(option, str) else option for option in options]
    task = (corpus / "task.yaml").read_text(encoding="utf-8")
    if not options[0].startswith("--"):
        key = options[0].partition(":")[0]
        task = re.sub(rf"^{key}:.*\n(  - .*\n)*", "", task, flags=re.MULTILINE) + options.pop(0) + "\n"
    (tmp_path / "task.yaml").write_text(task, encoding="utf-8")
    run = shutil.copytree(trained, tmp_path / "run")
    before = contents(run)
    given = ["--train", corpus / "train.txt", "--run-dir", run, *OPTIONS[:-1], 5]
    refused = perceptron("train", tmp_path / "task.yaml", *given, *options)
    assert refused.code == 2 and refused.out == ""
    assert "was begun with other settings" in refused.err and named in refused.err and "--run-dir" in refused.err
    assert contents(run) == before


@pytest.mark.parametrize(
    "options",
    [["--epochs", 4], ["--patience", 1, "--dev", "{dev}"], ["--reducers", 2], ["--stop-threshold", 1], ["--quiet"]],
    ids=lambda options: options[0],
)
def test_what_does_not_decide_the_weights_may_change(options, trained, corpus, train, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    options = [option.format(dev=corpus / "dev.txt") if isinstance(option, str) else option for option in options]
    train(run, *OPTIONS[:-1], 4, *options)


def test_a_run_directory_in_use(trained, corpus, perceptron, contents, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    before = contents(run)
    hold = "from perceptron_jobs.training.run_dir import RunDir; import sys\n"
    hold += "with RunDir(sys.argv[1]).opened(): print(flush=True); input()"
    command = [sys.executable, "-c", hold, str(run)]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as other:
        assert read_line("another process to open the run directory", other.stdout)
        given = ("train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", run, *OPTIONS)
        refused = perceptron(*given)
        other.communicate(b"\n", timeout=60)
    assert refused.code == 2 and "is in use by another process" in refused.err
    assert contents(run) == before
    assert perceptron(*given).code == 0


@pytest.mark.parametrize("damage", ["altered", "deleted"])
def test_a_damaged_shard_between_epochs(damage, trained, corpus, perceptron, contents, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    shard = run / "prepared" / "shard-00001-of-00003.gz"
    if damage == "deleted":
        shard.unlink()
    else:
        data = bytearray(shard.read_bytes())
        data[len(data) // 2] ^= 1
        shard.write_bytes(bytes(data))
    before = contents(run)
    given = ("--train", corpus / "train.txt", "--run-dir", run, *OPTIONS[:-1], 5)
    refused = perceptron("train", corpus / "task.yaml", *given)
    assert refused.code == 2 and str(shard) in refused.err and "prepare the corpus again" in refused.err
    assert contents(run) == before


def test_a_damaged_configuration(trained, corpus, perceptron, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    path = run / "config.json"
    path.write_bytes(path.read_bytes()[:-20])
    given = ("--train", corpus / "train.txt", "--run-dir", run, *OPTIONS[:-1], 5)
    refused = perceptron("train", corpus / "task.yaml", *given)
    assert refused.code == 2 and str(path) in refused.err and "damaged" in refused.err


def test_without_the_dev_set_it_says_which_epoch_stays_chosen(trained, train, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    chosen = json.loads((run / "mistakes.json").read_text())["epoch"]
    said = train(run, *OPTIONS[:-1], 4)
    assert f"the model stays that of epoch {chosen}, the best so far; give --dev as before" in said
    assert said.endswith(f"model of epoch {chosen}: {run / 'model'}\n")
