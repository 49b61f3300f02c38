"""Decoders and prefixes to update on, against naive searches that keep whole label sequences.

Scores are small whole numbers, so that they tie often and every sum is exact.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from perceptron_core.structures.prefixes import UPDATES, early, max_violation, standard
from perceptron_core.structures.sequence.beam import beam_search
from perceptron_core.structures.sequence.decoders import DECODERS, Scores, trace
from perceptron_core.structures.sequence.greedy import greedy
from perceptron_core.structures.sequence.k_best import k_best
from perceptron_core.structures.sequence.lattice import NEVER
from perceptron_core.structures.sequence.viterbi import viterbi

Labels = tuple[int, ...]


def table(values: Sequence[object]) -> np.ndarray:
    return np.array(values, np.float32)


@st.composite
def random_scores(draw: st.DrawFn) -> Scores:
    tokens, labels = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    top = draw(st.sampled_from([0, 1, 5]))
    forbidden = draw(st.sampled_from([0.0, 0.2]))

    def numbers(*shape: int) -> np.ndarray:
        values = random.integers(-top, top + 1, shape).astype(np.float32)
        values[random.random(shape) < forbidden] = NEVER
        return values

    emissions = random.integers(-top, top + 1, (tokens, labels)).astype(np.float32)
    return Scores(emissions, numbers(labels), [numbers(labels, labels) for _ in range(tokens)], numbers(labels))


def prefix_score(scores: Scores, labels: Sequence[int]) -> float:
    """Of a label sequence over the first tokens; the stop counts if it covers the sentence."""
    total = scores.start[labels[0]] + scores.emissions[0, labels[0]]
    for t in range(1, len(labels)):
        total += scores.into[t][labels[t - 1], labels[t]] + scores.emissions[t, labels[t]]
    return float(total + scores.stop[labels[-1]] if len(labels) == len(scores.emissions) else total)


def all_sequences(scores: Scores) -> list[Labels]:
    tokens, labels = scores.emissions.shape
    return list(itertools.product(range(labels), repeat=tokens))


def best_sequence(scores: Scores, sequences: Sequence[Labels]) -> Labels:
    """Of several equally good ones, that with the lowest last label, then the lowest last but one …"""
    return min(sequences, key=lambda labels: (-prefix_score(scores, labels), labels[::-1]))


def stop_at(scores: Scores, t: int) -> np.ndarray:
    return scores.stop if t == len(scores.emissions) - 1 else np.zeros_like(scores.stop)


def naive_beam(scores: Scores, width: int) -> list[list[Labels]]:
    """The sequences that a beam keeps after each token: at most one for each last label, at most `width`."""
    tokens, labels = scores.emissions.shape
    kept: list[list[Labels]] = []
    for t in range(tokens):
        grown = [(*before, c) for before in (kept[-1] if t else [()]) for c in range(labels)]

        def score(sequence: Labels) -> float:
            step = scores.start if len(sequence) == 1 else scores.into[len(sequence) - 1][sequence[-2]]
            before = score(sequence[:-1]) if len(sequence) > 1 else 0.0
            return float(before + step[sequence[-1]] + scores.emissions[len(sequence) - 1, sequence[-1]])

        possible = [s for s in grown if score(s) > NEVER]
        by_label = [
            min((s for s in possible if s[-1] == c), key=lambda s: (-score(s), s[::-1]))
            for c in sorted({s[-1] for s in possible})
        ]
        # what a state scores once the sentence stops there counts where it ends
        stop = stop_at(scores, t)
        kept.append(sorted(by_label, key=lambda s: (-(score(s) + stop[s[-1]]), s[-1]))[:width])
    return kept


def possible(scores: Scores, labels: Sequence[int]) -> bool:
    return prefix_score(scores, labels) > NEVER


@given(random_scores())
def test_viterbi_is_exact_and_ties_go_to_the_lowest_label(scores: Scores) -> None:
    found = tuple(trace(scores, viterbi(scores), len(scores.emissions)))
    best = best_sequence(scores, all_sequences(scores))
    if possible(scores, best):
        assert found == best
    else:
        assert len(found) == len(best)


@given(random_scores(), st.integers(0, 3))
def test_a_beam_as_wide_as_the_label_set_is_viterbi(scores: Scores, more: int) -> None:
    width = scores.emissions.shape[1] + more
    assert beam_search(scores, width).tobytes() == viterbi(scores).tobytes()


@given(random_scores())
def test_greedy_is_a_beam_of_one(scores: Scores) -> None:
    assert greedy(scores).tobytes() == beam_search(scores, 1).tobytes()


@given(random_scores(), st.integers(1, 4))
def test_a_beam_keeps_the_sequences_of_a_naive_one(scores: Scores, width: int) -> None:
    alpha = beam_search(scores, width)
    kept = naive_beam(scores, width)
    for t, sequences in enumerate(kept):
        may_stop = stop_at(scores, t) > NEVER  # of those that may not, which ones are kept makes no difference
        surviving = np.flatnonzero((alpha[t] > NEVER) & may_stop).tolist()
        assert surviving == sorted(labels[-1] for labels in sequences if may_stop[labels[-1]])
    whole = [labels for labels in kept[-1] if possible(scores, labels)]
    if whole:
        assert tuple(trace(scores, alpha, len(alpha))) == best_sequence(scores, whole)


@pytest.mark.parametrize("decoder", DECODERS)
def test_equal_scores_give_the_lowest_label(decoder: str) -> None:
    scores = Scores(table(np.zeros((3, 4))), table(np.zeros(4)), [table(np.zeros((4, 4)))] * 3, table(np.zeros(4)))
    assert trace(scores, DECODERS[decoder](scores, 2), 3) == [0, 0, 0]


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("tokens", [1, 3])
def test_a_sentence_without_any_allowed_sequence_still_gets_labels(decoder: str, tokens: int) -> None:
    never = np.full(2, NEVER)
    into = [np.full((2, 2), NEVER)] * tokens
    for start, stop in ((never, never), (table([0, 0]), never), (never, table([0, 0]))):
        scores = Scores(table(np.ones((tokens, 2))), start, into, stop)
        labels = trace(scores, DECODERS[decoder](scores, 2), tokens)
        assert len(labels) == tokens and set(labels) <= {0, 1}


def test_a_worked_example_that_greedy_gets_wrong() -> None:
    """Label 0 is better at the first token, but only label 1 leads to the 5 of the second."""
    scores = Scores(
        table([[2, 1], [0, 0]]), table([0, 0]), [table([[0, 0], [0, 0]]), table([[0, 0], [0, 5]])], table([0, 0])
    )
    assert trace(scores, viterbi(scores), 2) == [1, 1]
    assert trace(scores, beam_search(scores, 2), 2) == [1, 1]
    assert trace(scores, greedy(scores), 2) == [0, 0]


# ---------------------------------------------------------------- which prefix to update on


def gold_prefix_scores(scores: Scores, gold: Labels) -> np.ndarray:
    return table([prefix_score(scores, gold[: t + 1]) for t in range(len(gold))])


@settings(max_examples=200)
@given(random_scores(), st.integers(1, 4), st.integers(0, 10**6))
def test_prefixes_are_those_of_a_naive_search(scores: Scores, width: int, choice: int) -> None:
    sequences = [labels for labels in all_sequences(scores) if possible(scores, labels)]
    kept = naive_beam(scores, width)
    assume(sequences and all(kept))
    gold = sequences[choice % len(sequences)]
    alpha, gold_scores = beam_search(scores, width), gold_prefix_scores(scores, gold)
    tokens = len(gold)

    lost = [t + 1 for t in range(tokens) if gold[: t + 1] not in kept[t]]
    assert early(scores, alpha, gold, gold_scores) == min(lost, default=tokens)

    violations = [
        max(prefix_score(scores, labels) for labels in kept[t]) - prefix_score(scores, gold[: t + 1])
        for t in range(tokens)
    ]
    largest = max(t + 1 for t in range(tokens) if violations[t] == max(violations))
    assert max_violation(scores, alpha, gold, gold_scores) == largest
    assert standard(scores, alpha, gold, gold_scores) == tokens


@given(random_scores(), st.integers(1, 3), st.integers(0, 10**6))
def test_early_and_max_violation_prefixes_are_violations(scores: Scores, width: int, choice: int) -> None:
    """If the guess is wrong, the prefix differs from the gold one and scores no lower."""
    sequences = [labels for labels in all_sequences(scores) if possible(scores, labels)]
    kept = naive_beam(scores, width)
    assume(any(possible(scores, labels) for labels in kept[-1]))
    gold = sequences[choice % len(sequences)]
    alpha, gold_scores = beam_search(scores, width), gold_prefix_scores(scores, gold)
    assume(tuple(trace(scores, alpha, len(gold))) != gold)
    for name in ("early", "max-violation"):
        length = UPDATES[name](scores, alpha, gold, gold_scores)
        guess = tuple(trace(scores, alpha, length))
        assert guess != gold[:length]
        assert prefix_score(scores, guess) >= prefix_score(scores, gold[:length])


def test_a_worked_example_of_both_prefixes() -> None:
    """Three tokens, two labels, no transitions, a beam of one; the gold labels are 1 0 1, lost at the first token.

    The search takes 0 (1 > 0), then 1 (4 > 0), then by the last token's scores 0 (0 > −2) or 1 (3 > 0).
    """
    nothing = [table(np.zeros((2, 2)))] * 3
    gold = (1, 0, 1)

    def prefixes(last: Sequence[float]) -> dict[str, int]:
        scores = Scores(table([[1, 0], [0, 4], last]), table([0, 0]), nothing, table([0, 0]))
        alpha = beam_search(scores, 1)
        return {name: find(scores, alpha, gold, gold_prefix_scores(scores, gold)) for name, find in UPDATES.items()}

    # best minus gold is 1, 5, 7
    assert prefixes([0, -2]) == {"standard": 3, "early": 1, "max-violation": 3}
    # 1, 5, 5: the longest of equals
    assert prefixes([0, 3]) == {"standard": 3, "early": 1, "max-violation": 3}


def test_max_violation_may_be_a_prefix() -> None:
    """A beam of one takes 0 at the first token (1 > 0); then its 0 → 1 costs 9 where the gold's 1 → 1 is free."""
    into = table([[-9, -9], [0, 0]])
    scores = Scores(table([[1, 0], [0, 0]]), table([0, 0]), [into, into], table([0, 0]))
    gold = (1, 1)
    alpha, gold_scores = beam_search(scores, 1), gold_prefix_scores(scores, gold)
    assert trace(scores, alpha, 2) == [0, 0]
    assert gold_scores.tolist() == [0, 0]
    assert max_violation(scores, alpha, gold, gold_scores) == 1  # 1 − 0, against −8 − 0
    assert early(scores, alpha, gold, gold_scores) == 1


def test_early_update_where_the_gold_is_lost_late() -> None:
    """A beam of two of three labels: the gold 2 2 is among the best two after one token, and no more after two."""
    nothing = table(np.zeros((3, 3)))
    scores = Scores(table([[3, 0, 2], [3, 2, 1]]), table(np.zeros(3)), [nothing, nothing], table(np.zeros(3)))
    gold = (2, 2)
    assert early(scores, beam_search(scores, 2), gold, gold_prefix_scores(scores, gold)) == 2
    assert early(scores, beam_search(scores, 1), gold, gold_prefix_scores(scores, gold)) == 1


# ---------------------------------------------------------------- the k best


def ranked(scores: Scores, alpha: np.ndarray, length: int) -> list[Labels]:
    """All sequences through states that the search kept, best first; of equals the lowest last label, and so on."""
    everything = itertools.product(range(alpha.shape[1]), repeat=length)
    kept = [labels for labels in everything if all(alpha[t, c] > NEVER for t, c in enumerate(labels))]
    possible = [labels for labels in kept if prefix_score(scores, labels) > NEVER]
    return sorted(possible, key=lambda labels: (-prefix_score(scores, labels), labels[::-1]))


@settings(max_examples=200)
@given(random_scores(), st.integers(1, 30))
def test_the_k_best_are_the_first_of_all_in_order(scores: Scores, k: int) -> None:
    alpha = viterbi(scores)
    found = k_best(scores, alpha, len(alpha), k)
    assert [labels for _, labels in found] == ranked(scores, alpha, len(alpha))[:k]
    assert [float(value) for value, _ in found] == [prefix_score(scores, labels) for _, labels in found]


@given(random_scores(), st.integers(1, 4), st.integers(1, 30), st.integers(1, 4))
def test_the_k_best_of_a_beam_and_of_a_prefix(scores: Scores, width: int, k: int, prefix: int) -> None:
    alpha = beam_search(scores, width)
    length = min(prefix, len(alpha))
    assert [labels for _, labels in k_best(scores, alpha, length, k)] == ranked(scores, alpha, length)[:k]


@given(random_scores(), st.sampled_from(list(DECODERS)))
def test_the_first_of_the_k_best_is_the_decoders(scores: Scores, decoder: str) -> None:
    alpha = DECODERS[decoder](scores, 2)
    found = k_best(scores, alpha, len(alpha), 3)
    if found:
        assert list(found[0].labels) == trace(scores, alpha, len(alpha))
    if decoder == "greedy":
        assert len(found) <= 1
