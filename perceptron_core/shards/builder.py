"""How a shard is built from what the mappers read: their pieces are put in order, renumbered and shuffled.

A mapper numbers the types of the piece of a file that it reads (`PieceEncoder`) and sends each shard its sentences
and the types that are new to that shard. The shard's builder renumbers them in the order of first occurrence, so
the finished shard does not depend on how the corpus was split into pieces. Neither side holds more than a bounded part
of the corpus: a mapper may go on with a new encoder at any sentence, as if a piece began there, and a builder keeps
what it gets on disk.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Callable

import numpy as np

from perceptron_core.arrays import ragged_range
from perceptron_core.corpus import Sentence
from perceptron_core.features.encoded import Encoded, joined
from perceptron_core.features.encoding import Encoder, Layout, Numbering, TypeTable, TypeTables
from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.shards.dealing import deal
from perceptron_core.shards.records import Record, ShardPart, Summary, write_shard
from perceptron_core.shards.shard_types import ColumnTypes
from perceptron_core.shards.spool import Spool

BUCKET_BYTES = 8 << 20  # of the records of sentences that are shuffled at a time
ENCODER_BYTES = 64 << 20  # what an encoder may know of types before a new one takes its place
CHUNK_WORDS = 1 << 18  # how many words are in memory as strings at a time


class PieceEncoder:
    """Encodes consecutive sentences of one file and deals them to the shards."""

    def __init__(self, encoder: Encoder, seed: int, file: int, first: int, shards: int) -> None:
        self.encoder, self.seed, self.file, self.shards = encoder, seed, file, shards
        self.first = self.next = first
        self.tables: list[TypeTable] = [*encoder.tables, *([encoder.extra] if encoder.extractor else [])]
        self.sent = [[np.zeros(0, bool) for _ in self.tables] for _ in range(shards)]
        self.sent_bytes = 0

    def renewed(self, make: Callable[[], Encoder]) -> "PieceEncoder":
        """Itself; or, if it knows too many types, a new one, for which a piece begins here."""
        if self.encoder.size() + self.sent_bytes <= ENCODER_BYTES:
            return self
        return PieceEncoder(make(), self.seed, self.file, self.next, self.shards)

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
            self.sent_bytes += len(types) - len(sent)
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


class ShardBuilder:
    """Takes the records of `PieceEncoder` for one shard, in any order, and yields the records of the finished shard.

    Sentences wait on disk. They are shuffled in buckets: a bucket has those whose places are in one part of all places,
    so the buckets, sorted one by one, are the whole shard in its order.
    """

    def __init__(self, features: FeatureSet, layout: Layout, bucket_bytes: int = BUCKET_BYTES) -> None:
        self.features, self.layout, self.bucket_bytes = features, layout, bucket_bytes
        self.extractor = features.extractor is not None
        self.columns = [ColumnTypes() for _ in range(len(features.columns) + self.extractor)]
        self.labels = Numbering()
        self.taken, self.dealt = Spool(), Spool()
        self.piece = (-1, -1)
        self.maps: list[np.ndarray] = []

    def add(self, record: dict[str, Any]) -> None:
        self.taken.add(corpus_order(record), record)

    def finish(self, identity: dict[str, Any]) -> Iterator[Record]:
        """The shard's records."""
        buckets = 1 + self.taken.size // self.bucket_bytes
        sentences, tokens, used = 0, 0, np.zeros(0, bool)
        for record in self.taken.in_order():
            part = self._numbered(record)
            sentences, tokens = sentences + len(part.lengths), tokens + part.tokens()
            used = np.append(used, np.zeros(len(self.labels) - len(used), bool))
            for name in self.layout.labels:
                used[part.targets[name]] = True
            self._deal(part, record["places"], buckets)
        self.taken.close()
        for column in self.columns:
            column.deal()
        known = list(self.labels)
        names = sorted(known[i] for i in np.flatnonzero(used).tolist())
        place = {name: number for number, name in enumerate(names)}
        label_map = np.array([place.get(name, -1) for name in known], np.int32)
        parts = (self._shuffled(bucket, label_map) for bucket in range(buckets) if self.dealt.has(bucket))
        yield from write_shard(Summary(sentences, tokens, names), parts, self.features.widths, identity)
        self.dealt.close()

    def _numbered(self, record: dict[str, Any]) -> Encoded:
        """A piece's sentences, with the shard's numbers of types and labels."""
        piece = record["file"], record["piece"]
        if piece != self.piece:  # each piece has numbers of its own for the types
            self.piece, self.maps = piece, [np.zeros(0, np.int64) for _ in self.columns]
        self.maps = [c.learn(known, new) for c, known, new in zip(self.columns, self.maps, record["new"])]
        label_map = np.array([self.labels[name] for name in record["label_names"]], np.int32)
        part = Encoded.from_record(record, self.layout.targets)
        return part._replace(
            ids=[known[ids] for known, ids in zip(self.maps, part.ids)],
            targets={**part.targets, **{name: label_map[part.targets[name]] for name in self.layout.labels}},
            extra_ids=self.maps[-1][part.extra_ids] if self.extractor else part.extra_ids,
        )

    def _deal(self, part: Encoded, places: np.ndarray, buckets: int) -> None:
        """Send the sentences to their buckets."""
        # The upper half of a place, a 64-bit hash, times the number of buckets, over 2 to the 32.
        bucket_of = ((places.astype(np.uint64) >> np.uint64(32)) * np.uint64(buckets)) >> np.uint64(32)
        for bucket in np.unique(bucket_of).tolist():
            chosen = np.flatnonzero(bucket_of == bucket)
            some = part.reordered(chosen) if len(chosen) < len(places) else part
            for column, sequence in zip(self.columns, self._sequences(some)):
                column.meet(sequence, bucket)
            self.dealt.add(bucket, {"places": places[chosen], **some.record()})

    def _sequences(self, encoded: Encoded) -> list[np.ndarray]:
        return [*encoded.ids, *([encoded.extra_ids] if self.extractor else [])]

    def _shuffled(self, bucket: int, label_map: np.ndarray) -> ShardPart:
        """The sentences of a bucket, in the order of their places; equal places stay in the order of the corpus."""
        records = list(self.dealt.under(bucket))
        order = np.argsort(np.concatenate([record["places"] for record in records]), kind="stable")
        together = joined([Encoded.from_record(record, self.layout.targets) for record in records])
        shuffled = together.reordered(order)
        ids, rows, texts = [], [], []
        for column, sequence in zip(self.columns, self._sequences(shuffled)):
            numbers, new = column.finish(sequence, bucket)
            ids.append(numbers)
            rows.append(new.rows)
            texts.append(new.texts)
        extra_ids = ids.pop() if self.extractor else shuffled.extra_ids
        extra_rows = rows.pop() if self.extractor else np.zeros(0, np.uint64)
        targets = {**shuffled.targets, **{name: label_map[shuffled.targets[name]] for name in self.layout.labels}}
        encoded = shuffled._replace(ids=ids, targets=targets, extra_ids=extra_ids)
        return ShardPart(encoded, TypeTables(rows, extra_rows), texts)


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
