"""Chu, Liu and Edmonds: the best tree, projective or not, first order.

    every word takes its best head
    while there is a cycle:
        make one node of it, called by its lowest word:
            an arc into it is worth   max over c in the cycle:  w(v, c) − w(head of c, c)       it replaces c's head
            an arc out of it is worth max over c in the cycle:  w(c, v)
        the new node takes its best head
    undo the contractions, the last one first

With one child of the root, every arc from the root costs more than all other differences together, so that a tree uses
as few as possible. Weights are float64 here: the penalty must not round away the scores. Of equal heads, and of equal
words of a cycle, the first is taken. O(n²) for the contractions of cycles of bounded length, O(n³) at worst.

References
----------
Y. Chu, T. Liu, On the shortest arborescence of a directed graph, Science Sinica 1965.
J. Edmonds, Optimum branchings, Journal of Research of the National Bureau of Standards 1967.
R. McDonald et al., Non-projective dependency parsing using spanning tree algorithms, HLT-EMNLP 2005.
"""

from typing import NamedTuple

import numpy as np


class Contraction(NamedTuple):
    cycle: list[int]  # from its lowest word, each followed by its head
    heads: list[int]
    outside: set[int]  # the other nodes
    entered: dict[int, int]  # by node outside: where in the cycle its arc ends
    left: dict[int, int]  # by node outside: where in the cycle the arc to it begins


def mst(arc: np.ndarray, one_root: bool) -> list[int]:
    """The head of every position, -1 at the root."""
    n = len(arc) - 1
    weight = arc.astype(np.float64)
    if one_root:
        arcs = [weight[h, d] for h in range(n + 1) for d in range(1, n + 1) if h != d]
        weight[0, 1:] -= (n + 1) * (max(arcs) - min(arcs)) + 1
    nodes = set(range(n + 1))
    heads = [-1] * (n + 1)
    for d in range(1, n + 1):
        heads[d] = _best_head(weight, nodes, d)
    contractions = []
    while cycle := _find_cycle(heads, nodes):
        contractions.append(_contract(cycle, weight, heads, nodes))
        heads[cycle[0]] = _best_head(weight, nodes, cycle[0])
    for contraction in reversed(contractions):
        _expand(contraction, heads)
    return heads


def _best_head(weight: np.ndarray, nodes: set[int], d: int) -> int:
    return max((h for h in sorted(nodes) if h != d), key=lambda h: weight[h, d])  # the first of equal ones


def _find_cycle(heads: list[int], nodes: set[int]) -> list[int]:
    """The words of a cycle, from the lowest; nothing if there is none. Whichever cycle is contracted first, the tree is
    the same."""
    for start in sorted(nodes - {0}):
        seen, node = [start], heads[start]
        while node > 0 and node not in seen:
            seen.append(node)
            node = heads[node]
        if node > 0:
            cycle = seen[seen.index(node) :]
            lowest = cycle.index(min(cycle))
            return cycle[lowest:] + cycle[:lowest]
    return []


def _contract(cycle: list[int], weight: np.ndarray, heads: list[int], nodes: set[int]) -> Contraction:
    name, own = cycle[0], [heads[c] for c in cycle]
    nodes -= set(cycle)
    made = Contraction(cycle, own, set(nodes), {}, {})
    for v in sorted(nodes):
        values = [weight[v, c] - weight[h, c] for c, h in zip(cycle, own)]
        out = [weight[c, v] for c in cycle]
        made.entered[v] = cycle[values.index(max(values))]
        weight[v, name] = max(values)
        if v:
            made.left[v] = cycle[out.index(max(out))]
            weight[name, v] = max(out)
            if heads[v] in cycle:
                heads[v] = name
    nodes.add(name)
    return made


def _expand(contraction: Contraction, heads: list[int]) -> None:
    name = contraction.cycle[0]
    for v in contraction.outside:
        if v and heads[v] == name:
            heads[v] = contraction.left[v]
    outside = heads[name]
    for c, h in zip(contraction.cycle, contraction.heads):
        heads[c] = h
    heads[contraction.entered[outside]] = outside
