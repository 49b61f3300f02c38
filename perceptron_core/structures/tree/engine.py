"""The engine of trees: the values of every word as the kernel takes them, the weights by key, and the kernel's calls.

A sentence of n words has n² arcs, so features are not numbered: their keys are made while a sentence is searched, and a
row of weights is made when an update needs it. All weights of a model are loaded at once, by key.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from perceptron_core.corpus.trees import LONGEST
from perceptron_core.features.encoded import NO_NUMBERS, Encoded
from perceptron_core.features.encoding import TypeTables
from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.kernels import KeyedBank, KeyTable, Trainer
from perceptron_core.settings import Settings
from perceptron_core.structures.base import Counted, Engine
from perceptron_core.structures.tree.features import ARC_LABELS, TreeProgram
from perceptron_core.structures.tree.kernel import TreeFinder
from perceptron_core.weights.checks import check_rows
from perceptron_core.weights.rows import Rows, interleave, select
from perceptron_core.wire import DamagedRecord

SPARSE_FROM = 8  # relations: a row with more of them is an array


class TreeBlock(NamedTuple):
    """Sentences as the kernel takes them."""

    lengths: np.ndarray
    values: np.ndarray  # uint64, words × attributes
    heads: np.ndarray  # int32, 0 for the root; empty in a block that is only decoded
    relations: np.ndarray  # int32

    def examples(self) -> int:
        return len(self.lengths)

    def tokens(self) -> int:
        return len(self.values)

    def size(self) -> int:
        return sum(array.nbytes for array in self)

    def between(self, first: int, last: int) -> "TreeBlock":
        """The sentences from number `first` to before number `last`."""
        begin = int(self.lengths[:first].sum())
        end = begin + int(self.lengths[first:last].sum())
        words = slice(begin, end)
        return TreeBlock(self.lengths[first:last], self.values[words], self.heads[words], self.relations[words])


def tree_block(features: FeatureSet, encoded: Encoded, tables: TypeTables) -> TreeBlock:
    """The values of every word are looked up here, so that a block does not depend on the tables of its shard."""
    if int(encoded.lengths.max(initial=0)) > LONGEST:
        raise DamagedRecord(f"a block is damaged: a tree has at most {LONGEST:,} words; prepare the corpus again")
    columns = [table.reshape(-1, width)[ids] for ids, table, width in zip(encoded.ids, tables.columns, features.widths)]
    values = np.concatenate(columns, axis=1) if columns else np.zeros((encoded.tokens(), 0), np.uint64)
    return TreeBlock(encoded.lengths, values, encoded.targets["heads"], encoded.targets["relations"])


class TreeMemory(NamedTuple):
    """What engines of a shard share: which features are not too rare."""

    kept: Optional[KeyTable] = None

    def size(self) -> int:
        return 0


class TreeEngine(Engine):
    def __init__(
        self,
        features: FeatureSet,
        program: TreeProgram,
        relations: Sequence[str],
        settings: Settings,
        weights: Rows,
        memory: TreeMemory,
        threads: int,
        one_root: bool,
    ) -> None:
        self.features = features
        # A model without counts has only relevant features.
        self.min_updates = settings.min_updates if weights.counts is not None else 1
        self.arcs = KeyedBank(len(ARC_LABELS), 0, self.min_updates)
        self.relations = KeyedBank(len(relations), min(SPARSE_FROM, len(relations) // 2), self.min_updates)
        self._load(weights)
        kept = None if memory.kept is None else memory.kept.keys()
        finder = TreeFinder(program, self.arcs, self.relations, settings, one_root, kept)
        self.trainer = Trainer(finder, settings)
        self.trainer.use_threads(threads)

    def take(self, encoded: Encoded, tables: TypeTables) -> TreeBlock:
        block = tree_block(self.features, encoded, tables)
        relations = block.relations - np.int32(len(ARC_LABELS))  # the first labels are those of the arcs' rows
        if len(relations) and int(relations.min()) < 0:
            raise DamagedRecord(
                "a block is damaged: a relation is called like a weight of arcs; prepare the corpus again"
            )
        return block._replace(relations=relations)

    def train(self, block: TreeBlock) -> Counted:
        return Counted(*self.trainer.train(block))

    def end_of_pass(self) -> int:
        return self.trainer.flush()

    def decode(self, block: TreeBlock) -> Mapping[str, np.ndarray]:
        guess = self.trainer.decode(block._replace(heads=NO_NUMBERS, relations=NO_NUMBERS))
        return {"heads": guess[:, 0], "relations": guess[:, 1] + np.int32(len(ARC_LABELS))}

    # ------------------------------------------------------------ weights

    def _load(self, weights: Rows) -> None:
        """The labels of arcs come before those of relations, and no row has both."""
        labels = len(ARC_LABELS) + self.relations.labels
        weights = check_rows(weights, labels, {name: column.dtype.str for name, column in weights.values.items()})
        starts = np.asarray(weights.starts).astype(np.int64)
        of_relation = weights.labels >= len(ARC_LABELS)
        filled = np.flatnonzero(np.diff(starts))
        first = np.zeros(len(weights.keys), bool)
        first[filled] = of_relation[starts[filled]]
        if (of_relation != np.repeat(first, np.diff(starts))).any():
            raise DamagedRecord("the weights are damaged: a feature has some of arcs and of relations; make them again")
        for bank, which, offset in ((self.arcs, ~first, 0), (self.relations, first, len(ARC_LABELS))):
            rows: Any = select(weights, np.flatnonzero(which))
            labels = (rows.labels - np.uint32(offset)).astype(np.uint32)
            bank.load(rows.keys, rows.starts.astype(np.int64), labels, rows.values["weight"], rows.counts)

    def touched(self) -> Rows:
        return interleave([_touched(self.arcs, 0), _touched(self.relations, len(ARC_LABELS))])


def _touched(bank: Any, offset: int) -> Rows:
    keys, starts, labels, weights, lags = bank.touched_entries()
    counts = bank.counted(keys) if bank.min_updates > 1 else None
    return Rows(keys, starts, labels + np.uint32(offset), {"weight": weights, "lag": lags}, counts)
