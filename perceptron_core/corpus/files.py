"""Corpus files, plain or gzipped, as lines and as sentences; who keeps them elsewhere than here brings an opener.

Lines end with "\\n" only: what `str.splitlines` would cut at (U+2028, U+0085, form feeds) is data.
"""

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Callable, Union

from perceptron_core.corpus.format import CLASSIFICATION, Format, Labels
from perceptron_core.corpus.pieces import Opener, Piece, located, open_span, piece_span
from perceptron_core.corpus.sentence import Sentence
from perceptron_core.errors import InputError

CHUNK_BYTES = 1 << 20
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
    """Yield the sentences of a file, or of a piece of one; errors come while iterating, each an InputError with file
    and line. A file that has no sentence is an error, a piece of one is not."""
    piece = source if isinstance(source, Piece) else Piece(0, os.fspath(source))
    if piece.is_part():
        begin, end = piece_span(piece, fmt.splittable, opener)
        lines = chain.from_iterable(read_lines(piece.path, lambda path: open_span(path, begin, end, opener)))
        yield from located(fmt.read(lines, piece.path, keep_text, labels), piece.path, begin, opener)
        return
    found = False
    lines = chain.from_iterable(read_lines(piece.path, lambda path: opener(path, 0)))
    for sentence in fmt.read(lines, piece.path, keep_text, labels):
        # only where text is kept there are sentences that carry nothing else
        found = found or not keep_text or len(sentence.token_lines) > 0
        if found:
            yield sentence
    if not found:
        what = "instance" if fmt.kind == CLASSIFICATION else "sentence"
        raise InputError(f"holds no {what}; name a file that does, or leave this one out.", piece.path)


def read_lines(path: Path, opener: Callable[[str], io.BufferedReader] = open_local) -> Iterator[list[str]]:
    """Yield the lines of a UTF-8 file without their "\\n" and byte order mark, a long list at a time."""
    source = os.fspath(path)
    lines_before = 0
    try:
        with opener(source) as file:
            # The name does not tell: downloads are unpacked, and packed, on the way.
            packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
            stream: io.BufferedIOBase = gzip.GzipFile(fileobj=file) if packed else file
            for chunk in _whole_lines(stream):
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
        raise InputError(f"cannot be read ({error.strerror or error}); mend that.", source) from None


def _whole_lines(stream: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield chunks that end where a line ends (its "\\n" left out), so that no character is cut in two."""
    started: list[bytes] = []  # a line whose end has not been read; joined once, however long it gets
    for piece in iter(lambda: stream.read(CHUNK_BYTES), b""):
        head, newline, tail = piece.rpartition(b"\n")
        if newline:
            yield b"".join([*started, head])
            started = [tail]
        else:
            started.append(piece)
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
