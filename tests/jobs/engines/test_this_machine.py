"""Jobs on this machine: nobody else can read their files, and their processes end with the driver."""

import contextlib
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from perceptron_jobs.engines.emr import EmrRunner
from perceptron_jobs.engines.hadoop import HadoopRunner
from perceptron_jobs.engines.private import PrivateFolder
from perceptron_jobs.engines.this_machine import InlineRunner, LocalRunner
from waiting import started, still_runs, wait_until


@pytest.mark.parametrize("runner", [InlineRunner, LocalRunner, HadoopRunner])
def test_the_folder_of_a_job_is_private(runner, tmp_path):
    made = runner(local_tmp_dir=str(tmp_path), conf_paths=[])
    assert stat.S_IMODE(os.stat(made._get_local_tmp_dir()).st_mode) == 0o700
    made._cleanup_local_tmp()
    assert issubclass(EmrRunner, PrivateFolder)  # to make one, AWS would be asked


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_nothing_of_a_job_can_be_read_by_others(runner, corpus, tmp_path):
    """Whatever is below TMPDIR while the command runs is in a folder that only its owner can enter."""
    with training(corpus, tmp_path, runner) as process:
        (folder,) = wait_until("a job", lambda: list((tmp_path / "tmp").glob("perceptron-*/*")) and below(tmp_path))
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        still_runs(process)()


def below(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "tmp").iterdir())


@contextlib.contextmanager
def training(corpus: Path, tmp_path: Path, runner: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A training in a process group of its own, whose complaints are in the file `stderr`."""
    files = [corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", tmp_path / "run"]
    options = ["--shards", 4, "--epochs", 50, "--stop-threshold", 0, "-r", runner]
    words = [sys.executable, "-m", "perceptron_jobs.cli.main", "train", *files, *options]
    (tmp_path / "tmp").mkdir()
    with (
        open(tmp_path / "stderr", "wb") as complaints,
        started(
            [str(word) for word in words],
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
            start_new_session=True,
        ) as process,
    ):
        yield process


def processes(group: int) -> list[str]:
    """The commands of a process group, without those that have ended and whom nobody has asked how."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            state, _, its_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except (OSError, ValueError):
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="processes are listed by /proc, and end with their parent on Linux")
def test_a_killed_driver_leaves_no_process_and_no_complaint(corpus, perceptron, tmp_path, monkeypatch):
    with training(corpus, tmp_path, "local") as driver:
        wait_until(
            "a task",
            lambda: (tmp_path / "run" / "epoch-0001").exists() and "train_epoch.py" in " ".join(processes(driver.pid)),
            alive=still_runs(driver),
        )
        driver.kill()
        assert driver.wait(60) == -signal.SIGKILL
        wait_until("the tasks to end", lambda: not processes(driver.pid), seconds=20)
    assert (tmp_path / "stderr").read_bytes() == b""
    assert len(below(tmp_path)) == 1  # what it could not remove, the next command does
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    assert perceptron("report", tmp_path / "run").code == 0
    assert below(tmp_path) == []
