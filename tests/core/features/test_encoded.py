"""Sentences as arrays, with two predicted columns: slices, orders, joins and records against lists of lists."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.features.encoded import LEVELS, Encoded, joined
from perceptron_core.features.encoding import Layout
from perceptron_core.structures.sequence.structure import FirstOrder
from perceptron_core.wire import pack, unpack

TARGETS = ("heads", "labels")


class Token(NamedTuple):
    targets: tuple[int, int]
    words: list[tuple[int, int, float]]  # two ids and a value; one word, unless the tokens are texts
    extra: list[int]


Sentences = list[list[Token]]


def draw_sentences(random: np.random.Generator, texts: bool, extractor: bool, values: bool) -> Sentences:
    def number() -> int:
        return int(random.integers(0, 300))

    def token() -> Token:
        size = int(random.integers(0, 4)) if texts else 1
        words = [(number(), number(), float(random.integers(1, 4)) / 2 if values else 1.0) for _ in range(size)]
        return Token((number(), number()), words, [number() for _ in range(int(random.integers(0, 3)) * extractor)])

    return [[token() for _ in range(int(random.integers(0, 5)))] for _ in range(int(random.integers(0, 6)))]


def encode(sentences: Sentences, texts: bool, extractor: bool, values: bool) -> Encoded:
    def numbers(items: Any) -> np.ndarray:
        return np.array(list(items), np.int32)

    tokens = [token for sentence in sentences for token in sentence]
    words = [word for token in tokens for word in token.words]
    return Encoded(
        numbers(map(len, sentences)),
        [numbers(word[column] for word in words) for column in range(2)],
        {name: numbers(token.targets[i] for token in tokens) for i, name in enumerate(TARGETS)},
        numbers(len(token.extra) for token in tokens) if extractor else numbers(()),
        numbers(number for token in tokens for number in token.extra),
        numbers(len(token.words) for token in tokens) if texts else numbers(()),
        np.array([word[2] for word in words] if values else [], np.float32),
    )


def assert_equal(ours: Encoded, theirs: Encoded) -> None:
    for one, other in zip(ours, theirs):
        if isinstance(one, dict):
            one, other = list(one.items()), list(other.items())
        np.testing.assert_equal(one, other)


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.booleans())
def test_it_does_what_lists_do(seed: int, texts: bool, extractor: bool, values: bool) -> None:
    random, kind = np.random.default_rng(seed), (texts, extractor, values)
    sentences, more = draw_sentences(random, *kind), draw_sentences(random, *kind)
    encoded = encode(sentences, *kind)
    first, last = sorted(random.integers(0, len(sentences) + 1, 2).tolist())
    assert_equal(encoded.between(first, last), encode(sentences[first:last], *kind))
    order = random.permutation(len(sentences))
    assert_equal(encoded.reordered(order), encode([sentences[i] for i in order], *kind))
    assert_equal(joined([encoded, encode(more, *kind)]), encode(sentences + more, *kind))
    travelled = unpack(pack(encoded.record()))
    all_one = set(encoded.values.tolist()) <= {1.0}
    expected = encoded._replace(values=np.zeros(0, np.float32)) if all_one else encoded
    assert_equal(Encoded.from_record(travelled, TARGETS), expected)


def test_values_that_are_all_1_are_written_out_only_beside_others() -> None:
    ones = [[Token((0, 0), [(1, 2, 1.0)], [])]]
    halves = [[Token((0, 0), [(3, 4, 0.5)], [])]]
    both = joined([encode(ones, False, False, False), encode(halves, False, False, True)])
    assert both.values.tolist() == [1.0, 0.5]


def test_every_array_has_a_level() -> None:
    assert set(LEVELS) == set(Encoded._fields)


def test_a_guess_of_several_columns_is_written_column_by_column() -> None:
    class Tree(FirstOrder):
        layout = Layout(numbers=("heads",))

    guess = {"heads": np.array([0, 1, 0]), "labels": np.array([1, 0, 1])}
    fields = Tree.fields(Tree.__new__(Tree), guess, ["obj", "root"], np.array([2, 1]))
    assert list(fields) == [(["0", "1"], ["root", "obj"]), (["0"], ["root"])]


@pytest.mark.parametrize("column", ["heads", "labels"])
def test_targets_may_be_unknown(column: str) -> None:
    encoded = encode([[Token((1, 2), [(1, 2, 1.0)], [])]], False, False, False)
    assert len(encoded.unlabelled().targets[column]) == 0 and encoded.unlabelled().tokens() == 1
