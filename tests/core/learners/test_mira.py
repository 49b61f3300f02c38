"""MIRA: Hildreth's algorithm against a general solver of quadratic programs, and what it is in special cases."""

import math
from typing import Optional

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from perceptron_core.learners import LEARNERS
from perceptron_core.learners.constraint import Constraint
from perceptron_core.learners.mira import gram_matrix, hildreth, mira_set

CAPS = st.sampled_from([math.inf, 0.5, 0.02])


def solve(deltas: np.ndarray, lacking: np.ndarray, cap: float) -> np.ndarray:
    """w' − w, by a quasi-Newton method with bounds (L-BFGS-B) on the dual."""
    gram = deltas @ deltas.T
    found = minimize(
        lambda a: float(a @ gram @ a / 2 - lacking @ a),
        np.zeros(len(gram)),
        jac=lambda a: gram @ a - lacking,
        method="L-BFGS-B",
        bounds=[(0.0, None if cap == math.inf else cap)] * len(gram),
        options={"maxiter": 20000, "maxfun": 100000, "ftol": 1e-15, "gtol": 1e-10},
    )
    return deltas.T @ found.x


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), CAPS)
def test_a_general_solver_finds_the_same(seed: int, size: int, cap: float) -> None:
    """Integer Δ over thirty weights, few enough that all can be satisfied."""
    random = np.random.default_rng(seed)
    deltas = random.integers(-2, 3, (size, 30)).astype(float)
    lacking = random.integers(1, 6, size) + random.exponential(3, size)
    step = deltas.T @ hildreth(deltas @ deltas.T, lacking, cap)
    assert step == pytest.approx(solve(deltas, lacking, cap), abs=1e-5)
    if cap == math.inf:
        assert (deltas @ step >= lacking - 1e-6).all()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(6, 20))
def test_capped_problems_that_cannot_all_be_satisfied(seed: int, size: int) -> None:
    """More constraints than weights: the solution of the dual still is one, and its multipliers are within the cap."""
    random = np.random.default_rng(seed)
    deltas = random.integers(-2, 3, (size, 5)).astype(float)
    deltas[:, 0] = 1
    lacking = random.integers(1, 6, size).astype(float)
    alpha = hildreth(deltas @ deltas.T, lacking, 0.3)
    assert (alpha >= 0).all() and (alpha <= 0.3).all()
    assert deltas.T @ alpha == pytest.approx(solve(deltas, lacking, 0.3), abs=1e-3)


@given(st.floats(0.5, 50), st.floats(-1e9, 60), st.integers(1, 10**6), st.sampled_from([None, 1e-3, 1.0, 1e6]))
def test_one_constraint_is_passive_aggressive(loss: float, margin: float, norm: int, c: Optional[float]) -> None:
    """Bit for bit: what the first step finds, the second does not move."""
    cap = math.inf if c is None else c
    expected = LEARNERS["pa" if c is None else "pa1"](loss, margin, float(norm), cap)
    assert LEARNERS["mira"](loss, margin, float(norm), cap) == expected
    assert hildreth(np.array([[float(norm)]]), np.array([loss - margin]), cap).tolist() == [expected]
    assert mira_set([Constraint({"w": math.sqrt(norm)}, loss, margin, float(norm))], cap) == pytest.approx([expected])


def test_two_constraints_by_hand() -> None:
    """Δ = (1, 0) and (1, 1), both lacking 1: the first satisfies both, so the second is not needed."""
    constraints = [Constraint({"a": 1.0}, 1.0, 0.0, 1.0), Constraint({"b": 1.0, "a": 1.0}, 1.0, 0.0, 2.0)]
    assert gram_matrix(constraints).tolist() == [[1, 1], [1, 2]]
    assert mira_set(constraints, math.inf) == [1.0, 0.0]
    # lacking 2 and 3, both are: w' = (2, 1)
    losses = [constraint._replace(loss=loss) for constraint, loss in zip(constraints, (2.0, 3.0))]
    assert mira_set(losses, math.inf) == pytest.approx([1, 1], abs=1e-6)
    assert mira_set(losses, 0.25) == [0.25, 0.25]


def test_a_contradiction_stays_finite() -> None:
    """Δ and −Δ, each to be corrected by 1: no weights can; the step is no longer than for one constraint."""
    gram = np.array([[2.0, -2.0], [-2.0, 2.0]])
    alpha = hildreth(gram, np.array([1.0, 1.0]), math.inf)
    assert np.isfinite(alpha).all()
    assert abs(alpha[0] - alpha[1]) <= 0.5
    assert hildreth(gram, np.array([1.0, 1.0]), 3.0).tolist() == [3.0, 3.0]
