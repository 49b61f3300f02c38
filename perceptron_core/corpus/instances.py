"""What the formats of classification have in common: one label per instance, and how a text is split.

An instance is a `Sentence` of one token, the whole text; its columns hold the words. Numbers have their own column,
NUMBER, whose words are the numbers' names; the numbers are in `values`.
"""

import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from perceptron_core.corpus.format import CLASSIFICATION, Format, Labels, input_columns, split_carriage_return
from perceptron_core.corpus.sentence import Sentence
from perceptron_core.errors import UserError

NUMBER = "number"
LARGEST = float(np.finfo(np.float32).max)

Splitter = Callable[[str], list[str]]


def _characters(text: str) -> list[str]:
    return list(" ".join(text.split()))


# A word is a run of letters and digits, or of other signs; white space only separates.
UNITS: dict[str, Splitter] = {"words": re.compile(r"\w+|[^\w\s]+").findall, "characters": _characters}


def splitter(units: Any) -> Splitter:
    if units not in UNITS:
        raise UserError(f"Unknown units {units!r} of texts; use one of: {', '.join(UNITS)}.")
    return UNITS[units]


def named_columns(columns: Sequence[str], predict: str) -> tuple[str, ...]:
    """The input columns that a task names, without the column of the numbers."""
    inputs = input_columns(columns, predict)
    if NUMBER in inputs:
        raise UserError(f"A column cannot be called `{NUMBER}`, which is the name for numbers; give it another name.")
    return inputs


def fits_float32(values: Sequence[float]) -> bool:
    """Whether all are numbers, and finite as float32."""
    return not values or (math.isfinite(sum(values)) and max(map(abs, values)) <= LARGEST)


class Instance(NamedTuple):
    """What a line says."""

    columns: tuple[Sequence[Optional[str]], ...]
    label: Optional[str]
    values: Sequence[float] = ()


def as_sentence(instance: Instance, line: int, text: Sequence[str]) -> Sentence:
    """The sentence that begins in this line; the guess goes into the last line of the text that is kept."""
    labels = None if instance.label is None else ((instance.label,),)
    guess_line = (len(text) - 1,) if text else ()
    return Sentence(instance.columns, labels, line, text, guess_line, instance.values)


class InstanceFormat(Format):
    """Writes instances; a subclass says where in a line the guess goes."""

    kind = CLASSIFICATION

    def fault_of(self, label: str) -> str:
        return super().fault_of(label) or ("begins or ends with a space" if label != label.strip(" ") else "")

    @abstractmethod
    def _with_guess(self, line: str, guess: str) -> str:
        """The line with the guess in it."""

    def write(self, sentence: Sentence, *columns: Sequence[str]) -> str:
        (guesses,) = columns
        if len(guesses) != len(sentence.token_lines):
            raise ValueError(f"{len(guesses)} guesses for {len(sentence.token_lines)} kept lines that take a guess")
        lines = list(sentence.text)
        for index, guess in zip(sentence.token_lines, guesses):
            content, carriage_return = split_carriage_return(lines[index])
            lines[index] = self._with_guess(content, guess) + carriage_return
        return "".join([line + "\n" for line in lines])


class LineInstanceFormat(InstanceFormat):
    """A line is an instance unless it is blank."""

    splittable = True

    @abstractmethod
    def _instance(self, line: str, source: str, number: int, labels: Labels) -> Optional[Instance]:
        """Read a line; None if it has no instance."""

    def read(
        self, lines: Iterable[str], source: str, keep_text: bool = False, labels: Labels = "required"
    ) -> Iterator[Sentence]:
        text: list[str] = []
        number = 0
        for number, line in enumerate(lines, 1):
            if keep_text:
                text.append(line)
            content = line[:-1] if line[-1:] == "\r" else line
            instance = self._instance(content, source, number, labels) if content.strip(" \t") else None
            if instance is not None:
                yield as_sentence(instance, number, text if keep_text else ())
                text = []
        if text:
            yield self.leftover(text, number + 1 - len(text))
