"""Theorem 3 for trees: the bound of McDonald et al. 2010 holds for the searches that are exact, through the real jobs.

The sets are generated: the gold tree of a sentence is the best one under a hidden vector, so they are separable. All
trees are enumerated, for the constraints and for the margin.
"""

import itertools
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from perceptron_core.structures.tree.features import ARC_LABELS, ROOT, arc_label

TAGS = "ABC"
TASK = """\
kind: tree
columns: [form, upos]
labelled: false
features: ["head.upos & child.upos"]
options: {{decoder: {}}}
"""
ROUNDING = 1e-5
Coordinate = tuple[str, str]  # a feature as `perceptron export` names it, and a label


class TreeProblem(NamedTuple):
    """Sentences of tags, and the heads of their words."""

    decoder: str
    sentences: tuple[str, ...]
    gold: tuple[tuple[int, ...], ...] = ()

    def write(self, folder: Path) -> None:
        (folder / "task.yaml").write_text(TASK.format(self.decoder), encoding="utf-8")
        lines = []
        for tags, heads in zip(self.sentences, self.gold):
            for number, (tag, head) in enumerate(zip(tags, heads), start=1):
                lines.append(f"{number}\tw\t_\t{tag}\t_\t_\t{head}\t_\t_\t_")
            lines.append("")
        (folder / "train.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def coordinates(self) -> list[Coordinate]:
        pairs = itertools.product((ROOT, *TAGS), TAGS)
        return [(_name(head, child), label) for head, child in pairs for label in ARC_LABELS]

    def vector(self, values: Mapping[Coordinate, float]) -> np.ndarray:
        known = {coordinate: value for coordinate, value in values.items() if value}  # labels without weights have 0
        assert set(known) <= set(self.coordinates())
        return np.array([known.get(coordinate, 0.0) for coordinate in self.coordinates()])

    def phi(self, tags: str, heads: Sequence[int]) -> np.ndarray:
        counts: Counter[Coordinate] = Counter()
        for child, head in enumerate(heads, start=1):
            name = _name(tags[head - 1] if head else ROOT, tags[child - 1])
            counts[name, ARC_LABELS[0]] += 1
            counts[name, ARC_LABELS[arc_label(head, child)]] += 1
        return self.vector(counts)

    def trees(self, size: int) -> list[tuple[int, ...]]:
        """All trees with one root; of a projective search, those without crossing arcs."""
        found = []
        for heads in itertools.product(range(size + 1), repeat=size):
            if heads.count(0) == 1 and all(_reaches_root(heads, word) for word in range(1, size + 1)):
                spans = [(min(c, h), max(c, h)) for c, h in enumerate(heads, start=1)]
                crossing = any(a < c < b < d for (a, b), (c, d) in itertools.permutations(spans, 2))
                if self.decoder == "mst" or not crossing:
                    found.append(heads)
        return found

    def constraints(self) -> np.ndarray:
        """Δ of every wrong tree."""
        return np.array(
            [
                self.phi(tags, right) - self.phi(tags, wrong)
                for tags, right in zip(self.sentences, self.gold)
                for wrong in self.trees(len(tags))
                if wrong != right
            ]
        )


def _name(head: str, child: str) -> str:
    return f"head.upos[0]={head} & child.upos[0]={child}"


def _reaches_root(heads: Sequence[int], word: int) -> bool:
    for _ in heads:
        word = heads[word - 1] if word else 0
    return word == 0


def generated(decoder: str, seed: int) -> TreeProblem:
    """Nine sentences of up to four words."""
    choose = random.Random(seed)
    sentences = tuple("".join(choose.choice(TAGS) for _ in range(choose.randint(2, 4))) for _ in range(9))
    problem = TreeProblem(decoder, sentences)
    hidden = np.array([choose.gauss(0, 1) for _ in problem.coordinates()])
    best = tuple(max(problem.trees(len(s)), key=lambda t, s=s: float(hidden @ problem.phi(s, t))) for s in sentences)
    return problem._replace(gold=best)


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("decoder", ["eisner", "mst"])
def test_theorem_3_for_trees(decoder: str, shards: int, learn: Any, shortest_with_margin_1: Any) -> None:
    shares = []
    for seed in range(3):
        problem = generated(decoder, seed)
        training = learn(problem, "--shards", shards, "--mixing", "uniform")
        mistakes, deltas = training.weighted_mistakes("uniform"), problem.constraints()
        v, longest = shortest_with_margin_1(deltas), float(np.linalg.norm(deltas, axis=1).max())
        assert "stopped: the training set is separated" in training.said
        assert (deltas @ training.weights >= -ROUNDING).all()
        assert v @ training.weights >= mistakes * (1 - ROUNDING)
        assert training.weights @ training.weights <= longest**2 * mistakes * (1 + ROUNDING)
        bound = longest**2 * float(v @ v)
        assert mistakes <= bound * (1 + ROUNDING)
        shares.append(mistakes / bound)
    assert max(shares) > 0.01  # there were mistakes to bound
