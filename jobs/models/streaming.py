"""Predicting from a pipe: what a sentence is tagged with comes out as soon as the sentence is whole.

There is no job. This process reads what has arrived, tags all sentences that are whole, writes them, and only then
waits for more. So a slow writer gets an answer after each sentence, and a fast one does not wait for single sentences.
"""

import io
import os
import stat
import sys
from collections.abc import Sequence
from typing import Any, Callable, Optional

from perceptron_core.corpus import Piece, Sentence
from perceptron_core.evaluation.tagger import Tagger
from perceptron_jobs.models.apply import NamedModel, check_format
from perceptron_jobs.storage import is_remote, open_file

STDIN, STDIN_NAME = "-", "standard input"
CHUNK = 4096  # sentences that are tagged at a time, at most
ARRIVING_BYTES = 1 << 20


def is_pipe(name: str) -> bool:
    """Whether a file's content comes as it is made: a pipe, a terminal, a socket."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode if name == STDIN else os.stat(name).st_mode
    except (OSError, ValueError):  # a remote file, one that is not there, or a standard input without a number
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode) and not stat.S_ISBLK(mode)


class _OutputFailed(Exception):
    """What stopped the output is not to be taken for a fault of the input that is being read meanwhile."""


class _Arriving(io.BufferedReader):
    """Gives what has arrived instead of waiting for as much as was asked for; calls `before` whenever it may wait."""

    def __init__(self, raw: Any, before: Callable[[], None]) -> None:
        super().__init__(raw, ARRIVING_BYTES)
        self._before = before

    def read(self, size: Optional[int] = -1) -> bytes:
        try:
            self._before()
        except OSError as error:
            raise _OutputFailed from error
        return self.read1(ARRIVING_BYTES if size is None else size)


def predict_stream(
    model: NamedModel, files: Sequence[str], write: Callable[[str], None], fmt: Optional[str] = None
) -> None:
    """Tag the files, one after the other; `write` is given their text, with the guesses in it, as soon as possible."""
    opened, which = model.open()
    task = model.task(opened)
    check_format(fmt, task)
    tagger = Tagger(opened, which, task, fmt)
    waiting: list[Sentence] = []

    def answer() -> None:
        if waiting:
            text = tagger.tag(waiting)
            waiting.clear()
            write(text)

    def open_arriving(path: str, start: int) -> io.BufferedReader:
        return _Arriving(_raw(path), answer)

    try:
        for number, name in enumerate(files):
            piece = Piece(number, STDIN_NAME if name == STDIN else name)
            for sentence in tagger.read(piece, open_file if is_remote(name) else open_arriving):
                waiting.append(sentence)
                if len(waiting) == CHUNK:
                    answer()
            answer()
    except _OutputFailed as error:
        assert error.__cause__ is not None
        raise error.__cause__ from None


def _raw(path: str) -> Any:
    if path != STDIN_NAME:
        return open(path, "rb", buffering=0)  # noqa: SIM115 - the caller closes it
    stream = sys.stdin.buffer
    return getattr(stream, "raw", stream)
