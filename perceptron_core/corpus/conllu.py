"""CoNLL-U, the format of Universal Dependencies, read as columns, one of which is predicted.

conllu_tree.py reads it as trees.

References
----------
https://universaldependencies.org/format.html
"""

import re
from collections.abc import Sequence
from typing import Optional

from perceptron_core.corpus.blocks import BlockFormat, Columns, Fields, Place
from perceptron_core.corpus.format import Labels, input_columns
from perceptron_core.corpus.sentence import Targets
from perceptron_core.errors import InputError, UserError

FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

_WORD = re.compile(r"[0-9]+")
_MULTIWORD_OR_EMPTY_NODE = re.compile(r"[0-9]+[-.][0-9]+")


class ConlluFormat(BlockFormat):
    """Reads the words; comments, multiword tokens (1-2) and empty nodes (8.1) are only text around them.

    Guesses replace the predicted fields.
    """

    predicted: tuple[str, ...]
    """The fields that are replaced by guesses."""

    def __init__(self, columns: Sequence[str], predict: str) -> None:
        unknown = [name for name in (*columns, predict) if name not in FIELDS]
        if unknown:
            raise UserError(f"Unknown column {unknown[0]!r} of CoNLL-U; use one of: {', '.join(FIELDS)}.")
        self.inputs = input_columns(columns, predict)
        self.predicted = (predict,)

    def _is_boundary(self, line: str) -> bool:
        return not line.strip(" \t")

    def _tokens(self, block: list[str], place: Place) -> tuple[Sequence[int], list[Fields]]:
        positions = [position for position, line in enumerate(block) if line[0] != "#"]
        rows = [block[position].split("\t") for position in positions]
        if set(map(len, rows)) - {len(FIELDS)}:
            position, row = next(item for item in zip(positions, rows) if len(item[1]) != len(FIELDS))
            raise InputError(
                f"found {len(row)} tab-separated field{'s' if len(row) != 1 else ''}, expected {len(FIELDS)} "
                f"({', '.join(FIELDS)}); fix the line, or name another format.",
                place.source,
                place.start + position,
            )
        if _WORD.fullmatch("".join([row[0] for row in rows])):
            return positions, rows
        return self._words(positions, rows, place)

    def _words(self, positions: list[int], rows: list[Fields], place: Place) -> tuple[Sequence[int], list[Fields]]:
        """Drop the rows that are not words."""
        words = []
        for position, row in zip(positions, rows):
            if _WORD.fullmatch(row[0]):
                words.append((position, row))
            elif not _MULTIWORD_OR_EMPTY_NODE.fullmatch(row[0]):
                raise InputError(
                    f"the id {row[0]!r} is neither a number (1), a range (1-2) nor a decimal (8.1); fix it.",
                    place.source,
                    place.start + position,
                )
        return [position for position, _ in words], [row for _, row in words]

    def _columns(
        self, rows: list[Fields], positions: Sequence[int], place: Place, labels: Labels
    ) -> tuple[Columns, Optional[Targets]]:
        fields = dict(zip(FIELDS, zip(*rows)))
        return tuple([fields[name] for name in self.inputs]), self._targets(fields, positions, place, labels)

    def _targets(
        self, fields: dict[str, tuple[str, ...]], positions: Sequence[int], place: Place, labels: Labels
    ) -> Optional[Targets]:
        """The predicted columns of a sentence; `fields` are all columns, by name."""
        (name,) = self.predicted
        return None if labels == "optional" and set(fields[name]) == {"_"} else (fields[name],)

    def _with_guesses(self, lines: Sequence[str], guesses: Targets) -> list[str]:
        rows = [line.split("\t") for line in lines]
        for name, column in zip(self.predicted, guesses):
            number = FIELDS.index(name)
            for fields, guess in zip(rows, column):
                fields[number] = guess
        return list(map("\t".join, rows))
