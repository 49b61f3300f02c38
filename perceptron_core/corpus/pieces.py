"""Pieces of a file, split where sentences end, so that many tasks can read one big file.

A piece is given by any two byte positions. It begins with the first sentence that begins at or after the first one, and
ends before the first sentence that begins at or after the second. So neighbouring pieces share no sentence and lose
none, wherever the positions are. Only plain files can be split; a gzipped file is one piece.
"""

import io
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple, Optional

from perceptron_core.errors import InputError
from perceptron_core.limits import limits, raise_by

Opener = Callable[[str, int], io.BufferedReader]  # (path, first byte) → the bytes from there on


class Piece(NamedTuple):
    file: int  # the file's number in the list of files
    path: str
    number: int = 0  # the piece's number in the file
    start: int = 0
    end: Optional[int] = None  # None: to the end of the file
    first: int = 0  # ordinal of its first sentence in the file

    def is_part(self) -> bool:
        return self.start > 0 or self.end is not None


def split_file(file: int, path: str, size: int, piece_size: int) -> list[Piece]:
    """The pieces of a plain file, each of about `piece_size` bytes."""
    count = max(1, round(size / piece_size))
    edges = [size * i // count for i in range(count)]
    ends = [*edges[1:], None]
    return [Piece(file, path, number, start, end) for number, (start, end) in enumerate(zip(edges, ends))]


def sentence_start(path: str, position: int, line_is_sentence: bool, opener: Opener) -> int:
    """Where the first sentence at or after a position begins: after a blank line, or after the end of a line."""
    if position == 0:
        return 0
    with opener(path, position - 1) as file:
        at = position - 1 + len(_read_line(file, path))  # the rest of a line, perhaps only its end
        while not line_is_sentence:
            line = _read_line(file, path)
            at += len(line)
            if not line.strip(b" \t\r\n"):
                break
    return at


def _read_line(file: io.BufferedReader, path: str) -> bytes:
    line = file.readline(limits().line + 2)
    if len(line) > limits().line + 1:
        raise InputError(f"has a line longer than {limits().line:,} bytes; {raise_by('line')}", path)
    return line


def piece_bounds(piece: Piece, line_is_sentence: bool, opener: Opener) -> tuple[int, Optional[int]]:
    """Where the sentences of a piece begin, and where the next piece's begin (None: at the end of the file)."""
    begin = sentence_start(piece.path, piece.start, line_is_sentence, opener)
    return begin, None if piece.end is None else sentence_start(piece.path, piece.end, line_is_sentence, opener)


class LimitedReader(io.RawIOBase):
    """Reads a number of bytes from a stream, and no more."""

    def __init__(self, stream: io.BufferedReader, size: int) -> None:
        self._stream, self._left = stream, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def open_between(path: str, begin: int, end: Optional[int], opener: Opener) -> io.BufferedReader:
    """The bytes of a file from `begin` up to `end`."""
    stream = opener(path, begin)
    return stream if end is None else io.BufferedReader(LimitedReader(stream, end - begin), 1 << 20)


def located(sentences: Iterator[Any], path: str, begin: int, opener: Opener) -> Iterator[Any]:
    """The same sentences; lines in error messages are counted from the beginning of the file, not of the piece."""
    try:
        yield from sentences
    except InputError as error:
        if not begin or error.line is None:
            raise
        with open_between(path, 0, begin, opener) as file:
            before = sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))
        raise InputError(error.problem, error.source, error.line + before) from error
