"""Training and decoding of first-order sequences: the compiled kernel against the reference, bit for bit."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.learners import LEARNERS
from perceptron_core.settings import Settings
from perceptron_core.structures.prefixes import UPDATES
from perceptron_core.structures.sequence.decoders import DECODERS

SEEDS = st.integers(0, 2**32 - 1)
SWITCHES = st.tuples(*[st.booleans()] * 5)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_training_and_decoding_are_equal(kernels: Any, problems: Any, learner: str, decoder: str, update: str) -> None:
    """Every combination of learner, decoder, update and the switches of the model."""
    moved = 0
    for number, values in enumerate(itertools.product([False, True], repeat=5)):
        switches = problems.Switches(*values)
        random = np.random.default_rng([number, len(learner), len(decoder), len(update)])
        problem = problems.random_problem(random, switches, int(random.integers(1, 7)))
        chosen = Settings(learner, 0.3, decoder, 2, update, 1, True, switches.transitions, switches.start_stop)
        moved += int(kernels.agree(problem, chosen)["counts"][0][:, 1].sum())
    assert moved > 32  # the comparison is of trained weights, not of nothing


@settings(deadline=None, max_examples=80)
@given(
    SEEDS,
    SWITCHES,
    st.integers(1, 9),
    st.sampled_from(list(LEARNERS)),
    st.sampled_from(list(DECODERS)),
    st.sampled_from(list(UPDATES)),
    st.integers(1, 10),
    st.sampled_from([0.01, 1.0, 3.7]),
    st.integers(1, 5),
)
def test_random_problems_are_equal(
    kernels: Any,
    problems: Any,
    seed: int,
    switches: Any,
    labels: int,
    learner: str,
    decoder: str,
    update: str,
    beam: int,
    aggressiveness: float,
    min_updates: int,
) -> None:
    switches = problems.Switches(*switches)
    problem = problems.random_problem(np.random.default_rng(seed), switches, labels)
    model = {"transitions": switches.transitions, "start_stop": switches.start_stop}
    chosen = Settings(learner, aggressiveness, decoder, beam, update, **model, min_updates=min_updates)
    kernels.agree(problem, chosen)


def random_values(random: np.random.Generator, size: int) -> np.ndarray:
    """Zeros, ones, whole numbers and awkward fractions."""
    choice = random.integers(0, 4, size)
    return np.choose(choice, [np.zeros(size), np.ones(size), random.integers(-3, 4, size), random.normal(size=size)])


@settings(deadline=None, max_examples=80)
@given(
    SEEDS,
    SWITCHES,
    st.sampled_from([1, 2, 3, 9, 17, 33, 70]),
    st.sampled_from(list(LEARNERS)),
    st.sampled_from(list(UPDATES)),
    st.sampled_from([1, 2, 4]),
)
def test_features_with_values_are_equal(
    kernels: Any, problems: Any, seed: int, switches: Any, labels: int, learner: str, update: str, min_updates: int
) -> None:
    switches = problems.Switches(*switches)
    random = np.random.default_rng(seed)
    problem = problems.random_problem(random, switches._replace(dense=switches.dense and labels <= 64), labels)
    values = random_values(random, len(problem.block.ids)).astype(np.float32)
    model = {"transitions": switches.transitions, "start_stop": switches.start_stop}
    chosen = Settings(learner, 0.3, update=update, min_updates=min_updates, **model)
    kernels.agree(problem._replace(block=problem.block._replace(values=values)), chosen)


@settings(deadline=None, max_examples=30)
@given(SEEDS, SWITCHES, st.sampled_from(list(LEARNERS)))
def test_values_of_1_are_no_values(kernels: Any, problems: Any, seed: int, switches: Any, learner: str) -> None:
    switches = problems.Switches(*switches)
    problem = problems.random_problem(np.random.default_rng(seed), switches, 4)
    valued = problem._replace(block=problem.block._replace(values=np.ones(len(problem.block.ids), np.float32)))
    for kernel in kernels:
        with_values, without = (problems.train_and_decode(kernel, p, Settings(learner)) for p in (valued, problem))
        problems.assert_same(with_values, without)


def test_a_feature_counts_by_its_value(kernels: Any, problems: Any) -> None:
    """By hand: x = (2, -0.5) of label 1 is taken for 0, which ties; w = ±x. Then x = (1, 8) scores 2 - 4 = -2 for 1."""
    block = problems.Block(
        np.array([1, 1], np.int32),
        np.array([1, 0], np.int32),
        np.array([0, 2, 4], np.int32),
        np.array([0, 1, 0, 1], np.int32),
        np.zeros(3, np.int32),
        np.zeros(0, np.int32),
        np.array([2, -0.5, 1, 8], np.float32),
    )
    plain = Settings(transitions=False, start_stop=False)
    for kernel in kernels:
        emissions, pairs = kernel.banks(2, 2)
        emissions.reserve(2)
        instances = kernel.trainer(2, emissions, pairs, plain)
        assert instances.train(block) == (1, 1, 1)
        _, _, labels, weights, _ = emissions.touched_entries(np.arange(2, dtype=np.int32))
        assert (labels.tolist(), weights.tolist()) == ([0, 1, 0, 1], [-2.0, 2.0, 0.5, -0.5])
