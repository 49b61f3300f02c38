"""What the tests of trees share: random trees, random score arrays, random sentences with weights."""

import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple, Optional

import numpy as np
import pytest

from perceptron_core.features.attributes import AttributeSet
from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.settings import Settings
from perceptron_core.structures.tree.engine import TreeBlock
from perceptron_core.structures.tree.features import ARC_LABELS, TreeProgram, make_program, sort_templates
from perceptron_core.structures.tree.structure import Tree

ARC_TEMPLATES = (
    "head.form",
    "head.upos[-1]",
    "child.upos",
    "head.form & child.upos[1]",
    "head.upos & child.upos",
    "head.upos & head.upos[1] & child.form",
    "left.upos & right.upos[1]",
    "left.upos & left.upos[1] & right.upos[-1] & right.upos",
    "left.upos & between.upos & right.upos",
    "left.upos & between.lower & right.form",
    "head.upos & direction",
    "child.upos & head.upos & distance & direction",
    "head.short_shape & child.has_digit",  # has no value for most words
)
SIBLING_TEMPLATES = (
    "sibling.upos & child.upos",
    "sibling.form & child.upos[-1]",
    "head.upos & sibling.upos & child.upos",
    "head.upos & sibling.upos & child.upos & direction",
    "head.form & sibling.upos & child.upos",
)
RELATION_TEMPLATES = (
    "head.form & child.form",
    "child.upos & grand.upos",
    "child.upos & previous.upos & next.upos",
    "first.upos & child.upos & last.upos & direction",
    "child.upos[1] & distance",
)


def features_of(arcs: tuple[str, ...]) -> FeatureSet:
    record = {"relations": list(RELATION_TEMPLATES), "format_options": {}}
    templates = Tree.read_templates(record, arcs, ["form", "upos"], AttributeSet({}, {}), "test")
    return FeatureSet(templates, ["form", "upos"])


class Problem(NamedTuple):
    """Sentences, and the weights that training starts from, by key."""

    program: TreeProgram
    block: TreeBlock
    relations: int
    arc_rows: dict[int, np.ndarray]
    relation_rows: dict[int, np.ndarray]
    one_root: bool
    kept: Optional[np.ndarray] = None


def all_trees(n: int, one_root: bool) -> Iterator[list[int]]:
    """Every tree of n words: the head of every position, -1 at the root."""
    for choice in itertools.product(range(n + 1), repeat=n):
        heads = [-1, *choice]
        if (choice.count(0) == 1 if one_root else 0 in choice) and all(reaches_root(heads, d) for d in range(1, n + 1)):
            yield heads


def reaches_root(heads: list[int], word: int) -> bool:
    for _ in range(len(heads)):
        if word == 0:
            return True
        word = heads[word]
    return False


def is_projective(heads: list[int]) -> bool:
    """No two arcs cross."""
    arcs = [(min(d, h), max(d, h)) for d, h in enumerate(heads) if h >= 0]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def random_tree(random: np.random.Generator, n: int, one_root: bool) -> list[int]:
    """Words are attached in a random order, each to one that is there."""
    order = (random.permutation(n) + 1).tolist()
    heads = [-1] * (n + 1)
    for i, word in enumerate(order):
        choices = order[:i] if one_root or random.random() < 0.8 else [0, *order[:i]]
        heads[word] = int(random.choice(choices)) if choices else 0
    return heads


def random_scores(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Whole numbers, which tie, or awkward fractions."""
    whole = random.random() < 0.5
    return (random.integers(-3, 4, shape) if whole else random.normal(size=shape)).astype(np.float32)


def random_problem(
    random: np.random.Generator, second_order: bool = True, one_root: bool = True, longest: int = 6, sentences: int = 5
) -> Problem:
    features = features_of(ARC_TEMPLATES + (SIBLING_TEMPLATES if second_order else ()))
    program = make_program(features, sort_templates(features.templates))
    attributes = sum(map(len, features.attributes))
    lengths = random.integers(0, longest + 1, sentences).astype(np.int32)  # an empty one among them is passed over
    words = int(lengths.sum())
    values = random.integers(0, 4, (words, attributes)).astype(np.uint64)  # 0: no value
    relations = int(random.integers(1, 4))
    heads = [head for length in lengths.tolist() if length for head in random_tree(random, length, one_root)[1:]]
    block = TreeBlock(
        lengths,
        values,
        np.array(heads, np.int32),
        random.integers(0, relations, words).astype(np.int32),
    )
    return Problem(program, block, relations, {}, {}, one_root)


def banks(kernel: Any, problem: Problem, chosen: Settings) -> list[Any]:
    return [
        kernel.KeyedBank(len(ARC_LABELS), 0, chosen.min_updates),
        kernel.KeyedBank(problem.relations, problem.relations // 2, chosen.min_updates),
    ]


@pytest.fixture(scope="session")
def trees() -> SimpleNamespace:
    return SimpleNamespace(
        all_trees=all_trees,
        is_projective=is_projective,
        random_tree=random_tree,
        random_scores=random_scores,
        random_problem=random_problem,
        features_of=features_of,
        banks=banks,
        ARC_TEMPLATES=ARC_TEMPLATES,
        SIBLING_TEMPLATES=SIBLING_TEMPLATES,
    )
