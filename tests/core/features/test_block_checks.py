"""What must hold of encoded sentences: every condition, broken by itself, is refused."""

from typing import Any, Callable

import numpy as np
import pytest

from perceptron_core.features.block_checks import Bounds, check_block
from perceptron_core.features.encoded import LEVELS, NO_NUMBERS, Encoded
from perceptron_core.wire import DamagedRecord

BOUNDS = Bounds(ids=[4, 5], extra_ids=3, targets={"labels": 2})


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


SENTENCES = Encoded(
    lengths=numbers(2, 0, 1),
    ids=[numbers(0, 3, 1), numbers(4, 4, 0)],
    targets={"heads": numbers(2, 0, 1), "labels": numbers(0, 1, 1)},
    extra_sizes=numbers(0, 1, 2),
    extra_ids=numbers(2, 0, 1),
)
TEXTS = Encoded(
    lengths=numbers(1, 1),
    ids=[numbers(0, 3, 1), numbers(4, 4, 0)],
    targets={"labels": numbers(0, 1)},
    word_sizes=numbers(3, 0),
    values=np.array([1, 0.5, -3e38], np.float32),
)

Change = Callable[[Any], Encoded]
BROKEN: dict[str, Change] = {
    "a negative length": lambda e: e._replace(lengths=numbers(4, -2, 1)),
    "a token more": lambda e: e._replace(lengths=numbers(2, 1, 1)),
    "a token less": lambda e: e._replace(lengths=numbers(2, 0, 0)),
    "a type too high": lambda e: e._replace(ids=[numbers(0, 4, 1), e.ids[1]]),
    "a negative type": lambda e: e._replace(ids=[e.ids[0], numbers(4, -1, 0)]),
    "ids too short": lambda e: e._replace(ids=[e.ids[0], numbers(4, 4)]),
    "no ids": lambda e: e._replace(ids=[e.ids[0], numbers()]),
    "a column less": lambda e: e._replace(ids=e.ids[:1]),
    "a label too high": lambda e: e._replace(targets={**e.targets, "labels": numbers(0, 2, 1)}),
    "a negative label": lambda e: e._replace(targets={**e.targets, "labels": numbers(0, -1, 1)}),
    "no labels": lambda e: e._replace(targets={**e.targets, "labels": numbers()}),
    "a head behind its sentence": lambda e: e._replace(targets={**e.targets, "heads": numbers(2, 0, 2)}),
    "a negative head": lambda e: e._replace(targets={**e.targets, "heads": numbers(-1, 0, 1)}),
    "words in tokens": lambda e: e._replace(word_sizes=numbers(1, 1, 1)),
    "a feature too many": lambda e: e._replace(extra_sizes=numbers(0, 1, 1)),
    "a feature too few": lambda e: e._replace(extra_ids=numbers(2, 0)),
    "a feature out of range": lambda e: e._replace(extra_ids=numbers(2, 0, 3)),
    "features of nothing": lambda e: e._replace(extra_sizes=numbers()),
    "a negative size": lambda e: e._replace(extra_sizes=numbers(3, -1, 1)),
}
BROKEN_TEXTS: dict[str, Change] = {
    "no sizes": lambda e: e._replace(word_sizes=numbers()),
    "a size more": lambda e: e._replace(word_sizes=numbers(3, 0, 0)),
    "a negative size": lambda e: e._replace(word_sizes=numbers(4, -1)),
    "an enormous size": lambda e: e._replace(word_sizes=numbers(3, 2**31 - 1)),
    "a value less": lambda e: e._replace(values=e.values[1:]),
    "a value that is not finite": lambda e: e._replace(values=np.array([1, np.inf, 1], np.float32)),
}


def test_what_is_sound_passes() -> None:
    assert check_block(SENTENCES, BOUNDS, texts=False) is SENTENCES
    assert check_block(TEXTS, BOUNDS, texts=True) is TEXTS
    for texts in (False, True):
        check_block(Encoded(NO_NUMBERS, [NO_NUMBERS] * 2, {"labels": NO_NUMBERS}), BOUNDS, texts)


@pytest.mark.parametrize("what", BROKEN)
def test_broken_sentences_are_refused(what: str) -> None:
    with pytest.raises(DamagedRecord, match="prepare the corpus again"):
        check_block(BROKEN[what](SENTENCES), BOUNDS, texts=False)


@pytest.mark.parametrize("what", BROKEN_TEXTS)
def test_broken_texts_are_refused(what: str) -> None:
    with pytest.raises(DamagedRecord, match="prepare the corpus again"):
        check_block(BROKEN_TEXTS[what](TEXTS), BOUNDS, texts=True)


@pytest.mark.parametrize("name", LEVELS)
def test_every_declared_column_must_have_the_size_of_its_level(name: str) -> None:
    """A column that is added to LEVELS is checked without a change here."""
    for encoded, texts in ((SENTENCES, False), (TEXTS, True)):
        column = getattr(encoded, name)
        if isinstance(column, np.ndarray):
            longer: Any = np.append(column, column[:1]) if len(column) else np.zeros(9, column.dtype)
        elif isinstance(column, dict):
            longer = {key: np.append(array, array[:1]) for key, array in column.items()}
        else:
            longer = [np.append(array, array[:1]) for array in column]
        with pytest.raises(DamagedRecord):
            check_block(encoded._replace(**{name: longer}), BOUNDS, texts)


@pytest.mark.parametrize("damage", [3, "text", None, [1, 2], np.zeros(3, "<f8"), np.zeros(3, "<u8"), {}])
@pytest.mark.parametrize("name", ["lengths", "labels", "ids", "values", "word_sizes"])
def test_a_record_of_other_types_does_not_decode(name: str, damage: Any) -> None:
    record = {**TEXTS.record(), name: damage}
    with pytest.raises(DamagedRecord, match="do not decode"):
        Encoded.from_record(record, ["labels"])
