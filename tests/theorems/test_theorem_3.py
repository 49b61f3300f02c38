"""Theorem 3, Σ_n Σ_i μ_{i,n} k_{i,n} ≤ R²/γ², and Theorem 1, which is its case S = 1; and how γ is found.

The proof has two halves, which hold after every epoch: u·w ≥ γ Σ Σ μk for the u of the largest margin, and ‖w‖² ≤
R² Σ Σ μk. Both are tested by themselves, since the bound that follows from them leaves more room; the first in the form
v·w ≥ Σ Σ μk, where v = u/γ is the shortest vector with Δ·v ≥ 1.
"""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

ROUNDING = 1e-5  # relative: weights are float32, the margin is known to 1e-6


def share_of_bound(problem: Any, training: Any, mistakes: float, shortest_with_margin_1: Any, scales: Any = 1) -> float:
    """Σ Σ μk ÷ R²/γ², after all that the theorem and its proof say has been asserted; of features rescaled so."""
    deltas = problem.constraints()[0] * scales
    v, w = shortest_with_margin_1(deltas), training.weights / scales
    longest = float(np.linalg.norm(deltas, axis=1).max())
    assert "stopped: the training set is separated" in training.said
    assert (deltas @ w >= -ROUNDING).all()
    assert v @ w >= mistakes * (1 - ROUNDING)
    assert w @ w <= longest**2 * mistakes * (1 + ROUNDING)
    bound = longest**2 * float(v @ v)
    assert mistakes <= bound * (1 + ROUNDING)
    return mistakes / bound


def test_theorem_1(generated: Any, learn: Any, shortest_with_margin_1: Any) -> None:
    """Serial training: all its mistakes together are at most R²/γ². This is what `train` does by default."""
    shares = []
    for problem in generated:
        training = learn(problem)
        mistakes = sum(entry["errors"] for entry in training.history)
        shares.append(share_of_bound(problem, training, mistakes, shortest_with_margin_1))
    assert max(shares) >= 0.25


@pytest.mark.parametrize(("shards", "mixing"), [*itertools.product((2, 3, 4), ("uniform", "errors")), (4, "examples")])
def test_theorem_3(generated: Any, learn: Any, shortest_with_margin_1: Any, shards: int, mixing: str) -> None:
    shares = []
    for problem in generated:
        training = learn(problem, "--shards", shards, "--mixing", mixing)
        mistakes = training.weighted_mistakes(mixing)
        shares.append(share_of_bound(problem, training, mistakes, shortest_with_margin_1))
    assert max(shares) >= 0.25  # near enough that a longer step would break it


@pytest.mark.parametrize("rounds", [2, 3])
def test_theorem_3_with_rounds(generated: Any, learn: Any, shortest_with_margin_1: Any, rounds: int) -> None:
    """The proof adds up what a mixture gains, wherever in its sentences a shard stands; μ is the same in all rounds."""
    shares, unlike = [], 0
    for problem in generated:
        training = learn(problem, "--shards", 2, "--mixing", "uniform", "--rounds", rounds)
        mistakes = training.weighted_mistakes("uniform")
        shares.append(share_of_bound(problem, training, mistakes, shortest_with_margin_1))
        unlike += training.mistakes() != learn(problem, "--shards", 2, "--mixing", "uniform").mistakes()
    assert max(shares) >= 0.25
    assert unlike  # rounds make a difference


@pytest.mark.parametrize("mixing", ["uniform", "errors", "examples"])
@pytest.mark.parametrize("shards", [1, 4])
def test_the_bound_is_reached(
    orthogonal: Any, learn: Any, shortest_with_margin_1: Any, shards: int, mixing: str
) -> None:
    """Nine orthogonal instances, on every shard: Δ = e_i in one block and −e_i in the other, R² = 2 and γ² = 2/9.

    Every shard makes the same nine mistakes, and they are all: Σ Σ μk = 9 = R²/γ².
    """
    problem = orthogonal.on_every_shard(shards)
    training = learn(problem, "--shards", shards, "--mixing", mixing)
    assert training.mistakes() == [[9] * shards]
    mistakes = training.weighted_mistakes(mixing)
    assert share_of_bound(problem, training, mistakes, shortest_with_margin_1) == pytest.approx(1)


@pytest.mark.parametrize("shards", [2, 3, 4])
def test_scaled_mixing_on_rescaled_features(
    generated: Any, learn: Any, shortest_with_margin_1: Any, shards: int
) -> None:
    """Local steps of S/c_f are uniform mixing of features √(S/c_f) times as large: Theorem 3 with their R' and γ'."""
    shares, unlike = [], 0
    for problem in generated:
        training = learn(problem, "--shards", shards, "--mixing", "scaled")
        scales, mistakes = problem.scales(shards), training.weighted_mistakes("scaled")
        shares.append(share_of_bound(problem, training, mistakes, shortest_with_margin_1, scales))
        deltas, _ = problem.constraints()
        before, after = shortest_with_margin_1(deltas), shortest_with_margin_1(deltas * scales)
        assert after @ after <= before @ before * (1 + ROUNDING)  # γ' ≥ γ
        assert ((deltas * scales) ** 2).sum(axis=1).max() <= shards * (deltas**2).sum(axis=1).max() * (1 + ROUNDING)
        unlike += len(set(scales)) > 1 and not np.array_equal(
            training.weights, learn(problem, "--shards", shards, "--mixing", "uniform").weights
        )
    assert max(shares) >= 0.25
    assert unlike  # there are features to rescale, and it shows


def test_the_bound_of_scaled_mixing_is_reached(orthogonal: Any, learn: Any, shortest_with_margin_1: Any) -> None:
    """Where every shard has all instances, all steps are 1. Where it has a third of them, they are 3, and mixing gives
    the weights of serial training."""
    everywhere = orthogonal.on_every_shard(3)
    training = learn(everywhere, "--shards", 3, "--mixing", "scaled")
    mistakes, scales = training.weighted_mistakes("scaled"), everywhere.scales(3)
    assert share_of_bound(everywhere, training, mistakes, shortest_with_margin_1, scales) == pytest.approx(1)
    training = learn(orthogonal, "--shards", 3, "--mixing", "scaled")
    assert training.mistakes() == [[3, 3, 3]]
    assert training.weights.tolist() == [-1.0] * 9 + [1.0] * 9


def test_the_margin_by_hand(orthogonal: Any, problem_of: Any, shortest_with_margin_1: Any) -> None:
    assert shortest_with_margin_1(orthogonal.constraints()[0]) == pytest.approx([-0.5] * 9 + [0.5] * 9)
    # In the plane of f0 and f1, label 1's weights less label 0's: (1, 1) → 1, (1, 0) → 0. Both Δ touch the margin
    # for v = (−1/2, 1) ± in the two blocks.
    shortest = shortest_with_margin_1(problem_of({"11": "1", "10": "0"}).constraints()[0])
    assert shortest == pytest.approx([0.5, -1, -0.5, 1])


def test_the_margin_by_another_solver(generated: Any, shortest_with_margin_1: Any) -> None:
    """Sequential least squares (SLSQP) on the primal problem: min ‖v‖² with Δ·v ≥ 1."""
    for problem in generated:
        deltas, _ = problem.constraints()
        found = minimize(
            lambda v: float(v @ v) / 2,
            np.zeros(deltas.shape[1]),
            jac=lambda v: v,
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda v, d=deltas: d @ v - 1, "jac": lambda v, d=deltas: d},
            options={"maxiter": 1000, "ftol": 1e-12},
        )
        assert found.success
        assert found.x == pytest.approx(shortest_with_margin_1(deltas), abs=1e-4)
