"""What must hold of encoded sentences before a kernel sees them. A kernel trusts its arrays: it goes where they lead.

Every column has one entry per member of its level (LEVELS in encoded.py); so a new column is checked as it is declared.

    sizes       not negative; their sum is the size of the next level
    type ids    below the number of types of their column
    labels      below the number of labels
    positions   of target columns that hold numbers: from 0 to the number of the sentence's tokens
    values      finite
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

import numpy as np

from perceptron_core.features.encoded import EXTRA, LEVELS, SENTENCE, TOKEN, WORD, Encoded
from perceptron_core.wire import DamagedRecord

OPTIONAL = ("extra_sizes", "word_sizes", "values")
ANY = 1 << 31  # above every number of 32 bits


class Bounds(NamedTuple):
    """How many types and labels there are."""

    ids: Sequence[int]  # per column
    extra_ids: int
    targets: Mapping[str, int]  # labels by column; the other target columns hold positions


def check_block(encoded: Encoded, bounds: Bounds, texts: bool) -> Encoded:
    """The sentences, if all holds that is said above; with texts=True, every token is a text of some words."""
    for sizes in (encoded.lengths, encoded.word_sizes, encoded.extra_sizes):
        _refuse_if(int(sizes.min(initial=0)) < 0, "a size is negative")
    tokens = encoded.tokens()
    _refuse_if(len(encoded.word_sizes) != (tokens if texts else 0), "it does not say how many words its texts have")
    _refuse_if(len(encoded.ids) != len(bounds.ids), "it has another number of columns")
    members = {
        SENTENCE: len(encoded.lengths),
        TOKEN: tokens,
        WORD: int(encoded.words().sum()),
        EXTRA: int(encoded.extra_sizes.sum()),
    }
    for name, column, bound in _columns(encoded, bounds):
        if not len(column) and name in OPTIONAL:
            continue
        _refuse_if(len(column) != members[LEVELS[name]], f"the size of {name} does not agree")
        if column.dtype.kind == "f":
            _refuse_if(not np.isfinite(column).all(), f"a number in {name} is not finite")
        elif len(column):
            below = bound if bound is not None else 1 + np.repeat(encoded.lengths, encoded.lengths)
            _refuse_if(int(column.min()) < 0 or bool((column >= below).any()), f"a number in {name} is out of range")
    return encoded


def _columns(encoded: Encoded, bounds: Bounds) -> Iterator[tuple[str, np.ndarray, Optional[int]]]:
    """(name, column, what its numbers must be below; None if they are positions)."""
    for name in LEVELS:
        column = getattr(encoded, name)
        if name == "ids":
            yield from ((name, ids, types) for ids, types in zip(column, bounds.ids))
        elif name == "targets":
            yield from ((name, numbers, bounds.targets.get(target)) for target, numbers in column.items())
        else:
            yield name, column, bounds.extra_ids if name == "extra_ids" else ANY


def _refuse_if(wrong: bool, what: str) -> None:
    if wrong:
        raise DamagedRecord(f"a block is damaged, or one is missing before it: {what}; prepare the corpus again")
