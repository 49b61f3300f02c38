"""How the shards' steps become one: iterative parameter mixing and its variants, feature by feature.

Every shard starts an epoch from the same mixed weights w and ends at w + δ_i. The mixed step of a weight is

    Σ_i m_i δ_i / D        (in float64, added in the order of the shards, divided once)

    strategy   m_i                      D
    uniform    1                        S, the number of shards (McDonald et al. 2010, μ = 1/S)
    errors     k_i, the shard's updates Σ_i k_i (McDonald et al. 2010, μ_i = k_i / Σ k)
    examples   n_i, its sentences       Σ_i n_i: shards of unequal size count by what they saw
    touched    1                        the shards in which this weight took part in an update
    row        1                        the shards in which any label's weight of this feature did
    scaled     1                        S; but the local steps of a feature that c_f shards have are S/c_f as long

What a divisor assumes: *uniform* assumes that all S shards have learnt about every weight. A shard without the feature
counts as one that wants no change, so a feature of one shard moves at 1/S of the speed of serial training, and training
falls behind by a factor that grows with S. *touched* counts only the shards that moved the weight, as if each of them
had seen all examples of it. *row* also counts those that updated the feature, but not this label's weight. The two are
as fast as serial training, but no theorem holds for them: with three instances on three shards they can go round in a
circle for ever (tests/theorems/test_no_theorem.py). For *uniform*, *errors* and *examples* Theorem 3 of the paper
holds: on separable data their errors end. So *touched* and *row* change to *uniform* for the rest of the run when
FALL_BACK_AFTER epochs have brought no new minimum of errors (`mixing_now`). This happens whenever they do not separate
the data, since a minimum of whole numbers ≥ 0 cannot improve for ever. From then on the theorem holds, from the weights
of that epoch instead of from zero: Σ Σ μ k ≤ R²/γ² + 2‖w₀‖/γ.

*scaled* compensates for the division beforehand, in the shards, and keeps the theorem. c_f is counted once, over all of
the run's shards (shard_counts.py; transitions, starts and stops are in all of them), so the perceptron with these steps
is *uniform* on rescaled features, φ'_f = s_f φ_f with s_f = √(S/c_f): where the weight of φ_f would move by 1, that of
φ'_f, w'_f, moves by s_f; and since w'_f φ'_f = (s_f w'_f) φ_f, what is kept here is w_f = s_f w'_f, which moves by
s_f² = S/c_f. So Theorem 3 holds with the rescaled γ' and R'. A unit vector u becomes u'_f = u_f / s_f, which is no
longer and has the same margins, so γ' ≥ γ; but R'² may be as much as S R², and the bound S times weaker than that of
*uniform*. A learner whose steps depend on ‖Δ‖ is not the same on rescaled features: `check_mixing` refuses it.

With many shards the first epoch decides the result, so *row* and *touched* mix several times in it: rounds.py. *row* is
the default, because with these rounds neither its average nor its last weights lose anything against serial training,
on any number of shards that was tried; the last weights of *touched* oscillate with many shards.

Dense features need no special rule. Every shard has every transition, and each transition is a row of its own, so *row*
divides it by the shards that moved it: on 50 shards of CoNLL-2003 by 36 in the first epoch and about 10 later, where
other features are divided by 3 and 2. Dividing transitions by all S shards instead costs 0.3 points of the averaged dev
F1 and 0.2 of the last weights (15 epochs without rounds, three seeds), the geometric mean of the two 0.06 and 0.04;
half the divisor gains nothing and costs the last weights 0.3.

Only what took part in an update is sent, so a shard that did not send a weight has δ_i = 0. If all the shards that sent
it have the same new value and the sum of their m_i is D (as with a single shard), this value is taken as it is, because
a + (b − a) is not always b. So training on one shard is serial training to the last bit.

The average of an epoch is w plus the mixed mean steps; a shard's mean step over its n examples is δ_i − lag_i / n, by
the kernel's lazy averaging. In the average of a run epoch e counts e times, because the poor weights of early epochs
would lower it. The gain over equal shares, and that of e² instead of e, in points of the dev score (row mixing with its
rounds, means of CoNLL-2003, CoNLL-2000, EWT and 9,000 sentences of Brown, three seeds each, from every epoch's sums):

    S          after 5 epochs    after 10          after 15
    1          +0.06  +0.02      +0.02   0.00      −0.02  −0.07
    10         +0.15  +0.18      +0.10  +0.08       0.00  −0.01
    50         +0.11  +0.11      +0.03   0.00      +0.03  −0.01
    100        +0.09  +0.08      +0.02  −0.03      −0.06  −0.10

So it helps if epochs are few, and is nearly lost in noise after 15; most of it comes from CoNLL-2003 (+0.39 on ten
shards after 10), while CoNLL-2000 and Brown lose up to 0.1 after 15. For one epoch it is Collins's average.

Counts of updates (weights/relevance.py) are not mixed: the shards' counts are added, with every strategy.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Callable, NamedTuple

import numpy as np

from perceptron_core.errors import UserError
from perceptron_core.kernels import add_averages, add_step, replace_weights
from perceptron_core.weights.rows import Rows, add_counts, spread, unite, values_at


class ShardStep(NamedTuple):
    """What one shard made of the mixed weights, in one range of the keys."""

    shard: int
    shards: int
    origin: str  # which epoch of which run it started from
    updates: int
    examples: int
    rows: Rows  # "weight": the values it ended with, float32; "lag": its lag, float64


class Division(NamedTuple):
    """m_i for each shard, and D for each weight."""

    multiples: Sequence[int]
    divisors: np.ndarray


def _by_shard(count: Callable[[ShardStep], int]) -> Callable[..., Division]:
    def shares(steps: Sequence[ShardStep], weights: np.ndarray, rows: np.ndarray) -> Division:
        multiples = [count(step) for step in steps]
        return Division(multiples, np.full(len(weights), sum(multiples)))

    return shares


def _by_weight(steps: Sequence[ShardStep], weights: np.ndarray, rows: np.ndarray) -> Division:
    return Division([1] * len(steps), weights)


def _by_row(steps: Sequence[ShardStep], weights: np.ndarray, rows: np.ndarray) -> Division:
    return Division([1] * len(steps), rows)


# strategy → (steps, in how many shards each weight took part, in how many its row did) → shares
MIXINGS: dict[str, Callable[[Sequence[ShardStep], np.ndarray, np.ndarray], Division]] = {
    "uniform": _by_shard(lambda step: 1),
    "errors": _by_shard(lambda step: step.updates),
    "examples": _by_shard(lambda step: step.examples),
    "touched": _by_weight,
    "row": _by_row,
    "scaled": _by_shard(lambda step: 1),
}

CERTAIN = ("uniform", "errors", "examples", "scaled")  # Theorem 3 holds for them
SCALED = "scaled"
SHOWN = 10  # shards that an error names
FALL_BACK_AFTER = 10  # epochs without a new minimum of errors


def check_mixing(strategy: str, learner: str) -> None:
    """Refuse an unknown strategy, and one that does not work with this learner."""
    if strategy not in MIXINGS:
        raise UserError(f"mixing: {strategy!r} is not known; choose one of {', '.join(MIXINGS)}")
    if strategy == SCALED and learner != "perceptron":
        raise UserError(f"mixing: {SCALED} is for the perceptron, not for {learner}; choose another mixing or learner")


def mixing_now(chosen: str, errors: Sequence[int]) -> str:
    """The strategy for the next epoch, after epochs with these numbers of errors: the chosen one, or the fall-back."""
    if chosen in CERTAIN:
        return chosen
    fewest, since = None, 0
    for count in errors:
        if fewest is None or count < fewest:
            fewest, since = count, 0
        else:
            since += 1
        if since == FALL_BACK_AFTER:
            return CERTAIN[0]
    return chosen


def check_complete(senders: Sequence[tuple[int, int, str]]) -> None:
    """Refuse a shard that is missing, there twice, or of another epoch or run; from (shard, shards, origin) of each."""
    origins = sorted({origin for _, _, origin in senders})
    if len(origins) != 1:
        raise UserError(f"shards of different epochs or runs cannot be mixed: {', '.join(origins)}")
    found = sorted(shard for shard, _, _ in senders)
    expected = senders[0][1]
    if len(found) != expected or found != list(range(expected)):
        missing = list(islice((shard for shard in range(expected) if shard not in found), SHOWN))
        doubled = sorted({shard for shard in found if found.count(shard) > 1})[:SHOWN]
        raise UserError(f"the shards are not whole: missing {missing}, doubled {doubled} of {expected}")


def mix(strategy: str, before: Rows, steps: Sequence[ShardStep]) -> Rows:
    """The mixed weights ("weight", float32) and mean steps ("mean", float64) of all weights that a shard touched."""
    check_complete([(step.shard, step.shards, step.origin) for step in steps])
    steps = sorted(steps, key=lambda step: step.shard)
    union, places = unite([step.rows for step in steps])
    size = len(union.labels)
    row_of = union.entry_rows()
    in_shards, in_rows = np.zeros(size, np.int64), np.zeros(len(union.keys), np.int64)
    for step, place in zip(steps, places):
        in_shards[place] += 1
        starts = step.rows.starts
        in_rows[row_of[place[starts[:-1][starts[1:] > starts[:-1]]]]] += 1  # by the first entry of each of its rows
    shares = MIXINGS[strategy](steps, in_shards, in_rows[row_of])

    old = values_at(before, "weight", union)
    moved, mean, present = np.zeros(size), np.zeros(size), np.zeros(size, np.int64)
    low, high = np.full(size, np.inf, np.float32), np.full(size, -np.inf, np.float32)
    for step, place, multiple in zip(steps, places, shares.multiples):
        value, lag, examples = step.rows.values["weight"], step.rows.values["lag"], max(1, step.examples)
        add_step(place, value, lag, examples, multiple, (old, moved, mean, present, low, high))
    agreed = (low == high) & (present == shares.divisors)
    divisors = np.maximum(shares.divisors, 1)  # without updates there is nothing to divide
    weight = np.where(agreed, low, old + moved / divisors).astype(np.float32)
    counts = add_counts(union.keys, [step.rows for step in steps])
    return union.with_values(weight=weight, mean=mean / divisors)._replace(counts=counts)


def apply(before: Rows, mixed: Rows) -> Rows:
    """The weights after the epoch: the mixed values where there are any, the old ones elsewhere; without zeros."""
    old, new = _entries(before, "weight"), _entries(mixed, "weight")
    keys, starts, labels, weight, counts = replace_weights((*old, before.counts), (*new, mixed.counts))
    return Rows(keys, starts, labels, {"weight": weight}, counts)


def add_average(sums: Rows, before: Rows, mixed: Rows, share: float) -> Rows:
    """The sum of the epochs' averages ("sum"), e times that of epoch e: w before it, plus the mixed mean step; without
    zeros. Where an epoch has several rounds, e is shared among them."""
    parts = _entries(sums, "sum"), _entries(before, "weight"), _entries(mixed, "mean")
    keys, starts, labels, total = add_averages(*parts, share)
    return Rows(keys, starts, labels, {"sum": total})


def _entries(rows: Rows, column: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return rows.keys, rows.starts, rows.labels, rows.values[column]


def averaged_rows(weights: Rows, sums: Rows, epochs: int) -> Rows:
    """Last ("weight") and averaged ("averaged") weights in one set of rows, both float32; counts stay."""
    union, (place, sum_place) = unite([weights, sums])
    size = len(union.labels)
    last = spread(place, weights.values["weight"], size).astype(np.float32)
    shares = max(1, epochs * (epochs + 1) // 2)
    averaged = spread(sum_place, sums.values["sum"] / shares, size).astype(np.float32)
    counts = add_counts(union.keys, [weights])
    return union.with_values(weight=last, averaged=averaged)._replace(counts=counts)
