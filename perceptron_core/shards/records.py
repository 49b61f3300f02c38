"""An encoded shard: the records of a header, blocks of sentences, and a trailer; each travels as one line.

    header   which shard of how many, the seed, the fingerprint of its features, its labels, how large it is
    block    some thousand tokens: type numbers a column, label numbers, and the types that occur in it for the first
             time: their attribute hashes, and their strings for whoever wants to name a feature; in classification
             also how many words each text has, and the words' values unless all are 1
    trailer  how many blocks, sentences and tokens there were, so that a shard that was cut is noticed

A type's hashes travel once a shard; the keys of features are composed from them on load.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from perceptron_core.arrays import GrowingArray, ragged_range, smallest
from perceptron_core.errors import UserError
from perceptron_core.features.encoding import Encoded, FeatureKeys, compose, unless_all_one
from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.kernels import ALL_ONE, hash_strings
from perceptron_core.wire import DamagedRecord

VERSION = 2
BLOCK_TOKENS = 8192  # of texts, words

Record = tuple[str, dict[str, Any]]


class ShardContent(NamedTuple):
    """A whole shard, its sentences in their order, its types numbered in the order of their first occurrence."""

    encoded: Encoded
    tables: Sequence[np.ndarray]  # per column: attribute hashes, flat
    extra_table: np.ndarray
    label_names: Sequence[str]
    types: Sequence[Sequence[str]] = ()  # per column, the extractor's features last: what is hashed in the tables


def write_shard(content: ShardContent, widths: Sequence[int], identity: dict[str, Any]) -> Iterator[Record]:
    """The shard's records in order."""
    encoded = content.encoded
    counts = {"sentences": len(encoded.lengths), "tokens": len(encoded.labels)}
    yield "header", {**identity, **counts, "version": VERSION, "labels": list(content.label_names)}
    tables, all_widths = [*content.tables, content.extra_table], [*widths, 1]
    types = [*content.types, *([()] * (len(tables) - len(content.types)))]
    sent = [0] * len(tables)
    ends, word_ends = np.cumsum(encoded.lengths), np.cumsum(encoded.words())
    extra_ends = np.append(0, np.cumsum(encoded.extra_sizes))
    first = token = word = blocks = 0
    while first < len(ends):
        last = max(first + 1, int(np.searchsorted(word_ends, word + BLOCK_TOKENS, side="right")))
        span, words = slice(token, int(ends[last - 1])), slice(word, int(word_ends[last - 1]))
        record: dict[str, Any] = {
            "lengths": smallest(encoded.lengths[first:last]),
            "labels": smallest(encoded.labels[span]),
        }
        extras = encoded.extra_ids[:0]
        if len(encoded.extra_sizes):
            extras = encoded.extra_ids[extra_ends[span.start] : extra_ends[span.stop]]
            record["extra_sizes"] = smallest(encoded.extra_sizes[span])
        if len(encoded.word_sizes):
            record["word_sizes"] = smallest(encoded.word_sizes[span])
        values = unless_all_one(encoded.values[words])
        if len(values):
            record["values"] = values
        columns = [*(ids[words] for ids in encoded.ids), extras]
        record["ids"] = [smallest(ids) for ids in columns]
        known = [max(had, int(ids.max()) + 1 if len(ids) else 0) for had, ids in zip(sent, columns)]
        record["new"] = [t[a * w : b * w] for t, w, a, b in zip(tables, all_widths, sent, known)]
        record["types"] = [list(texts[a:b]) for texts, a, b in zip(types, sent, known)]
        yield "block", record
        sent, first, token, word, blocks = known, last, span.stop, words.stop, blocks + 1
    yield "trailer", {"blocks": blocks, **counts}


class ShardReader:
    """Takes a shard's records one by one and gives back each block's sentences, as numbers and as feature keys."""

    def __init__(self, features: FeatureSet, fingerprint: str, labels: Sequence[str]) -> None:
        self.features, self.fingerprint = features, fingerprint
        self.label_numbers = {label: number for number, label in enumerate(labels)}
        self.header: Optional[dict[str, Any]] = None
        self.label_table = hash_strings(list(labels))
        self.tables = [GrowingArray(np.uint64) for _ in (*features.columns, "extractor")]
        self.blocks = self.sentences = self.tokens = 0
        self.complete = False

    def take(self, kind: str, record: dict[str, Any]) -> Optional[Encoded]:
        """The sentences of a block, None for any other record; refuses what does not belong here."""
        if self.complete:
            raise DamagedRecord("something follows the trailer of a shard; prepare the corpus again")
        if kind == "header":
            self._take_header(record)
        elif self.header is None:
            raise DamagedRecord("a shard does not begin with its header; prepare the corpus again")
        elif kind == "block":
            return self._take_block(record)
        elif kind == "trailer":
            counted = {"blocks": self.blocks, "sentences": self.sentences, "tokens": self.tokens}
            if record != counted:
                raise DamagedRecord(f"the shard holds {counted}, its trailer says {record}; prepare the corpus again")
            self.complete = True
        else:
            raise DamagedRecord(f"a shard has no record of the kind {kind!r}; prepare the corpus again")
        return None

    def _take_header(self, record: dict[str, Any]) -> None:
        if self.header is not None:
            raise DamagedRecord("a second header within one shard: a task was given more than one shard")
        if record.get("version") != VERSION:
            raise UserError(
                f"the shard has version {record.get('version')}, this is {VERSION}; prepare the corpus again"
            )
        if record["features"] != self.fingerprint:
            raise UserError("the shard was prepared with other features; prepare the corpus again")
        unknown = [label for label in record["labels"] if label not in self.label_numbers]
        if unknown:
            raise UserError(f"the shard has labels that the run does not know: {', '.join(unknown)}")
        self.header = record
        self.label_map = np.array([self.label_numbers[label] for label in record["labels"]], np.int32)

    def _take_block(self, record: dict[str, Any]) -> Encoded:
        for table, new in zip(self.tables, record["new"]):
            table.extend(new)

        def numbers(values: Any) -> np.ndarray:
            return np.asarray(values).astype(np.int32)

        *ids, extra_ids = (numbers(ids) for ids in record["ids"])
        self._check_types([*ids, extra_ids])
        encoded = Encoded(
            numbers(record["lengths"]),
            ids,
            self.label_map[record["labels"]],
            numbers(record.get("extra_sizes", ())),
            extra_ids,
            numbers(record.get("word_sizes", ())),
            np.asarray(record.get("values", ALL_ONE), np.float32),
        )
        self.blocks += 1
        self.sentences += len(encoded.lengths)
        self.tokens += len(encoded.labels)
        return encoded

    def _check_types(self, columns: Sequence[np.ndarray]) -> None:
        """The kernel trusts the numbers of types, and the trailer, which counts the blocks, comes too late for it."""
        for ids, table, width in zip(columns, self.tables, (*self.features.unigrams.widths.tolist(), 1)):
            if len(ids) and int(ids.max()) >= len(table) // width:
                raise DamagedRecord("a block of a shard is missing before this one; prepare the corpus again")

    def keys(self, encoded: Encoded) -> FeatureKeys:
        *tables, extra_table = (table.view() for table in self.tables)
        return compose(self.features, encoded, tables, extra_table, self.label_table)

    def finish(self) -> dict[str, Any]:
        """The header, once everything was read; refuses a shard that was cut."""
        if self.header is None or not self.complete:
            raise DamagedRecord(
                "a shard ends before its trailer, so it was cut (or split between tasks); prepare the corpus again"
            )
        return self.header


def reorder(encoded: Encoded, order: np.ndarray) -> Encoded:
    """The same sentences in another order."""
    lengths = encoded.lengths[order]
    token_starts = np.cumsum(encoded.lengths) - encoded.lengths
    tokens = ragged_range(token_starts[order], lengths)
    words, word_sizes = tokens, encoded.word_sizes
    if len(word_sizes):
        words = ragged_range((np.cumsum(word_sizes) - word_sizes)[tokens], word_sizes[tokens])
        word_sizes = word_sizes[tokens]
    values = encoded.values[words] if len(encoded.values) else ALL_ONE
    extra_sizes, extra_ids = encoded.extra_sizes, encoded.extra_ids
    if len(extra_sizes):
        extra_starts = np.cumsum(extra_sizes) - extra_sizes
        extra_ids = extra_ids[ragged_range(extra_starts[tokens], extra_sizes[tokens])]
        extra_sizes = extra_sizes[tokens]
    ids = [column[words] for column in encoded.ids]
    return Encoded(lengths, ids, encoded.labels[tokens], extra_sizes, extra_ids, word_sizes, values)
