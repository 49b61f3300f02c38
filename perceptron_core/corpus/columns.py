"""The format of the CoNLL shared tasks up to 2003, and of CRF++: one token per line, in columns."""

from collections.abc import Sequence
from typing import Optional

from perceptron_core.corpus.blocks import BlockFormat, Columns, Fields, Place
from perceptron_core.corpus.format import Labels, input_columns, split_fields, split_rows
from perceptron_core.corpus.sentence import Targets
from perceptron_core.errors import InputError, UserError

DOCSTART = "-DOCSTART-"
SEPARATORS = ("blanks", "tab")


class ColumnsFormat(BlockFormat):
    """Columns are split at runs of spaces or tabs, or at each tab; then a field may be empty or contain spaces.

    Guesses are written as an additional last column.
    """

    OPTIONS = ("separator", "docstart", "comment")

    def __init__(
        self,
        columns: Sequence[str],
        predict: str,
        separator: str = "blanks",
        docstart: bool = True,
        comment: Optional[str] = None,
    ) -> None:
        if predict not in columns:
            raise UserError(f"The predicted column {predict} is not among the columns: {', '.join(columns)}.")
        if separator not in SEPARATORS:
            raise UserError(f"Unknown separator {separator!r} of columns; use one of: {', '.join(SEPARATORS)}.")
        if not isinstance(docstart, bool):
            raise UserError(f"The option docstart must be true or false, not {docstart!r}.")
        if comment is not None and not (isinstance(comment, str) and comment):
            raise UserError(f"The option comment must be the string that comments begin with, not {comment!r}.")
        self.inputs = input_columns(columns, predict)
        self.columns = tuple(columns)
        self.predict = predict
        self.tabs_only = separator == "tab"
        self.docstart = docstart
        self.comment = comment

    def fault_of(self, label: str) -> str:
        return super().fault_of(label) or ("contains a space" if " " in label and not self.tabs_only else "")

    def _split(self, line: str) -> Fields:
        return line.split("\t") if self.tabs_only else split_fields(line)

    def _is_boundary(self, line: str) -> bool:
        return not line.strip(" \t") or (self.docstart and self._split(line)[0] == DOCSTART)

    def _tokens(self, block: list[str], place: Place) -> tuple[Sequence[int], list[Fields]]:
        first = 0
        if self.comment is not None:
            while first < len(block) and block[first].startswith(self.comment):
                first += 1
            block = block[first:]
        rows = [line.split("\t") for line in block] if self.tabs_only else split_rows(block)
        return range(first, first + len(rows)), rows

    def _columns(
        self, rows: list[Fields], positions: Sequence[int], place: Place, labels: Labels
    ) -> tuple[Columns, Optional[Targets]]:
        width = len(self.columns)
        widths = set(map(len, rows))
        if widths == {width}:
            columns = tuple(zip(*rows))
            label_column = self.columns.index(self.predict)
            return columns[:label_column] + columns[label_column + 1 :], (columns[label_column],)
        if labels == "optional" and widths == {width - 1}:
            return tuple(zip(*rows)), None
        raise self._wrong_width(rows, positions, place, labels)

    def _wrong_width(self, rows: list[Fields], positions: Sequence[int], place: Place, labels: Labels) -> InputError:
        """The error for the first wrong line."""
        width = len(self.columns)
        expected = f"{width} ({', '.join(self.columns)})"
        accepted = {width}
        if labels == "optional":
            expected += f", or {width - 1} without {self.predict}"
            accepted.add(width - 1)
        position, found = next(
            (position, len(row))
            for position, row in zip(positions, rows)
            if len(row) not in accepted or len(row) != len(rows[0])
        )
        message = f"found {found} column{'s' if found != 1 else ''}, "
        if found in accepted:
            message += (
                f"but its sentence began with {len(rows[0])}; "
                f"give the column {self.predict} to all tokens of a sentence or to none."
            )
        else:
            message += f"expected {expected}; fix the line, or the task's list of columns."
        return InputError(message, place.source, place.start + position)

    def _with_guesses(self, lines: Sequence[str], guesses: Targets) -> list[str]:
        separators = ["\t" if self.tabs_only or "\t" in line else " " for line in lines]
        return list(map("".join, zip(lines, separators, *guesses)))
