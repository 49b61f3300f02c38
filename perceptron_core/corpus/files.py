"""Corpus files, plain or gzipped, as lines and as sentences; files that are not local need an opener.

Lines end with "\\n" only: the other line ends of `str.splitlines` (U+2028, U+0085, form feeds) are data.
"""

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from typing import Callable, Union

from perceptron_core.corpus.format import CLASSIFICATION, Format, Labels
from perceptron_core.corpus.measuring import CHUNK_BYTES, check_line, within_limits
from perceptron_core.corpus.pieces import Opener, Piece, located, open_between, piece_bounds
from perceptron_core.corpus.sentence import Sentence
from perceptron_core.corpus.unpacking import Unpacked
from perceptron_core.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"

Path = Union[str, "os.PathLike[str]"]


def open_local(path: str, start: int = 0) -> io.BufferedReader:
    file = open(path, "rb")  # noqa: SIM115 - the caller closes it
    file.seek(start)
    return file


def read_sentences(
    source: Union[Path, Piece],
    fmt: Format,
    keep_text: bool = False,
    labels: Labels = "required",
    opener: Opener = open_local,
) -> Iterator[Sentence]:
    """Yield the sentences of a file, or of a piece of one.

    Errors are raised while iterating, as InputError with file and line. A file without a sentence is an error, a piece
    without one is not."""
    piece = source if isinstance(source, Piece) else Piece(0, os.fspath(source))
    if piece.is_part():
        begin, end = piece_bounds(piece, fmt.splittable, opener)
        lines = read_lines(piece.path, lambda path: open_between(path, begin, end, opener))
        sentences = within_limits(lines, lambda flat: fmt.read(flat, piece.path, keep_text, labels), piece.path)
        yield from located(sentences, piece.path, begin, opener)
        return
    found = False
    lines = read_lines(piece.path, lambda path: opener(path, 0))
    for sentence in within_limits(lines, lambda flat: fmt.read(flat, piece.path, keep_text, labels), piece.path):
        # A sentence that only carries text, without tokens, occurs only where text is kept.
        found = found or not keep_text or len(sentence.token_lines) > 0
        if found:
            yield sentence
    if not found:
        what = "instance" if fmt.kind == CLASSIFICATION else "sentence"
        raise InputError(f"contains no {what}; name a file that has one, or leave this one out.", piece.path)


def read_lines(path: Path, opener: Callable[[str], io.BufferedReader] = open_local) -> Iterator[list[str]]:
    """Yield the lines of a UTF-8 file without their "\\n" and byte order mark, many lines at a time."""
    source = os.fspath(path)
    lines_before = 0
    try:
        with opener(source) as file:
            # The file's name does not tell: a download may be packed or unpacked on its way.
            packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
            stream: io.BufferedIOBase = Unpacked(file, source) if packed else file
            for chunk in whole_lines(stream, source):
                if not lines_before:
                    chunk = chunk.removeprefix(codecs.BOM_UTF8)
                lines = _decode(chunk, source, lines_before)
                yield lines
                lines_before += len(lines)
    except FileNotFoundError:
        raise InputError("there is no such file; check the path.", source) from None
    except IsADirectoryError:
        raise InputError("is a directory; name the files in it.", source) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"the gzip data is truncated or corrupt after here ({error}); fetch or pack the file again.",
            source,
            lines_before + 1,
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}); check the file.", source) from None


def whole_lines(stream: io.BufferedIOBase, source: str) -> Iterator[bytes]:
    """Yield chunks that end at the end of a line (without its "\\n"), so that no character is split."""
    started: list[bytes] = []  # a line whose end has not been read; joined once, however long it gets
    lines = 0
    for read in iter(lambda: stream.read(CHUNK_BYTES), b""):
        head, newline, tail = read.rpartition(b"\n")
        check_line(sum(map(len, started)) + (read.find(b"\n") if newline else len(read)), source, lines + 1)
        if newline:
            yield b"".join([*started, head])
            lines += read.count(b"\n")
            started = [tail]
        else:
            started.append(read)
    last = b"".join(started)
    if last:
        yield last


def _decode(chunk: bytes, source: str, lines_before: int) -> list[str]:
    try:
        return chunk.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not UTF-8 (byte 0x{chunk[error.start]:02x}: {error.reason}); convert the file to UTF-8.",
            source,
            lines_before + chunk.count(b"\n", 0, error.start) + 1,
        ) from None
