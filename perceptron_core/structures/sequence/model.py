"""A first-order sequence model at work: the kernel with its features numbered and its weights fetched.

The weights come from sorted rows (a model file). A row is fetched when its key first occurs, so the memory of a
training task or of a tagger grows with the features that it meets, not with the model.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np

from perceptron_core.arrays import GrowingArray
from perceptron_core.counting.shard_counts import StepSizes
from perceptron_core.features.encoding import FeatureKeys
from perceptron_core.hashing import extend_keys, hash_string
from perceptron_core.kernels import ALL_ONE, DENSE_LABELS, KeyTable, WeightRows
from perceptron_core.learners import ONE_PASS
from perceptron_core.settings import Settings
from perceptron_core.structures.sequence.kernel import SequenceKernel
from perceptron_core.weights.rows import Rows, find_keys, from_entries, interleave, select


class FeatureBlock(NamedTuple):
    """Sentences as the kernel takes them: numbered features (and pair features) of every token, gold labels."""

    lengths: np.ndarray
    gold: np.ndarray
    starts: np.ndarray
    ids: np.ndarray
    pair_starts: np.ndarray
    pair_ids: np.ndarray
    values: np.ndarray = ALL_ONE  # of the features `ids`

    def between(self, first: int, last: int) -> "FeatureBlock":
        """The sentences from number `first` to before number `last`."""
        if (first, last) == (0, len(self.lengths)):
            return self
        begin, size = int(self.lengths[:first].sum()), int(self.lengths[first:last].sum())
        end = begin + size
        features, pairs = (slice(starts[begin], starts[end]) for starts in (self.starts, self.pair_starts))
        return FeatureBlock(
            self.lengths[first:last],
            self.gold[begin:end],
            self.starts[begin : end + 1] - features.start,
            self.ids[features],
            self.pair_starts[begin : end + 1] - pairs.start,
            self.pair_ids[pairs],
            self.values[features],
        )


class FeatureNumbers:
    """The numbers of the features met so far; outlives an epoch where the shard stays in memory."""

    def __init__(self) -> None:
        self.emissions = KeyTable()
        self.pairs = KeyTable()
        self.emission_steps, self.pair_steps = GrowingArray(np.float64), GrowingArray(np.float64)  # if they are not 1
        self._order = np.zeros(0, np.int32)

    def order_of_emissions(self) -> np.ndarray:
        """Their numbers in the order of their keys."""
        if len(self._order) != len(self.emissions):
            self._order = np.argsort(self.emissions.keys()).astype(np.int32)
        return self._order

    def look_up_steps(self, steps: StepSizes) -> None:
        """Those of the features that were numbered since the last call."""
        self.emission_steps.extend(steps.of(self.emissions.keys(len(self.emission_steps))))
        self.pair_steps.extend(steps.of(self.pairs.keys(len(self.pair_steps))))

    def number(self, lengths: np.ndarray, gold: np.ndarray, features: FeatureKeys) -> FeatureBlock:
        return FeatureBlock(
            lengths,
            gold,
            features.starts,
            self.emissions.intern(features.keys),
            features.pair_starts,
            self.pairs.intern(features.pair_keys),
            features.values,
        )


def label_hashes(labels: Sequence[str]) -> np.ndarray:
    return np.array([hash_string(label) for label in labels], np.uint64)


def transition_keys(labels: Sequence[str]) -> np.ndarray:
    """The key of every transition weight, (L+2) × L: from label to label, from the start, to the end.

    Each weight has a key of its own, so that mixing by rows counts it by itself; its label is the column.
    """
    names = label_hashes(labels)
    between = extend_keys(extend_keys(hash_string("transition"), names)[:, None], names[None, :])
    start = extend_keys(hash_string("start"), names)
    stop = extend_keys(hash_string("stop"), names)
    return np.concatenate([between, start[None, :], stop[None, :]])


def pair_keys(keys: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    """The key of each (label-bigram feature, previous label): features × labels, flat."""
    return extend_keys(keys[:, None], label_hashes(labels)[None, :]).ravel()


def _touched(weights: WeightRows, keys: np.ndarray, order: np.ndarray) -> Rows:
    features, starts, labels, values, lags = weights.touched_entries(order)
    counts = weights.counted(features) if weights.min_updates > 1 else None
    return Rows(keys[features], starts, labels, {"weight": values, "lag": lags}, counts)


class SequenceModel:
    """Trains on, or decodes, blocks of numbered features, starting from the weights of a model."""

    def __init__(
        self,
        labels: Sequence[str],
        settings: Settings,
        weights: Rows,
        numbers: FeatureNumbers,
        allowed: Optional[np.ndarray] = None,
        threads: int = 1,
    ) -> None:
        self.labels = list(labels)
        self.numbers = numbers
        self.weights = weights  # has a float32 column "weight"
        self._fetched = self._fetched_pairs = 0
        size = len(labels)
        dense_from = 0 if size <= DENSE_LABELS else size // 4
        # a model whose features are not counted any more has relevant ones alone
        self.min_updates = settings.min_updates if weights.counts is not None else 1
        self.emissions, self.pairs = (WeightRows(size, dense_from, self.min_updates) for _ in range(2))
        if allowed is None:
            allowed = np.ones((size + 2, size), np.uint8)
        if settings.learner in ONE_PASS:  # it has learnt already: the kernel has no rule for its steps, and needs none
            settings = settings._replace(learner="perceptron")
        self.kernel = SequenceKernel(size, self.emissions, self.pairs, settings, allowed)
        self.kernel.use_threads(threads)
        self._load_transitions()

    def _load_transitions(self) -> None:
        keys = transition_keys(self.labels)
        found = find_keys(self.weights, keys.ravel())
        values = np.zeros(keys.size, np.float32)
        there = (found >= 0) & (self.weights.starts[found + 1] > self.weights.starts[found])
        values[there] = self.weights.values["weight"][self.weights.starts[found[there]]]
        self.kernel.load_transitions(values.reshape(keys.shape))

    def fetch(self) -> None:
        """Load the weights of the features that were numbered since the last call."""
        known, known_pairs = len(self.numbers.emissions), len(self.numbers.pairs)
        if known > self._fetched:
            self.emissions.reserve(known)
            if len(self.numbers.emission_steps):
                self.emissions.steps = self.numbers.emission_steps.view()
            if self._fetched == 0 and len(self.weights.keys) < 2 * known:
                # most of the model is wanted: walk through the model instead of looking up every key
                self._load(self.emissions, self.numbers.emissions.find(self.weights.keys), self.weights)
            else:
                keys = self.numbers.emissions.keys(self._fetched)
                # of a shard that is in memory the order is known
                order = np.argsort(keys) if self._fetched else self.numbers.order_of_emissions()
                self._look_up(self.emissions, keys, order, self._fetched)
            self._fetched = known
        if known_pairs > self._fetched_pairs:
            size = len(self.labels)
            self.pairs.reserve(known_pairs * size)
            if len(self.numbers.pair_steps):
                self.pairs.steps, self.pairs.rows_a_step = self.numbers.pair_steps.view(), size
            keys = pair_keys(self.numbers.pairs.keys(self._fetched_pairs), self.labels)
            self._look_up(self.pairs, keys, np.argsort(keys), self._fetched_pairs * size)
            self._fetched_pairs = known_pairs

    def _look_up(self, into: WeightRows, keys: np.ndarray, order: np.ndarray, first: int) -> None:
        found = find_keys(self.weights, keys[order])
        there = found >= 0
        self._load(into, (order[there] + first).astype(np.int32), select(self.weights, found[there]))

    @staticmethod
    def _load(into: WeightRows, features: np.ndarray, rows: Rows) -> None:
        starts, labels = rows.starts.astype(np.int64, copy=False), rows.labels.astype(np.uint32, copy=False)
        into.load(features, starts, labels, rows.values["weight"], rows.counts)

    def train(self, block: FeatureBlock) -> tuple[int, int, int]:
        """Training on the block, in order: (wrong sentences, updates, wrong tokens)."""
        self.fetch()
        return self.kernel.train(block)

    def end_of_pass(self) -> int:
        """Update by a minibatch that the last block has begun: how many updates, 0 or 1."""
        return self.kernel.flush()

    def decode(self, block: FeatureBlock) -> np.ndarray:
        """The label number of every token."""
        self.fetch()
        return self.kernel.decode(block)

    def touched(self) -> Rows:
        """Every weight that took part in an update: its value now ("weight") and its lag ("lag"); with the growth of
        the features' counts, if they are counted."""
        keys, order = self.numbers.emissions.keys(), self.numbers.order_of_emissions()
        if self._fetched < len(order):  # sentences were numbered that are not of this round
            order = order[order < self._fetched]
        parts = [_touched(self.emissions, keys, order)]
        if self._fetched_pairs:
            keys = pair_keys(self.numbers.pairs.keys()[: self._fetched_pairs], self.labels)
            parts.append(_touched(self.pairs, keys, np.argsort(keys).astype(np.int32)))
        weights, lags, touched = self.kernel.transition_state()
        row, label = np.nonzero(touched)
        keys = transition_keys(self.labels)[row, label]
        columns = {"weight": weights[row, label], "lag": lags[row, label]}
        moved = from_entries(keys, label.astype(np.uint32), **columns)
        if self.min_updates > 1:  # transitions are relevant from the first
            moved = moved._replace(counts=np.full(len(moved.keys), self.min_updates, np.int32))
        parts.append(moved)
        return interleave(parts)
