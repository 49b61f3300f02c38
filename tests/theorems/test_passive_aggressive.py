"""Theorem 3 for the passive-aggressive learner (PA, no cap): the guarantee that the paper's last section promises.

What is bounded is again the mistakes, Σ Σ μ_{i,n} k_{i,n} ≤ R²/γ². PA moves only where the guess is wrong, so that
w·Δ ≤ 0, by τΔ with τ = (1 − w·Δ)/‖Δ‖². Let v = u/γ, so that v·Δ ≥ 1 for all Δ, and ‖v‖ = 1/γ. Then every update
brings w nearer to v:

    ‖w − v‖² − ‖w + τΔ − v‖² = 2τ (v·Δ − w·Δ) − τ²‖Δ‖² ≥ τ (1 − w·Δ) = (1 − w·Δ)²/‖Δ‖² ≥ 1/R²

After a shard's k_i updates it is ‖w_i − v‖² ≤ ‖w − v‖² − k_i/R², of the mixture ‖Σμ_i w_i − v‖² ≤ Σ μ_i ‖w_i − v‖²
(Jensen), and from w = 0 on, 0 ≤ ‖w − v‖² ≤ 1/γ² − Σ Σ μk/R².

This needs the loss 1, that is, sentences of one token. Where a guess is wrong in ℓ tokens, τ = (ℓ − w·Δ)/‖Δ‖², and the
same holds with v·Δ ≥ ℓ, that is, with Δ/ℓ in the place of Δ in R and γ; with the plain R and γ it would not follow.
"""

from typing import Any

import numpy as np
import pytest

ROUNDING = 1e-5  # relative: weights are float32, the margin is known to 1e-6


def share_of_bound(problem: Any, training: Any, mixing: str, shortest_with_margin_1: Any) -> float:
    """Σ Σ μk ÷ R²/γ², after the distance and the bound have been asserted."""
    deltas, losses = problem.constraints()
    by_loss = deltas / losses[:, np.newaxis]
    longest = float(np.linalg.norm(by_loss, axis=1).max())
    v = shortest_with_margin_1(by_loss)
    mistakes = training.weighted_mistakes(mixing)
    assert "stopped: the training set is separated" in training.said
    away = training.weights - v
    assert away @ away <= v @ v * (1 + ROUNDING) - mistakes / longest**2
    bound = float(v @ v) * longest**2
    assert mistakes <= bound * (1 + ROUNDING)
    return mistakes / bound


@pytest.mark.parametrize(("shards", "mixing"), [(1, "uniform"), (4, "uniform"), (4, "errors")])
def test_the_bound(generated: Any, learn: Any, shortest_with_margin_1: Any, shards: int, mixing: str) -> None:
    shares = []
    for problem in generated:
        training = learn(problem, "--learner", "pa", "--shards", shards, "--mixing", mixing)
        shares.append(share_of_bound(problem, training, mixing, shortest_with_margin_1))
    assert max(shares) >= 0.25


@pytest.mark.parametrize("mixing", ["uniform", "errors"])
@pytest.mark.parametrize("shards", [1, 4])
def test_the_bound_is_reached(
    orthogonal: Any, learn: Any, shortest_with_margin_1: Any, shards: int, mixing: str
) -> None:
    """Nine orthogonal instances, each a mistake once: R²/γ² = 9, and w ends at v itself."""
    problem = orthogonal.on_every_shard(shards)
    training = learn(problem, "--learner", "pa", "--shards", shards, "--mixing", mixing)
    assert training.mistakes() == [[9] * shards]
    assert share_of_bound(problem, training, mixing, shortest_with_margin_1) == pytest.approx(1)
    assert training.weights == pytest.approx(shortest_with_margin_1(problem.constraints()[0]))
