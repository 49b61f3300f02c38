"""Second-order sequences: the compiled kernel against the reference, bit for bit, and the reference against all label
sequences of short sentences."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.hashing import extend_key, hash_string
from perceptron_core.learners import LEARNERS
from perceptron_core.settings import Settings
from perceptron_core.structures.prefixes import UPDATES

SEEDS = st.integers(0, 2**32 - 1)
SWITCHES = st.tuples(*[st.booleans()] * 5)
BASES = np.array([hash_string(f"base{i}") for i in range(5)], np.uint64)


class Triples(NamedTuple):
    """What a second-order problem has besides the first-order one."""

    first: Any
    hashes: np.ndarray  # of the labels
    rows: dict[int, np.ndarray]  # by key: the weights that training starts from


def row_key(base: int, hashes: np.ndarray, q: int, p: int, skip: bool) -> int:
    return extend_key(base if skip else extend_key(base, int(hashes[p])), int(hashes[q]))


def random_triples(
    problems: Any, random: np.random.Generator, switches: Any, labels: int, sentences: int = 5
) -> Triples:
    first = problems.random_problem(random, switches, labels, sentences)
    tokens = int(first.block.lengths.sum())
    triples, skips = problems.random_ids(random, tokens, 3, 4), problems.random_ids(random, tokens, 2, 5)
    names = ("triple_starts", "triple_ids", "skip_starts", "skip_ids")
    block = first.block._replace(**dict(zip(names, (*triples, *skips))))
    hashes = np.array([hash_string(f"label{i}") for i in range(labels)], np.uint64)
    rows = {}
    for base in BASES.tolist():
        for q, p, skip in itertools.product(range(labels), range(labels), (False, True)):
            if random.random() < 0.3:
                rows[row_key(base, hashes, q, p, skip)] = problems.random_weights(random, (1, labels))[0]
    return Triples(first._replace(block=block), hashes, rows)


def make(kernel: Any, problems: Any, problem: Triples, chosen: Settings) -> tuple[Any, list[Any]]:
    """The finder and its banks, loaded."""
    banks = problems.first_order_banks(kernel, problem.first, chosen)
    triples = kernel.core.KeyedBank(problem.first.labels, problem.first.dense_from, chosen.min_updates)
    keys = np.sort(np.array(list(problem.rows), np.uint64))
    weights = np.array([problem.rows[key] for key in keys.tolist()]).reshape(len(keys), problem.first.labels)
    counts = np.arange(len(keys), dtype=np.int32) % (chosen.min_updates + 1)
    triples.load(keys, *problems.entries_of(weights), counts)
    finder = kernel.finders.SecondOrderFinder(
        problem.first.labels, *banks, triples, problem.hashes, chosen, problem.first.allowed
    )
    finder.set_triple_keys(BASES)
    return finder, [*banks, triples]


def work(problems: Any, threads: int = 1, cuts: Sequence[int] = ()) -> Any:
    def train(kernel: Any, problem: Triples, chosen: Settings) -> dict[str, list[np.ndarray]]:
        finder, banks = make(kernel, problems, problem, chosen)
        said = problems.passes(kernel.core.Trainer(finder, chosen), problem.first.block, threads, cuts)
        for name, bank, weights in zip(("emissions", "pairs", "transitions"), banks, problem.first[5:8]):
            said[name] = problems.touched(bank, len(weights))
        entries = banks[3].touched_entries()
        assert (np.diff(entries[0].astype(object)) > 0).all()
        said["triples"] = [*entries, *([banks[3].counted(entries[0])] if chosen.min_updates > 1 else [])]
        return said

    return train


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("decoder", ["viterbi", "beam"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_training_and_decoding_are_equal(kernels: Any, problems: Any, learner: str, decoder: str, update: str) -> None:
    """Every combination of learner, decoder, update and the switches of the model."""
    moved = 0
    for number, values in enumerate(itertools.product([False, True], repeat=5)):
        random = np.random.default_rng([number, len(learner), len(decoder), len(update)])
        problem = random_triples(problems, random, values, int(random.integers(1, 6)))
        chosen = Settings(learner, 0.3, decoder, 3, update, 1, True, *values[:2])
        said = kernels.agree(problem, chosen, work(problems))
        moved += len(said["triples"][0])
    assert moved > 32


@settings(deadline=None, max_examples=60)
@given(
    SEEDS,
    SWITCHES,
    st.integers(1, 6),
    st.sampled_from(list(LEARNERS)),
    st.sampled_from(["viterbi", "beam"]),
    st.sampled_from(list(UPDATES)),
    st.integers(1, 40),
    st.integers(1, 4),
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
    min_updates: int,
) -> None:
    problem = random_triples(problems, np.random.default_rng(seed), switches, labels)
    model = {"transitions": switches[0], "start_stop": switches[1]}
    chosen = Settings(learner, 0.3, decoder, beam, update, **model, min_updates=min_updates)
    kernels.agree(problem, chosen, work(problems))


SETS = {
    "learner": st.sampled_from(["perceptron", "mira"]),
    "aggressiveness": st.sampled_from([None, 0.05]),
    "decoder": st.sampled_from(["viterbi", "beam"]),
    "beam": st.integers(1, 12),
    "update": st.sampled_from(list(UPDATES)),
    "minibatch": st.integers(1, 12),
    "k_best": st.integers(1, 7),
    "min_updates": st.sampled_from([1, 3]),
}


@settings(deadline=None, max_examples=60)
@given(SEEDS, SWITCHES, st.integers(1, 5), st.fixed_dictionaries(SETS))
def test_sets_of_constraints_are_equal(
    kernels: Any, problems: Any, seed: int, switches: Any, labels: int, how: dict[str, Any]
) -> None:
    """Minibatches, and the k best; whatever the threads and the blocks."""
    random = np.random.default_rng(seed)
    problem = random_triples(problems, random, switches, labels, sentences=10)
    chosen = Settings(**how, transitions=switches[0], start_stop=switches[1])
    chosen = chosen._replace(k_best=chosen.k_best if chosen.learner == "mira" else 1)
    alone = kernels.agree(problem, chosen, work(problems))
    cuts = np.sort(random.integers(0, 11, 3)).tolist()
    for threads in (1, 2, 3):
        problems.assert_same(alone, work(problems, threads, cuts)(kernels.native, problem, chosen))


@pytest.mark.parametrize("labels, dense, decoder", [(9, True, "viterbi"), (17, True, "viterbi"), (12, False, "beam")])
def test_larger_label_sets_are_equal(kernels: Any, problems: Any, labels: int, dense: bool, decoder: str) -> None:
    switches = problems.Switches(dense=dense, forbidden=False)
    problem = random_triples(problems, np.random.default_rng(labels), switches, labels, sentences=3)
    chosen = Settings("mira", None, decoder=decoder, beam=7, k_best=3, minibatch=2)
    kernels.agree(problem, chosen, work(problems))


def naive_score(problem: Triples, tokens: Any, labels: Sequence[int], whole: bool = True) -> float:
    """Feature by feature, in float64."""
    first, size = problem.first, problem.first.labels
    total = 0.0
    for t, label in enumerate(labels):
        total += sum(float(first.emission_weights[f, label]) for f in tokens.emissions[t])
        before = labels[t - 1] if t else size
        total += float(first.transition_weights[before, label]) if first.allowed[before, label] else -np.inf
        if t:
            total += sum(float(first.pair_weights[f * size + before, label]) for f in tokens.pairs[t])
        if t > 1:
            q, p = labels[t - 2], labels[t - 1]
            for skip, features in enumerate((tokens.triples[t], tokens.skips[t])):
                for f in features:
                    row = problem.rows.get(row_key(int(BASES[f]), problem.hashes, q, p, bool(skip)))
                    total += 0.0 if row is None else float(row[label])
    stops = first.allowed[size + 1, labels[-1]]
    return total + (float(first.transition_weights[size + 1, labels[-1]]) if stops else -np.inf)


@settings(deadline=None, max_examples=60)
@given(SEEDS, SWITCHES, st.integers(1, 4), st.booleans())
def test_viterbi_and_a_wide_beam_find_the_best_of_all_sequences(
    kernels: Any, problems: Any, seed: int, switches: Any, labels: int, viterbi: bool
) -> None:
    """Weights are halves, so that sums are exact; of equals the lowest last two labels win, then those before."""
    problem = random_triples(problems, np.random.default_rng(seed), switches, labels)
    halves = {name: np.round(getattr(problem.first, name) * 2) / 2 for name in problem.first._fields[5:8]}
    first = problem.first._replace(**{name: value.astype(np.float32) for name, value in halves.items()})
    rows = {key: (np.round(row * 2) / 2).astype(np.float32) for key, row in problem.rows.items()}
    problem = problem._replace(first=first, rows=rows)
    chosen = Settings() if viterbi else Settings(decoder="beam", beam=labels * (labels + 1))
    finder, _ = make(kernels.reference, problems, problem, chosen)
    guesses, begin = kernels.reference.core.Trainer(finder, chosen).decode(first.block), 0
    for tokens in finder.examples(first.block):
        length = len(tokens.gold)
        found = tuple(guesses[begin : begin + length].tolist())
        begin += length
        sequences = itertools.product(range(labels), repeat=length)
        best = min(sequences, key=lambda s: (-naive_score(problem, tokens, s), _states(s, labels)[::-1]))
        if naive_score(problem, tokens, best) > -np.inf:
            assert naive_score(problem, tokens, found) == naive_score(problem, tokens, best)
            assert found == best


def _states(labels: Sequence[int], size: int) -> list[int]:
    return [p * size + c for p, c in zip([size, *labels], labels)]


@pytest.mark.parametrize("decoder", ["viterbi", "beam"])
def test_rows_may_be_loaded_after_the_keys_and_more_keys_may_follow(kernels: Any, problems: Any, decoder: str) -> None:
    chosen, switches = Settings(decoder=decoder), problems.Switches(forbidden=False)
    problem = random_triples(problems, np.random.default_rng(3), switches, 3, sentences=20)
    block = problem.first.block
    expected = kernels.native.core.Trainer(make(kernels.native, problems, problem, chosen)[0], chosen)
    finder, banks = make(kernels.native, problems, problem._replace(rows={}), chosen)
    trainer = kernels.native.core.Trainer(finder, chosen)
    without = trainer.decode(block)
    keys = np.sort(np.array(list(problem.rows), np.uint64))
    banks[3].load(keys, *problems.entries_of(np.array([problem.rows[key] for key in keys.tolist()])))
    finder.set_triple_keys(np.append(BASES, BASES[:1] + np.uint64(1)))
    assert trainer.decode(block).tolist() == expected.decode(block).tolist() != without.tolist()
    assert trainer.train(block) == expected.train(block)
    assert trainer.decode(block).tolist() == expected.decode(block).tolist()


def test_what_cannot_be_searched_is_refused(kernels: Any, problems: Any) -> None:
    for kernel in kernels:
        for labels, decoder in ((3, "greedy"), (65, "viterbi")):
            banks = [kernel.core.Bank(labels, 20) for _ in range(3)]
            allowed, hashes = np.ones((labels + 2, labels), np.uint8), np.arange(1, labels + 1, dtype=np.uint64)
            triples = kernel.core.KeyedBank(labels, 20)
            with pytest.raises(ValueError, match="viterbi with at most 64 labels"):
                kernel.finders.SecondOrderFinder(labels, *banks, triples, hashes, Settings(decoder=decoder), allowed)
