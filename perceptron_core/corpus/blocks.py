"""Formats with one token per line and blank lines between sentences: what CoNLL columns and CoNLL-U share.

A block is a run of lines up to a boundary. Each format says which of its lines are tokens and what their fields mean.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Callable, NamedTuple, Optional

from perceptron_core.corpus.format import Format, Labels, check_guesses, split_carriage_return
from perceptron_core.corpus.sentence import Sentence, Targets

Fields = list[str]
Columns = tuple[tuple[str, ...], ...]


class Place(NamedTuple):
    """Where a block is, for error messages: its line i is line `start + i` of the source."""

    source: str
    start: int


class BlockFormat(Format):
    """Reads and writes blocks; a subclass says which lines are tokens and which fields are predicted."""

    @abstractmethod
    def _is_boundary(self, line: str) -> bool:
        """Tell whether a line that begins with one of BOUNDARY_STARTS ends a sentence."""

    @abstractmethod
    def _tokens(self, block: list[str], place: Place) -> tuple[Sequence[int], list[Fields]]:
        """Return the positions in the block of the lines that are tokens, and their fields."""

    @abstractmethod
    def _columns(
        self, rows: list[Fields], positions: Sequence[int], place: Place, labels: Labels
    ) -> tuple[Columns, Optional[Targets]]:
        """Turn the fields of one or more tokens into input columns and predicted ones."""

    @abstractmethod
    def _with_guesses(self, lines: Sequence[str], guesses: Targets) -> list[str]:
        """Return the tokens' lines with the guesses in them."""

    def read(
        self, lines: Iterable[str], source: str, keep_text: bool = False, labels: Labels = "required"
    ) -> Iterator[Sentence]:
        text: list[str] = []
        text_start = start = 1
        for before, raw in _blocks(lines, self._is_boundary):
            start += len(before)
            place = Place(source, start)
            # Joining to look for "\r" is much cheaper than looking at each line.
            block = [split_carriage_return(line)[0] for line in raw] if "\r" in "".join(raw) else raw
            positions, rows = self._tokens(block, place)
            if keep_text:
                text += before + raw
            if rows:
                columns, targets = self._columns(rows, positions, place, labels)
                sentence = Sentence(columns, targets, start + positions[0])
                if keep_text:
                    token_lines = [start - text_start + position for position in positions]
                    sentence = sentence._replace(text=text, token_lines=token_lines)
                    text = []
                    text_start = start + len(raw)
                yield sentence
            start += len(raw)
        if text:
            yield self.leftover(text, text_start)

    def write(self, sentence: Sentence, *columns: Sequence[str]) -> str:
        check_guesses(sentence, *columns)
        lines = list(sentence.text)
        tokens = [lines[index] for index in sentence.token_lines]
        if "\r" in "".join(tokens):
            split = [split_carriage_return(line) for line in tokens]
            written = self._with_guesses([content for content, _ in split], columns)
            written = [line + carriage_return for line, (_, carriage_return) in zip(written, split)]
        else:
            written = self._with_guesses(tokens, columns)
        for index, line in zip(sentence.token_lines, written):
            lines[index] = line
        return "\n".join([*lines, ""])


BOUNDARY_STARTS = " \t\r-"  # of blank lines and -DOCSTART-; an empty line begins with "", found in any string


def _blocks(lines: Iterable[str], is_boundary: Callable[[str], bool]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (boundary lines, the lines after them up to the next boundary); either may be empty."""
    before: list[str] = []
    block: list[str] = []
    for line in lines:
        # The first character tells for most tokens, without a call.
        if line[:1] in BOUNDARY_STARTS and is_boundary(split_carriage_return(line)[0]):
            if block:
                yield before, block
                before, block = [], []
            before.append(line)
        else:
            block.append(line)
    if before or block:
        yield before, block
