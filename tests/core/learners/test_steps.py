"""How far an update goes: the steps of the learners, by hand."""

from typing import Callable

import numpy as np
import pytest

from perceptron_core.features.encoding import FeatureKeys
from perceptron_core.learners import LEARNERS
from perceptron_core.settings import Settings
from perceptron_core.structures.sequence.model import FeatureNumbers, SequenceModel
from perceptron_core.weights.rows import empty


@pytest.mark.parametrize(
    "learner, step",
    [
        ("perceptron", lambda loss, margin, norm, c: 1.0),
        ("pa", lambda loss, margin, norm, c: (loss - margin) / norm),
        ("pa1", lambda loss, margin, norm, c: (loss - margin) / norm if (loss - margin) / norm < c else c),
        ("pa2", lambda loss, margin, norm, c: (loss - margin) / (norm + 1 / (2 * c))),
    ],
)
def test_steps(learner: str, step: Callable[..., float]) -> None:
    for case in ((2.0, -1.5, 12.0, 0.125), (2.0, -1.5, 12.0, 10.0), (1.0, 0.0, 2.0, 0.5)):
        assert LEARNERS[learner](*case) == step(*case)


@pytest.mark.parametrize("learner", ["pa", "pa1", "pa2"])
def test_a_guess_that_scores_below_the_gold_by_more_than_its_loss_moves_nothing(learner: str) -> None:
    """As an inexact search may find one: the hinge loss is zero, so is the step."""
    assert LEARNERS[learner](1.0, 3.0, 2.0, 0.5) == 0.0
    assert LEARNERS[learner](1.0, -1.0, 2.0, 0.5) > 0.0


def test_equal_feature_vectors_move_nothing() -> None:
    """Two equal tokens, gold 0 1, but only 1 0 is allowed: without transitions Φ is the same, so Δ = 0."""
    allowed = np.array([[1, 1], [1, 0], [0, 1], [1, 1]], np.uint8)
    keys = FeatureKeys(np.array([0, 1, 2], np.int32), np.array([7, 7], np.uint64), *_no_keys(2))
    numbers = FeatureNumbers()
    block = numbers.number(np.array([2], np.int32), np.array([0, 1], np.int32), keys)
    for learner in LEARNERS:
        settings = Settings(learner, transitions=False, start_stop=False)
        model = SequenceModel(["a", "b"], settings, empty(weight="f4"), numbers, allowed)
        assert model.train(block) == (1, 0, 2)
        assert len(model.touched().keys) == 0


def _no_keys(tokens: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(tokens + 1, np.int32), np.zeros(0, np.uint64)
