"""How a shard is built from what the mappers read: their pieces are put in order, renumbered and shuffled.

A mapper numbers the types of the piece of a file that it reads (`PieceEncoder`) and sends each shard its sentences
and the types that are new to that shard. The shard's builder renumbers them in the order of first occurrence, so
the finished shard does not depend on how the corpus was split into pieces.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from perceptron_core.arrays import GrowingArray, ragged_range
from perceptron_core.corpus import Sentence
from perceptron_core.features.encoded import Encoded, joined, nothing
from perceptron_core.features.encoding import Encoder, Layout, Numbering, TypeTable, TypeTables
from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.shards.dealing import deal
from perceptron_core.shards.records import ShardContent

CHUNK_WORDS = 1 << 18  # how many words are in memory as strings at a time


class PieceEncoder:
    """Encodes consecutive sentences of one file and deals them to the shards."""

    def __init__(self, encoder: Encoder, seed: int, file: int, first: int, shards: int) -> None:
        self.encoder, self.seed, self.file, self.shards = encoder, seed, file, shards
        self.first = self.next = first
        self.tables: list[TypeTable] = [*encoder.tables, *([encoder.extra] if encoder.extractor else [])]
        self.sent = [[np.zeros(0, bool) for _ in self.tables] for _ in range(shards)]

    def encode(self, sentences: Sequence[Sentence]) -> Iterator[tuple[int, dict[str, Any]]]:
        """(shard, record) for every shard that gets some of these sentences."""
        encoded = self.encoder.encode(sentences)
        order = {"file": self.file, "piece": self.first, "ordinal": self.next}
        shard_of, places = deal(self.seed, self.file, self.next, len(sentences), self.shards)
        self.next += len(sentences)
        rows = [table.rows() for table in self.tables]
        types = [list(table.types) for table in self.tables]
        for shard in np.unique(shard_of).tolist():
            mine = np.flatnonzero(shard_of == shard)
            part = encoded.reordered(mine)
            columns = [*part.ids, *([part.extra_ids] if self.encoder.extractor else [])]
            record = {
                **order,
                "places": places[mine],
                **part.record(),
                "label_names": list(self.encoder.labels),
                "new": [self._new_types(shard, c, ids, rows[c], types[c]) for c, ids in enumerate(columns)],
            }
            yield shard, record

    def _new_types(
        self, shard: int, column: int, ids: np.ndarray, rows: np.ndarray, types: Sequence[str]
    ) -> dict[str, Any]:
        """The types among `ids` that were not sent to this shard yet."""
        sent = self.sent[shard][column]
        if len(sent) < len(types):
            sent = np.append(sent, np.zeros(len(types) - len(sent), bool))
        used = np.unique(ids)
        new = used[~sent[used]]
        sent[new] = True
        self.sent[shard][column] = sent
        width = len(rows) // max(1, len(types))
        return {
            "ids": new,
            "rows": rows[ragged_range(new * width, np.full(len(new), width))],
            "types": [types[i] for i in new.tolist()],
        }


def corpus_order(record: dict[str, Any]) -> tuple[int, int]:
    """The place of a record's sentences in the corpus."""
    return record["file"], record["ordinal"]


class Column(NamedTuple):
    """A column's types, as the shard numbers them, so far."""

    types: Numbering
    rows: GrowingArray


class ShardBuilder:
    """Takes the records of `PieceEncoder` for one shard, sorted by `corpus_order`, and finishes the shard."""

    def __init__(self, features: FeatureSet, layout: Layout) -> None:
        self.extractor, self.layout = features.extractor is not None, layout
        columns = len(features.columns) + self.extractor
        self.columns = [Column(Numbering(), GrowingArray(np.uint64)) for _ in range(columns)]
        self.labels = Numbering()
        self.piece = (-1, -1)
        self.maps: list[np.ndarray] = []
        self.parts: list[Encoded] = []
        self.places: list[np.ndarray] = []

    def add(self, record: dict[str, Any]) -> None:
        piece = record["file"], record["piece"]
        if piece != self.piece:  # each piece has numbers of its own for the types
            self.piece, self.maps = piece, [np.zeros(0, np.int64) for _ in self.columns]
        for c, (column, new) in enumerate(zip(self.columns, record["new"])):
            self.maps[c] = self._learn(column, self.maps[c], new)
        label_map = np.array([self.labels[name] for name in record["label_names"]], np.int32)
        part = Encoded.from_record(record, self.layout.targets)
        self.parts.append(
            part._replace(
                ids=[self.maps[c][ids] for c, ids in enumerate(part.ids)],
                targets={**part.targets, **{name: label_map[part.targets[name]] for name in self.layout.labels}},
                extra_ids=self.maps[-1][part.extra_ids] if self.extractor else part.extra_ids,
            )
        )
        self.places.append(record["places"])

    @staticmethod
    def _learn(column: Column, known: np.ndarray, new: dict[str, Any]) -> np.ndarray:
        """The map from the piece's type numbers to the shard's, with the new types in it."""
        if not len(new["ids"]):
            return known
        top = int(new["ids"].max()) + 1
        if len(known) < top:
            known = np.append(known, np.full(top - len(known), -1))
        before = len(column.types)
        numbers = np.array([column.types[text] for text in new["types"]])
        known[new["ids"]] = numbers
        rows = new["rows"].reshape(len(numbers), -1)
        column.rows.extend(rows[numbers >= before].ravel())
        return known

    def finish(self) -> ShardContent:
        """The shard."""
        if not self.parts:
            none, columns = np.zeros(0, np.uint64), len(self.columns) - self.extractor
            return ShardContent(nothing(columns, self.layout.targets), TypeTables([none] * columns, none), [])
        shuffled = joined(self.parts).reordered(np.argsort(np.concatenate(self.places), kind="stable"))
        sequences = [*shuffled.ids, *([shuffled.extra_ids] if self.extractor else [])]
        ids, tables, types = [], [], []
        for column, sequence in zip(self.columns, sequences):
            numbers, used = first_occurrence_order(sequence)
            count = len(column.types)  # none, if an extractor found nothing in the whole shard
            rows = column.rows.view().reshape(count, len(column.rows) // max(1, count))
            texts = list(column.types)
            ids.append(numbers)
            tables.append(rows[used].ravel())
            types.append([texts[i] for i in used.tolist()])
        extra_ids = ids.pop() if self.extractor else shuffled.extra_ids
        extra_table = tables.pop() if self.extractor else np.zeros(0, np.uint64)
        names = sorted(self.labels)
        label_map = np.array([names.index(name) for name in self.labels], np.int32)
        sorted_labels = {name: label_map[shuffled.targets[name]] for name in self.layout.labels}
        used_labels = np.unique(np.concatenate(list(sorted_labels.values())))
        targets = {**shuffled.targets}
        for name, labels in sorted_labels.items():
            targets[name] = np.searchsorted(used_labels, labels).astype(np.int32)
        encoded = shuffled._replace(ids=ids, targets=targets, extra_ids=extra_ids)
        found = [names[i] for i in used_labels.tolist()]
        return ShardContent(encoded, TypeTables(tables, extra_table), found, types)


def first_occurrence_order(sequence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the sequence renumbered so that numbers first occur in ascending order, the old number of each new one)."""
    old, first, inverse = np.unique(sequence, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return rank[inverse.ravel()], old[order]


def in_chunks(sentences: Iterator[Sentence], size: int) -> Iterator[list[Sentence]]:
    """Lists of up to `size` sentences, or fewer if they are long texts."""
    chunk: list[Sentence] = []
    words = 0
    for sentence in sentences:
        chunk.append(sentence)
        words += len(sentence.columns[0])
        if len(chunk) == size or words >= CHUNK_WORDS:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk
