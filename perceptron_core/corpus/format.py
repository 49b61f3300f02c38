"""What all corpus formats have in common: their interface, and how a line is split into fields.

Fields are separated by spaces and tabs only. `str.split()` would also split at U+00A0, U+3000 and similar characters,
which are legal inside a token.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Literal

from perceptron_core.corpus.sentence import Sentence
from perceptron_core.errors import UserError

Labels = Literal["required", "optional"]

NAMES_OF_CHARACTERS = {"\0": "NUL", "\t": "a TAB", "\r": "a line break", "\n": "a line break", " ": "a space"}
SEQUENCE, CLASSIFICATION, TREE = "sequence", "classification", "tree"  # the kinds of tasks


class Format(ABC):
    """A way to lay out sentences in lines; `inputs` names the columns of the sentences it reads."""

    OPTIONS: ClassVar[tuple[str, ...]] = ()
    splittable: ClassVar[bool] = False
    """Whether each line is a sentence of its own, so that a file may be split at any line."""
    whole: ClassVar[bool] = False
    """Whether a file can be read only from its beginning, so that it cannot be split at all."""
    kind: ClassVar[str] = SEQUENCE
    """What is predicted: a label for every token of a sentence, a tree over them, or a label for a whole instance."""
    target_columns: ClassVar[int] = 1
    """How many columns are predicted."""
    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """The input columns, where the format leaves no choice."""
    NOT_IN_LABELS: ClassVar[str] = "\0\t\r\n"
    """Characters that a label cannot have, because it could not be written so that it can be read again."""
    inputs: tuple[str, ...]

    def fault_of(self, label: str) -> str:
        """What is wrong with a label; nothing if it can be written."""
        if not label:
            return "is empty"
        found = next((character for character in label if character in self.NOT_IN_LABELS), None)
        return "" if found is None else f"contains {NAMES_OF_CHARACTERS.get(found, repr(found))}"

    def check_labels(self, labels: Iterable[str]) -> None:
        """Refuse labels that this format cannot write."""
        for label in labels:
            fault = self.fault_of(label)
            if fault:
                raise UserError(f"the label {label!r} {fault}, so this format cannot write it; give it another name")

    @abstractmethod
    def read(
        self, lines: Iterable[str], source: str, keep_text: bool = False, labels: Labels = "required"
    ) -> Iterator[Sentence]:
        """Yield the sentences of `lines` (given without their "\\n"); `source` names them in errors.

        With `keep_text`, writing all sentences gives back every line in order. For this, lines after the last sentence
        are yielded as a sentence without tokens.
        """

    @abstractmethod
    def write(self, sentence: Sentence, *columns: Sequence[str]) -> str:
        """Return the text of a sentence read with `keep_text`, with the guessed columns in it."""

    def leftover(self, text: list[str], line: int) -> Sentence:
        """The sentence without tokens that carries the lines after the last real one."""
        return Sentence(((),) * len(self.inputs), ((),) * self.target_columns, line, text, ())


def split_fields(line: str) -> list[str]:
    """Split a line at runs of spaces and tabs; a blank line has no fields."""
    fields = line.replace("\t", " ").split(" ")
    return [field for field in fields if field] if "" in fields else fields


def split_rows(lines: list[str]) -> list[list[str]]:
    """`split_fields` of every line; much faster where only single spaces separate the fields."""
    text = "\n".join(lines)
    if any(odd in text for odd in ("\t", "  ", " \n", "\n ")) or text[:1] == " " or text[-1:] == " ":
        return [split_fields(line) for line in lines]
    return [line.split(" ") for line in lines]


def split_carriage_return(line: str) -> tuple[str, str]:
    """Return the line's content and the "\\r" (or nothing) that ended it before the "\\n"."""
    return (line[:-1], "\r") if line[-1:] == "\r" else (line, "")


def check_guesses(sentence: Sentence, *columns: Sequence[str]) -> None:
    """Raise an error unless there is one guess per token: a defect of the calling code, not of any input."""
    for guesses in columns:
        if not len(guesses) == len(sentence.token_lines) == len(sentence.columns[0]):
            raise ValueError(
                f"{len(guesses)} guesses for a sentence of {len(sentence.columns[0])} tokens and "
                f"{len(sentence.token_lines)} kept token lines (was it read with keep_text?)"
            )


def input_columns(columns: Sequence[str], predict: str) -> tuple[str, ...]:
    """The names of a task's columns without the predicted one, if they make sense."""
    names = list(columns)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise UserError(f"The columns name {', '.join(repeated)} more than once; give each its own name.")
    inputs = tuple(name for name in names if name != predict)
    if not inputs:
        raise UserError(f"The predicted column, {predict}, is the only one; name a column to predict it from.")
    return inputs
