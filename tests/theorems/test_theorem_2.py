"""Theorem 2: shards trained to the end and mixed once do not separate a separable set; mixed every epoch, they do.

The paper's example: four instances on two shards, block features, no bias, no transitions, ties go to label 1.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_core.training.mixing import CERTAIN, MIXINGS

FIRST = {"110": "0", "001": "1"}  # the paper's x_{1,1} and x_{1,2}
SECOND = {"011": "0", "100": "1"}  # x_{2,1} and x_{2,2}
GOLD = {**FIRST, **SECOND}
TO_THE_END = ("--epochs", 1, "--local-epochs", 10)


@pytest.fixture
def example(problem_of: Any) -> Any:
    """The four, in such an order that each half is a shard."""
    return problem_of({"110": "0", "011": "0", "001": "1", "100": "1"}, "10").dealt(2)


@pytest.fixture
def classified(example: Any, must: Any, tmp_path: Path) -> Any:
    """How `perceptron predict` labels the four with given weights: label 0's, then label 1's, as the paper has them."""

    def classify(weights: Any) -> dict[str, str]:
        example.write(tmp_path)
        named = zip(example.coordinates(), np.asarray(weights).tolist())
        (tmp_path / "weights.tsv").write_text(
            "".join(f"{name}\t{label}\t{weight}\n" for (name, label), weight in named)
        )
        model = tmp_path / "model"
        must("import", tmp_path / "weights.tsv", "--task", tmp_path / "task.yaml", "--output", model)
        lines = must("predict", model, tmp_path / "train.txt").splitlines()
        return {token: guess for token, _, guess in (line.split() for line in lines if line)}

    return classify


@pytest.fixture
def halves(problem_of: Any, learn: Any) -> tuple[Any, Any]:
    """The weights of each shard, trained by itself until it is separated."""
    first, second = (learn(problem_of(half, "10"), *TO_THE_END) for half in (FIRST, SECOND))
    return first.weights, second.weights


def test_each_shard_separates_itself(halves: Any, classified: Any) -> None:
    first, second = halves
    assert first.tolist() == [1, 1, 0, -1, -1, 0]
    assert second.tolist() == [0, 1, 1, 0, -1, -1]
    assert classified(first) == {**GOLD, "100": "0"}  # x_{2,2} is wrong, and all else is right
    assert classified(second) == {**GOLD, "001": "0"}  # x_{1,2}


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.75, 0.99])
def test_no_mixture_of_them_separates(halves: Any, classified: Any, share: float) -> None:
    first, second = halves
    assert set(classified(share * first + (1 - share) * second).values()) == {"0"}


def test_there_is_a_separator(classified: Any) -> None:
    assert classified([-1, 2, -1, 1, -2, 1]) == GOLD


@pytest.mark.parametrize("mixing", MIXINGS)
def test_one_shot_mixing_does_not_separate(example: Any, learn: Any, classified: Any, mixing: str) -> None:
    training = learn(example, "--shards", 2, "--mixing", mixing, *TO_THE_END)
    assert training.mistakes() == [[1, 1]]
    mean = [0.5, 1, 0.5, -0.5, -1, -0.5]  # of the two halves' weights
    alone = [1, 1, 1, -1, -1, -1]  # one shard each has changed f0 and f2, and they are not divided
    assert training.weights.tolist() == (mean if mixing in CERTAIN else alone)
    assert set(classified(training.weights).values()) == {"0"}


@pytest.mark.parametrize("mixing", MIXINGS)
def test_iterative_mixing_separates(example: Any, learn: Any, classified: Any, mixing: str) -> None:
    training = learn(example, "--shards", 2, "--mixing", mixing)
    assert "stopped: the training set is separated" in training.said
    assert len(training.mistakes()) > 1  # one epoch, which is the one shot, was not enough
    assert classified(training.weights) == GOLD
