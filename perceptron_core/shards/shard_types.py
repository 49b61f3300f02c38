"""The types of one column of a shard while it is built: they are numbered twice.

Pieces of the corpus come in their order, and the shard's sentences are shuffled. So a type first gets a number when a
piece brings it, with the hashes of its attributes and its string, which wait on disk; and its final number when it
first occurs in the shuffled shard. That is made bucket by bucket (builder.py); a type is loaded with the bucket in
which it first occurs. In memory are about thirty bytes per type: its own hash, both numbers and that bucket.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from perceptron_core.arrays import GrowingArray
from perceptron_core.kernels import KeyTable, hash_strings
from perceptron_core.shards.spool import Spool

NOWHERE = np.iinfo(np.int32).max


class NewTypes(NamedTuple):
    """Types in the order of their final numbers."""

    rows: np.ndarray  # the hashes of their attributes, flat
    texts: Sequence[str]


class ColumnTypes:
    def __init__(self) -> None:
        self._numbers = KeyTable()
        self._first_bucket = GrowingArray(np.int32)
        self._learnt = Spool()  # in the order of the numbers
        self._of_bucket = Spool()
        self._final = np.zeros(0, np.int32)
        self._known = 0  # types with a final number

    def learn(self, known: np.ndarray, new: dict[str, Any]) -> np.ndarray:
        """The map from a piece's numbers to ours, with the piece's new types in it."""
        ids, texts = new["ids"], new["types"]
        if not len(ids):
            return known
        top = int(ids.max()) + 1
        if len(known) < top:
            known = np.append(known, np.full(top - len(known), -1))
        before = len(self._numbers)
        numbers = self._numbers.intern(hash_strings(texts))
        known[ids] = numbers
        distinct, places = np.unique(numbers, return_index=True)
        fresh = places[distinct >= before]
        if len(fresh):
            rows = new["rows"].reshape(len(texts), -1)[fresh].ravel()
            self._learnt.add(before, {"rows": rows, "texts": [texts[i] for i in fresh.tolist()]})
            self._first_bucket.extend(np.full(len(fresh), NOWHERE, np.int32))
        return known

    def meet(self, sequence: np.ndarray, bucket: int) -> None:
        """These types occur in the bucket."""
        first = self._first_bucket.view()
        first[sequence] = np.minimum(first[sequence], bucket)

    def deal(self) -> None:
        """Send every type to its first bucket, once all buckets are known."""
        begin = 0
        for chunk in self._learnt.in_order():
            texts = chunk["texts"]
            first = self._first_bucket.view()[begin : begin + len(texts)]
            rows = chunk["rows"].reshape(len(texts), -1)
            for bucket in np.unique(first).tolist():
                chosen = np.flatnonzero(first == bucket)
                dealt = {"rows": rows[chosen].ravel(), "texts": [texts[i] for i in chosen.tolist()]}
                self._of_bucket.add(bucket, {"numbers": begin + chosen, **dealt})
            begin += len(texts)
        self._learnt.close()
        self._final = np.full(len(self._numbers), -1, np.int32)

    def finish(self, sequence: np.ndarray, bucket: int) -> tuple[np.ndarray, NewTypes]:
        """The bucket's types, in the shuffled order, by their final numbers; and those that occur for the first time.
        Buckets must come one after the other."""
        met, places = np.unique(sequence[self._final[sequence] < 0], return_index=True)
        new = met[np.argsort(places)]
        if not len(new):
            return self._final[sequence], NewTypes(np.zeros(0, np.uint64), [])
        self._final[new] = np.arange(self._known, self._known + len(new))
        self._known += len(new)
        chunks = list(self._of_bucket.under(bucket))
        numbers, rows = (np.concatenate([chunk[name] for chunk in chunks]) for name in ("numbers", "rows"))
        texts = [text for chunk in chunks for text in chunk["texts"]]
        at = np.searchsorted(numbers, new)
        return self._final[sequence], NewTypes(
            rows.reshape(len(numbers), -1)[at].ravel(), [texts[i] for i in at.tolist()]
        )
