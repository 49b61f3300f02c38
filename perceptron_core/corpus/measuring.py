"""Lines, sentences and tokens that are too long are refused while a file is read, with their line.

This costs next to nothing: lines are counted by the chunk, and tokens are measured only after a long line.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Callable

from perceptron_core.corpus.sentence import Sentence
from perceptron_core.errors import InputError
from perceptron_core.limits import limits, raise_by

CHUNK_BYTES = 1 << 20  # are read at a time, so that only the first line of a chunk can be longer


def check_line(size: int, source: str, number: int) -> None:
    """Refuse a line of this many bytes, if that is too many."""
    if size > limits().line:
        raise InputError(f"the line is longer than {limits().line:,} bytes; {raise_by('line')}", source, number)


def within_limits(
    chunks: Iterator[list[str]], read: Callable[[Iterable[str]], Iterator[Sentence]], source: str
) -> Iterator[Sentence]:
    """The sentences that `read` makes of the lines, which come in chunks."""
    return _Watch(source).sentences(chunks, read)


class _Watch:
    def __init__(self, source: str) -> None:
        self.source, self.limits = source, limits()
        self.lines = self.since = 0  # that were read; of these, since a sentence
        self.long_lines = False  # whether a line was long enough for a token that is too long

    def watched(self, chunks: Iterator[list[str]]) -> Iterator[list[str]]:
        for lines in chunks:
            if self.since > self.limits.sentence:
                raise self.endless(self.lines - self.since + 1)
            self.since += len(lines)
            self.lines += len(lines)
            long_ones = lines[:1] if self.limits.token >= CHUNK_BYTES else lines
            self.long_lines = self.long_lines or max(map(len, long_ones)) > self.limits.token
            yield lines

    def sentences(
        self, chunks: Iterator[list[str]], read: Callable[[Iterable[str]], Iterator[Sentence]]
    ) -> Iterator[Sentence]:
        for sentence in read(chain.from_iterable(self.watched(chunks))):
            self.since = 0
            if len(sentence.columns[0]) > self.limits.sentence:
                raise self.endless(sentence.line)
            if self.long_lines:
                self.check_tokens(sentence)
            yield sentence

    def endless(self, line: int) -> InputError:
        return InputError(
            f"a sentence that begins here has more than {self.limits.sentence:,} tokens; is a blank line missing? "
            f"Or {raise_by('sentence')}",
            self.source,
            line,
        )

    def check_tokens(self, sentence: Sentence) -> None:
        for column in (*sentence.columns, *(sentence.targets or ())):
            if max((len(token) for token in column if token is not None), default=0) > self.limits.token:
                raise InputError(
                    f"a token of the sentence that begins here is longer than {self.limits.token:,} characters; "
                    f"{raise_by('token')}",
                    self.source,
                    sentence.line,
                )
