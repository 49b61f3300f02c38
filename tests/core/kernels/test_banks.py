"""Banks of weights at work: steps, large label sets, hidden rows; compiled and reference, and by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.settings import Settings
from perceptron_core.structures.sequence.decoders import DECODERS

SEEDS = st.integers(0, 2**32 - 1)
SWITCHES = st.tuples(*[st.booleans()] * 5)


@settings(deadline=None, max_examples=60)
@given(SEEDS, SWITCHES, st.integers(1, 9), st.integers(1, 12))
def test_steps_are_equal(kernels: Any, problems: Any, seed: int, switches: Any, labels: int, shards: int) -> None:
    """Steps of S/c, as for scaled mixing; and with all of them 1 it is as without."""
    switches = problems.Switches(*switches)
    random = np.random.default_rng(seed)
    problem = problems.random_problem(random, switches, labels)
    chosen = Settings(transitions=switches.transitions, start_stop=switches.start_stop)
    features, pairs = (shards / random.integers(1, shards + 1, kinds) for kinds in (problem.features, problem.pairs))
    kernels.agree(problem._replace(steps=(features, pairs)), chosen)
    ones = np.ones(problem.features), np.ones(problem.pairs)
    with_ones = kernels.agree(problem._replace(steps=ones), chosen)
    problems.assert_same(problems.train_and_decode(kernels.native, problem, chosen), with_ones)


@pytest.mark.parametrize("kernel_name", ["native", "reference"])
def test_a_step_is_what_a_change_is_multiplied_by(kernels: Any, problems: Any, kernel_name: str) -> None:
    """Two tokens, both guessed 0 by a tie, both 1: feature 0, at step 2.5, is in both, feature 1, at step 1, in one."""
    kernel = getattr(kernels, kernel_name)
    block = problems.Block(
        np.array([2], np.int32),
        np.array([1, 1], np.int32),
        np.array([0, 2, 3], np.int32),
        np.array([0, 1, 0], np.int32),
        np.array([0, 0, 1], np.int32),
        np.array([1], np.int32),
    )
    emissions, pairs = kernel.banks(2, 2)
    emissions.reserve(2)
    pairs.reserve(4)
    emissions.step_sizes, pairs.step_sizes = np.array([2.5, 1.0]), np.array([1.0, 4.0])
    pairs.rows_per_step_size = 2
    kernel.trainer(2, emissions, pairs, Settings()).train(block)
    order = np.arange(4, dtype=np.int32)
    features, starts, labels, weights, _ = emissions.touched_entries(order[:2])
    assert weights.tolist() == [2 * -2.5, 2 * 2.5, -1.0, 1.0]
    features, starts, labels, weights, _ = pairs.touched_entries(order)
    assert (features.tolist(), labels.tolist(), weights.tolist()) == ([2, 3], [0, 1], [-4.0, 4.0])


@pytest.mark.parametrize("labels, dense", [(64, True), (65, False), (190, False)])
@pytest.mark.parametrize("decoder", DECODERS)
def test_large_label_sets_are_equal(kernels: Any, problems: Any, labels: int, dense: bool, decoder: str) -> None:
    random = np.random.default_rng(labels)
    problem = problems.random_problem(random, problems.Switches(dense=dense), labels)
    for min_updates in (1, 3):
        kernels.agree(problem, Settings("pa", decoder=decoder, beam=5, min_updates=min_updates))


def test_a_hidden_row_that_becomes_an_array_is_shown_where_it_went(kernels: Any, problems: Any) -> None:
    """Sixty-eight labels, one after the other: the row of the only feature is a list until it has met 17 of them."""
    labels = 68
    block = problems.Block(
        np.ones(labels, np.int32),
        np.arange(labels, dtype=np.int32),
        np.arange(labels + 1, dtype=np.int32),
        np.zeros(labels, np.int32),
        np.zeros(labels + 1, np.int32),
        np.zeros(0, np.int32),
    )
    guesses = []
    for kernel in kernels:
        emissions, pairs = (kernel.core.Bank(labels, labels // 4, 40) for _ in range(2))
        emissions.reserve(1)
        plain = Settings(transitions=False, start_stop=False, min_updates=40)
        sequences = kernel.trainer(labels, emissions, pairs, plain)
        assert sequences.decode(block).tolist() == [0] * labels
        sequences.train(block)
        guesses.append(sequences.decode(block).tolist())
        assert emissions.counted(np.zeros(1, np.int32)).tolist() == [40]
    assert guesses[0] == guesses[1] != [0] * labels


@settings(deadline=None, max_examples=60)
@given(
    SEEDS,
    st.integers(33, 200),
    st.booleans(),
    st.sampled_from([0.3, 3.0, 30.0]),
    st.sampled_from([0.0, 0.1, 5.0]),
    st.sampled_from(["perceptron", "pa"]),
)
def test_what_many_labels_leave_out_changes_nothing(
    kernels: Any, problems: Any, seed: int, labels: int, forbidden: bool, spread: float, bend: float, learner: str
) -> None:
    """From no label that could be left out to nearly all: emissions far apart or close, transitions flat or not."""
    random = np.random.default_rng(seed)
    problem = problems.random_problem(
        random, problems.Switches(with_pairs=False, forbidden=forbidden, dense=False), labels
    )
    spreads = (problem.emission_weights * np.float32(spread)).astype(np.float32)
    bends = (problem.transition_weights * np.float32(bend)).astype(np.float32)
    problem = problem._replace(emission_weights=spreads, transition_weights=bends)
    kernels.agree(problem, Settings(learner))


def test_emissions_that_are_dense_at_once_have_at_most_64_labels(kernels: Any) -> None:
    emissions, pairs = kernels.native.banks(65, 2)
    with pytest.raises(ValueError, match="with more than 64 labels"):
        kernels.native.trainer(65, emissions, pairs, Settings())


def test_a_weight_that_returns_to_its_old_value_took_part(kernels: Any, problems: Any) -> None:
    """Two sentences that undo each other: touched, although nothing has changed in the end."""
    block = problems.Block(
        np.array([1, 1], np.int32),
        np.array([1, 0], np.int32),
        np.array([0, 1, 2], np.int32),
        np.array([0, 0], np.int32),
        np.zeros(3, np.int32),
        np.zeros(0, np.int32),
    )
    plain = Settings(transitions=False, start_stop=False)
    for kernel in kernels:
        emissions, pairs = kernel.banks(2, 2)
        emissions.reserve(1)
        sequences = kernel.trainer(2, emissions, pairs, plain)
        assert sequences.train(block) == (2, 2, 2)
        features, starts, labels, weights, lags = emissions.touched_entries(np.zeros(1, np.int32))
        assert (features.tolist(), starts.tolist()) == ([0], [0, 2])
        assert (labels.tolist(), weights.tolist()) == ([0, 1], [0.0, 0.0])
        assert lags.tolist() == [1.0, -1.0]  # the second example's change, after one was seen
