"""Eisner's algorithm with siblings: the best projective trees, second order.

As eisner.py, but an arc is scored together with the child of the same head next to it, towards the head. S[r,t] is the
span between two such children.

    S[r,t]  = max over r ≤ q < t:  C→[r,q] + C←[q+1,t]
    I→[s,t] = arc(s, t) + max( C←[s+1,t] + sibling(s, –, t),                                 t is the first child
                               max over s < r < t:  (I→[s,r] + S[r,t]) + sibling(s, r, t) )  r is the child before it
    I←[s,t] = arc(t, s) + max( C→[s,t-1] + sibling(t, –, s),
                               max over s < r < t:  (S[s,r] + I←[r,t]) + sibling(t, r, s) )

    one child of the root:  max over r:  ((C←[1,r] + C→[r,n]) + arc(0, r)) + sibling(0, –, r)

Of equal scores "no sibling" is the best, then the first r. O(k² n³).

References
----------
R. McDonald, F. Pereira, Online learning of approximate dependency parsing algorithms, EACL 2006.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from perceptron_core.structures.tree.eisner import Chart, Part, Parts, best_of, joined, plus


def eisner2(arc: np.ndarray, sibling: np.ndarray, one_root: bool, k: int = 1) -> list[list[int]]:
    """The k best projective trees, best first: the head of every position, -1 at the root. sibling[h, 0, d] is the
    score of a first child."""
    chart = Chart(len(arc) - 1, one_root, k)
    between: dict[tuple[int, int], Parts] = {}  # S
    for s, t in chart.spans():
        between[s, t] = best_of((p for q in range(s, t) for p in joined(chart.right[s, q], chart.left[q + 1, t])), k)
        found = list(plus(chart.left[s + 1, t], sibling[s, 0, t]))
        for r in range(s + 1, t):
            found += plus(joined(chart.open_right[s, r], between[r, t]), sibling[s, r, t])
        chart.open_right[s, t] = best_of(_with_arc(found, arc, s, t), k)
        found = list(plus(chart.right[s, t - 1], sibling[t, 0, s]))
        for r in range(s + 1, t):
            found += plus(joined(between[s, r], chart.open_left[r, t]), sibling[t, r, s])
        chart.open_left[s, t] = best_of(_with_arc(found, arc, t, s), k) if s else []
        chart.complete(s, t)
    return chart.trees(lambda r: [arc[0, r], sibling[0, 0, r]])


def _with_arc(parts: Iterable[Part], arc: np.ndarray, h: int, d: int) -> Iterator[Part]:
    return (Part(arc[h, d] + part.score, (*part.arcs, (h, d))) for part in parts)
