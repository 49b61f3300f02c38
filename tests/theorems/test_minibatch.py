"""Zhao & Huang 2013: a minibatch learner separates a separable set by a bounded number of updates, whatever M is.

Perceptron (their Theorem 1): t ≤ R²/δ² updates. The two halves of the proof are tested by themselves: v·w ≥ t, where
v = u/δ is the shortest vector with v·Δ ≥ 1 for all Δ, and ‖w‖² ≤ R² t.

MIRA (their Theorem 2), here without slack. Let v·Δ ≥ loss for all Δ. An update moves w to w', the nearest vector which
corrects the constraints C, and v corrects them, too. So ‖w' − v‖² ≤ ‖w − v‖² − ‖w' − w‖² (projection onto a convex
set), and ‖w' − w‖ ≥ (loss − w·Δ)/‖Δ‖ ≥ ℓmin/R, as w·Δ ≤ 0 for each Δ of C. From w = 0 on: t ≤ ‖v‖² R²/ℓmin². With
v = ℓmax u/δ this is (ℓmax/ℓmin)² R²/δ², and R²/δ² if every loss is 1, as in classification.
"""

from typing import Any

import numpy as np
import pytest

ROUNDING = 1e-5  # relative: weights are float32, the margin is known to 1e-6


def updates(training: Any) -> int:
    assert "stopped: the training set is separated" in training.said
    return sum(entry["updates"] for entry in training.history)


@pytest.mark.parametrize("minibatch", [1, 2, 7])
def test_minibatch_perceptron(generated: Any, learn: Any, shortest_with_margin_1: Any, minibatch: int) -> None:
    shares, together = [], 0
    for problem in generated:
        training = learn(problem, "--minibatch", minibatch)
        deltas, _ = problem.constraints()
        v, w, t = shortest_with_margin_1(deltas), training.weights, updates(training)
        longest = float(np.linalg.norm(deltas, axis=1).max())
        assert (deltas @ w >= -ROUNDING).all()
        assert v @ w >= t * (1 - ROUNDING)
        assert w @ w <= longest**2 * t * (1 + ROUNDING)
        shares.append(t / (longest**2 * float(v @ v)))
        assert shares[-1] <= 1 + ROUNDING
        together += t < sum(entry["errors"] for entry in training.history)
    assert max(shares) >= 0.15
    assert (together > 0) == (minibatch > 1)  # several wrong sentences did become one update


@pytest.mark.parametrize("minibatch, best", [(1, 1), (1, 3), (3, 1), (7, 3)])
def test_minibatch_mira(generated: Any, learn: Any, shortest_with_margin_1: Any, minibatch: int, best: int) -> None:
    shares = []
    for problem in generated:
        training = learn(problem, "--learner", "mira", "--minibatch", minibatch, "--k-best", best)
        t, w = updates(training), training.weights
        deltas, losses = problem.constraints()
        longest = float(np.linalg.norm(deltas, axis=1).max())
        by_margin = losses.max() * shortest_with_margin_1(deltas)
        by_loss = shortest_with_margin_1(deltas / losses[:, np.newaxis])  # the shortest v with v·Δ ≥ loss
        for v in (by_margin, by_loss):
            away = w - v
            assert away @ away <= v @ v * (1 + ROUNDING) - t * (losses.min() / longest) ** 2
            assert t <= float(v @ v) * (longest / losses.min()) ** 2 * (1 + ROUNDING)
        if losses.max() == 1:  # classification: 0/1 loss, and the perceptron's bound
            shares.append(t / (longest**2 * float(by_loss @ by_loss)))
    assert max(shares) >= 0.05


def test_the_bound_is_reached(orthogonal: Any, learn: Any, shortest_with_margin_1: Any) -> None:
    """Nine orthogonal instances: one by one they need nine updates, which is R²/δ²; all at once, MIRA needs only one,
    and the perceptron, which takes a ninth of each, a shorter one."""
    v = shortest_with_margin_1(orthogonal.constraints()[0])
    for learner, share in (("perceptron", 1 / 9 / 0.5), ("mira", 1.0)):
        one, all_at_once = (learn(orthogonal, "--learner", learner, "--minibatch", size) for size in (1, 9))
        assert (updates(one), updates(all_at_once)) == (9, 1)
        assert all_at_once.weights == pytest.approx(v * share)


@pytest.mark.parametrize("cap", [(), ("--aggressiveness", 0.5)])
@pytest.mark.parametrize("best", [1, 2])
def test_equal_sentences_with_different_labels(problem_of: Any, learn: Any, cap: Any, best: int) -> None:
    """No weights tell 11 from 11: the run does not separate, and its weights stay small numbers."""
    problem = problem_of({"11": "1", "10": "0"})
    problem = problem._replace(sentences=(*problem.sentences, ("11",)), gold=(*problem.gold, ("0",)))
    options = ("--learner", "mira", "--minibatch", 3, "--k-best", best, "--epochs", 20)
    training = learn(problem, *options, *cap)
    assert "20 epochs are done" in training.said and training.history[-1]["errors"] >= 1
    assert np.isfinite(training.weights).all() and np.abs(training.weights).max() < 10
