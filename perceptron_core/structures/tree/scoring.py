"""The scores of a sentence's arcs and siblings in plain Python, and the features behind them: the specification of
arcs.pxi and siblings.pxi.

    arc(h, d)         = Σ over the templates of the arc:  w[f, any] + w[f, direction × distance]
    sibling(h, s, d)  = the same for the templates of (s, d), and one weight for each of those of (h, s, d)

Position 0 is the root, 1 … n are the words; `nowhere` = n + 1 stands for a sibling that is not there.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Optional

import numpy as np

from perceptron_core.hashing import extend_key
from perceptron_core.kernels.reference.bank import KeyedBank
from perceptron_core.structures.tree.features import ARC_LABELS, Group, TreeProgram, arc_label, distance_of

ANY = 0  # the label of a row that every arc has
ZERO = np.float32(0)
# What a wrong arc or relation scores more, where a margin is wanted. A little less than the loss, 1: MIRA moves to a
# margin of just the loss, which rounding must not make a violation again.
LOSS = np.float32(0.99)

Feature = tuple[int, bool]  # its key, and whether its row has a weight for the direction × distance, too


class Sides:
    """side(s, p): the joined values of side s at position p; 0 where a value is missing."""

    def __init__(self, program: TreeProgram, values: np.ndarray) -> None:
        self.program, self.values, self.n = program, values.tolist(), len(values)
        self._made: dict[tuple[int, int], int] = {}

    @property
    def nowhere(self) -> int:
        return self.n + 1

    def side(self, number: int, position: int) -> int:
        if (number, position) not in self._made:
            self._made[number, position] = self._join(number, position)
        return self._made[number, position]

    def _join(self, number: int, position: int) -> int:
        key, program = 0, self.program
        for i in range(program.side_starts[number], program.side_starts[number + 1]):
            value = self._value(position, int(program.part_offsets[i]), int(program.part_attributes[i]))
            if value == 0:
                return 0
            key = extend_key(key, value)
        return key

    def _value(self, position: int, offset: int, attribute: int) -> int:
        at = position + offset
        if position == self.nowhere:
            return self.program.none
        if at < 0:
            return int(self.program.before[-at - 1])
        if at == 0:
            return self.program.root
        return self.values[at - 1][attribute] if at <= self.n else int(self.program.after[at - self.n - 1])

    def key(self, group: Group, template: int, positions: Sequence[int], arc: tuple[int, int]) -> int:
        """The key of a template, with the positions of its anchors; `arc` is what direction and distance are of."""
        key = int(group.seeds[template])
        for number, position in zip(group.sides[template].tolist(), positions):
            if number >= 0:
                side = self.side(number, position)
                if side == 0:
                    return 0
                key = extend_key(key, side)
        begin, end = arc
        if group.values[template] & 1:
            key = extend_key(key, int(self.program.directions[int(end < begin)]))
        if group.values[template] & 2:
            key = extend_key(key, int(self.program.distances[distance_of(abs(end - begin))]))
        return key


class TreeScores:
    """The features of one sentence, and their scores under the weights of a bank."""

    def __init__(self, program: TreeProgram, values: np.ndarray, bank: Optional[KeyedBank] = None) -> None:
        self.program, self.bank, self.sides, self.n = program, bank, Sides(program, values), len(values)

    # ------------------------------------------------------------ features

    def _keys(self, place: str, positions: Sequence[int], arc: tuple[int, int]) -> list[int]:
        group = self.program.groups[place]
        return [self.sides.key(group, template, positions, arc) for template in range(len(group.seeds))]

    def _between(self, i: int, j: int) -> Iterator[int]:
        group = self.program.groups["between"]
        for template in range(len(group.seeds)):
            side = int(group.sides[template, 2])
            values = dict.fromkeys(self.sides.side(side, p) for p in range(i + 1, j))
            key = self.sides.key(group._replace(sides=group.sides[:, :2]), template, (i, j), (i, j))
            yield from (extend_key(key, value) for value in values if key and value)

    def arc_features(self, h: int, d: int) -> list[Feature]:
        """In the order in which they are added up."""
        i, j = min(h, d), max(h, d)
        keys = self._keys("heads", (h,), (h, d)) + self._keys("children", (d,), (h, d))
        keys += self._keys("pairs", (h, d), (h, d)) + self._keys("ordered", (i, j), (h, d)) + list(self._between(i, j))
        return [(key, True) for key in keys] + [(key, False) for key in self._keys("marked", (h, d), (h, d))]

    def sibling_features(self, h: int, s: int, d: int) -> list[Feature]:
        """s = 0 stands for none."""
        near = s or self.sides.nowhere
        pairs = self._keys("siblings", (d, near), (s or h, d))
        return [(key, True) for key in pairs] + [(key, False) for key in self._triples(h, near, d)]

    def _triples(self, h: int, near: int, d: int) -> list[int]:
        return [key for group in self._triple_groups for key in self._triple_keys(group, h, near, d)]

    def _triple_keys(self, templates: Sequence[int], h: int, near: int, d: int) -> list[int]:
        return [self.sides.key(self.program.groups["triples"], t, (h, d, near), (h, d)) for t in templates]

    @cached_property
    def _triple_groups(self) -> list[list[int]]:
        """The templates that look at the same sides are added up together."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for template, sides in enumerate(self.program.groups["triples"].sides.tolist()):
            groups.setdefault(tuple(sides), []).append(template)
        return list(groups.values())

    # ------------------------------------------------------------ scores

    def _row(self, key: int) -> np.ndarray:
        assert self.bank is not None, "without weights there are no scores"
        row = self.bank.shown(key) if key else None
        return np.zeros(self.bank.labels, np.float32) if row is None else row.weights

    def _sum(self, keys: Sequence[int]) -> np.ndarray:
        total = np.zeros(len(ARC_LABELS), np.float32)
        for key in keys:
            total += self._row(key)
        return total

    @cached_property
    def arc(self) -> np.ndarray:
        """arc[h, d]; what is no arc has 0."""
        scores = np.zeros((self.n + 1, self.n + 1), np.float32)
        for h in range(self.n + 1):
            for d in range(1, self.n + 1):
                if h != d:
                    scores[h, d] = self._arc(h, d)
        return scores

    def add_loss(self, gold: Sequence[int]) -> None:
        """Every arc that is not gold scores LOSS more."""
        for d in range(1, self.n + 1):
            self.arc[[h for h in range(self.n + 1) if h != gold[d]], d] += LOSS

    def _arc(self, h: int, d: int) -> np.float32:
        label = arc_label(h, d)
        head, child = self._sum(self._keys("heads", (h,), (h, d))), self._sum(self._keys("children", (d,), (h, d)))
        score = (head[ANY] + head[label]) + (child[ANY] + child[label])
        alone = len(self.program.groups["heads"].seeds) + len(self.program.groups["children"].seeds)
        for key, directed in self.arc_features(h, d)[alone:]:
            row = self._row(key)
            score = score + (row[ANY] + row[label] if directed else row[ANY])
        return score

    @cached_property
    def sibling(self) -> np.ndarray:
        """sibling[h, s, d]; s = 0 stands for none."""
        size = self.n + 1
        scores = np.zeros((size, size, size), np.float32)
        for h in range(size):
            for d in range(1, size):
                for s in range(min(h, d) + 1, max(h, d)):
                    scores[h, s, d] = self._sibling(h, s, d)
                if h != d:
                    scores[h, 0, d] = self._sibling(h, 0, d)
        return scores

    def _sibling(self, h: int, s: int, d: int) -> np.float32:
        near, label = s or self.sides.nowhere, arc_label(s or h, d)
        keys = self._keys("siblings", (d, near), (s or h, d))
        if s:
            score = ZERO
            for key in keys:
                row = self._row(key)
                score = score + (row[ANY] + row[label])
        else:  # added up once per child, for all heads
            total = self._sum(keys)
            score = total[ANY] + total[label]
        for templates in self._triple_groups:
            together = ZERO
            for key in self._triple_keys(templates, h, near, d):
                together = together + self._row(key)[ANY]
            score = score + together
        return score
