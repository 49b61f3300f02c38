"""A full disk, a folder that cannot be written or was removed: a sentence that names the right one, and exit code 2."""

import contextlib
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest

from waiting import started, still_runs, wait_until

ABOUT_TEMPORARY_FILES = "perceptron: the folder for temporary files, {}, cannot be written: {}; make room there, or set"


@pytest.fixture
def small(tmp_path) -> Iterator[Callable[[str], Path]]:
    """A file system of its own: small("200k"), small("ro")."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = False

    def mount(options: str) -> Path:
        nonlocal mounted
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if os.geteuid() != 0 or shutil.which("mount") is None:
            pytest.skip("only root can make a small file system")
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"a small file system cannot be made here: {done.stderr.strip()}")
        mounted = True
        return folder

    yield mount
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def command(corpus) -> Callable[..., tuple[int, str]]:
    """Runs a command in a process of its own: its exit code, and what it says on standard error."""

    def run(*arguments: object, tmpdir: Path, before: Callable[[], None] = lambda: None, **options) -> tuple[int, str]:
        words = [sys.executable, "-m", "perceptron_jobs.cli.main", *map(str, arguments)]
        options = {"stdout": subprocess.DEVNULL, **options}
        environment = {**os.environ, "TMPDIR": str(tmpdir)}
        done = subprocess.run(
            words,
            stderr=subprocess.PIPE,
            text=True,
            cwd=corpus,
            env=environment,
            preexec_fn=before,
            timeout=300,
            **options,
        )
        return done.returncode, done.stderr

    return run


def training(corpus: Path, run: Path, *options: object) -> tuple[object, ...]:
    return ("train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", run, "--shards", 2, *options)


@pytest.mark.parametrize("runner", ["inline", "local"])
@pytest.mark.parametrize("size", ["8k", "20k", "36k"])  # not for a job's input, for its output, for that of a later job
def test_no_room_for_temporary_files(size, runner, small, command, corpus, tmp_path):
    folder = small(f"size={size}")
    code, said = command(*training(corpus, tmp_path / "run", "-r", runner), tmpdir=folder)
    assert code == 2 and said.startswith(ABOUT_TEMPORARY_FILES.format(folder, "No space left on device")), said
    assert said.count("\n") == 1 and list(folder.iterdir()) == []


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_files_may_not_grow(runner, command, corpus, tmp_path):
    """What a quota does: the first file that is too large is one of a job's."""
    (tmp_path / "tmp").mkdir()
    code, said = command(
        *training(corpus, tmp_path / "run", "-r", runner),
        tmpdir=tmp_path / "tmp",
        before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)),
    )
    problem = "(File too large|No space left on device)"
    assert code == 2 and re.match(ABOUT_TEMPORARY_FILES.format(tmp_path / "tmp", problem), said), said
    assert not (tmp_path / "run").exists() and list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("runner", "size"),  # no shards; no epoch; not the second one
    [("inline", "8k"), ("inline", "28k"), ("inline", "40k"), ("local", "28k")],
)
def test_no_room_for_the_run(size, runner, small, command, corpus, tmp_path):
    run = small(f"size={size}") / "run"
    given = training(corpus, run, "--epochs", 2, "-r", runner)
    code, said = command(*given, tmpdir=tmp_path)
    assert code == 2 and said.startswith(f"perceptron: cannot write {run}/"), said
    assert said.endswith(": No space left on device\n") and said.count("\n") == 1
    assert not list(run.parent.rglob("*.tmp"))
    subprocess.run(["mount", "-o", "remount,size=10m", str(run.parent)], check=True)
    assert command(*given, tmpdir=tmp_path)[0] == 0


def test_no_room_for_the_report(small, trained, corpus, command, must, tmp_path):
    """The model is written, and the report is left out."""
    run = small("size=10m") / "run"
    must(*training(corpus, run))
    (run / "report.html").unlink()
    filler = run.parent / "filler"
    with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    os.truncate(filler, filler.stat().st_size - 20_480)  # room for the model
    done = subprocess.run(
        [sys.executable, "-m", "perceptron_jobs.cli.main", *map(str, training(corpus, run))],
        capture_output=True,
        text=True,
        cwd=corpus,
        timeout=300,
    )
    assert done.returncode == 0 and "the report could not be written: cannot write" in done.stdout, done
    assert "Traceback" not in done.stderr and not (run / "report.html").exists()


def test_outputs(small, trained, corpus, command, tmp_path):
    folder = small("size=4k")
    for arguments in (
        ("predict", trained, corpus / "train.txt", "--output", folder / "out"),
        ("report", trained, "--output", folder / "out"),
        ("export", trained, "--output", folder / "out"),
    ):
        code, said = command(*arguments, tmpdir=tmp_path)
        assert (code, said) == (2, f"perceptron: cannot write {folder / 'out'}: No space left on device\n")
        assert list(folder.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("name", ["report", "inspect", "predict", "train", "check"])
def test_standard_output(name, trained, corpus, command, tmp_path):
    arguments = {
        "predict": ("predict", trained, corpus / "dev.txt"),
        "train": training(corpus, tmp_path / "run"),
    }.get(name, (name, trained))
    with open("/dev/full", "wb") as full:
        code, said = command(*arguments, tmpdir=tmp_path, stdout=full)
    assert (code, said) == (2, "perceptron: cannot write standard output: No space left on device\n")


def test_read_only(small, trained, corpus, command, tmp_path):
    folder = small("size=10m")
    run = shutil.copytree(trained, folder / "run")
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    for arguments, problem in {
        ("predict", run, corpus / "dev.txt", "--output", folder / "out"): f"cannot write {folder / 'out'}",
        training(corpus, run): f"cannot write to the run directory {run}",
        training(corpus, folder / "new"): f"cannot make the folder {folder / 'new'}",
    }.items():
        code, said = command(*arguments, tmpdir=tmp_path)
        assert code == 2 and said.startswith(f"perceptron: {problem}: Read-only file system"), said
    assert command("evaluate", run, corpus / "dev.txt", tmpdir=tmp_path)[0] == 0
    code, said = command("evaluate", run, corpus / "dev.txt", tmpdir=folder)
    assert code == 2 and said.startswith(ABOUT_TEMPORARY_FILES.format(folder, "Read-only file system"))


@pytest.mark.parametrize("runner", ["inline", "local"])
@pytest.mark.parametrize("what", ["run", "tmp"])
def test_a_folder_that_is_removed_while_training_runs(what, runner, corpus, tmp_path):
    (tmp_path / "tmp").mkdir()
    arguments = training(corpus, tmp_path / "run", "--stop-threshold", 0, "--epochs", 1000, "-r", runner)
    with started(
        [sys.executable, "-m", "perceptron_jobs.cli.main", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=corpus,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    ) as process:
        wait_until("an epoch", (tmp_path / "run" / "epoch-0001").exists, alive=still_runs(process))
        os.rename(tmp_path / what, tmp_path / "elsewhere")  # at once, not file by file
        said = process.communicate(timeout=120)[1].decode()
    problem = "the run directory .* was removed" if what == "run" else "the folder for temporary files, .*, was removed"
    assert process.returncode == 2 and said.count("\n") == 1, said
    assert re.fullmatch(f"perceptron: {problem}.*\n", said), said
