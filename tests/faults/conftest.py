"""What the fault tests share: one run on HDFS, and ways to watch and to harm its driver, its jobs and its files.

Each test trains the run for another epoch while something fails; every epoch must have the bytes of an undisturbed
inline training. It has four shards, written by the reducers of a real job, and a mixing with fractional
weights; the tests on the cluster's two nodes use one and three reducers.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

import pytest

from perceptron_jobs.engines.hadoop import tag_of
from perceptron_jobs.storage import join, storage_of
from waiting import wait_until

OPTIONS = ("--shards", "4", "--mixing", "errors", "--stop-threshold", "0")
PATIENCE = 300.0  # seconds that a test waits for something
LEASE = 5.0  # seconds, not a minute: how long a killed driver blocks the next one
# `perceptron`, with that lease; after the epoch whose number comes first it stops itself, as Ctrl-Z would do.
# Interrupts are switched off in it, as in all that a script starts in the background.
PROGRAM = f"""
import os, signal, sys
from perceptron_jobs.cli.main import main
from perceptron_jobs.cli.terminal import Terminal
from perceptron_jobs.storage.lease import Lease
signal.signal(signal.SIGINT, signal.SIG_IGN)
Lease.SECONDS = {LEASE}
show = Terminal.epoch
def show_and_stop(terminal, entry):
    show(terminal, entry)
    if entry.epoch == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGSTOP)
Terminal.epoch = show_and_stop
sys.exit(main(sys.argv[2:]))
"""


def get(path: str) -> bytes:
    with storage_of(path).open(path) as file:
        return file.read()


# ---------------------------------------------------------------- processes and jobs of the cluster


def _read(pid: int, name: str) -> bytes:
    with contextlib.suppress(OSError):  # it has just ended, or is somebody else's
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


def _status(pid: int) -> list[bytes]:
    """State (R, S, T …), parent and so on; nothing if there is no such process."""
    return _read(pid, "stat").rpartition(b")")[2].split()


class Processes(NamedTuple):
    """The processes on the cluster, and what its daemons report."""

    state: Path  # the cluster's folder
    web: dict[str, str]  # the address of each daemon

    def mappers(self) -> list[int]:
        return self._found("train_epoch.py", "--mapper")

    def reducers(self) -> list[int]:
        return self._found("train_epoch.py", "--reducer")

    def masters(self) -> list[int]:
        return self._found("org.apache.hadoop.mapreduce.v2.app.MRAppMaster")

    def clients(self) -> list[int]:
        return self._found("org.apache.hadoop.util.RunJar")

    def _found(self, *words: str) -> list[int]:
        """The processes of this cluster with these arguments; a shell that starts them has all in one argument."""
        mine, wanted = os.fsencode(str(self.state)), {word.encode() for word in words}
        pids = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
        named = [pid for pid in pids if wanted <= set(_read(pid, "cmdline").split(b"\0"))]
        return sorted(pid for pid in named if mine in _read(pid, "environ"))

    @staticmethod
    def ancestors(pid: int) -> Iterator[int]:
        """The process itself, its parent, and so on."""
        while pid > 1:
            yield pid
            status = _status(pid)
            pid = int(status[1]) if status else 0

    @staticmethod
    def wait_until_ended(pid: int) -> None:
        wait_until(f"process {pid} to end", lambda: _status(pid)[:1] in ([], [b"Z"]), PATIENCE)

    def told(self, daemon: str, path: str) -> Any:
        """A page of a daemon's web interface; None if it has none of that name (yet)."""
        request = urllib.request.Request(self.web[daemon] + path, headers={"Accept": "application/json"})
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            assert error.code == 404, error
            return None

    def job(self, said: str, *more: str) -> dict[str, Any]:
        """The history of the last job that a driver mentioned, such as how many attempts failed."""
        number = re.findall(r"application_(\d+_\d+)", said)[-1]
        path = "/".join(["/ws/v1/history/mapreduce/jobs", f"job_{number}", *more])
        return wait_until(f"the history of job_{number}", lambda: self.told("historyserver", path), PATIENCE)

    def applications(self, run: str, *states: str) -> list[str]:
        """The jobs of a run directory that are in one of these states."""
        query = f"applicationTags={tag_of(run)}&states={','.join(states)}"
        listed = self.told("resourcemanager", f"/ws/v1/cluster/apps?{query}")
        return [application["id"] for application in (listed["apps"] or {}).get("app", [])]


@pytest.fixture(scope="session")
def processes(hadoop) -> Processes:
    rows = [line.split() for line in hadoop.cluster("status").splitlines()]
    return Processes(hadoop.state, {row[0]: row[4] for row in rows if row[-1].isdigit() and len(row) > 4})


# ---------------------------------------------------------------- the run, and a driver that trains it further


class Driver(NamedTuple):
    """A `perceptron train` in a process of its own, and the epoch that it was asked to end with."""

    process: "subprocess.Popen[bytes]"
    epoch: int

    def wait_for(self, look: Callable[[], list[int]]) -> int:
        """The first process that is seen while the driver works."""
        what = f"{getattr(look, '__name__', 'the processes')} of the driver's job"
        return wait_until(what, look, PATIENCE, self._must_work)[0]

    def wait_until_it_stops(self) -> None:
        """Until the driver has stopped itself after an epoch."""

        def has_stopped() -> bool:
            return _status(self.process.pid)[:1] == [b"T"]

        wait_until("the driver to stop itself", has_stopped, PATIENCE, self._must_work)

    def _must_work(self) -> None:
        assert self.process.poll() is None, self.end()[1]

    def wake(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> tuple[int, str]:
        """Its exit code and all its output."""
        with self.process:
            said, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said.decode()

    def kill(self) -> None:
        self.process.kill()
        self.end()


_started: list[tuple["Run", Driver]] = []  # by the test that runs


class Run(NamedTuple):
    """A run directory that tests train further."""

    path: str
    arguments: list[str]
    expected: Callable[[int], dict[str, bytes]]

    def last(self) -> int:
        names = storage_of(self.path).names(self.path)
        return max([int(name[6:]) for name in names if re.fullmatch(r"epoch-\d+", name)], default=0)

    def start(self, *options: object, epochs: int = 1, stop_after_first: bool = False) -> Driver:
        """A driver that trains this number of epochs; it may stop itself (as by Ctrl-Z) after the first."""
        first = self.last() + 1
        command = [stop_after_first * first, *self.arguments, "--epochs", first + epochs - 1, *options]
        words = [sys.executable, "-c", PROGRAM, *map(str, command)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/")
        _started.append((self, Driver(process, first + epochs - 1)))
        return _started[-1][1]

    def is_right(self, epoch: int) -> None:
        """The epoch is the last one, and has the bytes of an undisturbed training."""
        assert self.last() == epoch
        self._are_equal(epoch, f"epoch-{epoch:04d}/weights", f"epoch-{epoch:04d}/average")

    def _are_equal(self, epoch: int, *names: str) -> None:
        for name in names:
            assert get(join(self.path, name)) == self.expected(epoch)[name], f"{name} after epoch {epoch}"

    def ends_well(self, driver: Driver) -> str:
        """The driver succeeds, and its last epoch and its model are right; returns its output."""
        code, said = driver.end()
        assert code == 0, said
        self.is_right(driver.epoch)
        self._are_equal(driver.epoch, "model")
        return said

    def goes_on(self, *options: object) -> str:
        """Train one more epoch undisturbed."""
        return self.ends_well(self.start(*options))

    def fails(self, driver: Driver, code: int, *sentences: str) -> str:
        """The driver ends with this code and these sentences, before its last epoch; the epoch before is right."""
        ended, said = driver.end()
        assert ended == code, said
        for sentence in sentences:
            assert sentence in said, said
        self.is_right(driver.epoch - 1)
        return said

    def lease_ends(self) -> None:
        """Wait until a driver that is gone or asleep no longer holds the run directory."""
        lease = f"{self.path}/.lease"
        if storage_of(lease).exists(lease):
            left = json.loads(get(lease) or b"{}").get("until", 0) - time.time()
            assert left < PATIENCE, f"the lease lasts for another {left:.0f} seconds"
            time.sleep(max(0.0, left))


@pytest.fixture(autouse=True)
def no_driver_is_left() -> Iterator[None]:
    """A failed test does not leave a driver behind, which would block the next test."""
    yield
    for run, driver in _started:
        if driver.process.poll() is None:
            driver.kill()
            run.lease_ends()
    _started.clear()


@pytest.fixture(scope="session")
def options() -> Sequence[str]:
    """The options that decide the weights of all runs here."""
    return OPTIONS


@pytest.fixture(scope="session")
def expected(corpus, tmp_path_factory, must) -> Callable[[int], dict[str, bytes]]:
    """The files of a run after an epoch, as an undisturbed training on this machine makes them."""
    run = tmp_path_factory.mktemp("undisturbed") / "run"
    known: list[dict[str, bytes]] = [{}]

    def files(epoch: int) -> dict[str, bytes]:
        while len(known) <= epoch:
            number = len(known)
            given = ("--train", corpus / "train.txt", "--run-dir", run, *OPTIONS, "--epochs", number)
            must("train", corpus / "task.yaml", *given)
            names = [f"epoch-{number:04d}/weights", f"epoch-{number:04d}/average", "model"]
            known.append({name: (run / name).read_bytes() for name in names})
        return known[epoch]

    return files


@pytest.fixture(scope="session")
def train_file(hadoop, corpus) -> str:
    """The corpus, on HDFS."""
    path = "hdfs:///faults/train.txt"
    storage_of(path).write(path, (corpus / "train.txt").read_bytes())
    return path


@pytest.fixture(scope="session")
def new_run(train_file, corpus, expected) -> Callable[[str], Run]:
    """A run directory on HDFS, with nothing in it yet."""

    def begin(path: str) -> Run:
        arguments = ["train", str(corpus / "task.yaml"), "--train", train_file, "--run-dir", path, *OPTIONS]
        return Run(path, arguments, expected)

    return begin


@pytest.fixture(scope="session")
def run(new_run) -> Run:
    """The run that most tests train further; its shards and its first epoch were made on the cluster."""
    begun = new_run("hdfs:///runs/faults")
    begun.goes_on("-r", "hadoop", "--reducers", "3")
    return begun


# ---------------------------------------------------------------- harm


@pytest.fixture
def whole(hadoop) -> Iterator[None]:
    """All daemons run again after the test."""
    yield
    hadoop.cluster("up")


@pytest.fixture(scope="session")
def damaged() -> Callable[..., Any]:
    """with damaged(path, lambda data: other data, or None to delete the file): … and it is whole again."""

    @contextlib.contextmanager
    def damage(path: str, harm: Callable[[bytes], Optional[bytes]]) -> Iterator[None]:
        data, storage = get(path), storage_of(path)
        bad = harm(data)
        storage.remove(path) if bad is None else storage.write(path, bad)
        try:
            yield
        finally:
            storage.write(path, data)

    return damage
