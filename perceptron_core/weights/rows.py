"""Sparse weights as sorted arrays: feature key → label → value.

Row r belongs to key keys[r]; its entries are starts[r] … starts[r+1]-1 of `labels` and of every column of values.
Keys ascend, and so do the labels within a row. The model's file, what a shard sends and what the reducer returns all
have this form; the operations here are linear merges. What must hold of them is checked by checks.py.
Where updates are counted (see relevance.py), a row also has a count, and may have no entry.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np

from perceptron_core.arrays import ragged_range
from perceptron_core.kernels import unite_two
from perceptron_core.kernels.reference.merge import rows_left
from perceptron_core.wire import DamagedRecord


class Rows(NamedTuple):
    keys: np.ndarray  # uint64, ascending
    starts: np.ndarray  # int64, one more than there are keys
    labels: np.ndarray  # uint32, ascending within a row
    values: dict[str, np.ndarray]  # named columns, one value per entry
    counts: Optional[np.ndarray] = None  # int32, one per row: the number of updates of its feature

    def entry_rows(self) -> np.ndarray:
        """The row number of every entry."""
        return np.repeat(np.arange(len(self.keys)), np.diff(self.starts))

    def entry_keys(self) -> np.ndarray:
        """The key of every entry."""
        return np.repeat(self.keys, np.diff(self.starts))

    def with_values(self, **values: np.ndarray) -> "Rows":
        return self._replace(values=values)


def empty(**dtypes: type) -> Rows:
    """No rows, with the named value columns."""
    return Rows(
        np.zeros(0, np.uint64),
        np.zeros(1, np.int64),
        np.zeros(0, np.uint32),
        {name: np.zeros(0, dtype) for name, dtype in dtypes.items()},
    )


def from_entries(keys: np.ndarray, labels: np.ndarray, **values: np.ndarray) -> Rows:
    """Rows from unordered entries: one key and label per entry, each pair at most once."""
    order = np.lexsort((labels, keys))
    keys, labels = keys[order], labels[order]
    first = np.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    starts = np.append(np.flatnonzero(first), len(keys))
    columns = {name: column[order] for name, column in values.items()}
    return Rows(keys[first], starts.astype(np.int64), labels.astype(np.uint32), columns)


def interleave(parts: Sequence[Rows]) -> Rows:
    """All rows of several Rows that have the same columns and no entry in common."""
    union = unite(parts)
    columns = {}
    for name, first in parts[0].values.items():
        columns[name] = np.empty(len(union.rows.labels), first.dtype)
        for part, places in zip(parts, union.places):
            columns[name][places] = part.values[name]
    return union.rows.with_values(**columns)._replace(counts=add_counts(union.rows.keys, parts))


def add_up(parts: Sequence[Rows]) -> Rows:
    """The sums of the values of several Rows that have the same columns, entry by entry."""
    union = unite(parts)
    columns = {}
    for name, first in parts[0].values.items():
        columns[name] = np.zeros(len(union.rows.labels), first.dtype)
        for part, places in zip(parts, union.places):
            columns[name][places] += part.values[name]
    return union.rows.with_values(**columns)


def to_matrix(rows: Rows, column: str, labels: int) -> np.ndarray:
    """The values of the column, rows × labels, zero where there is no entry."""
    matrix = np.zeros((len(rows.keys), labels), rows.values[column].dtype)
    matrix[rows.entry_rows(), rows.labels] = rows.values[column]
    return matrix


def from_matrix(keys: np.ndarray, matrix: np.ndarray) -> Rows:
    """Weights ("weight", float32) of these keys for all labels."""
    order, (size, labels) = np.argsort(keys), matrix.shape
    weight = matrix[order].astype(np.float32).ravel()
    numbers = np.tile(np.arange(labels, dtype=np.uint32), size)
    return Rows(keys[order], np.arange(size + 1, dtype=np.int64) * labels, numbers, {"weight": weight})


def add_counts(keys: np.ndarray, parts: Sequence[Rows]) -> Optional[np.ndarray]:
    """The sum of each key's counts; the (ascending) keys are those of all parts. None if a part has no counts."""
    counts = np.zeros(len(keys), np.int32)
    for part in parts:
        if part.counts is None:
            return None
        counts[np.searchsorted(keys, part.keys)] += part.counts
    return counts


def find_keys(rows: Rows, keys: np.ndarray) -> np.ndarray:
    """The row number of each key, -1 where there is none."""
    if not len(rows.keys):
        return np.full(len(keys), -1, np.int64)
    at = np.searchsorted(rows.keys, keys)
    at[at == len(rows.keys)] = 0
    return np.where(rows.keys[at] == keys, at, -1)


def select(rows: Rows, numbers: np.ndarray) -> Rows:
    """The rows with these (different) numbers. They may be of a file that was not checked as a whole: what their starts
    lead to is there, and has the size of the entries at most."""
    begins = rows.starts[numbers].astype(np.int64)
    sizes = rows.starts[numbers + 1].astype(np.int64) - begins
    starts = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    if len(numbers):
        least, last = min(int(begins.min()), int(sizes.min())), int((begins + sizes).max())
        if least < 0 or max(last, int(starts[-1])) > len(rows.labels):
            raise DamagedRecord("the weights are damaged: a row does not end where it must; copy or make them again")
    entries = ragged_range(begins, sizes)
    values = {name: column[entries] for name, column in rows.values.items()}
    counts = None if rows.counts is None else rows.counts[numbers]
    return Rows(rows.keys[numbers], starts, rows.labels[entries], values, counts)


class Union(NamedTuple):
    """The entries of several Rows together, and where the entries of each are among them."""

    rows: Rows  # no value columns, no counts
    places: Sequence[np.ndarray]  # per input: for each of its entries the number of the union's entry


def unite(inputs: Sequence[Rows]) -> Union:
    """The union of the inputs' (key, label) pairs, sorted, each pair once; merged in pairs, as a tree."""
    if len(inputs) == 1:
        only = inputs[0]
        return Union(only.with_values()._replace(counts=None), [np.arange(len(only.labels))])
    half = len(inputs) // 2
    left, right = unite(inputs[:half]), unite(inputs[half:])
    keys, starts, labels, from_left, from_right = unite_two(*left.rows[:3], *right.rows[:3])
    places = [from_left[place] for place in left.places] + [from_right[place] for place in right.places]
    return Union(Rows(keys, starts, labels, {}), places)


def spread(places: np.ndarray, column: np.ndarray, size: int) -> np.ndarray:
    """A column over the union's entries: its own values where it has one, zero elsewhere (as float64)."""
    wide = np.zeros(size)
    wide[places] = column
    return wide


def drop_zeros(rows: Rows) -> Rows:
    """Drop the entries whose values are all zero, and the rows that are then empty and have no count."""
    keep = np.zeros(len(rows.labels), bool)
    for column in rows.values.values():
        keep |= column != 0
    if keep.all():
        return rows
    used, starts = rows_left(rows.starts, keep, rows.counts)
    values = {name: column[keep] for name, column in rows.values.items()}
    counts = None if rows.counts is None else rows.counts[used]
    return Rows(rows.keys[used], starts, rows.labels[keep], values, counts)


def split_ranges(rows: Rows, ranges: int) -> Sequence[Rows]:
    """The rows of each of the equal ranges of the key space, in order."""
    bounds = [(2**64 * i) // ranges for i in range(1, ranges)]
    edges = [0, *np.searchsorted(rows.keys, np.array(bounds, np.uint64)).tolist(), len(rows.keys)]
    return [_slice(rows, low, high) for low, high in zip(edges, edges[1:])]


def _slice(rows: Rows, low: int, high: int) -> Rows:
    first, last = int(rows.starts[low]), int(rows.starts[high])
    values = {name: column[first:last] for name, column in rows.values.items()}
    counts = None if rows.counts is None else rows.counts[low:high]
    return Rows(rows.keys[low:high], rows.starts[low : high + 1] - first, rows.labels[first:last], values, counts)


def concatenate(ranges: Sequence[Rows]) -> Rows:
    """The rows of all ranges, which are in key order: the inverse of `split_ranges`."""
    sizes = np.concatenate([np.diff(rows.starts) for rows in ranges])
    values = {name: np.concatenate([rows.values[name] for rows in ranges]) for name in ranges[0].values}
    return Rows(
        np.concatenate([rows.keys for rows in ranges]),
        np.append(0, np.cumsum(sizes)).astype(np.int64),
        np.concatenate([rows.labels for rows in ranges]),
        values,
        None if ranges[0].counts is None else np.concatenate([rows.counts for rows in ranges]),
    )


def values_at(source: Rows, column: str, entries: Rows) -> np.ndarray:
    """The source's values for another Rows' entries, zero where it has none (as float64)."""
    numbers = find_keys(source, entries.keys)
    there = np.flatnonzero(numbers >= 0)
    found = select(source, numbers[there])
    width = 1 + max((int(rows.labels.max()) for rows in (entries, found) if len(rows.labels)), default=0)
    wanted = entries.entry_rows() * width + entries.labels
    have = there[found.entry_rows()] * width + found.labels
    at = np.searchsorted(wanted, have)
    at[at == len(wanted)] = 0
    hit = wanted[at] == have if len(wanted) else np.zeros(0, bool)
    values = np.zeros(len(wanted))
    values[at[hit]] = found.values[column][hit]
    return values


def relabel(rows: Rows, before: Sequence[str], after: Sequence[str]) -> Rows:
    """The same weights with their labels numbered as in `after`, which has all the labels of `before`."""
    numbers = np.array([list(after).index(label) for label in before], np.uint32)
    return from_entries(rows.entry_keys(), numbers[rows.labels], **rows.values)
