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
RECENT_BYTES = 64


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

    def __init__(self, raw: Any, before: Callable[["_Arriving"], None]) -> None:
        super().__init__(raw, ARRIVING_BYTES)
        self._before = before
        self._recent = b""
        self.lines = 0  # that have arrived whole

    def read(self, size: Optional[int] = -1) -> bytes:
        try:
            self._before(self)
        except OSError as error:
            raise _OutputFailed from error
        data = self.read1(ARRIVING_BYTES if size is None else size)
        self.lines += data.count(b"\n")
        self._recent = (self._recent + data)[-RECENT_BYTES:]
        return data

    def last_if_blank(self, count: int) -> str:
        """The last lines that have arrived, if they are blank and nothing came after them; otherwise nothing."""
        for end in (b"\n", b"\r\n"):
            if self._recent.endswith(b"\n" + end * count):
                return (end * count).decode()
        return ""


class _Answers:
    """Tags sentences as they arrive and writes them when there is nothing left to read, or when they are many."""

    def __init__(self, tagger: Tagger, write: Callable[[str], None]) -> None:
        self.tagger, self.write = tagger, write
        self.waiting: list[Sentence] = []
        self.written = 0  # lines of the file
        self.ahead = 0  # of them, blank lines after the last sentence, which the next one will bring, too

    def open(self, path: str, start: int) -> io.BufferedReader:
        return open_file(path, start) if is_remote(path) else _Arriving(_raw(path), self.before_waiting)

    def take(self, sentence: Sentence) -> None:
        if self.ahead:
            token_lines = [number - self.ahead for number in sentence.token_lines]
            sentence = sentence._replace(text=sentence.text[self.ahead :], token_lines=token_lines)
            self.ahead = 0
        self.waiting.append(sentence)
        if len(self.waiting) == CHUNK:
            self.answer()

    def answer(self) -> None:
        if self.waiting:
            text = self.tagger.tag(self.waiting)
            self.written += sum(len(sentence.text) for sentence in self.waiting)
            self.waiting.clear()
            self.write(text)

    def before_waiting(self, source: _Arriving) -> None:
        """A sentence's text ends with its last token. The blank line after it is written now, not with the next one:
        whoever asked may wait for it."""
        self.answer()
        more = source.lines - self.written
        if self.written and more > 0:
            blank = source.last_if_blank(more)
            if blank:
                self.written, self.ahead = self.written + more, self.ahead + more
                self.write(blank)


def predict_stream(
    model: NamedModel, files: Sequence[str], write: Callable[[str], None], fmt: Optional[str] = None
) -> None:
    """Tag the files, one after the other; `write` is given their text, with the guesses in it, as soon as possible."""
    opened, which = model.open()
    task = model.task(opened)
    check_format(fmt, task)
    tagger = Tagger(opened, which, task, fmt)
    try:
        for number, name in enumerate(files):
            answers = _Answers(tagger, write)
            piece = Piece(number, STDIN_NAME if name == STDIN else name)
            for sentence in tagger.read(piece, answers.open):
                answers.take(sentence)
            answers.answer()
    except _OutputFailed as error:
        assert error.__cause__ is not None
        raise error.__cause__ from None


def _raw(path: str) -> Any:
    if path != STDIN_NAME:
        return open(path, "rb", buffering=0)  # noqa: SIM115 - the caller closes it
    stream = sys.stdin.buffer
    return getattr(stream, "raw", stream)
