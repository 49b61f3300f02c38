"""CoNLL-U, the format of Universal Dependencies, read as columns only: its trees are not built.

References
----------
https://universaldependencies.org/format.html
"""

import re
from collections.abc import Sequence
from typing import Optional

from perceptron_core.corpus.blocks import BlockFormat, Columns, Fields, Place
from perceptron_core.corpus.format import Labels, input_columns
from perceptron_core.errors import InputError, UserError

FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

_WORD = re.compile(r"[0-9]+")
_MULTIWORD_OR_EMPTY_NODE = re.compile(r"[0-9]+[-.][0-9]+")


class ConlluFormat(BlockFormat):
    """Reads the words; comments, multiword tokens (1-2) and empty nodes (8.1) are only text around them.

    A guess replaces the predicted field.
    """

    def __init__(self, columns: Sequence[str], predict: str) -> None:
        unknown = [name for name in (*columns, predict) if name not in FIELDS]
        if unknown:
            raise UserError(f"Unknown column {unknown[0]!r} of CoNLL-U; use one of: {', '.join(FIELDS)}.")
        self.inputs = input_columns(columns, predict)
        self.predict = predict

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
    ) -> tuple[Columns, Optional[tuple[str, ...]]]:
        fields = dict(zip(FIELDS, zip(*rows)))
        gold: Optional[tuple[str, ...]] = fields[self.predict]
        if labels == "optional" and set(fields[self.predict]) == {"_"}:
            gold = None
        return tuple([fields[name] for name in self.inputs]), gold

    def _with_guesses(self, lines: Sequence[str], guesses: Sequence[str]) -> list[str]:
        rows = [line.split("\t") for line in lines]
        for fields, guess in zip(rows, guesses):
            fields[FIELDS.index(self.predict)] = guess
        return list(map("\t".join, rows))
