"""The features of sentences without any weights: those of the gold trees, to be counted, and where a feature occurs, to
name it. This is the specification of listing.pxi."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from perceptron_core.structures.tree.features import PLACES, TreeProgram
from perceptron_core.structures.tree.relations import neighbourhood, relation_keys
from perceptron_core.structures.tree.scoring import Sides, TreeScores
from perceptron_core.structures.tree.trees import sibling_of

Site = tuple[str, int, tuple[int, ...]]  # the place, the number of the template in it, three positions


class TreeFeatures:
    """Lists the features of sentences."""

    def __init__(self, program: TreeProgram) -> None:
        self.program = program

    def of_gold(self, block: Any) -> tuple[np.ndarray, np.ndarray]:
        """(starts, keys): word w has the keys of its arc, of its place among the siblings and of its relation."""
        sizes, keys = [0], []
        for _, values, heads in _sentences(block):
            scores = TreeScores(self.program, values)
            for d in range(1, len(heads)):
                features = scores.arc_features(heads[d], d)
                features += scores.sibling_features(heads[d], sibling_of(heads, d), d)
                found = [key for key, _ in features] + relation_keys(scores.sides, heads, d)
                keys += [key for key in found if key]
                sizes.append(sum(map(bool, found)))
        return np.cumsum(sizes, dtype=np.int32), np.array(keys, np.uint64)

    def find(self, block: Any, wanted: np.ndarray) -> np.ndarray:
        """One line for each of these keys that occurs at an arc, or a relation of a gold tree, of the block: (the key's
        number, the number of the place in PLACES, the template's number in it, the sentence, three positions)."""
        numbers = {key: number for number, key in enumerate(wanted.tolist())}
        places, found = list(PLACES), {}
        for sentence, values, heads in _sentences(block):
            sides = Sides(self.program, values)
            for place, template, positions in _sites(self.program, heads):
                key = self._key(sides, heads, place, template, positions)
                if key in numbers and key not in found:
                    found[key] = [numbers[key], places.index(place), template, sentence, *positions]
        return np.array(list(found.values()), np.int64).reshape(-1, 7)

    def _key(self, sides: Sides, heads: list[int], place: str, template: int, positions: tuple[int, ...]) -> int:
        group, at = self.program.groups[place], positions[: len(PLACES[place])]
        if place == "relations":
            return sides.key(group, template, neighbourhood(heads, positions[0]), (heads[positions[0]], positions[0]))
        return sides.key(group, template, at, (positions[0], positions[1]))


def _sentences(block: Any) -> Iterator[tuple[int, np.ndarray, list[int]]]:
    begin = 0
    for number, length in enumerate(filter(None, block.lengths.tolist())):
        words = slice(begin, begin + length)
        yield number, block.values[words], [-1, *block.heads[words].tolist()]
        begin += length


def _sites(program: TreeProgram, heads: list[int]) -> Iterator[Site]:
    n = len(heads) - 1
    for place, group in program.groups.items():
        for template in range(len(group.seeds)):
            for positions in _positions(place, n):
                yield place, template, positions


def _positions(place: str, n: int) -> Iterator[tuple[int, int, int]]:
    """Every position of a place's anchors; a sibling that is not there is at n + 1."""
    words, arcs = range(1, n + 1), [(h, d) for h in range(n + 1) for d in range(1, n + 1) if h != d]
    if place in ("heads", "children", "relations"):
        yield from ((p, 0, 0) for p in range(0 if place == "heads" else 1, n + 1))
    elif place in ("pairs", "marked"):
        yield from ((h, d, 0) for h, d in arcs)
    elif place == "ordered":
        yield from ((i, j, 0) for i in range(n) for j in range(i + 1, n + 1))
    elif place == "between":
        yield from ((i, j, p) for i in range(n) for j in range(i + 1, n + 1) for p in range(i + 1, j))
    elif place == "siblings":
        yield from ((d, s, 0) for d in words for s in (n + 1, *words) if s != d)
    else:
        yield from ((h, d, s) for h, d in arcs for s in (n + 1, *range(min(h, d) + 1, max(h, d))))
