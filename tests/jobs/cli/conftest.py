"""What the tests of task files share: a training by the lines of a task file, and the features of its model."""

import shutil
from pathlib import Path
from typing import Callable

import pytest


@pytest.fixture
def folder(corpus, tmp_path) -> Path:
    """The corpus in a folder of the test's own."""
    for name in ("train.txt", "dev.txt"):
        shutil.copy(corpus / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def try_task(folder, perceptron):
    """Trains by a task file with these lines; the outcome."""

    def attempt(text: str, *options: object):
        (folder / "task.yaml").write_text(text, encoding="utf-8")
        given = ("--train", folder / "train.txt", "--run-dir", folder / "run", *options)
        return perceptron("train", folder / "task.yaml", *given)

    return attempt


@pytest.fixture
def train_task(try_task, folder):
    """Trains by a task file with these lines; the run directory."""

    def train(text: str, *options: object) -> Path:
        outcome = try_task(text, "--epochs", 3, *options)
        assert outcome.code == 0, outcome.err
        return folder / "run"

    return train


@pytest.fixture
def features_of(must) -> Callable[..., set[str]]:
    """The names of a run's features, without label and weight."""

    def names(run: Path, *options: object) -> set[str]:
        lines = must("export", run, "--output", "-", "--weights", "last", *options).splitlines()
        return {line.split("\t")[0] for line in lines}

    return names
