"""Eisner's algorithm: the best projective trees, first order.

A span s … t is *complete* if its words have all their children in it, *incomplete* if it is an arc between s and t that
may still get children. → means that the head is on the left, ← that it is on the right.

    C→[s,s] = C←[s,s] = 0
    I→[s,t] = max over s ≤ q < t:  (C→[s,q] + C←[q+1,t]) + arc(s, t)
    I←[s,t] = max over s ≤ q < t:  (C→[s,q] + C←[q+1,t]) + arc(t, s)
    C→[s,t] = max over s < q ≤ t:  I→[s,q] + C→[q,t]
    C←[s,t] = max over s ≤ q < t:  C←[s,q] + I←[q,t]

    one child of the root:  max over r:  (C←[1,r] + C→[r,n]) + arc(0, r)
    any number of them:     C→[0,n], where the root is position 0 and has no head

Here every span has a list of its k best trees, so that k = 1 is the algorithm itself. Of equal scores the first split
is the better one, then the better rank of the left part, then of the right part. O(k² n³); the compiled kernel finds
the next best ones lazily (k_best.pxi).

References
----------
J. Eisner, Three new probabilistic models for dependency parsing, COLING 1996.
L. Huang, D. Chiang, Better k-best parsing, IWPT 2005.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Callable, NamedTuple

import numpy as np

NEVER = np.float32(-np.inf)


class Part(NamedTuple):
    """A tree of a span: its score, and (head, child) of its arcs."""

    score: np.float32
    arcs: tuple[tuple[int, int], ...]


Parts = list[Part]  # the best ones, best first
EMPTY: Parts = [Part(np.float32(0), ())]


def best_of(found: Iterable[Part], k: int) -> Parts:
    """The k best; equal ones stay in their order."""
    return sorted((part for part in found if part.score > NEVER), key=lambda part: -part.score)[:k]


def joined(left: Parts, right: Parts, *arcs: tuple[int, int]) -> Iterator[Part]:
    """Every tree of the left span with every one of the right span, and these arcs; the scores are added."""
    for a in left:
        for b in right:
            yield Part(a.score + b.score, (*a.arcs, *b.arcs, *arcs))


def plus(parts: Iterable[Part], score: np.float32) -> Iterator[Part]:
    return (Part(part.score + score, part.arcs) for part in parts)


def read_heads(part: Part, n: int) -> list[int]:
    """The head of every position; the root has -1."""
    heads = [-1] * (n + 1)
    for head, child in part.arcs:
        heads[child] = head
    return heads


class Chart:
    """The k best trees of every span."""

    def __init__(self, n: int, one_root: bool, k: int) -> None:
        self.n, self.k, self.low = n, k, 1 if one_root else 0
        self.right: dict[tuple[int, int], Parts] = {(p, p): EMPTY for p in range(n + 1)}  # C→
        self.left: dict[tuple[int, int], Parts] = {(p, p): EMPTY for p in range(n + 1)}  # C←
        self.open_right: dict[tuple[int, int], Parts] = {}  # I→
        self.open_left: dict[tuple[int, int], Parts] = {}  # I←

    def spans(self) -> Iterator[tuple[int, int]]:
        """The shorter ones first."""
        for width in range(1, self.n - self.low + 1):
            for s in range(self.low, self.n - width + 1):
                yield s, s + width

    def complete(self, s: int, t: int) -> None:
        self.right[s, t] = best_of(
            (p for q in range(s + 1, t + 1) for p in joined(self.open_right[s, q], self.right[q, t])), self.k
        )
        self.left[s, t] = best_of(
            (p for q in range(s, t) for p in joined(self.left[s, q], self.open_left[q, t])), self.k
        )

    def trees(self, root_score: Callable[[int], Sequence[np.float32]]) -> list[list[int]]:
        """The k best trees as heads; `root_score` has what is added for the only child of the root."""
        found = self.right[0, self.n] if self.low == 0 else self._with_one_root(root_score)
        return [read_heads(part, self.n) for part in found]

    def _with_one_root(self, root_score: Callable[[int], Sequence[np.float32]]) -> Parts:
        found: Parts = []
        for r in range(1, self.n + 1):
            for left, right, arcs in (
                (a.score, b.score, (*a.arcs, *b.arcs)) for a in self.left[1, r] for b in self.right[r, self.n]
            ):
                score = left + right
                for more in root_score(r):
                    score = score + more
                found.append(Part(score, (*arcs, (0, r))))
        return best_of(found, self.k)


def eisner(arc: np.ndarray, one_root: bool, k: int = 1) -> list[list[int]]:
    """The k best projective trees, best first: the head of every position, -1 at the root."""
    chart = Chart(len(arc) - 1, one_root, k)
    for s, t in chart.spans():
        for spans, h, d in ((chart.open_right, s, t), (chart.open_left, t, s)):
            inner = (p for q in range(s, t) for p in joined(chart.right[s, q], chart.left[q + 1, t], (h, d)))
            spans[s, t] = best_of(plus(inner, arc[h, d] if d else NEVER), k)
        chart.complete(s, t)
    return chart.trees(lambda r: [arc[0, r]])
