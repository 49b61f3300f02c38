"""The engine of first-order sequences: numbers the features, fetches the weights, and calls the kernel.

The weights come from sorted rows (a model file). A row is fetched when its key first occurs, so the memory of a
training task or of a tagger grows with the features that it meets, not with the model.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from perceptron_core.errors import UserError
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import TypeTables
from perceptron_core.features.keys import joined_keys, label_hashes
from perceptron_core.kernels import DENSE_LABELS, Bank, KeyedBank, Trainer
from perceptron_core.registry import ONE_PASS
from perceptron_core.settings import Settings
from perceptron_core.structures.base import Counted, Engine, Structure
from perceptron_core.structures.sequence.blocks import FeatureBlock, FeatureNumbers
from perceptron_core.structures.sequence.kernel import SequenceFinder
from perceptron_core.structures.sequence.keys import transition_keys
from perceptron_core.weights.checks import check_rows
from perceptron_core.weights.rows import Rows, find_keys, from_entries, interleave, select

EMISSIONS, PAIRS = 0, 1  # the groups of features
MOST_PAIRS = 2**31 - 1  # the kernel numbers them by 32 bits


class SequenceEngine(Engine):
    """Trains on, or decodes, blocks of numbered features, starting from the weights of a model."""

    def __init__(
        self,
        structure: Structure,
        labels: Sequence[str],
        settings: Settings,
        weights: Rows,
        memory: FeatureNumbers,
        threads: int,
        allowed: np.ndarray,
    ) -> None:
        self.structure, self.labels, self.memory = structure, list(labels), memory
        self.hashes = label_hashes(labels)
        self.weights = weights  # has a float32 column "weight"
        self._fetched = self._fetched_pairs = 0
        size = len(labels)
        self.dense_from = 0 if size <= DENSE_LABELS else size // 4
        # A model without counts has only relevant features.
        self.min_updates = settings.min_updates if weights.counts is not None else 1
        self.emissions, self.pairs = (Bank(size, self.dense_from, self.min_updates) for _ in range(2))
        self.transitions = Bank(size, 0)
        if settings.learner in ONE_PASS:  # it is only decoded here; the kernel has no rule for it
            settings = settings._replace(learner="perceptron")
        self.trainer = Trainer(self._finder(settings, allowed), settings)
        self.trainer.use_threads(threads)
        self._load_transitions()

    def _finder(self, settings: Settings, allowed: np.ndarray) -> Any:
        return SequenceFinder(len(self.labels), self.emissions, self.pairs, self.transitions, settings, allowed)

    def take(self, encoded: Encoded, tables: TypeTables) -> FeatureBlock:
        features = self.structure.keys(encoded, tables, self.hashes)
        return self.memory.number(encoded.lengths, encoded.labels, features)

    def train(self, block: FeatureBlock) -> Counted:
        self.fetch()
        return Counted(*self.trainer.train(block))

    def end_of_pass(self) -> int:
        return self.trainer.flush()

    def decode(self, block: FeatureBlock) -> Mapping[str, np.ndarray]:
        self.fetch()
        return {"labels": self.trainer.decode(block)}

    # ------------------------------------------------------------ weights in

    def _load_transitions(self) -> None:
        keys = transition_keys(self.labels)
        found = find_keys(self.weights, keys.ravel())
        there = np.flatnonzero(found >= 0)
        rows = select(self.weights, found[there])
        has_weight = np.diff(rows.starts) > 0
        values = rows.values["weight"][rows.starts[:-1][has_weight]]  # its only one, since its key contains the label
        row, label = np.divmod(there[has_weight], len(self.labels))
        starts = np.searchsorted(row, np.arange(len(keys) + 1)).astype(np.int64)
        self.transitions.load(np.arange(len(keys), dtype=np.int32), starts, label.astype(np.uint32), values)

    def fetch(self) -> None:
        """Load the weights of the features that were numbered since the last call."""
        emissions, pairs = self.memory.tables[EMISSIONS], self.memory.tables[PAIRS]
        known, known_pairs = len(emissions), len(pairs)
        if known > self._fetched:
            self.emissions.reserve(known)
            if len(self.memory.sizes_of_steps[EMISSIONS]):
                self.emissions.step_sizes = self.memory.sizes_of_steps[EMISSIONS].view()
            if self._fetched == 0 and len(self.weights.keys) < 2 * known:
                # Most of the model is needed: go through the model instead of looking up every key.
                load_rows(self.emissions, emissions.find(self.weights.keys), self.weights, len(self.labels))
            else:
                keys = emissions.keys(self._fetched)
                # For a shard that is kept in memory the order is known.
                order = np.argsort(keys) if self._fetched else self.memory.order(EMISSIONS)
                self._look_up(self.emissions, keys, order, self._fetched)
            self._fetched = known
        if known_pairs > self._fetched_pairs:
            size = len(self.labels)
            if known_pairs * size > MOST_PAIRS:
                raise UserError(
                    f"{known_pairs:,} features are joined with each of {size:,} previous labels, but there can be no "
                    f"more than {MOST_PAIRS:,} such pairs; leave out templates with `label[-1]`, or use --min-count"
                )
            self.pairs.reserve(known_pairs * size)
            if len(self.memory.sizes_of_steps[PAIRS]):
                self.pairs.step_sizes, self.pairs.rows_per_step_size = self.memory.sizes_of_steps[PAIRS].view(), size
            keys = joined_keys(pairs.keys(self._fetched_pairs), self.labels)
            self._look_up(self.pairs, keys, np.argsort(keys), self._fetched_pairs * size)
            self._fetched_pairs = known_pairs

    def _look_up(self, into: Bank, keys: np.ndarray, order: np.ndarray, first: int) -> None:
        found = find_keys(self.weights, keys[order])
        there = found >= 0
        numbers = (order[there] + first).astype(np.int32)
        load_rows(into, numbers, select(self.weights, found[there]), len(self.labels))

    # ------------------------------------------------------------ weights out

    def touched(self) -> Rows:
        keys, order = self.memory.tables[EMISSIONS].keys(), self.memory.order(EMISSIONS)
        if self._fetched < len(order):  # sentences of other rounds were numbered, too
            order = order[order < self._fetched]
        parts = [_touched(self.emissions, keys, order)]
        if self._fetched_pairs:
            keys = joined_keys(self.memory.tables[PAIRS].keys()[: self._fetched_pairs], self.labels)
            parts.append(_touched(self.pairs, keys, np.argsort(keys).astype(np.int32)))
        order = np.arange(len(self.labels) + 2, dtype=np.int32)
        rows, starts, labels, weights, lags = self.transitions.touched_entries(order)
        keys = transition_keys(self.labels)[np.repeat(rows, np.diff(starts)), labels]
        moved = from_entries(keys, labels, weight=weights, lag=lags)
        if self.min_updates > 1:  # transitions are always relevant
            moved = moved._replace(counts=np.full(len(moved.keys), self.min_updates, np.int32))
        parts.append(moved)
        return interleave(parts)


def load_rows(into: Union[Bank, KeyedBank], features: np.ndarray, rows: Rows, labels: int) -> None:
    """Give features these rows, which may come from a file that nobody has checked."""
    rows = Rows(
        rows.keys,
        rows.starts.astype(np.int64, copy=False),
        rows.labels.astype(np.uint32, copy=False),
        {"weight": rows.values["weight"]},
        rows.counts,
    )
    check_rows(rows, labels, {"weight": "f4"})
    into.load(features, rows.starts, rows.labels, rows.values["weight"], rows.counts)


def _touched(weights: Bank, keys: np.ndarray, order: np.ndarray) -> Rows:
    features, starts, labels, values, lags = weights.touched_entries(order)
    counts = weights.counted(features) if weights.min_updates > 1 else None
    return Rows(keys[features], starts, labels, {"weight": values, "lag": lags}, counts)
