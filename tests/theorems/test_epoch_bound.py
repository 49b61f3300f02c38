"""How many epochs mixing by errors needs: §4.3 of the paper.

With μ_{i,n} = k_{i,n}/k_n, where k_n = Σ_i k_{i,n}, and N the number of epochs that have mistakes:

    N ≤ Σ_n Π_i k_{i,n}^(k_{i,n}/k_n) ≤ Σ_n Σ_i (k_{i,n}/k_n) k_{i,n} ≤ R²/γ²

since k^k ≥ 1 (also 0⁰), by the inequality of weighted means, and by Theorem 3. So it is the bound of serial training,
whatever the number of shards. For uniform mixing Theorem 3 only says N ≤ S R²/γ², since an epoch may add as little as
1/S to the sum.
"""

import math
from typing import Any

import pytest

ROUNDING = 1e-5  # relative: weights are float32, the margin is known to 1e-6


def bound_of(problem: Any, shortest_with_margin_1: Any) -> float:
    """R²/γ²"""
    deltas, _ = problem.constraints()
    shortest = shortest_with_margin_1(deltas)
    return float((deltas**2).sum(axis=1).max() * (shortest @ shortest))


def chain(training: Any) -> list[float]:
    """The three sums, of a training that was mixed by errors."""
    assert "stopped: the training set is separated" in training.said
    mistakes = training.mistakes()
    assert len(mistakes) == len(training.history) - 1  # every epoch has mistakes but the last
    geometric = sum(math.prod(k ** (k / sum(counts)) for k in counts) for counts in mistakes)
    return [len(mistakes), geometric, training.weighted_mistakes("errors")]


@pytest.mark.parametrize("shards", [2, 3, 4])
def test_each_inequality(generated: Any, learn: Any, shortest_with_margin_1: Any, shards: int) -> None:
    strict = 0
    for problem in generated:
        sums = chain(learn(problem, "--shards", shards, "--mixing", "errors"))
        sums.append(bound_of(problem, shortest_with_margin_1))
        assert all(low <= high * (1 + ROUNDING) for low, high in zip(sums, sums[1:]))
        strict += all(low < high * (1 - ROUNDING) for low, high in zip(sums, sums[1:]))
    assert strict  # with several mistakes on a shard, and unequally many on the shards, all four differ


def test_half_of_the_bound(problem_of: Any, learn: Any, shortest_with_margin_1: Any) -> None:
    """A shard of one instance has one mistake at most, and an epoch adds only 1 to each sum: the paper's worst case."""
    problem = problem_of({"0011": "1", "1101": "0", "1110": "1"})
    assert chain(learn(problem, "--shards", 3, "--mixing", "errors")) == pytest.approx([4, 4, 4])
    assert bound_of(problem, shortest_with_margin_1) == pytest.approx(63 / 8)


def test_uniform_mixing_goes_beyond(problem_of: Any, learn: Any, shortest_with_margin_1: Any) -> None:
    """11 → 1 on fifteen shards, which move the weights by nearly a whole step; 10 → 0 on one, which moves f0's back.

    Mixing by errors, one epoch is enough for that. Uniformly, it takes fifteen, of a sixteenth of a step each.
    """
    problem = problem_of({"11": "1", "10": "0"}).choose([0] * 15 + [1])
    bound = bound_of(problem, shortest_with_margin_1)
    by_errors, uniform = (learn(problem, "--shards", 16, "--mixing", mixing) for mixing in ("errors", "uniform"))
    assert len(by_errors.mistakes()) == 2 < bound
    assert len(uniform.mistakes()) == 16 > bound
    assert uniform.weighted_mistakes("uniform") == pytest.approx(15 / 16 + 15 / 16)
