"""Sentences as arrays. One table says how each array is aligned; slicing, reordering, joining and records use it.

    level      one entry per
    SENTENCE   sentence
    TOKEN      token: lengths[s] of them belong to sentence s
    WORD       word: a token is one word, or, in classification, a text of word_sizes[t] words
    EXTRA      feature that a free-form extractor has found: extra_sizes[t] of them belong to token t

An optional column that is not needed is empty. To add a column, add a line to LEVELS. What must hold of sentences that
come from a file is checked by block_checks.py.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, NamedTuple, Union

import numpy as np

from perceptron_core.arrays import ragged_range, smallest, typed
from perceptron_core.kernels import ALL_ONE
from perceptron_core.wire import DamagedRecord

SENTENCE, TOKEN, WORD, EXTRA = "sentence", "token", "word", "extra"
NO_NUMBERS = np.zeros(0, np.int32)

# How each array is aligned; the order is that of a record.
LEVELS = {
    "lengths": SENTENCE,
    "targets": TOKEN,  # a dict of columns
    "extra_sizes": TOKEN,
    "word_sizes": TOKEN,
    "values": WORD,
    "ids": WORD,  # a list of columns
    "extra_ids": EXTRA,
}

Selection = Union[slice, np.ndarray]


class Encoded(NamedTuple):
    """Some sentences."""

    lengths: np.ndarray  # int32, tokens of each sentence
    ids: Sequence[np.ndarray]  # for each of the feature set's columns the type number of every word, int32
    targets: Mapping[str, np.ndarray]  # the predicted columns by name, int32; empty ones where the input has none
    extra_sizes: np.ndarray = NO_NUMBERS  # int32; empty without an extractor
    extra_ids: np.ndarray = NO_NUMBERS
    word_sizes: np.ndarray = NO_NUMBERS  # int32; empty where a token is a word
    values: np.ndarray = ALL_ONE  # float32, one value per word; empty where all are 1

    @property
    def labels(self) -> np.ndarray:
        """The label number of every token; empty if the input has no labels."""
        return self.targets["labels"]

    def unlabelled(self) -> "Encoded":
        """The same sentences without targets."""
        return self._replace(targets=dict.fromkeys(self.targets, NO_NUMBERS))

    def words(self) -> np.ndarray:
        """The number of words of each sentence, or of each text."""
        return self.word_sizes if len(self.word_sizes) else self.lengths

    def tokens(self) -> int:
        return int(self.lengths.sum())

    def between(self, first: int, last: int) -> "Encoded":
        """The sentences from number `first` to before number `last`."""
        token = _span(self.lengths, slice(first, last))
        word = _span(self.word_sizes, token) if len(self.word_sizes) else token
        extra = _span(self.extra_sizes, token) if len(self.extra_sizes) else slice(0, 0)
        return self._select({SENTENCE: slice(first, last), TOKEN: token, WORD: word, EXTRA: extra})

    def reordered(self, order: np.ndarray) -> "Encoded":
        """The sentences with these numbers, in this order."""
        token = _members(self.lengths, order)
        word = _members(self.word_sizes, token) if len(self.word_sizes) else token
        extra = _members(self.extra_sizes, token) if len(self.extra_sizes) else NO_NUMBERS
        return self._select({SENTENCE: order, TOKEN: token, WORD: word, EXTRA: extra})

    def _select(self, chosen: Mapping[str, Selection]) -> "Encoded":
        def select(name: str, array: np.ndarray) -> np.ndarray:
            return array[chosen[LEVELS[name]]] if len(array) else array

        return self._each(select)

    def _each(self, function: Callable[[str, np.ndarray], np.ndarray]) -> "Encoded":
        """The function applied to every column."""
        made: dict[str, Any] = {}
        for name, column in self._asdict().items():
            if isinstance(column, np.ndarray):
                made[name] = function(name, column)
            elif isinstance(column, Mapping):
                made[name] = {key: function(name, array) for key, array in column.items()}
            else:
                made[name] = [function(name, array) for array in column]
        return Encoded(**made)

    def record(self) -> dict[str, Any]:
        """The form that is sent: narrow integers, and only the columns that are not empty; the last ids are the
        extractor's."""
        record: dict[str, Any] = {"lengths": smallest(self.lengths)}
        record.update({name: smallest(column) for name, column in self.targets.items()})
        for name in ("extra_sizes", "word_sizes"):
            column = getattr(self, name)
            if len(column):
                record[name] = smallest(column)
        values = unless_all_one(self.values)
        if len(values):
            record["values"] = values
        record["ids"] = [smallest(ids) for ids in (*self.ids, self.extra_ids)]
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any], targets: Iterable[str]) -> "Encoded":
        """The sentences; DamagedRecord if something is missing, or of another type."""
        try:
            *ids, extra_ids = (_numbers(ids) for ids in record["ids"])
            return cls(
                _numbers(record["lengths"]),
                ids,
                {name: _numbers(record[name]) for name in targets},
                _numbers(record.get("extra_sizes", NO_NUMBERS)),
                extra_ids,
                _numbers(record.get("word_sizes", NO_NUMBERS)),
                typed(record.get("values", ALL_ONE), "<f4"),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DamagedRecord(f"sentences do not decode ({error!r:.100}); prepare the corpus again") from error


def joined(parts: Sequence[Encoded]) -> Encoded:
    """The sentences of several parts, one after the other."""
    if any(len(part.values) for part in parts):  # a part whose values are all 1 has none
        ones = [np.ones(0 if len(part.values) else part.words().sum(), "f4") for part in parts]
        parts = [part._replace(values=np.append(part.values, more)) for part, more in zip(parts, ones)]
    made: dict[str, Any] = {
        "ids": [np.concatenate(columns) for columns in zip(*(part.ids for part in parts))],
        "targets": {name: np.concatenate([part.targets[name] for part in parts]) for name in parts[0].targets},
    }
    for name in LEVELS:
        if name not in made:
            made[name] = np.concatenate([getattr(part, name) for part in parts])
    return Encoded(**made)


def unless_all_one(values: np.ndarray) -> np.ndarray:
    return values if (values != 1).any() else ALL_ONE


def _span(sizes: np.ndarray, owners: slice) -> slice:
    """Where the members of consecutive owners are; owner o has sizes[o] of them."""
    begin = int(sizes[: owners.start].sum())
    return slice(begin, begin + int(sizes[owners].sum()))


def _members(sizes: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """The numbers of the members of these owners; owner o has sizes[o] of them."""
    return ragged_range((np.cumsum(sizes) - sizes)[owners], sizes[owners])


def _numbers(values: Any) -> np.ndarray:
    return typed(values, "|u1", "<u2", "<u4", "<i4").astype(np.int32)
