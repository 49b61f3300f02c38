"""Tables: CSV and TSV files whose first line names the columns, quoted as Python's csv module reads them.

A task's `columns` are the names in the header of the columns to predict from. Those listed as `numeric` contain
numbers, the others texts. An empty field of a numeric column makes no feature. The guess is written as an additional
last column, named `guess`.

A quoted field may contain line breaks, so where a record begins is known only at the end of the record before it: a
table is never split into pieces for several tasks.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Optional

from perceptron_core.corpus.format import Labels, split_carriage_return
from perceptron_core.corpus.instances import (
    NUMBER,
    Instance,
    InstanceFormat,
    as_sentence,
    fits_float32,
    named_columns,
    splitter,
)
from perceptron_core.corpus.sentence import Sentence
from perceptron_core.errors import InputError, UserError
from perceptron_core.limits import limits

GUESS = "guess"


class TableFormat(InstanceFormat):
    OPTIONS = ("numeric", "units")
    whole = True
    separator: ClassVar[str]

    def __init__(self, columns: Sequence[str], predict: str, numeric: Sequence[str] = (), units: str = "words") -> None:
        inputs = named_columns(columns, predict)
        if not isinstance(numeric, (list, tuple)) or not set(numeric) <= set(inputs):
            raise UserError(f"The option numeric must list input columns ({', '.join(inputs)}), not {numeric!r}.")
        self.predict = predict
        self.texts = [name for name in inputs if name not in numeric]
        self.numeric = [name for name in inputs if name in numeric]
        self.inputs = (*self.texts, *([NUMBER] if self.numeric else []))
        self.split = splitter(units)

    def read(
        self, lines: Iterable[str], source: str, keep_text: bool = False, labels: Labels = "required"
    ) -> Iterator[Sentence]:
        text: list[str] = []  # the lines since the previous record, and its own

        def physical_lines() -> Iterator[str]:
            for line in lines:
                text.append(line)
                yield line + "\n"

        header: Optional[list[str]] = None
        done = 0  # lines of the previous records
        for fields, end in self._records(physical_lines(), source):
            line = done + 1
            done = end
            if not fields:
                if not keep_text:
                    text.clear()
                continue
            if header is None:
                header = fields
                self._check_header(header, source, line, labels)
                content, carriage_return = split_carriage_return(text[-1])
                text[-1] = self._with_guess(content, GUESS) + carriage_return
                continue
            if len(fields) != len(header):
                raise InputError(
                    f"found {len(fields)} fields, but the header names {len(header)} columns; fix the record.",
                    source,
                    line,
                )
            instance = self._instance(dict(zip(header, fields)), source, line, labels)
            kept = tuple(text) if keep_text else ()
            text.clear()
            yield as_sentence(instance, line, kept)
        if text and keep_text:
            yield self.leftover(text, done + 1 - len(text))

    def _records(self, lines: Iterator[str], source: str) -> Iterator[tuple[list[str], int]]:
        """Every record's fields (none for a blank line), and the number of its last line."""
        csv.field_size_limit(limits().line)  # the module's own, 131,072 characters, is shorter than a long text
        reader = csv.reader(lines, delimiter=self.separator, strict=True)
        end = 0
        while True:
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise InputError(
                    f"this record is not quoted correctly ({error}); fix its quotes: a field with a line break "
                    "must be in quotes, and a quote inside it must be written twice.",
                    source,
                    end + 1,
                ) from None
            end = reader.line_num
            yield fields, end

    def _check_header(self, header: Sequence[str], source: str, line: int, labels: Labels) -> None:
        for name in (*self.texts, *self.numeric, self.predict):
            if header.count(name) > 1:
                raise InputError(f"the header names {name} more than once; name each column once.", source, line)
            if name not in header and (name != self.predict or labels == "required"):
                raise InputError(
                    f"the header has no column {name}, only {', '.join(header)}; fix it, or the task's columns.",
                    source,
                    line,
                )

    def _instance(self, record: dict[str, str], source: str, line: int, labels: Labels) -> Instance:
        label = record.get(self.predict, "").strip(" ")
        if not label and labels == "required":
            raise InputError(f"the column {self.predict} is empty; every instance needs a label.", source, line)
        if label and self.fault_of(label):
            raise InputError(f"the label {label!r} {self.fault_of(label)}; fix it.", source, line)
        parts: list[list[str]] = [self.split(record[name]) for name in self.texts]
        values: list[float] = []
        if self.numeric:
            there = [name for name in self.numeric if record[name].strip(" ")]
            values = [1.0] * sum(map(len, parts)) + [self._number(name, record[name], source, line) for name in there]
            parts.append(there)
        return Instance(_side_by_side(parts), label or None, values)

    @staticmethod
    def _number(name: str, text: str, source: str, line: int) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not fits_float32([value]):
            raise InputError(
                f"{text!r} in the numeric column {name} is not a finite number; fix it, or leave the field empty.",
                source,
                line,
            )
        return value

    def _with_guess(self, line: str, guess: str) -> str:
        if set(guess) & {self.separator, '"'}:
            guess = '"' + guess.replace('"', '""') + '"'
        return line + self.separator + guess


def _side_by_side(parts: Sequence[list[str]]) -> tuple[Sequence[Optional[str]], ...]:
    """The words of all columns, one column after the other; where one has a word, the others have None."""
    if len(parts) == 1:
        return (parts[0],)
    sizes = [len(part) for part in parts]
    return tuple(
        [*[None] * sum(sizes[:number]), *part, *[None] * sum(sizes[number + 1 :])] for number, part in enumerate(parts)
    )


class CsvFormat(TableFormat):
    separator = ","


class TsvFormat(TableFormat):
    separator = "\t"
