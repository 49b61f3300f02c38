"""The merging of sorted weights: the compiled kernel against the reference, bit for bit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.kernels import reference

SEEDS = st.integers(0, 2**32 - 1)


def assert_same(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> None:
    """Equal types, shapes and bytes."""
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes(), (a, b)


def sorted_rows(random: np.random.Generator, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = int(random.integers(0, most + 1))
    keys = np.sort(random.choice(12, count, replace=False)).astype(np.uint64) << np.uint64(60)
    rows = [np.sort(random.choice(5, int(random.integers(1, 5)), replace=False)) for _ in keys]
    starts = np.append(0, np.cumsum([len(row) for row in rows])).astype(np.int64)
    return keys, starts, _flat(rows)


def _flat(rows: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.uint32)


@given(SEEDS, st.sampled_from([0, 8]), st.sampled_from([0, 8]))
def test_unions_are_equal(native: Any, seed: int, most_left: int, most_right: int) -> None:
    random = np.random.default_rng(seed)
    left, right = sorted_rows(random, most_left), sorted_rows(random, most_right)
    united = native.unite_two(*left, *right)
    assert_same(united, reference.unite_two(*left, *right))

    def pairs(keys: np.ndarray, starts: np.ndarray, labels: np.ndarray) -> list[tuple[int, int]]:
        return list(zip(np.repeat(keys, np.diff(starts)).tolist(), labels.tolist()))

    everything = pairs(*united[:3])
    assert everything == sorted({*pairs(*left), *pairs(*right)})
    assert [everything[i] for i in united[3]] == pairs(*left)
    assert [everything[i] for i in united[4]] == pairs(*right)


def some_values(random: np.random.Generator, rows: tuple[np.ndarray, ...], dtype: str) -> np.ndarray:
    """A value for each entry; many are zero, of either sign, or cancel out."""
    chosen = random.choice([0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3], len(rows[2])).astype(dtype)
    return np.where(random.random(len(chosen)) < 0.5, chosen, random.normal(size=len(chosen)).astype(dtype))


def some_counts(random: np.random.Generator, rows: tuple[np.ndarray, ...]) -> np.ndarray:
    return random.integers(0, 2, len(rows[0])).astype(np.int32)


@given(SEEDS, st.sampled_from([0, 8]), st.sampled_from([0, 8]), st.booleans(), st.booleans())
def test_replaced_weights_are_equal(
    native: Any, seed: int, most_old: int, most_new: int, counted_before: bool, counted: bool
) -> None:
    random = np.random.default_rng(seed)
    old, new = sorted_rows(random, most_old), sorted_rows(random, most_new)
    before = *old, some_values(random, old, "f4"), some_counts(random, old) if counted_before else None
    mixed = *new, some_values(random, new, "f4"), some_counts(random, new) if counted else None
    *ours, our_counts = native.replace_weights(before, mixed)
    *theirs, their_counts = reference.replace_weights(before, mixed)
    assert_same(ours, theirs)
    assert (our_counts is None, their_counts is None) == (not counted, not counted)
    assert not counted or our_counts.tobytes() == their_counts.tobytes()


@given(SEEDS, st.lists(st.sampled_from([0, 8]), min_size=3, max_size=3), st.sampled_from([1, 7, 0.3]))
def test_added_averages_are_equal(native: Any, seed: int, most: list[int], share: float) -> None:
    random = np.random.default_rng(seed)
    parts: list[Any] = []
    for size, dtype in zip(most, ("f8", "f4", "f8")):
        rows = sorted_rows(random, size)
        parts.append((*rows, some_values(random, rows, dtype)))
    assert_same(native.add_averages(*parts, share), reference.add_averages(*parts, share))


@given(SEEDS, st.integers(1, 40), st.integers(0, 9))
def test_adding_a_step_is_equal(native: Any, problems: Any, seed: int, size: int, multiple: int) -> None:
    random = np.random.default_rng(seed)
    place = np.flatnonzero(random.random(size) < 0.6)
    value, lag = problems.random_weights(random, (1, len(place)))[0], random.normal(size=len(place))
    old, moved, mean = random.normal(size=(3, size))
    low, high = np.sort(problems.random_weights(random, (2, size)), axis=0)
    sums = moved, mean, random.integers(0, 9, size), low, high
    by_native, by_reference = ([column.copy() for column in sums] for _ in range(2))
    native.add_step(place, value, lag, 7, multiple, (old, *by_native))
    reference.add_step(place, value, lag, 7, multiple, (old, *by_reference))
    assert_same(by_native, by_reference)
