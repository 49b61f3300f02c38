"""The searches in plain Python against brute force over all trees."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from perceptron_core.structures.tree.climb import climb, single_changes
from perceptron_core.structures.tree.eisner import eisner
from perceptron_core.structures.tree.eisner2 import eisner2
from perceptron_core.structures.tree.mst import mst
from perceptron_core.structures.tree.trees import sibling_of

Score = Callable[[list[int]], float]


def first_order(arc: np.ndarray) -> Score:
    return lambda heads: float(sum(float(arc[heads[d], d]) for d in range(1, len(heads))))


def second_order(arc: np.ndarray, sibling: np.ndarray) -> Score:
    return lambda heads: sum(
        float(arc[heads[d], d]) + float(sibling[heads[d], sibling_of(heads, d), d]) for d in range(1, len(heads))
    )


@pytest.mark.parametrize("one_root", [True, False])
@pytest.mark.parametrize("n", range(1, 6))
def test_eisner_finds_the_k_best_projective_trees(trees: Any, n: int, one_root: bool) -> None:
    candidates = list(filter(trees.is_projective, trees.all_trees(n, one_root)))
    for seed in range(6):
        arc = trees.random_scores(np.random.default_rng([n, seed]), (n + 1, n + 1))
        score = first_order(arc)
        found = eisner(arc, one_root, 7)
        expected = sorted(map(score, candidates), reverse=True)[:7]
        assert [score(heads) for heads in found] == pytest.approx(expected, abs=1e-5)
        assert len({tuple(heads) for heads in found}) == len(found)
        assert eisner(arc, one_root) == found[:1]


@pytest.mark.parametrize("one_root", [True, False])
@pytest.mark.parametrize("n", range(1, 6))
def test_eisner2_finds_the_k_best_projective_trees(trees: Any, n: int, one_root: bool) -> None:
    candidates = list(filter(trees.is_projective, trees.all_trees(n, one_root)))
    for seed in range(6):
        random = np.random.default_rng([n, seed])
        arc = trees.random_scores(random, (n + 1, n + 1))
        sibling = trees.random_scores(random, (n + 1, n + 1, n + 1))
        score = second_order(arc, sibling)
        found = eisner2(arc, sibling, one_root, 7)
        expected = sorted(map(score, candidates), reverse=True)[:7]
        assert [score(heads) for heads in found] == pytest.approx(expected, abs=1e-5)
        assert len({tuple(heads) for heads in found}) == len(found)


@pytest.mark.parametrize("one_root", [True, False])
@pytest.mark.parametrize("n", range(1, 6))
def test_mst_finds_the_best_tree(trees: Any, n: int, one_root: bool) -> None:
    candidates = list(trees.all_trees(n, one_root))
    for seed in range(20):
        arc = trees.random_scores(np.random.default_rng([n, seed]), (n + 1, n + 1))
        score = first_order(arc)
        found = mst(arc, one_root)
        assert found in candidates
        assert score(found) == pytest.approx(max(map(score, candidates)), abs=1e-5)


@pytest.mark.parametrize("n", [6, 7])
def test_all_searches_agree_with_brute_force_on_longer_sentences(trees: Any, n: int) -> None:
    """Every tree of up to seven words with one root, once."""
    random = np.random.default_rng(n)
    arc = trees.random_scores(random, (n + 1, n + 1))
    sibling = trees.random_scores(random, (n + 1, n + 1, n + 1))
    first, second = first_order(arc), second_order(arc, sibling)
    best = {"mst": -np.inf, "eisner": -np.inf, "eisner2": -np.inf}
    for heads in trees.all_trees(n, True):
        best["mst"] = max(best["mst"], first(heads))
        if trees.is_projective(heads):
            best["eisner"], best["eisner2"] = max(best["eisner"], first(heads)), max(best["eisner2"], second(heads))
    assert first(mst(arc, True)) == pytest.approx(best["mst"], abs=1e-5)
    assert first(eisner(arc, True)[0]) == pytest.approx(best["eisner"], abs=1e-5)
    assert second(eisner2(arc, sibling, True)[0]) == pytest.approx(best["eisner2"], abs=1e-5)


@pytest.mark.parametrize("one_root", [True, False])
@pytest.mark.parametrize("n", range(2, 6))
def test_a_climb_ends_where_no_single_change_gains(trees: Any, n: int, one_root: bool) -> None:
    candidates = list(trees.all_trees(n, one_root))
    climbed = 0
    for seed in range(10):
        random = np.random.default_rng([n, seed])
        arc = trees.random_scores(random, (n + 1, n + 1))
        sibling = trees.random_scores(random, (n + 1, n + 1, n + 1))
        score = second_order(arc, sibling)
        start = eisner2(arc, sibling, one_root)[0]
        top = climb(start, arc, sibling, one_root)
        neighbours = [heads for heads in candidates if sum(a != b for a, b in zip(heads, top)) == 1]
        if one_root:  # the child of the root stays
            neighbours = [heads for heads in neighbours if heads.index(0) == top.index(0)]
        assert top in candidates
        assert score(top) >= score(start) - 1e-5
        assert all(score(heads) <= score(top) + 1e-5 for heads in neighbours)
        climbed += top != start
    assert climbed or n == 2


@pytest.mark.parametrize("one_root", [True, False])
def test_the_gain_of_a_change_is_the_difference_of_the_scores(trees: Any, one_root: bool) -> None:
    random = np.random.default_rng(1)
    for n in range(2, 7):
        arc = trees.random_scores(random, (n + 1, n + 1))
        sibling = trees.random_scores(random, (n + 1, n + 1, n + 1))
        heads = trees.random_tree(random, n, one_root)
        score = second_order(arc, sibling)
        for change in single_changes(heads, arc, sibling, one_root):
            after = [*heads]
            after[change.child] = change.head
            assert change.gain == pytest.approx(score(after) - score(heads), abs=1e-5)


def test_equal_trees_are_decided_by_the_first_root_and_the_first_split() -> None:
    zeros = np.zeros((4, 4), np.float32)
    assert eisner(zeros, True) == [[-1, 0, 1, 1]] or eisner(zeros, True)[0][1] == 0
    assert mst(zeros, True)[1] == 0
