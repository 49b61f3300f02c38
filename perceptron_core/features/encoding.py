"""Sentences as numbers: the type of every token in each column, and the hashes of the type's attributes, once per type.

No string is built per feature of a token: a feature's key is composed from the hashes of its token's types, by the
structure (perceptron_core/structures).
"""

from collections.abc import Sequence
from itertools import chain, islice
from typing import Callable, NamedTuple, Optional

import numpy as np

from perceptron_core.arrays import GrowingArray
from perceptron_core.corpus import Sentence
from perceptron_core.features.attributes import Attribute
from perceptron_core.features.encoded import NO_NUMBERS, Encoded, unless_all_one
from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.features.user_code import Extractor
from perceptron_core.kernels import ALL_ONE, hash_strings

TYPE_BYTES = 200  # of a type's string and its entry in a dictionary


class Layout(NamedTuple):
    """What the sentences of a structure consist of."""

    labels: tuple[str, ...] = ("labels",)  # target columns whose strings are labels
    numbers: tuple[str, ...] = ()  # target columns that hold numbers, before the labels
    texts: bool = False  # a token is a whole text, with one label, and its columns hold the text's words

    @property
    def targets(self) -> tuple[str, ...]:
        """All target columns, in the order of those of a sentence."""
        return (*self.numbers, *self.labels)


class TypeTables(NamedTuple):
    """The attribute hashes of all types, flat: for each column one row of attributes per type."""

    columns: Sequence[np.ndarray]
    extra: np.ndarray  # of the extractor's features


class Numbering(dict):
    """Strings numbered in the order in which they are first looked up."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class TypeTable:
    """The types of one column, and the hashes of their attributes, flat: one row of attributes per type."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.attributes = attributes
        self.types = Numbering()
        self._hashes = GrowingArray(np.uint64)

    def size(self) -> int:
        """Bytes, roughly."""
        return len(self.types) * (TYPE_BYTES + self._hashes.view().itemsize * len(self.attributes))

    def rows(self) -> np.ndarray:
        """The attribute hashes of all types so far."""
        hashed = len(self._hashes) // max(1, len(self.attributes))
        if hashed < len(self.types):
            new = list(islice(self.types, hashed, None))
            columns = [hash_strings(_of_all(attribute, new)) for attribute in self.attributes]
            self._hashes.extend(np.stack(columns, axis=1).ravel())
        return self._hashes.view()


def _of_all(attribute: Attribute, types: Sequence[Optional[str]]) -> list[Optional[str]]:
    """The attribute of every type; None where there is no word."""
    return [None if text is None else attribute(text) for text in types]


class Encoder:
    """Numbers the types and labels of sentences as they come; another encoder may give other numbers."""

    def __init__(
        self,
        features: FeatureSet,
        attributes: Callable[[str], Attribute],
        layout: Layout,
        extractor: Optional[Extractor] = None,
    ) -> None:
        self.features, self.layout = features, layout
        self.tables = [TypeTable([attributes(name) for name in names]) for names in features.attributes]
        self.extra = TypeTable([lambda feature: feature])
        self.extractor = extractor
        self.labels = Numbering()

    def attribute(self, column: int, name: str) -> Attribute:
        """The function of an attribute of the feature set's column with this number."""
        return self.tables[column].attributes[self.features.attributes[column].index(name)]

    def size(self) -> int:
        """The bytes of what it knows of all types so far, roughly."""
        return sum(table.size() for table in (*self.tables, self.extra))

    def type_tables(self) -> TypeTables:
        """The tables of all types so far."""
        return TypeTables([table.rows() for table in self.tables], self.extra.rows())

    def encode(self, sentences: Sequence[Sentence]) -> Encoded:
        """The sentences as numbers; new types are added to the tables."""
        words = [len(sentence.columns[0]) for sentence in sentences]
        lengths, word_sizes = words, NO_NUMBERS
        if self.layout.texts:
            lengths = [1 if sentence.labels is None else len(sentence.labels) for sentence in sentences]
            word_sizes = np.array([size for size, length in zip(words, lengths) if length], np.int32)
        ids = [
            _number(table.types, [sentence.columns[c] for sentence in sentences], sum(words))
            for table, c in zip(self.tables, self.features.column_numbers)
        ]
        extra_sizes, extra_ids = self._extract(sentences)
        values = _values(sentences, words)
        targets = self._targets(sentences, sum(lengths))
        return Encoded(np.array(lengths, np.int32), ids, targets, extra_sizes, extra_ids, word_sizes, values)

    def _targets(self, sentences: Sequence[Sentence], total: int) -> dict[str, np.ndarray]:
        """The predicted columns as numbers; all empty if any sentence has none."""
        given = [sentence.targets for sentence in sentences if sentence.targets is not None]
        if len(given) < len(sentences):
            return dict.fromkeys(self.layout.targets, NO_NUMBERS)
        columns = {name: [targets[i] for targets in given] for i, name in enumerate(self.layout.targets)}
        numbers = {
            name: np.fromiter(map(int, chain.from_iterable(columns[name])), np.int32, total)
            for name in self.layout.numbers
        }
        return {**numbers, **{name: _number(self.labels, columns[name], total) for name in self.layout.labels}}

    def _extract(self, sentences: Sequence[Sentence]) -> tuple[np.ndarray, np.ndarray]:
        if self.extractor is None:
            return NO_NUMBERS, NO_NUMBERS
        sizes: list[int] = []
        ids: list[int] = []
        for sentence in sentences:
            tokens = list(zip(*sentence.columns))
            for position in range(len(tokens)):
                found = self.extractor(tokens, position)
                sizes.append(len(found))
                ids.extend(self.extra.types[feature] for feature in found)
        return np.array(sizes, np.int32), np.array(ids, np.int32)


def _number(numbering: Numbering, sequences: Sequence[Sequence[Optional[str]]], total: int) -> np.ndarray:
    look_up = numbering.__getitem__
    return np.fromiter(map(look_up, chain.from_iterable(sequences)), np.int32, total)


def _values(sentences: Sequence[Sentence], words: Sequence[int]) -> np.ndarray:
    """One value per word, or nothing if all are 1."""
    if not any(len(sentence.values) for sentence in sentences):
        return ALL_ONE
    given = (sentence.values or [1.0] * size for sentence, size in zip(sentences, words))
    return unless_all_one(np.fromiter(chain.from_iterable(given), np.float32, sum(words)))
