"""The packed environment, unpacked as on a node, and what a Python that cannot load it says; also on a real cluster."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from perceptron_jobs.engines.environment import environment_name, pack_environment, start_command
from perceptron_jobs.storage import storage_of

MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"
OWN = str(Path(sys.base_prefix) / "bin" / f"python{MINOR}")  # without this environment's packages, as a node's


@pytest.fixture(scope="module")
def node(tmp_path_factory) -> Path:
    """A task's folder, with the archive in it as `env`."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "env").mkdir()
    subprocess.run(["tar", "-xzf", "-", "-C", folder / "env"], input=pack_environment(), check=True, timeout=120)
    return folder


def run(folder: Path, python: str, program: str, path: str = "env") -> "subprocess.CompletedProcess[str]":
    """A program as a node starts it: without this shell's PATH and packages."""
    words = [*start_command(python).split(), "-c", program]
    environment = {"PYTHONPATH": path, "PATH": os.defpath}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def other_pythons() -> Iterator[str]:
    """Pythons of another minor version: on the PATH, or installed beside this one."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    folders += sorted(Path(sys.base_prefix).parent.glob("*/bin"))
    for path in (folder / f"python3.{minor}" for minor in range(6, 20) for folder in folders):
        if path.exists():
            version = [str(path), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
            told = subprocess.run(version, capture_output=True, text=True, timeout=60).stdout.strip()
            if told and told != MINOR:
                yield str(path)


@pytest.fixture(scope="module")
def other_python() -> str:
    found = next(other_pythons(), None)
    if found is None:
        pytest.skip(f"there is no Python but {MINOR} here")
    return found


def test_all_that_a_task_needs_is_loaded_from_the_archive(node):
    packages = "perceptron_jobs.mr.train_epoch, perceptron_jobs.storage.webhdfs, perceptron_core.kernels, numpy"
    program = f"import {packages}; print(numpy.__file__)"
    done = run(node, OWN, program)
    assert done.returncode == 0 and done.stderr == ""
    assert Path(done.stdout.strip()).is_relative_to(node / "env")


def test_the_name_says_the_python():
    assert environment_name().startswith(f"env-py{MINOR}-")


def test_a_python_of_another_version_says_so(node, other_python):
    done = run(node, other_python, "print('not reached')")
    assert (done.returncode, done.stdout) == (1, "")
    (sentence,) = done.stderr.splitlines()
    assert f"on the node {os.uname().nodename}, {other_python} is Python 3." in sentence
    assert f"cannot load the packed environment, which is for Python {MINOR}; name a Python" in sentence
    assert "PERCEPTRON_NODE_PYTHON" in sentence and "python_bin" in sentence


def test_a_python_that_is_not_there(node):
    done = run(node, "python3.99", "print('not reached')")
    assert (done.returncode, done.stdout) == (127, "")
    (sentence,) = done.stderr.splitlines()
    assert f"there is no python3.99 on the node {os.uname().nodename}, which needs a Python {MINOR}" in sentence


@pytest.fixture
def broken(node) -> Iterator[Path]:
    """A compiled module that the node's system cannot load."""
    (library,) = (node / "env" / "numpy" / "_core").glob("_multiarray_umath*.so")
    whole = library.read_bytes()
    library.write_bytes(b"of another machine")
    yield library
    library.write_bytes(whole)


def test_a_compiled_module_that_cannot_be_loaded(node, broken):
    done = run(node, OWN, "import numpy")
    assert done.returncode == 1 and "Traceback" in done.stderr
    sentence = done.stderr.splitlines()[-1]
    assert f"{OWN} cannot load the packed environment ({broken}: " in sentence and "python_bin" in sentence


def test_other_errors_are_told_as_ever(node):
    for program in ("import no_such_module", "1 / 0"):
        done = run(node, OWN, program)
        assert done.returncode == 1 and "Traceback" in done.stderr and "packed environment" not in done.stderr


def test_what_a_node_runs_at_the_start_of_python_is_still_run(node, broken, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('the node has its own')\n")
    done = run(node, OWN, "import numpy", f"env:{tmp_path}")
    assert done.stdout == "the node has its own\n"
    assert "cannot load the packed environment" in done.stderr.splitlines()[-1]


@pytest.mark.hadoop
def test_on_a_cluster_the_sentence_reaches_the_terminal(hadoop, corpus, other_python):
    text = "hdfs:///environment/train.txt"
    storage_of(text).write(text, (corpus / "train.txt").read_bytes())
    program = "import sys; from perceptron_jobs.cli.main import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["prepare", str(corpus / "task.yaml"), "--train", text, "--output", "hdfs:///environment/prepared"]
    arguments += ["--shards", "2", "-r", "hadoop", "-D", "mapreduce.map.maxattempts=1"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PERCEPTRON_NODE_PYTHON": other_python},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1
    assert f"{other_python} is Python 3." in done.stderr
    assert f"cannot load the packed environment, which is for Python {MINOR}; name a Python" in done.stderr
    assert "Traceback" not in done.stderr
