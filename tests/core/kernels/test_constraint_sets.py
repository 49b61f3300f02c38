"""Minibatches and the k best: the compiled kernel against the reference, and both against the definitions."""

from typing import Any, Optional

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.settings import Settings
from perceptron_core.structures.prefixes import UPDATES
from perceptron_core.structures.sequence.decoders import DECODERS

SEEDS = st.integers(0, 2**32 - 1)
SWITCHES = st.tuples(*[st.booleans()] * 5)


SETS = {
    "learner": st.sampled_from(["perceptron", "mira"]),
    "aggressiveness": st.sampled_from([None, 0.05, 2.0]),
    "decoder": st.sampled_from(list(DECODERS)),
    "beam": st.integers(1, 5),
    "update": st.sampled_from(list(UPDATES)),
    "minibatch": st.integers(1, 12),
    "k_best": st.integers(1, 7),
    "min_updates": st.sampled_from([1, 3]),
}


@settings(deadline=None, max_examples=200)
@given(SEEDS, SWITCHES, st.integers(1, 6), st.fixed_dictionaries(SETS))
def test_sets_of_constraints_are_equal(
    kernels: Any, problems: Any, seed: int, switches: Any, labels: int, how: dict[str, Any]
) -> None:
    """Minibatches, and the k best; whatever the threads and the blocks."""
    switches = problems.Switches(*switches)
    random = np.random.default_rng(seed)
    problem = problems.random_problem(random, switches, labels, sentences=10)
    chosen = Settings(**how, transitions=switches.transitions, start_stop=switches.start_stop)
    chosen = chosen._replace(k_best=chosen.k_best if chosen.learner == "mira" else 1)
    alone = kernels.agree(problem, chosen)
    cuts = np.sort(random.integers(0, 11, 3)).tolist()
    for kernel, threads in ((kernels.native, 1), (kernels.native, 2), (kernels.native, 3), (kernels.reference, 1)):
        other = problems.train_and_decode(kernel, problem, chosen, threads, cuts)
        problems.assert_same(alone, other)


@pytest.mark.parametrize("labels, dense", [(40, True), (100, False)])
@pytest.mark.parametrize("decoder", ["viterbi", "beam"])
@pytest.mark.parametrize("with_pairs", [False, True])
def test_the_k_best_of_large_label_sets_are_equal(
    kernels: Any, problems: Any, labels: int, dense: bool, decoder: str, with_pairs: bool
) -> None:
    """Which pass over most labels, so the argmax that a search did not store is found again for every derivation."""
    random = np.random.default_rng(labels)
    problem = problems.random_problem(
        random, problems.Switches(dense=dense, with_pairs=with_pairs, forbidden=False), labels
    )
    chosen = Settings(learner="mira", aggressiveness=None, decoder=decoder, beam=5, minibatch=3, k_best=6)
    kernels.agree(problem, chosen)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("passive, cap", [("pa", None), ("pa1", 0.05)])
def test_mira_of_one_constraint_is_passive_aggressive(
    kernels: Any, problems: Any, decoder: str, update: str, passive: str, cap: Optional[float]
) -> None:
    for seed in range(10):
        problem = problems.random_problem(np.random.default_rng(seed), problems.Switches(), 4, sentences=10)
        trained = [
            problems.train_and_decode(kernels.native, problem, Settings(learner, cap, decoder, 2, update))
            for learner in (passive, "mira")
        ]
        problems.assert_same(*trained)


def test_a_minibatch_is_one_step_along_the_mean(kernels: Any, problems: Any) -> None:
    """Three sentences of one token with the same feature, gold 1, 1 and 0: two are wrong, so the step is their mean,
    1/2 each, which comes to 1; two features that they do not share get a half each. Averages count sentences."""
    block = problems.Block(
        np.array([1, 1, 1], np.int32),
        np.array([1, 1, 0], np.int32),
        np.array([0, 2, 4, 5], np.int32),
        np.array([0, 1, 0, 2, 0], np.int32),
        np.zeros(4, np.int32),
        np.zeros(0, np.int32),
    )
    plain = Settings(transitions=False, start_stop=False, minibatch=3)
    for kernel in kernels:
        emissions, pairs = kernel.banks(2, 2)
        emissions.reserve(3)
        sequences = kernel.trainer(2, emissions, pairs, plain)
        assert sequences.train(block) == (2, 1, 2) and sequences.flush() == 0
        features, starts, labels, weights, lags = emissions.touched_entries(np.arange(3, dtype=np.int32))
        assert labels.tolist() == [0, 1] * 3
        assert weights.tolist() == [-1, 1, -0.5, 0.5, -0.5, 0.5]
        assert lags.tolist() == [-2, 2, -1, 1, -1, 1]  # two sentences were seen before the one that ends it
