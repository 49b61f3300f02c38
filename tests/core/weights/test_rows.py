"""Sparse rows against dicts: (key, label) → values."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.arrays import GrowingArray, smallest
from perceptron_core.weights.rows import (
    Rows,
    concatenate,
    drop_zeros,
    find_keys,
    from_entries,
    ragged_range,
    relabel,
    select,
    split_ranges,
    spread,
    unite,
    values_at,
)

KEYS = [1, 5, 2**32, 2**62, 2**63 - 1, 2**63, 2**63 + 2**62, 2**64 - 1]
Entries = dict[tuple[int, int], float]
some_entries = st.dictionaries(
    st.tuples(st.sampled_from(KEYS), st.integers(0, 300)), st.sampled_from([0.0, 1.0, -2.5, 0.1])
)


def to_rows(entries: Entries) -> Rows:
    keys = np.array([key for key, _ in entries], np.uint64)
    labels = np.array([label for _, label in entries], np.uint32)
    return from_entries(keys, labels, weight=np.array(list(entries.values()), np.float32))


def to_dict(rows: Rows, column: str = "weight") -> Entries:
    pairs = list(zip(rows.entry_keys().tolist(), rows.labels.tolist()))
    assert pairs == sorted(set(pairs))
    assert rows.keys.tolist() == sorted({key for key, _ in pairs})
    assert (rows.starts[0], rows.starts[-1]) == (0, len(rows.labels))
    return dict(zip(pairs, rows.values[column].tolist()))


def as_float32(entries: Entries) -> Entries:
    return {entry: float(np.float32(value)) for entry, value in entries.items()}


@given(some_entries)
def test_entries_come_back_sorted(entries: Entries) -> None:
    assert to_dict(to_rows(entries)) == as_float32(entries)


@given(some_entries, st.lists(st.sampled_from([*KEYS, 2, 77])))
def test_finding_and_selecting(entries: Entries, wanted: list[int]) -> None:
    rows = to_rows(entries)
    there = sorted({key for key, _ in entries})
    found = find_keys(rows, np.array(wanted, np.uint64))
    assert found.tolist() == [there.index(key) if key in there else -1 for key in wanted]
    chosen = select(rows, np.unique(found[found >= 0]))
    assert to_dict(chosen) == {e: value for e, value in as_float32(entries).items() if e[0] in wanted}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4))))
def test_ragged_ranges(pieces: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in pieces], np.int64)
    sizes = np.array([size for _, size in pieces], np.int64)
    assert ragged_range(starts, sizes).tolist() == [i for start, size in pieces for i in range(start, start + size)]


@given(st.lists(some_entries, min_size=1, max_size=5))
def test_a_union_has_each_entry_once(inputs: list[Entries]) -> None:
    rows = [to_rows(entries) for entries in inputs]
    union, places = unite(rows)
    size = len(union.labels)
    assert union.values == {}
    assert set(to_dict(union.with_values(weight=np.zeros(size)))) == set().union(*inputs)
    for entries, own, place in zip(inputs, rows, places):
        wide = spread(place, own.values["weight"], size)
        assert wide.dtype == np.float64
        got = to_dict(union.with_values(weight=wide))
        assert got == {entry: as_float32(entries).get(entry, 0.0) for entry in got}


@given(some_entries)
def test_zeros_are_dropped_and_empty_rows_with_them(entries: Entries) -> None:
    kept = drop_zeros(to_rows(entries))
    assert to_dict(kept) == {entry: value for entry, value in as_float32(entries).items() if value}


def test_an_entry_stays_if_any_of_its_values_is_not_zero() -> None:
    rows = from_entries(
        np.array([1, 2, 3], np.uint64), np.zeros(3, np.uint32), a=np.array([0, 1, 0]), b=np.array([2, 0, 0])
    )
    assert drop_zeros(rows).keys.tolist() == [1, 2]


@given(some_entries, st.integers(1, 9))
def test_ranges_are_equal_parts_of_the_key_space_and_join_again(entries: Entries, ranges: int) -> None:
    rows = to_rows(entries)
    pieces = split_ranges(rows, ranges)
    assert len(pieces) == ranges
    for number, piece in enumerate(pieces):
        low, high = 2**64 * number // ranges, 2**64 * (number + 1) // ranges
        assert all(low <= key < high for key, _ in to_dict(piece))
    joined = concatenate(pieces)
    for a, b in zip((*rows[:3], rows.values["weight"]), (*joined[:3], joined.values["weight"])):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()


@given(some_entries, some_entries)
def test_values_at_other_entries(source: Entries, wanted: Entries) -> None:
    values = values_at(to_rows(source), "weight", to_rows(wanted))
    assert values.dtype == np.float64
    assert values.tolist() == [as_float32(source).get(entry, 0.0) for entry in sorted(wanted)]


def test_labels_are_renumbered_when_their_set_has_grown() -> None:
    rows = to_rows({(1, 0): 1.0, (1, 1): 2.0, (9, 1): 3.0})
    assert to_dict(relabel(rows, ["имя", "名"], ["а", "名", "имя"])) == {(1, 1): 2.0, (1, 2): 1.0, (9, 1): 3.0}


@given(st.lists(st.integers(0, 2**40)))
def test_the_narrowest_type_keeps_the_numbers(numbers: list[int]) -> None:
    narrow = smallest(np.array(numbers, np.int64))
    assert narrow.tolist() == numbers
    top = max(numbers, default=0)
    assert narrow.dtype.itemsize == (1 if top < 2**8 else 2 if top < 2**16 else 4 if top < 2**32 else 8)


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=9)))
def test_a_growing_array_is_a_list(pieces: list[list[int]]) -> None:
    array, expected, views = GrowingArray(np.uint64), [], []
    for piece in pieces:
        array.extend(np.array(piece, np.uint64))
        expected = expected + piece
        assert len(array) == len(expected)
        views.append((array.view(), expected))
    assert array.view().dtype == np.uint64
    for view, then in views:  # a view stays what it was, however the array grew since
        assert view.tolist() == then
