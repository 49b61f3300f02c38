"""The records of an encoded shard: a header, blocks of sentences, and a trailer; each is one line of a file.

    header   which shard of how many, the seed, the fingerprint of its features, its labels, how large it is
    block    some thousand tokens: type numbers per column, label numbers, and the types that occur in it for the first
             time: their attribute hashes, and their strings, from which features are named; in classification also
             how many words each text has, and the words' values unless all are 1
    trailer  how many blocks, sentences and tokens there were, so that a truncated shard is noticed

The hashes of a type are in a shard once; the keys of features are composed from them when it is read.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from perceptron_core.arrays import GrowingArray
from perceptron_core.errors import UserError
from perceptron_core.features.block_checks import Bounds, check_block
from perceptron_core.features.encoded import Encoded, joined
from perceptron_core.features.encoding import Layout, TypeTables
from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.kernels import hash_strings
from perceptron_core.shards.frame import VERSION, checked_header, checked_trailer
from perceptron_core.wire import DamagedRecord

BLOCK_TOKENS = 8192  # in texts: words

Record = tuple[str, dict[str, Any]]


class Summary(NamedTuple):
    """What a shard's header says of its content."""

    sentences: int
    tokens: int
    labels: Sequence[str]


class ShardPart(NamedTuple):
    """Some sentences of a shard, in their order, and the types that occur in them for the first time. The types of a
    shard are numbered in the order of their first occurrence."""

    encoded: Encoded
    tables: TypeTables
    types: Sequence[Sequence[str]] = ()  # per column, the extractor's features last: what is hashed in the tables


def write_shard(
    summary: Summary, parts: Iterable[ShardPart], widths: Sequence[int], identity: dict[str, Any]
) -> Iterator[Record]:
    """The shard's records in order; where its parts begin and end does not matter."""
    counts = {"sentences": summary.sentences, "tokens": summary.tokens}
    yield "header", {**identity, **counts, "version": VERSION, "labels": list(summary.labels)}
    blocks = _Blocks([*widths, 1])
    for part in parts:
        yield from blocks.add(part)
    yield from blocks.finish()
    yield "trailer", {"blocks": blocks.count, **counts}


class _Blocks:
    """Blocks from parts; what does not fill a block waits for the next part."""

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths = widths
        self.count = 0
        self.rest: Optional[Encoded] = None
        self.known = [0] * len(widths)  # how many types of each column are in the blocks so far
        self.tables = [np.zeros(0, np.uint64)] * len(widths)  # of those that are not
        self.types: list[list[str]] = [[] for _ in widths]

    def add(self, part: ShardPart) -> Iterator[Record]:
        """The blocks that are complete with this part."""
        self.tables = [np.append(a, b) for a, b in zip(self.tables, (*part.tables.columns, part.tables.extra))]
        for waiting, new in zip(self.types, part.types):
            waiting.extend(new)
        together = part.encoded if self.rest is None else joined([self.rest, part.encoded])
        spans = list(_spans(together))
        for first, last in spans[:-1]:
            yield self._block(together.between(first, last))
        self.rest = together.between(*spans[-1]) if spans else None

    def finish(self) -> Iterator[Record]:
        """The last block."""
        if self.rest is not None:
            yield self._block(self.rest)

    def _block(self, block: Encoded) -> Record:
        record = block.record()
        record["new"], record["types"] = [], []
        for c, ids in enumerate((*block.ids, block.extra_ids)):
            new = max(0, int(ids.max()) + 1 - self.known[c]) if len(ids) else 0
            record["new"].append(self.tables[c][: new * self.widths[c]])
            record["types"].append(self.types[c][:new])
            self.tables[c], self.types[c] = self.tables[c][new * self.widths[c] :], self.types[c][new:]
            self.known[c] += new
        self.count += 1
        return "block", record


def _spans(encoded: Encoded) -> Iterator[tuple[int, int]]:
    """Which sentences make a block: as many as have BLOCK_TOKENS words, and at least one."""
    sentences = len(encoded.lengths)
    words = encoded.words()
    if len(words) != sentences:  # texts: one per sentence, except for the sentence without a text that ends a file
        words = np.zeros(sentences, np.int64)
        words[encoded.lengths > 0] = encoded.word_sizes
    ends, first, begin = np.cumsum(words), 0, 0
    while first < sentences:
        last = max(first + 1, int(np.searchsorted(ends, begin + BLOCK_TOKENS, side="right")))
        yield first, last
        first, begin = last, int(ends[last - 1])


class ShardReader:
    """Takes a shard's records one by one and returns each block's sentences, as numbers."""

    def __init__(self, features: FeatureSet, layout: Layout, fingerprint: str, labels: Sequence[str]) -> None:
        self.features, self.layout, self.fingerprint = features, layout, fingerprint
        self.label_numbers = {label: number for number, label in enumerate(labels)}
        self.header: Optional[dict[str, Any]] = None
        self.label_hashes = hash_strings(list(labels))
        self._tables = [GrowingArray(np.uint64) for _ in (*features.columns, "extractor")]
        self.blocks = self.sentences = self.tokens = 0
        self.complete = False

    def take(self, kind: str, record: dict[str, Any]) -> Optional[Encoded]:
        """The sentences of a block, None for any other record; refuses what does not belong here."""
        if not isinstance(record, dict):
            raise DamagedRecord("a record of a shard does not decode; prepare the corpus again")
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
            if checked_trailer(record) != counted:
                raise DamagedRecord(f"the shard holds {counted}, its trailer says {record}; prepare the corpus again")
            self.complete = True
        else:
            raise DamagedRecord(f"a shard has no record of the kind {kind!r:.20}; prepare the corpus again")
        return None

    def _take_header(self, record: dict[str, Any]) -> None:
        if self.header is not None:
            raise DamagedRecord("there is a second header within one shard: a task was given more than one shard")
        if checked_header(record)["features"] != self.fingerprint:
            raise UserError("the shard was prepared with other features; prepare the corpus again")
        labels = record["labels"]
        unknown = [label for label in labels if label not in self.label_numbers]
        if unknown:
            some = ", ".join(unknown[:10])
            raise UserError(f"the shard has labels that the run does not know: {some}; prepare the corpus again")
        self.header = record
        self.label_map = np.array([self.label_numbers[label] for label in labels], np.int32)

    def _take_block(self, record: dict[str, Any]) -> Encoded:
        self._take_types(record.get("new"))
        encoded = Encoded.from_record(record, self.layout.targets)
        *ids, extra_ids = (len(table) // width for table, width in zip(self._tables, (*self.features.widths, 1)))
        labels = dict.fromkeys(self.layout.labels, len(self.label_map))
        check_block(encoded, Bounds(ids, extra_ids, labels), self.layout.texts)
        targets = {**encoded.targets, **{name: self.label_map[encoded.targets[name]] for name in self.layout.labels}}
        encoded = encoded._replace(targets=targets)
        self.blocks += 1
        self.sentences += len(encoded.lengths)
        self.tokens += encoded.tokens()
        return encoded

    def _take_types(self, new: Any) -> None:
        """The attribute hashes of the types that occur for the first time."""
        if not isinstance(new, list) or len(new) != len(self._tables):
            raise DamagedRecord("a block of a shard lacks its types; prepare the corpus again")
        for table, hashes, width in zip(self._tables, new, (*self.features.widths, 1)):
            if not isinstance(hashes, np.ndarray) or hashes.dtype != np.uint64 or len(hashes) % width:
                raise DamagedRecord("the types of a block of a shard are damaged; prepare the corpus again")
            table.extend(hashes)

    def tables(self) -> TypeTables:
        """The attribute hashes of the types in all blocks so far."""
        *columns, extra = (table.view() for table in self._tables)
        return TypeTables(columns, extra)

    def finish(self) -> dict[str, Any]:
        """The header, once everything was read; refuses a truncated shard."""
        if self.header is None or not self.complete:
            raise DamagedRecord(
                "a shard ends before its trailer, so it was truncated (or split between tasks); prepare the corpus "
                "again"
            )
        return self.header
