"""The relations of a tree's arcs: each arc by itself, with its neighbourhood in the tree.

relation(h, d) = argmax over r of  Σ over the templates f of the arc:  w[f, r]        the first of equal ones
"""

from collections.abc import Sequence
from typing import Optional

import numpy as np

from perceptron_core.kernels.reference.bank import KeyedBank
from perceptron_core.structures.tree.scoring import LOSS, Sides


def neighbourhood(heads: Sequence[int], d: int) -> tuple[int, ...]:
    """The positions of RELATION_ANCHORS; n + 1 is nowhere."""
    n, h = len(heads) - 1, heads[d]
    children = [c for c in range(1, n + 1) if heads[c] == h]
    own = [c for c in range(1, n + 1) if heads[c] == d]
    at, nowhere = children.index(d), n + 1
    return (
        h,
        d,
        heads[h] if h > 0 else nowhere,
        children[at - 1] if at else nowhere,
        children[at + 1] if at + 1 < len(children) else nowhere,
        own[0] if own else nowhere,
        own[-1] if own else nowhere,
    )


def relation_keys(sides: Sides, heads: Sequence[int], d: int) -> list[int]:
    """The keys of the features of word d's arc; 0 where a value is missing."""
    group, positions = sides.program.groups["relations"], neighbourhood(heads, d)
    return [sides.key(group, template, positions, (heads[d], d)) for template in range(len(group.seeds))]


def best_relation(sides: Sides, heads: Sequence[int], d: int, bank: KeyedBank, gold: Optional[int] = None) -> int:
    """If the gold one is given, with the loss: every other one scores LOSS more."""
    scores = np.zeros(bank.labels, np.float32)
    bank.add_scores(np.array([key for key in relation_keys(sides, heads, d) if key], np.uint64), scores)
    if gold is not None:
        scores[np.arange(len(scores)) != gold] += LOSS
    return int(np.argmax(scores))
