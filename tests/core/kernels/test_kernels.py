"""Training and decoding: the compiled kernel against the reference, bit for bit, on random problems; and both against
the definitions."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.kernels import reference
from perceptron_core.learners import LEARNERS
from perceptron_core.settings import Settings
from perceptron_core.structures.prefixes import UPDATES
from perceptron_core.structures.sequence.decoders import DECODERS
from perceptron_core.structures.sequence.model import FeatureBlock

SEEDS = st.integers(0, 2**32 - 1)


class Problem(NamedTuple):
    """Sentences, and the weights that training starts from."""

    labels: int
    dense_from: int
    features: int
    pairs: int
    block: FeatureBlock
    emission_weights: np.ndarray
    pair_weights: np.ndarray
    transition_weights: np.ndarray
    allowed: np.ndarray
    steps: Optional[tuple[np.ndarray, np.ndarray]] = None  # of the features and of the pairs


class Switches(NamedTuple):
    transitions: bool = True
    start_stop: bool = True
    with_pairs: bool = True
    forbidden: bool = True
    dense: bool = True


def random_weights(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Zeros, halves (which tie) and awkward fractions."""
    choice = random.integers(0, 3, shape)
    halves, fractions = random.integers(-3, 4, shape) / 2, random.normal(size=shape)
    return np.where(choice == 0, 0, np.where(choice == 1, halves, fractions)).astype(np.float32)


def random_problem(random: np.random.Generator, switches: Switches, labels: int, sentences: int = 5) -> Problem:
    features, pairs = 6, 3 if switches.with_pairs else 0
    lengths = random.integers(0, 5, sentences).astype(np.int32)  # an empty sentence among them is passed over
    tokens = int(lengths.sum())

    def numbered(most: int, kinds: int) -> tuple[np.ndarray, np.ndarray]:
        sizes = random.integers(0, most + 1, tokens) if kinds else np.zeros(tokens, int)
        starts = np.append(0, np.cumsum(sizes)).astype(np.int32)
        return starts, random.integers(0, max(kinds, 1), int(starts[-1])).astype(np.int32)  # repeated ones, too

    gold = random.integers(0, labels, tokens).astype(np.int32)
    block = FeatureBlock(lengths, gold, *numbered(4, features), *numbered(2, pairs))
    allowed = np.ones((labels + 2, labels), np.uint8)
    if switches.forbidden:
        allowed = (random.random(allowed.shape) < random.choice([0.1, 0.7])).astype(np.uint8)
    loaded = random_weights(random, (labels + 2, labels))
    if not switches.transitions:
        loaded[:labels] = 0
    if not switches.start_stop:
        loaded[labels:] = 0
    return Problem(
        labels,
        0 if switches.dense else 1 + labels // 4,
        features,
        pairs,
        block,
        random_weights(random, (features, labels)),
        random_weights(random, (pairs * labels, labels)),
        loaded,
        allowed,
    )


def train_and_decode(
    kernel: Any, problem: Problem, chosen: Settings, threads: int = 1, cuts: Sequence[int] = ()
) -> dict[str, list[np.ndarray]]:
    """Everything that a kernel says about the problem after two passes over it; cut into blocks at these sentences."""

    def rows(weights: np.ndarray, pairs: bool) -> Any:
        made = kernel.WeightRows(problem.labels, problem.dense_from, chosen.min_updates)
        if problem.steps is not None:
            made.steps = problem.steps[pairs]
            made.rows_a_step = problem.labels if pairs else 1
        made.reserve(len(weights))
        there = [np.flatnonzero(row).astype(np.uint32) for row in weights]
        starts = np.append(0, np.cumsum([len(labels) for labels in there])).astype(np.int64)
        values = np.concatenate([np.zeros(0, np.float32), *(row[row != 0] for row in weights)])
        numbers = np.arange(len(weights), dtype=np.int32)
        counts = numbers % (chosen.min_updates + 1)  # from new to relevant
        made.load(numbers, starts, np.concatenate([np.zeros(0, np.uint32), *there]), values.astype(np.float32), counts)
        return made

    emissions, pairs = rows(problem.emission_weights, False), rows(problem.pair_weights, True)
    sequences = kernel.SequenceKernel(problem.labels, emissions, pairs, chosen, problem.allowed)
    sequences.load_transitions(problem.transition_weights)
    before = sequences.decode(problem.block)
    sequences.use_threads(threads)
    counts = []
    for _ in range(2):
        blocks = [sequences.train(block) for block in cut_block(problem.block, cuts)]
        counts.append([*np.sum(blocks, axis=0), sequences.flush()])

    def touched(weights: Any, features: int) -> list[np.ndarray]:
        entries = weights.touched_entries(np.arange(features, dtype=np.int32)[::-1].copy())
        return [*entries, *([weights.counted(entries[0])] if chosen.min_updates > 1 else [])]

    return {
        "decoded before": [before],
        "counts": [np.array(counts)],
        "emissions": touched(emissions, len(problem.emission_weights)),
        "pairs": touched(pairs, len(problem.pair_weights)),
        "transitions": list(sequences.transition_state()),
        "decoded after": [sequences.decode(problem.block)],
    }


def cut_block(block: FeatureBlock, cuts: Sequence[int]) -> list[FeatureBlock]:
    """The same sentences in several blocks."""
    pieces = []
    bounds = [0, *cuts, len(block.lengths)]
    for first, last in zip(bounds, bounds[1:]):
        begin, end = int(block.lengths[:first].sum()), int(block.lengths[:last].sum())
        features = []
        for starts, ids in ((block.starts, block.ids), (block.pair_starts, block.pair_ids)):
            features += [starts[begin : end + 1] - starts[begin], ids[starts[begin] : starts[end]]]
        values = block.values[block.starts[begin] : block.starts[end]]
        pieces.append(FeatureBlock(block.lengths[first:last], block.gold[begin:end], *features, values))
    return pieces


def assert_same(ours: dict[str, list[np.ndarray]], theirs: dict[str, list[np.ndarray]]) -> None:
    """Equal types, shapes and bytes."""
    for name, arrays in ours.items():
        bits, others = ([(a.dtype, a.shape, a.tobytes()) for a in each] for each in (arrays, theirs[name]))
        assert bits == others, (name, arrays, theirs[name])


def assert_kernels_agree(native: Any, problem: Problem, chosen: Settings) -> dict[str, list[np.ndarray]]:
    compiled, plain = train_and_decode(native, problem, chosen), train_and_decode(reference, problem, chosen)
    assert_same(compiled, plain)
    return compiled


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_training_and_decoding_are_equal(native: Any, learner: str, decoder: str, update: str) -> None:
    """Every combination of learner, decoder, update and the switches of the model."""
    moved = 0
    for number, values in enumerate(itertools.product([False, True], repeat=5)):
        switches = Switches(*values)
        random = np.random.default_rng([number, len(learner), len(decoder), len(update)])
        problem = random_problem(random, switches, int(random.integers(1, 7)))
        chosen = Settings(learner, 0.3, decoder, 2, update, 1, True, switches.transitions, switches.start_stop)
        moved += int(assert_kernels_agree(native, problem, chosen)["counts"][0][:, 1].sum())
    assert moved > 32  # the comparison is of trained weights, not of nothing


@settings(deadline=None, max_examples=80)
@given(
    SEEDS,
    st.builds(Switches, *[st.booleans()] * 5),
    st.integers(1, 9),
    st.sampled_from(list(LEARNERS)),
    st.sampled_from(list(DECODERS)),
    st.sampled_from(list(UPDATES)),
    st.integers(1, 10),
    st.sampled_from([0.01, 1.0, 3.7]),
    st.integers(1, 5),
)
def test_random_problems_are_equal(
    native: Any,
    seed: int,
    switches: Switches,
    labels: int,
    learner: str,
    decoder: str,
    update: str,
    beam: int,
    aggressiveness: float,
    min_updates: int,
) -> None:
    problem = random_problem(np.random.default_rng(seed), switches, labels)
    model = {"transitions": switches.transitions, "start_stop": switches.start_stop}
    chosen = Settings(learner, aggressiveness, decoder, beam, update, **model, min_updates=min_updates)
    assert_kernels_agree(native, problem, chosen)


def random_values(random: np.random.Generator, size: int) -> np.ndarray:
    """Zeros, ones, whole numbers and awkward fractions."""
    choice = random.integers(0, 4, size)
    return np.choose(choice, [np.zeros(size), np.ones(size), random.integers(-3, 4, size), random.normal(size=size)])


@settings(deadline=None, max_examples=80)
@given(
    SEEDS,
    st.builds(Switches, *[st.booleans()] * 5),
    st.sampled_from([1, 2, 3, 9, 17, 33, 70]),
    st.sampled_from(list(LEARNERS)),
    st.sampled_from(list(UPDATES)),
    st.sampled_from([1, 2, 4]),
)
def test_features_with_values_are_equal(
    native: Any, seed: int, switches: Switches, labels: int, learner: str, update: str, min_updates: int
) -> None:
    random = np.random.default_rng(seed)
    problem = random_problem(random, switches._replace(dense=switches.dense and labels <= 64), labels)
    values = random_values(random, len(problem.block.ids)).astype(np.float32)
    model = {"transitions": switches.transitions, "start_stop": switches.start_stop}
    chosen = Settings(learner, 0.3, update=update, min_updates=min_updates, **model)
    assert_kernels_agree(native, problem._replace(block=problem.block._replace(values=values)), chosen)


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.builds(Switches, *[st.booleans()] * 5), st.sampled_from(list(LEARNERS)))
def test_values_of_1_are_no_values(native: Any, seed: int, switches: Switches, learner: str) -> None:
    problem = random_problem(np.random.default_rng(seed), switches, 4)
    valued = problem._replace(block=problem.block._replace(values=np.ones(len(problem.block.ids), np.float32)))
    for kernel in (native, reference):
        with_values, without = (train_and_decode(kernel, p, Settings(learner)) for p in (valued, problem))
        assert_same(with_values, without)


def test_a_feature_counts_by_its_value(native: Any) -> None:
    """By hand: x = (2, -0.5) of label 1 is taken for 0, which ties; w = ±x. Then x = (1, 8) scores 2 - 4 = -2 for 1."""
    block = FeatureBlock(
        np.array([1, 1], np.int32),
        np.array([1, 0], np.int32),
        np.array([0, 2, 4], np.int32),
        np.array([0, 1, 0, 1], np.int32),
        np.zeros(3, np.int32),
        np.zeros(0, np.int32),
        np.array([2, -0.5, 1, 8], np.float32),
    )
    plain = Settings(transitions=False, start_stop=False)
    for kernel in (native, reference):
        emissions, pairs = kernel.WeightRows(2, 0), kernel.WeightRows(2, 0)
        emissions.reserve(2)
        instances = kernel.SequenceKernel(2, emissions, pairs, plain, np.ones((4, 2), np.uint8))
        assert instances.train(block) == (1, 1, 1)
        _, _, labels, weights, _ = emissions.touched_entries(np.arange(2, dtype=np.int32))
        assert (labels.tolist(), weights.tolist()) == ([0, 1, 0, 1], [-2.0, 2.0, 0.5, -0.5])


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
@given(SEEDS, st.builds(Switches, *[st.booleans()] * 5), st.integers(1, 6), st.fixed_dictionaries(SETS))
def test_sets_of_constraints_are_equal(
    native: Any, seed: int, switches: Switches, labels: int, how: dict[str, Any]
) -> None:
    """Minibatches, and the k best; whatever the threads and the blocks."""
    random = np.random.default_rng(seed)
    problem = random_problem(random, switches, labels, sentences=10)
    chosen = Settings(**how, transitions=switches.transitions, start_stop=switches.start_stop)
    chosen = chosen._replace(k_best=chosen.k_best if chosen.learner == "mira" else 1)
    alone = assert_kernels_agree(native, problem, chosen)
    cuts = np.sort(random.integers(0, 11, 3)).tolist()
    for kernel, threads in ((native, 1), (native, 2), (native, 3), (reference, 1)):
        other = train_and_decode(kernel, problem, chosen, threads, cuts)
        assert_same(alone, other)


@pytest.mark.parametrize("labels, dense", [(40, True), (100, False)])
@pytest.mark.parametrize("decoder", ["viterbi", "beam"])
@pytest.mark.parametrize("with_pairs", [False, True])
def test_the_k_best_of_large_label_sets_are_equal(
    native: Any, labels: int, dense: bool, decoder: str, with_pairs: bool
) -> None:
    """Which pass over most labels, so the argmax that a search did not store is found again for every derivation."""
    random = np.random.default_rng(labels)
    problem = random_problem(random, Switches(dense=dense, with_pairs=with_pairs, forbidden=False), labels)
    chosen = Settings(learner="mira", aggressiveness=None, decoder=decoder, beam=5, minibatch=3, k_best=6)
    assert_kernels_agree(native, problem, chosen)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("passive, cap", [("pa", None), ("pa1", 0.05)])
def test_mira_of_one_constraint_is_passive_aggressive(
    native: Any, decoder: str, update: str, passive: str, cap: Optional[float]
) -> None:
    for seed in range(10):
        problem = random_problem(np.random.default_rng(seed), Switches(), 4, sentences=10)
        trained = [
            train_and_decode(native, problem, Settings(learner, cap, decoder, 2, update))
            for learner in (passive, "mira")
        ]
        assert_same(*trained)


def test_a_minibatch_is_one_step_along_the_mean(native: Any) -> None:
    """Three sentences of one token with the same feature, gold 1, 1 and 0: two are wrong, so the step is their mean,
    1/2 each, which comes to 1; two features that they do not share get a half each. Averages count sentences."""
    block = FeatureBlock(
        np.array([1, 1, 1], np.int32),
        np.array([1, 1, 0], np.int32),
        np.array([0, 2, 4, 5], np.int32),
        np.array([0, 1, 0, 2, 0], np.int32),
        np.zeros(4, np.int32),
        np.zeros(0, np.int32),
    )
    plain = Settings(transitions=False, start_stop=False, minibatch=3)
    for kernel in (native, reference):
        emissions, pairs = kernel.WeightRows(2, 0), kernel.WeightRows(2, 0)
        emissions.reserve(3)
        sequences = kernel.SequenceKernel(2, emissions, pairs, plain, np.ones((4, 2), np.uint8))
        assert sequences.train(block) == (2, 1, 2) and sequences.flush() == 0
        features, starts, labels, weights, lags = emissions.touched_entries(np.arange(3, dtype=np.int32))
        assert labels.tolist() == [0, 1] * 3
        assert weights.tolist() == [-1, 1, -0.5, 0.5, -0.5, 0.5]
        assert lags.tolist() == [-2, 2, -1, 1, -1, 1]  # two sentences were seen before the one that ends it


@settings(deadline=None, max_examples=60)
@given(SEEDS, st.builds(Switches, *[st.booleans()] * 5), st.integers(1, 9), st.integers(1, 12))
def test_steps_are_equal(native: Any, seed: int, switches: Switches, labels: int, shards: int) -> None:
    """Steps of S/c, as for scaled mixing; and with all of them 1 it is as without."""
    random = np.random.default_rng(seed)
    problem = random_problem(random, switches, labels)
    chosen = Settings(transitions=switches.transitions, start_stop=switches.start_stop)
    features, pairs = (shards / random.integers(1, shards + 1, kinds) for kinds in (problem.features, problem.pairs))
    assert_kernels_agree(native, problem._replace(steps=(features, pairs)), chosen)
    ones = np.ones(problem.features), np.ones(problem.pairs)
    with_ones = assert_kernels_agree(native, problem._replace(steps=ones), chosen)
    assert_same(train_and_decode(native, problem, chosen), with_ones)


@pytest.mark.parametrize("kernel_name", ["native", "reference"])
def test_a_step_is_what_a_change_is_multiplied_by(native: Any, kernel_name: str) -> None:
    """Two tokens, both guessed 0 by a tie, both 1: feature 0, at step 2.5, is in both, feature 1, at step 1, in one."""
    kernel = {"native": native, "reference": reference}[kernel_name]
    block = FeatureBlock(
        np.array([2], np.int32),
        np.array([1, 1], np.int32),
        np.array([0, 2, 3], np.int32),
        np.array([0, 1, 0], np.int32),
        np.array([0, 0, 1], np.int32),
        np.array([1], np.int32),
    )
    emissions, pairs = kernel.WeightRows(2, 0), kernel.WeightRows(2, 0)
    emissions.reserve(2)
    pairs.reserve(4)
    emissions.steps, pairs.steps, pairs.rows_a_step = np.array([2.5, 1.0]), np.array([1.0, 4.0]), 2
    kernel.SequenceKernel(2, emissions, pairs, Settings(), np.ones((4, 2), np.uint8)).train(block)
    order = np.arange(4, dtype=np.int32)
    features, starts, labels, weights, _ = emissions.touched_entries(order[:2])
    assert weights.tolist() == [2 * -2.5, 2 * 2.5, -1.0, 1.0]
    features, starts, labels, weights, _ = pairs.touched_entries(order)
    assert (features.tolist(), labels.tolist(), weights.tolist()) == ([2, 3], [0, 1], [-4.0, 4.0])


@pytest.mark.parametrize("labels, dense", [(64, True), (65, False), (190, False)])
@pytest.mark.parametrize("decoder", DECODERS)
def test_large_label_sets_are_equal(native: Any, labels: int, dense: bool, decoder: str) -> None:
    random = np.random.default_rng(labels)
    problem = random_problem(random, Switches(dense=dense), labels)
    for min_updates in (1, 3):
        assert_kernels_agree(native, problem, Settings("pa", decoder=decoder, beam=5, min_updates=min_updates))


def test_a_hidden_row_that_becomes_an_array_is_shown_where_it_went(native: Any) -> None:
    """Sixty-eight labels, one after the other: the row of the only feature is a list until it has met 17 of them."""
    labels = 68
    block = FeatureBlock(
        np.ones(labels, np.int32),
        np.arange(labels, dtype=np.int32),
        np.arange(labels + 1, dtype=np.int32),
        np.zeros(labels, np.int32),
        np.zeros(labels + 1, np.int32),
        np.zeros(0, np.int32),
    )
    guesses = []
    for kernel in (native, reference):
        emissions, pairs = (kernel.WeightRows(labels, labels // 4, 40) for _ in range(2))
        emissions.reserve(1)
        plain = Settings(transitions=False, start_stop=False, min_updates=40)
        sequences = kernel.SequenceKernel(labels, emissions, pairs, plain, np.ones((labels + 2, labels), np.uint8))
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
    native: Any, seed: int, labels: int, forbidden: bool, spread: float, bend: float, learner: str
) -> None:
    """From no label that could be left out to nearly all: emissions far apart or close, transitions flat or not."""
    random = np.random.default_rng(seed)
    problem = random_problem(random, Switches(with_pairs=False, forbidden=forbidden, dense=False), labels)
    spreads = (problem.emission_weights * np.float32(spread)).astype(np.float32)
    bends = (problem.transition_weights * np.float32(bend)).astype(np.float32)
    problem = problem._replace(emission_weights=spreads, transition_weights=bends)
    assert_kernels_agree(native, problem, Settings(learner))


def test_rows_that_are_dense_at_once_have_at_most_64_labels(native: Any) -> None:
    with pytest.raises(ValueError, match="at most 64 labels"):
        native.WeightRows(65, 0)


def test_a_weight_that_returns_to_its_old_value_took_part(native: Any) -> None:
    """Two sentences that undo each other: touched, although nothing has changed in the end."""
    block = FeatureBlock(
        np.array([1, 1], np.int32),
        np.array([1, 0], np.int32),
        np.array([0, 1, 2], np.int32),
        np.array([0, 0], np.int32),
        np.zeros(3, np.int32),
        np.zeros(0, np.int32),
    )
    plain = Settings(transitions=False, start_stop=False)
    for kernel in (native, reference):
        emissions, pairs = kernel.WeightRows(2, 0), kernel.WeightRows(2, 0)
        emissions.reserve(1)
        sequences = kernel.SequenceKernel(2, emissions, pairs, plain, np.ones((4, 2), np.uint8))
        assert sequences.train(block) == (2, 2, 2)
        features, starts, labels, weights, lags = emissions.touched_entries(np.zeros(1, np.int32))
        assert (features.tolist(), starts.tolist()) == ([0], [0, 2])
        assert (labels.tolist(), weights.tolist()) == ([0, 1], [0.0, 0.0])
        assert lags.tolist() == [1.0, -1.0]  # the second example's change, after one was seen


@given(SEEDS, st.integers(1, 40), st.integers(0, 9))
def test_adding_a_step_is_equal(native: Any, seed: int, size: int, multiple: int) -> None:
    random = np.random.default_rng(seed)
    place = np.flatnonzero(random.random(size) < 0.6)
    value, lag = random_weights(random, (1, len(place)))[0], random.normal(size=len(place))
    old, moved, mean = random.normal(size=(3, size))
    low, high = np.sort(random_weights(random, (2, size)), axis=0)
    sums = moved, mean, random.integers(0, 9, size), low, high
    by_native, by_reference = ([column.copy() for column in sums] for _ in range(2))
    native.add_step(place, value, lag, 7, multiple, old, *by_native)
    reference.add_step(place, value, lag, 7, multiple, old, *by_reference)
    assert_same({"sums": by_native}, {"sums": by_reference})
