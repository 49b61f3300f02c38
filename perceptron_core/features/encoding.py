"""Sentences as numbers: every token's type in each column, every type's attributes as hashes, once a type.

No string is built per feature of a token: a feature's key is composed from the hashes of its token's types.

In classification a token is a whole text. The templates are applied at every word of it, and what they find is the
text's bag of features: each once, however often it occurs, with the value of the word (1, if it is no number).
"""

from collections.abc import Sequence
from itertools import chain, islice
from typing import Callable, NamedTuple, Optional

import numpy as np

from perceptron_core.arrays import GrowingArray
from perceptron_core.corpus import Sentence
from perceptron_core.features.attributes import Attribute
from perceptron_core.features.feature_set import EXTRACTOR_SEED, FeatureSet, Program
from perceptron_core.features.user_code import Extractor
from perceptron_core.hashing import extend_keys
from perceptron_core.kernels import ALL_ONE, compose_keys, hash_strings, pool_keys

NO_SIZES = np.zeros(0, np.int32)


class Encoded(NamedTuple):
    """Some sentences. `ids` has an array for each of the feature set's columns, one type number a word; with an
    extractor, `extra_ids` has the numbers of its features, extra_sizes[t] of them for token t. A token is a word; in
    classification it is a text of word_sizes[t] words."""

    lengths: np.ndarray  # int32, tokens of each sentence
    ids: list[np.ndarray]
    labels: np.ndarray  # int32, a label number a token; empty if the input has no labels
    extra_sizes: np.ndarray  # int32; empty without an extractor
    extra_ids: np.ndarray
    word_sizes: np.ndarray = NO_SIZES  # int32; empty where a token is a word
    values: np.ndarray = ALL_ONE  # float32, a value a word

    def words(self) -> np.ndarray:
        """How many words stand together: those of each sentence, or of each text."""
        return self.word_sizes if len(self.word_sizes) else self.lengths


class FeatureKeys(NamedTuple):
    """The keys of every token's features: token t has keys[starts[t]:starts[t+1]]; `pair_…` are those of the
    label-bigram templates."""

    starts: np.ndarray
    keys: np.ndarray
    pair_starts: np.ndarray
    pair_keys: np.ndarray
    values: np.ndarray = ALL_ONE  # of the features `keys`


class Numbering(dict):
    """Strings numbered in the order in which they are first looked up."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class TypeTable:
    """The types of one column, and the hashes of their attributes, flat: a row of attributes a type."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.attributes = attributes
        self.types = Numbering()
        self._hashes = GrowingArray(np.uint64)

    def rows(self) -> np.ndarray:
        """The attribute hashes of all types so far."""
        hashed = len(self._hashes) // max(1, len(self.attributes))
        if hashed < len(self.types):
            new = list(islice(self.types, hashed, None))
            columns = [hash_strings(_of_all(attribute, new)) for attribute in self.attributes]
            self._hashes.extend(np.stack(columns, axis=1).ravel())
        return self._hashes.view()


def _of_all(attribute: Attribute, types: Sequence[Optional[str]]) -> list[Optional[str]]:
    """The attribute of every type; a place without a word has none."""
    return [None if text is None else attribute(text) for text in types]


class Encoder:
    """Numbers the types and labels of sentences as they come; the numbers are its own, not the corpus's."""

    def __init__(
        self,
        features: FeatureSet,
        attributes: Callable[[str], Attribute],
        extractor: Optional[Extractor] = None,
    ) -> None:
        self.features = features
        self.tables = [TypeTable([attributes(name) for name in names]) for names in features.attributes]
        self.extra = TypeTable([lambda feature: feature])
        self.extractor = extractor
        self.labels = Numbering()

    def attribute(self, column: int, name: str) -> Attribute:
        """The function behind an attribute of the feature set's column with this number."""
        return self.tables[column].attributes[self.features.attributes[column].index(name)]

    def encode(self, sentences: Sequence[Sentence]) -> Encoded:
        """The sentences as numbers; the tables grow by what is new in them."""
        words = [len(sentence.columns[0]) for sentence in sentences]
        lengths, word_sizes = words, NO_SIZES
        if self.features.pooled:
            lengths = [1 if sentence.labels is None else len(sentence.labels) for sentence in sentences]
            word_sizes = np.array([size for size, length in zip(words, lengths) if length], np.int32)

        def number(numbering: Numbering, sequences: Sequence[Sequence[Optional[str]]], total: int) -> np.ndarray:
            look_up = numbering.__getitem__
            return np.fromiter(map(look_up, chain.from_iterable(sequences)), np.int32, total)

        ids = [
            number(table.types, [sentence.columns[c] for sentence in sentences], sum(words))
            for table, c in zip(self.tables, self.features.column_numbers)
        ]
        given = [sentence.labels for sentence in sentences if sentence.labels is not None]
        labels = number(self.labels, given, sum(lengths)) if len(given) == len(sentences) else np.zeros(0, np.int32)
        extra_sizes, extra_ids = self._extract(sentences)
        values = _values(sentences, words)
        return Encoded(np.array(lengths, np.int32), ids, labels, extra_sizes, extra_ids, word_sizes, values)

    def _extract(self, sentences: Sequence[Sentence]) -> tuple[np.ndarray, np.ndarray]:
        if self.extractor is None:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        sizes: list[int] = []
        ids: list[int] = []
        for sentence in sentences:
            tokens = list(zip(*sentence.columns))
            for position in range(len(tokens)):
                found = self.extractor(tokens, position)
                sizes.append(len(found))
                ids.extend(self.extra.types[feature] for feature in found)
        return np.array(sizes, np.int32), np.array(ids, np.int32)

    def keys(self, encoded: Encoded) -> FeatureKeys:
        return compose(self.features, encoded, [table.rows() for table in self.tables], self.extra.rows())


def _values(sentences: Sequence[Sentence], words: Sequence[int]) -> np.ndarray:
    """A value a word, or nothing if all are 1."""
    if not any(len(sentence.values) for sentence in sentences):
        return ALL_ONE
    given = (sentence.values or [1.0] * size for sentence, size in zip(sentences, words))
    return unless_all_one(np.fromiter(chain.from_iterable(given), np.float32, sum(words)))


def unless_all_one(values: np.ndarray) -> np.ndarray:
    return values if (values != 1).any() else ALL_ONE


def compose(
    features: FeatureSet,
    encoded: Encoded,
    tables: Sequence[np.ndarray],
    extra_table: np.ndarray,
    label_table: Optional[np.ndarray] = None,
) -> FeatureKeys:
    """The keys of every token's features, from the attribute hashes of its neighbourhood's types; with the hashes of
    the labels, also those of the history, which is then the gold one."""
    if features.pooled:
        return _compose_texts(features, encoded, tables)

    def run(program: Program) -> tuple[np.ndarray, np.ndarray]:
        if not len(program.seeds):
            return np.zeros(int(encoded.lengths.sum()) + 1, np.int32), np.zeros(0, np.uint64)
        return compose_keys(program, encoded.lengths, encoded.ids, tables)

    starts, keys = run(features.unigrams)
    if len(encoded.extra_sizes):
        extra_keys = extend_keys(EXTRACTOR_SEED, extra_table[encoded.extra_ids])
        starts, keys = append_per_token(starts, keys, encoded.extra_sizes, extra_keys)
    if label_table is not None and features.history_templates:
        ids, all_tables = [*encoded.ids, encoded.labels], [*tables, label_table]
        more_starts, more_keys = compose_keys(features.history, encoded.lengths, ids, all_tables)
        starts, keys = append_per_token(starts, keys, np.diff(more_starts), more_keys)
    return FeatureKeys(starts, keys, *run(features.bigrams))


def _compose_texts(features: FeatureSet, encoded: Encoded, tables: Sequence[np.ndarray]) -> FeatureKeys:
    """The bag of every text's features."""
    word_starts, word_keys = compose_keys(features.unigrams, encoded.word_sizes, encoded.ids, tables)
    starts, keys, sources = pool_keys(encoded.word_sizes, word_starts, word_keys, features.constants)
    values = ALL_ONE
    if len(encoded.values):
        of_keys = np.append(np.repeat(encoded.values, np.diff(word_starts)), np.float32(1))  # last, the constants'
        values = of_keys[sources]
    return FeatureKeys(starts, keys, np.zeros(len(starts), np.int32), np.zeros(0, np.uint64), values)


def append_per_token(
    starts: np.ndarray, keys: np.ndarray, more_sizes: np.ndarray, more_keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each token's keys followed by its further ones."""
    sizes = np.diff(starts)
    token = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.repeat(np.arange(len(sizes)), more_sizes)])
    order = np.argsort(token, kind="stable")
    joined = np.append(0, np.cumsum(sizes + more_sizes)).astype(np.int32)
    return joined, np.concatenate([keys, more_keys])[order]
