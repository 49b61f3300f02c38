"""`perceptron predict` on pipes: an answer after every sentence, the same text as of a file, and a quiet end."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perceptron_jobs.models import streaming
from perceptron_jobs.models.apply import NamedModel
from perceptron_jobs.models.streaming import is_pipe, predict_stream

COMMAND = [sys.executable, "-I", "-m", "perceptron_jobs.cli.main"]
PIECES = ["the DT\n", "кот NN\n", "\n", "\n", "\r\n", " \n", "the DT\r\n"]


@pytest.fixture
def odd_text() -> str:
    chosen = random.Random(1)
    return "the DT\n\n" + "".join(chosen.choice(PIECES) for _ in range(200))


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A pipe as standard input; its end to write to."""
    reading, writing = os.pipe()
    with open(reading, encoding="utf-8") as source, open(writing, "wb", buffering=0) as end:
        monkeypatch.setattr(sys, "stdin", source)
        yield end


def test_a_pipe_is_noticed(pipe: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").write_text("")
    assert is_pipe("-") and is_pipe(str(tmp_path / "fifo"))
    assert not any(map(is_pipe, (str(tmp_path / "file"), str(tmp_path), str(tmp_path / "missing"), "hdfs:///x")))


def test_every_sentence_is_answered_before_the_next_is_read(trained: Path, pipe: Any) -> None:
    """The blank line is a part of the answer, since whoever asks may wait for it."""
    questions = [b"the DT\n\n", b"the DT\nred JJ\n\n", b"\n", b"the DT\r\n\r\n", b"the DT\n"]
    answers: list[str] = []
    asked: list[bytes] = []

    def ask() -> None:
        asked.append(questions[len(asked)])
        pipe.write(asked[-1])
        if asked == questions:
            pipe.close()

    def hear(text: str) -> None:
        answers.append(text)
        if asked != questions and "".join(answers).count("\n") == b"".join(asked).count(b"\n"):
            ask()

    ask()
    predict_stream(NamedModel(str(trained)), ["-"], hear)
    assert asked == questions  # otherwise both would have waited for ever
    assert "".join(answers).count("\n") == b"".join(questions).count(b"\n")
    first, rest = "".join(answers).split("\n", 1)
    assert first.startswith("the DT ") and rest.startswith("\nthe DT ")


@pytest.mark.parametrize("at_a_time", [1, 7, 4096])
def test_a_stream_says_what_a_file_says(
    trained: Path, odd_text: str, at_a_time: int, must: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd.txt").write_bytes(odd_text.encode())
    monkeypatch.setattr(streaming, "ARRIVING_BYTES", at_a_time)
    monkeypatch.setattr("perceptron_core.corpus.files.CHUNK_BYTES", at_a_time)
    expected = must("predict", trained, tmp_path / "odd.txt")
    assert must("predict", trained, tmp_path / "odd.txt", "--stream") == expected
    assert must("predict", trained, "-", "--stream", stdin=odd_text) == expected
    must("predict", trained, "-", "--stream", "--output", tmp_path / "out.txt", stdin=odd_text)
    assert (tmp_path / "out.txt").read_bytes() == expected.encode()


def test_what_is_wrong_in_a_stream_is_told_and_no_file_is_left(trained: Path, perceptron: Any, tmp_path: Path) -> None:
    text = "the DT\n\nthe\n"
    outcome = perceptron("predict", trained, "-", "--stream", "--output", tmp_path / "out.txt", stdin=text)
    assert outcome.code == 2 and "standard input:3: " in outcome.err
    assert not list(tmp_path.iterdir())
    outcome = perceptron("predict", trained, "-", "--stream", stdin=text)
    assert outcome.code == 2 and outcome.out.startswith("the DT ")  # what was whole is out already


def test_a_stream_needs_no_runner(trained: Path, perceptron: Any) -> None:
    outcome = perceptron("predict", trained, "-", "--stream", "-r", "local")
    assert outcome.code == 2 and "leave out -r local" in outcome.err


@pytest.mark.parametrize("given", [["-"], ["FILE"], ["FILE", "--stream"]])
def test_whoever_reads_may_stop_early(given: list[str], trained: Path, tmp_path: Path) -> None:
    """As `| head` does: neither a traceback nor an error."""
    (tmp_path / "long.txt").write_text("the DT\nred JJ\n\n" * 20_000)
    words = [str(tmp_path / "long.txt") if word == "FILE" else word for word in given]
    command = [*COMMAND, "predict", str(trained / "model"), *words]
    with open(tmp_path / "long.txt") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat:
        process = subprocess.Popen(command, stdin=cat.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout and process.stderr and cat.stdout
        cat.stdout.close()
        assert process.stdout.readline().startswith(b"the DT ")
        process.stdout.close()
        complained = process.stderr.read()
        process.stderr.close()
        assert (process.wait(timeout=120), complained) == (0, b"")
        cat.kill()
