"""Mixing against its definition, written here with dicts and plain floats."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.errors import UserError
from perceptron_core.training.mixing import (
    CERTAIN,
    MIXINGS,
    ShardStep,
    add_average,
    apply,
    averaged_rows,
    mix,
    mixing_now,
)
from perceptron_core.weights.rows import Rows, concatenate, empty, from_entries, split_ranges

Entry = tuple[int, int]
KEYS = [1, 2**20, 2**63 - 1, 2**63, 2**64 - 1]
AWKWARD = [0.0, 1.0, -1.0, 1e-12, 0.1, -2.5, 16777216.0, 3.0000002, 1 / 3]


def to_rows(entries: dict[Entry, Sequence[float]], *columns: tuple[str, str]) -> Rows:
    values = {
        name: np.array([found[i] for found in entries.values()], dtype) for i, (name, dtype) in enumerate(columns)
    }
    keys = np.array([key for key, _ in entries], np.uint64)
    return from_entries(keys, np.array([label for _, label in entries], np.uint32), **values)


def column(rows: Rows, name: str) -> dict[Entry, float]:
    return dict(zip(zip(rows.entry_keys().tolist(), rows.labels.tolist()), rows.values[name].tolist()))


def assert_same_rows(a: Rows, b: Rows) -> None:
    assert list(a.values) == list(b.values)
    for ours, theirs in zip((*a[:3], *a.values.values()), (*b[:3], *b.values.values())):
        assert ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes(), (a, b)


def step(shard: int, shards: int, sent: dict[Entry, Sequence[float]], updates: int, examples: int) -> ShardStep:
    rows = to_rows(sent, ("weight", "f4"), ("lag", "f8"))
    return ShardStep(shard, shards, "epoch 3 from weights abcd", updates, examples, rows)


entries = st.tuples(st.sampled_from(KEYS), st.integers(0, 2))
numbers = st.sampled_from(AWKWARD) | st.floats(-4, 4, width=32)
weights = st.dictionaries(entries, st.tuples(numbers))


@st.composite
def epochs(draw: st.DrawFn) -> tuple[Rows, list[ShardStep]]:
    """Mixed weights, and the steps of one to four shards, some empty; many a weight returns to its old value."""
    before = to_rows(draw(weights), ("weight", "f4"))
    old = column(before, "weight")
    shards = draw(st.integers(1, 4))
    steps = []
    for shard in range(shards):
        sent = draw(st.dictionaries(entries, st.tuples(numbers, numbers)))
        returned = draw(st.sets(st.sampled_from(sorted(sent)))) if sent else set()
        sent = {e: (old.get(e, 0.0), lag) if e in returned else (value, lag) for e, (value, lag) in sent.items()}
        updates = draw(st.integers(1, 9)) if sent else 0
        steps.append(step(shard, shards, sent, updates, draw(st.integers(updates, 40))))
    return before, steps


def naive(strategy: str, before: Rows, steps: Sequence[ShardStep]) -> tuple[dict[Entry, float], dict[Entry, float]]:
    """The mixed weights and mean steps, from the table in mixing.py."""
    old = column(before, "weight")
    sent = [column(s.rows, "weight") for s in steps]
    lags = [column(s.rows, "lag") for s in steps]
    mixed, means = {}, {}
    for entry in sorted(set().union(*sent)):
        start = old.get(entry, 0.0)
        senders = [i for i, found in enumerate(sent) if entry in found]
        row_senders = [i for i, found in enumerate(sent) if any(key == entry[0] for key, _ in found)]
        multiple = {
            "uniform": [1] * len(steps),
            "errors": [s.updates for s in steps],
            "examples": [s.examples for s in steps],
            "touched": [1] * len(steps),
            "row": [1] * len(steps),
            "scaled": [1] * len(steps),
        }[strategy]
        divisor = {"touched": len(senders), "row": len(row_senders)}.get(strategy, sum(multiple))
        moved = mean = 0.0
        for i in senders:
            moved += multiple[i] * (sent[i][entry] - start)
            mean += multiple[i] * (sent[i][entry] - start - lags[i][entry] / max(1, steps[i].examples))
        values = {sent[i][entry] for i in senders}
        agreed = len(values) == 1 and sum(multiple[i] for i in senders) == divisor
        mixed[entry] = values.pop() if agreed else float(np.float32(start + moved / divisor))
        means[entry] = mean / divisor
    return mixed, means


@pytest.mark.parametrize("strategy", MIXINGS)
@settings(max_examples=60, deadline=None)
@given(epochs())
def test_mixing_is_as_defined(strategy: str, epoch: tuple[Rows, list[ShardStep]]) -> None:
    before, steps = epoch
    result = mix(strategy, before, steps)
    weight, mean = naive(strategy, before, steps)
    assert column(result, "weight") == weight
    assert column(result, "mean") == mean
    assert (result.values["weight"].dtype, result.values["mean"].dtype) == (np.float32, np.float64)

    after = column(apply(before, result), "weight")
    assert after == {entry: value for entry, value in {**column(before, "weight"), **weight}.items() if value}


@pytest.mark.parametrize("strategy", MIXINGS)
@settings(max_examples=40, deadline=None)
@given(epochs(), st.integers(1, 7), st.randoms(use_true_random=False))
def test_neither_order_nor_ranges_matter(
    strategy: str, epoch: tuple[Rows, list[ShardStep]], ranges: int, random: Random
) -> None:
    before, steps = epoch
    whole = mix(strategy, before, steps)
    shuffled = list(steps)
    random.shuffle(shuffled)
    assert_same_rows(mix(strategy, before, shuffled), whole)
    splits = [split_ranges(s.rows, ranges) for s in steps]
    mixed = [mix(strategy, before, [s._replace(rows=r[i]) for s, r in zip(steps, splits)]) for i in range(ranges)]
    assert_same_rows(concatenate(mixed), whole)


@pytest.mark.parametrize("strategy", MIXINGS)
def test_one_shard_is_taken_as_it_is(strategy: str) -> None:
    """1.0 → 1e-12 is not 1.0 + (1e-12 − 1.0)."""
    before = to_rows({(5, 0): (1.0,), (5, 1): (0.1,), (9, 0): (16777216.0,), (9, 1): (7.0,)}, ("weight", "f4"))
    sent = {(5, 0): (1e-12, 0.5), (5, 1): (-1e-30, 0.0), (9, 0): (1 / 3, -0.25), (8, 2): (1e38, 0.0)}
    only = step(0, 1, sent, 7, 49)
    mixed = mix(strategy, before, [only])
    assert mixed.values["weight"].tobytes() == only.rows.values["weight"].tobytes()
    assert column(mixed, "mean") == pytest.approx(naive(strategy, before, [only])[1], rel=1e-15)
    after = column(apply(before, mixed), "weight")
    assert after[5, 0] == np.float32(1e-12)
    assert after[9, 1] == 7.0


@pytest.mark.parametrize("strategy", MIXINGS)
@settings(max_examples=30, deadline=None)
@given(weights, st.dictionaries(entries, st.tuples(numbers, numbers), min_size=1), st.integers(1, 9), st.integers(2, 4))
def test_identical_shards_are_one(
    strategy: str, before: dict[Entry, Sequence[float]], sent: dict[Entry, Sequence[float]], updates: int, copies: int
) -> None:
    start = to_rows(before, ("weight", "f4"))
    one = mix(strategy, start, [step(0, 1, sent, updates, 10)])
    several = mix(strategy, start, [step(i, copies, sent, updates, 10) for i in range(copies)])
    assert several.values["weight"].tobytes() == one.values["weight"].tobytes()
    assert column(several, "mean") == pytest.approx(column(one, "mean"), rel=1e-14)
    if copies == 2 and strategy in ("uniform", "touched", "row"):
        assert_same_rows(several, one)


def test_worked_example() -> None:
    """Two shards; feature 5 has label 0 from both and label 1 from the second alone, feature 6 is the first's alone."""
    before = to_rows({(5, 0): (1.0,)}, ("weight", "f4"))
    first = step(0, 2, {(5, 0): (2.0, 0.0), (6, 0): (4.0, 10.0)}, updates=1, examples=10)
    second = step(1, 2, {(5, 0): (5.0, 0.0), (5, 1): (-4.0, 0.0)}, updates=3, examples=30)

    def mixed(strategy: str) -> list[float]:
        return list(column(mix(strategy, before, [first, second]), "weight").values())

    assert mixed("uniform") == [1 + (1 + 4) / 2, -4 / 2, 4 / 2]
    assert mixed("errors") == [1 + (1 * 1 + 3 * 4) / 4, 3 * -4 / 4, 1 * 4 / 4]
    assert mixed("examples") == [1 + (10 * 1 + 30 * 4) / 40, 30 * -4 / 40, 10 * 4 / 40]
    assert mixed("touched") == [1 + (1 + 4) / 2, -4, 4]
    assert mixed("row") == [1 + (1 + 4) / 2, -4 / 2, 4]
    assert column(mix("uniform", before, [first, second]), "mean")[6, 0] == (4 - 1) / 2


def test_a_weight_that_came_back_counts_as_touched() -> None:
    before = to_rows({(5, 0): (1.0,)}, ("weight", "f4"))
    steps = [step(0, 2, {(5, 0): (1.0, 5.0)}, 2, 10), step(1, 2, {(5, 0): (3.0, 0.0)}, 1, 10)]
    mixed = mix("touched", before, steps)
    assert column(mixed, "weight") == {(5, 0): 2.0}
    assert column(mixed, "mean") == {(5, 0): (-0.5 + 2.0) / 2}


def test_errors_mixing_where_one_shard_alone_has_updates() -> None:
    before = to_rows({(5, 0): (1.0,)}, ("weight", "f4"))
    quiet = [step(0, 3, {}, 0, 10), step(2, 3, {}, 0, 10)]
    mixed = mix("errors", before, [quiet[0], step(1, 3, {(5, 0): (1e-12, 0.0)}, 4, 10), quiet[1]])
    assert column(mixed, "weight") == {(5, 0): float(np.float32(1e-12))}


@pytest.mark.parametrize("strategy", MIXINGS)
@pytest.mark.parametrize("examples", [0, 10])
def test_without_updates_nothing_moves(strategy: str, examples: int) -> None:
    before = to_rows({(5, 0): (1.0,), (7, 1): (-0.3,)}, ("weight", "f4"))
    mixed = mix(strategy, before, [step(i, 3, {}, 0, examples) for i in range(3)])
    assert len(mixed.labels) == 0
    assert_same_rows(apply(before, mixed), before)


@pytest.mark.parametrize(
    "shards, words",
    [
        ([0, 2], r"missing \[1\], doubled \[\] of 3"),
        ([0, 1, 1, 2], r"missing \[\], doubled \[1\] of 3"),
        ([0, 0, 2], r"missing \[1\], doubled \[0\] of 3"),
        ([0, 1, 2, 3], "not whole"),
    ],
)
def test_a_missing_or_doubled_shard_is_refused(shards: list[int], words: str) -> None:
    with pytest.raises(UserError, match=words):
        mix("uniform", empty(weight="f4"), [step(i, 3, {}, 0, 1) for i in shards])


def test_a_shard_of_another_epoch_is_refused() -> None:
    steps = [step(0, 2, {}, 0, 1), step(1, 2, {}, 0, 1)._replace(origin="epoch 2 from weights 1234")]
    with pytest.raises(UserError, match="different epochs or runs.*epoch 2.*epoch 3"):
        mix("uniform", empty(weight="f4"), steps)


def test_the_average_is_a_sum_over_epochs() -> None:
    """Two epochs of two examples each; a weight is 1, 1 and 1, 3 after them; the second epoch counts twice: 10/6."""
    start = empty(weight="f4")
    first = mix("uniform", start, [step(0, 1, {(5, 0): (1.0, 0.0)}, 1, 2)])  # changed before any example was seen
    sums = add_average(empty(sum="f8"), start, first, 1)
    middle = apply(start, first)
    second = mix("uniform", middle, [step(0, 1, {(5, 0): (3.0, 2.0 * 1)}, 1, 2)])  # by 2 after one of two
    sums = add_average(sums, middle, second, 2)
    assert column(sums, "sum") == {(5, 0): 1.0 + 2 * 2.0}
    both = averaged_rows(apply(middle, second), sums, 2)
    assert column(both, "averaged") == {(5, 0): float(np.float32(5 / 3))}
    assert column(both, "weight") == {(5, 0): 3.0}
    assert both.values["averaged"].dtype == both.values["weight"].dtype == np.float32


@settings(max_examples=60, deadline=None)
@given(weights, weights, epochs(), st.integers(1, 9))
def test_sums_of_averages_are_as_defined(
    known: dict[Entry, Sequence[float]],
    before: dict[Entry, Sequence[float]],
    epoch: tuple[Rows, list[ShardStep]],
    share: int,
) -> None:
    """Neither of the three need have what another has, and what cancels out is gone."""
    sums, start, mixed = to_rows(known, ("sum", "f8")), to_rows(before, ("weight", "f4")), mix("row", *epoch)
    total, old, mean = column(sums, "sum"), column(start, "weight"), column(mixed, "mean")
    expected = {
        entry: total.get(entry, 0.0) + share * (old.get(entry, 0.0) + mean.get(entry, 0.0))
        for entry in sorted({*total, *old, *mean})
    }
    assert column(add_average(sums, start, mixed, share), "sum") == {e: value for e, value in expected.items() if value}


@pytest.mark.parametrize("strategy", MIXINGS)
def test_a_strategy_without_a_guarantee_falls_back_for_good(strategy: str) -> None:
    """Ten epochs without a new minimum, after which it makes no difference that there are new ones again."""
    circling = [9, 7] + [8, 7] * 5
    assert mixing_now(strategy, circling[:-1]) == strategy
    assert mixing_now(strategy, [*circling[:-1], 6]) == strategy
    fallen = strategy if strategy in CERTAIN else "uniform"
    assert mixing_now(strategy, circling) == fallen
    assert mixing_now(strategy, [*circling, 6, 5, 4]) == fallen


def test_a_row_without_entries_counts_for_no_row() -> None:
    """A shard sends none; but one at the end of the rows must not lead outside."""
    sent = step(0, 1, {(1, 0): (1, 0), (9, 2): (3, 0)}, 1, 2)
    rows = sent.rows._replace(keys=np.array([1, 5, 9, 11], np.uint64), starts=np.array([0, 1, 1, 2, 2]))
    with_gaps = mix("row", empty(weight="f4"), [sent._replace(rows=rows)])
    assert with_gaps.values["weight"].tolist() == mix("row", empty(weight="f4"), [sent]).values["weight"].tolist()


def test_an_enormous_number_of_shards_is_told_in_little() -> None:
    with pytest.raises(UserError, match=r"missing \[1, 2, 3, .*9, 10\], doubled \[\] of 1000000000000"):
        mix("row", empty(weight="f4"), [step(0, 10**12, {}, 1, 2)])
