"""Sentences as numbers: every token's type in each column, every type's attributes as hashes, once a type.

No string is built per feature of a token: a feature's key is composed from the hashes of its token's types.
"""

from collections.abc import Sequence
from itertools import chain, islice
from typing import Callable, NamedTuple, Optional

import numpy as np

from perceptron_core.corpus import Sentence
from perceptron_core.features.attributes import Attribute
from perceptron_core.features.feature_set import EXTRACTOR_SEED, FeatureSet, Program
from perceptron_core.features.user_code import Extractor
from perceptron_core.growing import GrowingArray
from perceptron_core.hashing import mix_array
from perceptron_core.kernels import compose_keys, hash_strings


class Encoded(NamedTuple):
    """Some sentences. `ids` has an array for each of the feature set's columns, one type number a token; with an
    extractor, `extra_ids` has the numbers of its features, extra_sizes[t] of them for token t."""

    lengths: np.ndarray  # int32, tokens of each sentence
    ids: list[np.ndarray]
    labels: np.ndarray  # int32, a label number a token; empty if the input has no labels
    extra_sizes: np.ndarray  # int32; empty without an extractor
    extra_ids: np.ndarray


class FeatureKeys(NamedTuple):
    """The keys of every token's features: token t has keys[starts[t]:starts[t+1]]; `pair_…` are those of the
    label-bigram templates."""

    starts: np.ndarray
    keys: np.ndarray
    pair_starts: np.ndarray
    pair_keys: np.ndarray


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
            columns = [hash_strings([attribute(text) for text in new]) for attribute in self.attributes]
            self._hashes.extend(np.stack(columns, axis=1).ravel())
        return self._hashes.view()


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
        lengths = [len(sentence.columns[0]) for sentence in sentences]
        total = sum(lengths)

        def number(numbering: Numbering, sequences: Sequence[Sequence[str]]) -> np.ndarray:
            look_up = numbering.__getitem__
            return np.fromiter(map(look_up, chain.from_iterable(sequences)), np.int32, total)

        ids = [
            number(table.types, [sentence.columns[c] for sentence in sentences])
            for table, c in zip(self.tables, self.features.column_numbers)
        ]
        given = [sentence.labels for sentence in sentences if sentence.labels is not None]
        labels = number(self.labels, given) if len(given) == len(sentences) else np.zeros(0, np.int32)
        extra_sizes, extra_ids = self._extract(sentences)
        return Encoded(np.array(lengths, np.int32), ids, labels, extra_sizes, extra_ids)

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


def compose(
    features: FeatureSet,
    encoded: Encoded,
    tables: Sequence[np.ndarray],
    extra_table: np.ndarray,
    label_table: Optional[np.ndarray] = None,
) -> FeatureKeys:
    """The keys of every token's features, from the attribute hashes of its neighbourhood's types; with the hashes of
    the labels, also those of the history, which is then the gold one."""

    def run(program: Program) -> tuple[np.ndarray, np.ndarray]:
        if not len(program.seeds):
            return np.zeros(int(encoded.lengths.sum()) + 1, np.int32), np.zeros(0, np.uint64)
        return compose_keys(program, encoded.lengths, encoded.ids, tables)

    starts, keys = run(features.unigrams)
    if len(encoded.extra_sizes):
        extra_keys = mix_array(EXTRACTOR_SEED, extra_table[encoded.extra_ids])
        starts, keys = join(starts, keys, encoded.extra_sizes, extra_keys)
    if label_table is not None and features.history_templates:
        ids, all_tables = [*encoded.ids, encoded.labels], [*tables, label_table]
        more_starts, more_keys = compose_keys(features.history, encoded.lengths, ids, all_tables)
        starts, keys = join(starts, keys, np.diff(more_starts), more_keys)
    return FeatureKeys(starts, keys, *run(features.bigrams))


def join(
    starts: np.ndarray, keys: np.ndarray, more_sizes: np.ndarray, more_keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each token's keys followed by its further ones."""
    sizes = np.diff(starts)
    token = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.repeat(np.arange(len(sizes)), more_sizes)])
    order = np.argsort(token, kind="stable")
    joined = np.append(0, np.cumsum(sizes + more_sizes)).astype(np.int32)
    return joined, np.concatenate([keys, more_keys])[order]
