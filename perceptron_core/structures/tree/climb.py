"""Hill climbing over single changes: good trees that need not be projective, second order.

    tree ← the best projective tree (eisner2)
    repeat, at most 2 n times:
        of all trees that differ from it by the head of one word, take the best
        stop unless it is better

The search is approximate: the best tree may be out of reach. Single changes of a tree are also what the learners get as
its next best trees, where no search enumerates them exactly (mst, climb). With one child of the root, that child stays.
A change is worth the arc that it adds and removes, and what it does to the chains of siblings, in float64. Of equal
changes the first is taken: by child, then by head. O(n²) changes per round.

References
----------
R. McDonald, F. Pereira, Online learning of approximate dependency parsing algorithms, EACL 2006.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np


class Change(NamedTuple):
    gain: float
    child: int
    head: int


def changed(heads: Sequence[int], change: Change) -> list[int]:
    return [change.head if d == change.child else h for d, h in enumerate(heads)]


def single_changes(
    heads: Sequence[int], arc: np.ndarray, sibling: Optional[np.ndarray], one_root: bool
) -> list[Change]:
    """All changes that leave a tree, by child and head."""
    found = []
    for d in range(1, len(heads)):
        if one_root and heads[d] == 0:
            continue
        loss = _worth(heads, heads[d], d, arc, sibling)
        for h in range(1 if one_root else 0, len(heads)):
            if h != heads[d] and not _is_below(heads, d, h):
                found.append(Change(_worth(heads, h, d, arc, sibling) - loss, d, h))
    return found


def climb(heads: Sequence[int], arc: np.ndarray, sibling: np.ndarray, one_root: bool) -> list[int]:
    """The tree at the top of the way up from `heads`."""
    heads = list(heads)
    for _ in range(2 * (len(heads) - 1)):
        changes = single_changes(heads, arc, sibling, one_root)
        best = max(changes, key=lambda change: change.gain, default=None)  # the first of equal ones
        if best is None or best.gain <= 0:
            break
        heads = changed(heads, best)
    return heads


def _is_below(heads: Sequence[int], word: int, other: int) -> bool:
    """Whether `other` is the word or in its subtree."""
    while other > 0 and other != word:
        other = heads[other]
    return other == word


def _worth(heads: Sequence[int], h: int, d: int, arc: np.ndarray, sibling: Optional[np.ndarray]) -> float:
    """What d as a child of h adds to the score: its arc, and how it changes the chain of siblings."""
    score = float(arc[h, d])
    if sibling is not None:
        children = [c for c in range(1, len(heads)) if heads[c] == h and c != d and (c > h) == (d > h)]
        near = max((c for c in children if abs(c - h) < abs(d - h)), key=lambda c: abs(c - h), default=0)
        far = min((c for c in children if abs(c - h) > abs(d - h)), key=lambda c: abs(c - h), default=0)
        score += float(sibling[h, near, d])
        if far:
            score += float(sibling[h, d, far]) - float(sibling[h, near, far])
    return score
