"""The k best label sequences, against all of them: small lattices, and beams over them."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.decoders import DECODERS, Scores, trace
from perceptron_core.decoders.beam import beam_search
from perceptron_core.decoders.k_best import k_best
from perceptron_core.decoders.lattice import NEVER
from perceptron_core.decoders.viterbi import viterbi

Labels = tuple[int, ...]


@st.composite
def random_scores(draw: st.DrawFn) -> Scores:
    """Whole numbers, so that they tie often and every sum is exact."""
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


def score(scores: Scores, labels: Labels) -> float:
    """The stop counts if the labels cover the sentence."""
    total = scores.start[labels[0]] + scores.emissions[0, labels[0]]
    for t in range(1, len(labels)):
        total += scores.into[t][labels[t - 1], labels[t]] + scores.emissions[t, labels[t]]
    return float(total + scores.stop[labels[-1]] if len(labels) == len(scores.emissions) else total)


def ranked(scores: Scores, alpha: np.ndarray, length: int) -> list[Labels]:
    """All sequences through states that the search kept, best first; of equals the lowest last label, and so on."""
    everything = itertools.product(range(alpha.shape[1]), repeat=length)
    kept = [labels for labels in everything if all(alpha[t, c] > NEVER for t, c in enumerate(labels))]
    possible = [labels for labels in kept if score(scores, labels) > NEVER]
    return sorted(possible, key=lambda labels: (-score(scores, labels), labels[::-1]))


@settings(max_examples=200)
@given(random_scores(), st.integers(1, 30))
def test_they_are_the_first_of_all_in_order(scores: Scores, k: int) -> None:
    alpha = viterbi(scores)
    found = k_best(scores, alpha, len(alpha), k)
    assert [labels for _, labels in found] == ranked(scores, alpha, len(alpha))[:k]
    assert [float(value) for value, _ in found] == [score(scores, labels) for _, labels in found]


@given(random_scores(), st.integers(1, 4), st.integers(1, 30), st.integers(1, 4))
def test_of_a_beam_and_of_a_prefix(scores: Scores, width: int, k: int, prefix: int) -> None:
    alpha = beam_search(scores, width)
    length = min(prefix, len(alpha))
    assert [labels for _, labels in k_best(scores, alpha, length, k)] == ranked(scores, alpha, length)[:k]


@given(random_scores(), st.sampled_from(list(DECODERS)))
def test_the_first_is_the_decoders(scores: Scores, decoder: str) -> None:
    alpha = DECODERS[decoder](scores, 2)
    found = k_best(scores, alpha, len(alpha), 3)
    if found:
        assert list(found[0].labels) == trace(scores, alpha, len(alpha))
    if decoder == "greedy":
        assert len(found) <= 1
