"""Cycles and non-projective arcs, against their definitions."""

import random

import pytest

from perceptron_core.corpus.trees import find_cycle, non_projective_arcs


def test_cycles_are_found_wherever_they_are():
    """Against the definition: a word from which the root is not reached."""
    chance = random.Random(5)
    for _ in range(2000):
        heads = [chance.randint(0, 7) for _ in range(7)]

        def reaches_root(word, heads=heads):
            for _ in range(8):
                word = heads[word - 1] if word else 0
            return word == 0

        cycle = find_cycle(heads)
        assert bool(cycle) != all(map(reaches_root, range(1, 8)))
        assert len(set(cycle)) == len(cycle)
        assert all(heads[word - 1] == head for word, head in zip(cycle, [*cycle[1:], *cycle[:1]]))


def random_heads(chance, words):
    """A tree over the words, often not projective; several roots, too."""
    order = [0, *chance.sample(range(1, words + 1), words)]
    heads = [0] * words
    for place in range(1, words + 1):
        heads[order[place] - 1] = order[chance.randrange(place)]
    return heads


def naive_non_projective_arcs(heads):
    def descends(word, head):
        while word not in (0, head):
            word = heads[word - 1]
        return word == head

    return [
        word
        for word, head in enumerate(heads, 1)
        if not all(descends(other, head) for other in range(min(word, head) + 1, max(word, head)))
    ]


def test_non_projective_arcs_are_those_of_the_definition():
    chance = random.Random(3)
    found = 0
    for _ in range(1500):
        heads = random_heads(chance, chance.randint(1, 9))
        assert non_projective_arcs(heads) == naive_non_projective_arcs(heads), heads
        found += len(non_projective_arcs(heads))
    assert found > 1000


@pytest.mark.parametrize(
    ("heads", "words"),
    [
        ([0], []),
        ([2, 0, 2], []),
        ([2, 3, 0, 3], []),
        ([3, 4, 0, 3], [2]),  # 4 → 2 passes over 3, the head of both
        ([2, 0, 7, 2, 2, 7, 2], [3]),  # 2 → 5 is crossed by 7 → 3, but 3 descends from 2
    ],
)
def test_worked_examples(heads, words):
    assert non_projective_arcs(heads) == words


def test_a_long_sentence_and_a_cycle_come_to_an_end():
    words = 4000
    assert non_projective_arcs([0, *range(1, words)]) == []
    assert non_projective_arcs([0, *[1] * (words - 1)]) == []
    crossing = [*range(words // 2), *range(1, words // 2 + 1)]  # a chain, and a child at the same distance for each
    assert non_projective_arcs(crossing) == list(range(words // 2 + 2, words + 1))
    assert non_projective_arcs([3, 0, 1]) == [1, 2, 3]
