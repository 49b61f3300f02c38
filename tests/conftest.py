"""Fixtures that several test files share: the real corpora, a tiny generated one, the command line in this process."""

import contextlib
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Callable, NamedTuple

import pytest

from perceptron_jobs.cli.main import main
from repository import ROOT
from waiting import started, still_runs, wait_until

# Seconds for a test with its fixtures, where pyproject.toml's limit is too short: the first test on a cluster may have
# to fetch Hadoop, and the first one on containers to build them.
LONGER = {"hadoop": 2400, "faults": 2400, "docker": 5400}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.pluginmanager.has_plugin("timeout"):  # pytest-timeout is not installed
        return
    for item in items:
        longer = [seconds for mark, seconds in LONGER.items() if item.get_closest_marker(mark)]
        if longer and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(max(longer)))


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Tests write thousands of tiny files, none of which has to survive a power cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def interrupts_are_heard() -> None:
    """A shell that runs the tests in the background has switched interrupts off, and children would inherit that."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the real corpora: $PERCEPTRON_DATA, or shared/data beside the repository."""
    default = ROOT.parent / "shared" / "data"
    folder = Path(os.environ.get("PERCEPTRON_DATA", default))
    if not folder.is_dir():
        reason = f"the corpora are not at {folder}; set PERCEPTRON_DATA to the folder that has conll2000/, ewt/ …"
        if os.environ.get("CI") or os.environ.get("PERCEPTRON_CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


class Outcome(NamedTuple):
    """How a command ended; its text is unchanged, including carriage returns."""

    code: int
    out: str
    err: str


Perceptron = Callable[..., Outcome]


@contextlib.contextmanager
def _standard_input(text: str) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", newline="")
    try:
        yield
    finally:
        sys.stdin = before


@pytest.fixture(scope="session")
def perceptron() -> Perceptron:
    """Runs `perceptron ARGUMENTS` in this process; a defect (anything but a user's mistake) fails the test."""

    def run(*arguments: object, stdin: str = "") -> Outcome:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with _standard_input(stdin), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([str(argument) for argument in arguments])
            except SystemExit as stop:  # argparse: --help, or arguments that it refuses
                code = int(stop.code or 0)
        printed, complained = (stream.buffer.getvalue().decode() for stream in (out, err))
        # Where the kernel is not compiled, training says so first; scripts/test_install.py tests that.
        return Outcome(code, re.sub("^the compiled kernel is not installed.*\n", "", printed), complained)

    return run


@pytest.fixture(scope="session")
def must(perceptron: Perceptron) -> Callable[..., str]:
    """Runs a command that has to succeed, and returns what it printed."""

    def run(*arguments: object, stdin: str = "") -> str:
        outcome = perceptron(*arguments, stdin=stdin)
        assert outcome.code == 0, outcome.err
        return outcome.out

    return run


# ---------------------------------------------------------------- a tiny corpus: word, part of speech, chunk

NOUNS = ("time", "flies", "arrow", "кот", "собака", "时间", "中国", "Ёж", "naïveté", "x-ray")
VERBS = ("flies", "like", "спит", "喜欢", "saw", "time")
ADJECTIVES = ("red", "старый", "大", "fast")
DETERMINERS = ("the", "a", "эта")
TASK = """\
columns: [word, pos, chunk]
predict: chunk
encoding: iob2
metric: spans
features:
  - word[-1..1]
  - pos[-1..0] & pos[0..1]
  - suffix2[0]
  - shape[0]
"""


def _sentence(choose: random.Random) -> list[tuple[str, str, str]]:
    """Phrases whose type does not always follow from the words, so that no training separates them."""
    tokens = []
    for _ in range(choose.randint(1, 3)):
        kind = choose.choice(("NP", "NP", "NP", "名"))
        words = [(choose.choice(DETERMINERS), "DT")] * choose.randint(0, 1)
        words += [(choose.choice(ADJECTIVES), "JJ")] * choose.randint(0, 1)
        words.append((choose.choice(NOUNS), "NN"))
        tokens += [(*word, f"{'I' if i else 'B'}-{kind}") for i, word in enumerate(words)]
        tokens.append((choose.choice(VERBS), "VB", "B-VP"))
    return [*tokens, (".", ".", "O")]


def _text(sentences: Sequence[Sequence[Sequence[str]]]) -> str:
    return "\n".join("".join(" ".join(token) + "\n" for token in sentence) for sentence in sentences)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.txt (50 sentences), dev.txt (20) and task.yaml; tests only read it."""
    folder = tmp_path_factory.mktemp("corpus")
    choose = random.Random(2010)
    (folder / "train.txt").write_text(_text([_sentence(choose) for _ in range(50)]), encoding="utf-8")
    (folder / "dev.txt").write_text(_text([_sentence(choose) for _ in range(20)]), encoding="utf-8")
    (folder / "task.yaml").write_text(TASK, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory, must: Callable[..., str]) -> Path:
    """A run on the corpus: three shards, mixed uniformly, three epochs with a dev set; tests only read it."""
    run = tmp_path_factory.mktemp("trained") / "run"
    options = ("--shards", 3, "--mixing", "uniform", "--epochs", 3, "--dev", corpus / "dev.txt")
    must("train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", run, *options)
    return run


@pytest.fixture(scope="session")
def train(corpus: Path, must: Callable[..., str]) -> Callable[..., str]:
    """Trains on the corpus: train(run directory, options...); returns what the command prints."""

    def run(run_dir: Path, *options: object) -> str:
        return must("train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", run_dir, *options)

    return run


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, bytes]]:
    """All that is below a folder: relative path → bytes, folders with a slash."""

    def read(folder: Path) -> dict[str, bytes]:
        paths = sorted(folder.rglob("*"))
        names = {path: str(path.relative_to(folder)) for path in paths}
        return {names[p] + "/" * p.is_dir(): b"" if p.is_dir() else p.read_bytes() for p in paths}

    return read


@pytest.fixture
def train_until(corpus: Path, tmp_path: Path) -> Callable[..., None]:
    """Train in a process of its own, -r local, and kill it when a file appears: train_until(run, "idf", options...)."""

    def run(run_dir: Path, appears: str, *options: object) -> None:
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        arguments = ["train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", run_dir, *options]
        # Not in the repository's folder, whose packages would stand in for the installed ones.
        with started(
            [sys.executable, "-m", "perceptron_jobs.cli.main", *map(str, arguments), "-r", "local"],
            stdout=subprocess.DEVNULL,
            cwd=corpus,
            env={**os.environ, "TMPDIR": str(scratch)},
        ) as process:
            appeared = (run_dir / appears).exists
            wait_until(f"{appears} in the run directory", appeared, alive=still_runs(process), pause=0.001)
            process.kill()  # its tasks end by themselves
            assert process.wait(60) == -signal.SIGKILL

    return run


class Hadoop(NamedTuple):
    """A pseudo-distributed cluster of two nodes."""

    script: Path
    state: Path
    variables: dict[str, str]  # what `scripts/cluster env` gives, and the nodes' Python

    def cluster(self, *arguments: str) -> str:
        """Run scripts/cluster for this cluster."""
        environment = {**os.environ, "PERCEPTRON_CLUSTER": str(self.state)}
        # Half an hour is for a first start, which fetches Hadoop.
        done = subprocess.run(
            [str(self.script), *arguments], env=environment, capture_output=True, text=True, timeout=1800
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def daemon(self, name: str) -> int:
        """The process id of a daemon that serves."""
        (row,) = [line.split() for line in self.cluster("status").splitlines() if line.startswith(name)]
        return int(row[2])


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory) -> Iterator[Hadoop]:
    """A cluster for the session; its variables are in the environment while it is there."""
    missing = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    if missing:
        reason = (
            f"there is no {' and no '.join(missing)} on the PATH; on Debian: apt install default-jdk-headless maven"
        )
        if os.environ.get("CI") or os.environ.get("PERCEPTRON_CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    script = ROOT / "scripts" / "cluster"
    cluster = Hadoop(script, tmp_path_factory.mktemp("hadoop") / "cluster", {})
    try:
        cluster.cluster("up", "--nodes", "2")
        told = subprocess.run(
            ["bash", "-c", f'eval "$("{script}" env)"; env -0'],
            env={**os.environ, "PERCEPTRON_CLUSTER": str(cluster.state)},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout.decode()
        cluster.variables.update(line.split("=", 1) for line in told.split("\0") if "=" in line)
        # Tasks do not see this shell's PATH: they get the interpreter that this environment was made with.
        minor = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        cluster.variables["PERCEPTRON_NODE_PYTHON"] = str(Path(sys.base_prefix) / "bin" / minor)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in cluster.variables.items():
                patch.setenv(name, value)
            yield cluster
    finally:
        cluster.cluster("down")


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    """The address of a simulated AWS, with nothing in it."""
    from moto.server import ThreadedMotoServer  # only now: it takes a second to load

    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="session")
def native() -> ModuleType:
    """The compiled kernel."""
    from perceptron_core import kernels

    if kernels.native is None:
        reason = "the compiled kernel was not built; install a C compiler and the package again"
        if os.environ.get("CI") or os.environ.get("PERCEPTRON_CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return kernels.native
