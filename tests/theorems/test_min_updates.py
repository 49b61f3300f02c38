"""Goldberg & Elhadad 2011: with minUpdate, training on separable data still ends with a separating vector.

Their argument needs no order of the examples, so it carries over to what mixing does: an update that moves a hidden
feature adds to its count, of which there are K times the features at most; any other is the ordinary perceptron's.
"""

from typing import Any

import pytest

ROUNDING = 1e-5


@pytest.mark.parametrize(("shards", "mixing"), [(1, "row"), (2, "uniform"), (3, "errors"), (3, "row")])
def test_separable_data_are_separated(generated: Any, learn: Any, shards: int, mixing: str) -> None:
    slower = 0
    for problem in generated:
        options = ("--shards", shards, "--mixing", mixing)
        training = learn(problem, *options, "--min-updates", 3)
        assert "stopped: the training set is separated" in training.said
        deltas, _ = problem.constraints()
        assert (deltas @ training.weights >= -ROUNDING).all()  # with only the relevant features: those of the model
        slower += len(training.history) > len(learn(problem, *options).history)
    assert slower  # some of the features were hidden for a while


@pytest.mark.parametrize("min_updates", [1, 2, 5])
def test_a_feature_needs_this_number_of_updates(orthogonal: Any, learn: Any, min_updates: int) -> None:
    """Nine instances without a common feature: each is a mistake until its feature is relevant."""
    training = learn(orthogonal, "--min-updates", min_updates)
    assert [entry["errors"] for entry in training.history] == [9] * min_updates + [0]
    assert training.weights.tolist() == [-min_updates] * 9 + [min_updates] * 9


def test_two_shards_need_half_the_epochs(orthogonal: Any, learn: Any) -> None:
    """Counts add up over the shards: of the four updates that a feature needs, each epoch has two."""
    problem = orthogonal.on_every_shard(2)
    training = learn(problem, "--shards", 2, "--mixing", "uniform", "--min-updates", 4)
    assert training.mistakes() == [[9, 9], [9, 9]]
    assert training.weights.tolist() == [-2.0] * 9 + [2.0] * 9
