"""Banks of weights: one row of labels per feature; features have numbers, or keys."""

from typing import Optional

import numpy as np

ALL_ONE = np.zeros(0, np.float32)  # instead of values that are all 1


class Row:
    """One feature's weights, their lags, and which of them took part in an update."""

    def __init__(self, labels: int, step_size: float = 1.0) -> None:
        self.step_size = step_size  # what a change is multiplied by
        self.weights = np.zeros(labels, np.float32)
        self.lags = np.zeros(labels)
        self.touched = np.zeros(labels, bool)

    def change(self, label: int, amount: float, seen: float) -> None:
        """Add `amount` times the step size to a weight after `seen` examples; its lag grows by change × seen, so that
        the mean over n examples is (the weight now) − lag / n (the lazy averaging of Daumé 2006)."""
        old = float(self.weights[label])
        self.weights[label] = np.float32(old + amount * self.step_size)
        self.lags[label] += seen * (float(self.weights[label]) - old)
        self.touched[label] = True


class Bank:
    """The weights of the features by number: one row of labels each, made when it first gets a weight.

    With min_updates > 1, scoring skips a row until its feature has taken part in that number of updates.
    """

    def __init__(self, labels: int, dense_from: int, min_updates: int = 1) -> None:
        self.labels, self.min_updates = labels, min_updates
        self.rows: dict[int, Row] = {}
        self.count: dict[int, int] = {}  # updates in which a feature took part, up to min_updates
        self.loaded: dict[int, int] = {}  # the counts with which features were loaded
        self.step_sizes: Optional[np.ndarray] = None  # if not all are 1: step_sizes[feature // rows_per_step_size]
        self.rows_per_step_size = 1

    def reserve(self, features: int) -> None:
        """Does nothing here: rows are made when they are needed."""

    def row(self, feature: int) -> Row:
        row = self.rows.get(feature)
        if row is None:
            step_size = 1.0
            if self.step_sizes is not None:
                step_size = float(self.step_sizes[feature // self.rows_per_step_size])
            row = self.rows[feature] = Row(self.labels, step_size)
        return row

    def shown(self, feature: int) -> Optional[Row]:
        """The row as scoring sees it."""
        hidden = self.min_updates > 1 and self.count.get(feature, 0) < self.min_updates
        return None if hidden else self.rows.get(feature)

    def count_update(self, features: set[int]) -> None:
        """Count an update in which these features took part; a relevant feature is no longer counted."""
        for feature in features:
            if self.count.get(feature, 0) < self.min_updates:
                self.count[feature] = self.count.get(feature, 0) + 1

    def counted(self, features: np.ndarray) -> np.ndarray:
        """The number of updates in which each feature took part since it was loaded, up to min_updates in all."""
        return np.array([self.count[f] - self.loaded.get(f, 0) for f in features.tolist()], np.int32)

    def value(self, feature: int, label: int) -> np.float32:
        """The weight as scoring sees it."""
        row = self.shown(feature)
        return np.float32(0) if row is None else row.weights[label]

    def load(
        self,
        features: np.ndarray,
        starts: np.ndarray,
        labels: np.ndarray,
        values: np.ndarray,
        counts: Optional[np.ndarray] = None,
    ) -> None:
        """Give features[i] the weights of entries starts[i] … starts[i+1]-1, and the count of the updates that it took
        part in before; negative numbers are skipped."""
        for feature, begin, end in zip(features.tolist(), starts[:-1].tolist(), starts[1:].tolist()):
            if feature >= 0:
                self.row(feature).weights[labels[begin:end]] = values[begin:end]
        if counts is not None:
            self.loaded.update((f, count) for f, count in zip(features.tolist(), counts.tolist()) if f >= 0)
            self.count.update(self.loaded)

    def add_scores(self, features: np.ndarray, scores: np.ndarray, values: np.ndarray = ALL_ONE) -> None:
        """scores[label] += weight, times the feature's value if there are any, feature by feature: the order is part
        of the result."""
        for i, feature in enumerate(features.tolist()):
            row = self.shown(feature)
            if row is not None:
                scores += row.weights * values[i] if len(values) else row.weights

    def touched_entries(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Every weight that took part in an update, features in the given order: (features, where the entries of each
        begin, labels, weights, lags)."""
        rows = [(feature, self.rows[feature]) for feature in order.tolist() if feature in self.rows]
        found = [(feature, row, np.flatnonzero(row.touched)) for feature, row in rows if row.touched.any()]
        nothing = np.zeros(0)
        return (
            np.array([feature for feature, _, _ in found], order.dtype),
            np.cumsum([0, *(len(labels) for _, _, labels in found)], dtype=np.int64),
            np.concatenate([nothing, *(labels for _, _, labels in found)]).astype(np.uint32),
            np.concatenate([nothing, *(row.weights[labels] for _, row, labels in found)]).astype(np.float32),
            np.concatenate([nothing, *(row.lags[labels] for _, row, labels in found)]),
        )


class KeyedBank:
    """A bank whose features have keys instead of numbers; a key gets a row when an update needs it, or it is loaded."""

    def __init__(self, labels: int, dense_from: int, min_updates: int = 1) -> None:
        self.bank = Bank(labels, dense_from, min_updates)
        self.labels, self.min_updates = labels, min_updates

    def __len__(self) -> int:
        return len(self.bank.rows)

    def keys(self) -> np.ndarray:
        """The keys that have a row, in the order in which they got it."""
        return np.array(list(self.bank.rows), np.uint64)

    def row(self, key: int) -> Row:
        return self.bank.row(key)

    def shown(self, key: int) -> Optional[Row]:
        return self.bank.shown(key)

    def value(self, key: int, label: int) -> np.float32:
        return self.bank.value(key, label)

    def count_update(self, keys: set[int]) -> None:
        self.bank.count_update(keys)

    def counted(self, keys: np.ndarray) -> np.ndarray:
        """The number of updates in which each key's row took part since it was loaded, up to min_updates in all."""
        return self.bank.counted(keys)

    def load(
        self,
        keys: np.ndarray,
        starts: np.ndarray,
        labels: np.ndarray,
        values: np.ndarray,
        counts: Optional[np.ndarray] = None,
    ) -> None:
        """Give keys[i], which has no row yet, the weights of entries starts[i] … starts[i+1]-1, and the count of the
        updates that it took part in before."""
        self.bank.load(keys, starts, labels, values, counts)

    def add_scores(self, keys: np.ndarray, scores: np.ndarray) -> None:
        """scores[label] += weight, key by key: the order is part of the result."""
        self.bank.add_scores(keys, scores)

    def touched_entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Every weight that took part in an update, by ascending keys: (keys, where the entries of each begin, labels,
        weights, lags)."""
        return self.bank.touched_entries(np.sort(self.keys()))
