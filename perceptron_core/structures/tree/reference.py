"""The finder of trees in NumPy and plain Python: the specification of the compiled one (native.pyx)."""

from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from perceptron_core.corpus.trees import non_projective_arcs
from perceptron_core.kernels.reference.bank import KeyedBank
from perceptron_core.kernels.reference.trainer import Delta, Finder
from perceptron_core.learners.constraint import Constraint
from perceptron_core.structures.tree.climb import changed, climb, single_changes
from perceptron_core.structures.tree.eisner import eisner
from perceptron_core.structures.tree.eisner2 import eisner2
from perceptron_core.structures.tree.features import TreeProgram, arc_label
from perceptron_core.structures.tree.mst import mst
from perceptron_core.structures.tree.relations import best_relation, relation_keys
from perceptron_core.structures.tree.scoring import ANY, TreeScores
from perceptron_core.structures.tree.trees import Heads, sibling_of

ARCS, RELATIONS = range(2)  # the numbers of the banks


def _changes_of(best: Heads, arc: np.ndarray, sibling: Optional[np.ndarray], one_root: bool, k: int) -> list[list[int]]:
    """The tree, and the k - 1 best that differ from it by one head."""
    changes = single_changes(best, arc, sibling, one_root) if k > 1 else []
    others = sorted(changes, key=lambda change: -change.gain)[: k - 1]  # equal ones stay in order
    return [list(best), *(changed(best, change) for change in others)]


def _eisner2(scores: TreeScores, one_root: bool, k: int) -> list[list[int]]:
    return eisner2(scores.arc, scores.sibling, one_root, k)


def _eisner(scores: TreeScores, one_root: bool, k: int) -> list[list[int]]:
    return eisner(scores.arc, one_root, k)


def _mst(scores: TreeScores, one_root: bool, k: int) -> list[list[int]]:
    return _changes_of(mst(scores.arc, one_root), scores.arc, None, one_root, k)


def _climb(scores: TreeScores, one_root: bool, k: int) -> list[list[int]]:
    start = eisner2(scores.arc, scores.sibling, one_root)[0]
    best = climb(start, scores.arc, scores.sibling, one_root)
    return _changes_of(best, scores.arc, scores.sibling, one_root, k)


# name → (scores, whether the root has one child, k) → up to k trees, the best first
DECODERS: dict[str, Callable[[TreeScores, bool, int], list[list[int]]]] = {
    "eisner2": _eisner2,
    "eisner": _eisner,
    "mst": _mst,
    "climb": _climb,
}


class Example(NamedTuple):
    """One sentence of a block; without gold if it is only decoded."""

    values: np.ndarray
    heads: list[int]
    relations: list[int]


class TreeFinder(Finder):
    """Finds the tree first, then the relations of its arcs. In training the relations are those of the gold arcs, and a
    learner that wants a margin gets the tree with the highest score + loss."""

    def __init__(
        self,
        program: TreeProgram,
        arcs: KeyedBank,
        relations: KeyedBank,
        settings: Any,
        one_root: bool,
        kept: Optional[np.ndarray],
    ) -> None:
        self.program, self.arcs, self.relations, self.settings = program, arcs, relations, settings
        self.banks = (arcs, relations)
        self.one_root, self.labelled = one_root, relations.labels > 1
        self.second_order = settings.decoder in ("eisner2", "climb")
        self.kept = None if kept is None else set(kept.tolist())

    def examples(self, block: Any) -> Iterator[Example]:
        """The sentences that are not empty."""
        begin = 0
        for length in filter(None, block.lengths.tolist()):
            words = slice(begin, begin + length)
            yield Example(
                block.values[words], [-1, *block.heads[words].tolist()], [-1, *block.relations[words].tolist()]
            )
            begin += length

    # ------------------------------------------------------------ the search

    def trees(self, scores: TreeScores, k: int) -> list[list[int]]:
        """Up to k trees, the best first."""
        return DECODERS[self.settings.decoder](scores, self.one_root, k)

    def guessed_relations(self, scores: TreeScores, heads: Heads, gold: Sequence[Optional[int]]) -> list[int]:
        """With the loss, where the gold relation is given."""
        if not self.labelled:
            return [-1] + [0] * (len(heads) - 1)
        return [-1, *(best_relation(scores.sides, heads, d, self.relations, gold[d]) for d in range(1, len(heads)))]

    def decode(self, block: Any) -> np.ndarray:
        """Head and relation of every word."""
        guesses = [np.zeros((0, 2), np.int32)]
        for example in self.examples(block):
            scores = TreeScores(self.program, example.values, self.arcs)
            heads = self.trees(scores, 1)[0]
            columns = heads[1:], self.guessed_relations(scores, heads, [None] * len(heads))[1:]
            guesses.append(np.array(columns, np.int32).T)
        return np.concatenate(guesses)

    # ------------------------------------------------------------ constraints

    def find(self, example: Example) -> tuple[int, list[Constraint]]:
        """(wrong words, the violated constraints)."""
        gold, scores = example.heads, TreeScores(self.program, example.values, self.arcs)
        margin = self.settings.learner != "perceptron"  # then the tree is wanted that violates it most
        if margin:
            scores.add_loss(gold)
        best, *others = self.trees(scores, self.settings.k_best)
        relations = self.guessed_relations(scores, gold, example.relations if margin else [None] * len(gold))
        wrong = sum(a != b or c != d for a, b, c, d in list(zip(best, gold, relations, example.relations))[1:])
        found = [best] if wrong else []
        bar = self.tree_score(scores, gold)
        for heads in others:
            if self.tree_score(scores, heads) < bar:
                break
            found.append(heads)
        constraints = [self._constraint(scores, example, heads, relations) for heads in found]
        return wrong, [constraint for constraint in constraints if constraint.norm]

    def _constraint(self, scores: TreeScores, example: Example, heads: Heads, relations: list[int]) -> Constraint:
        loss = sum(a != b for a, b in zip(heads, example.heads)) + sum(
            a != b for a, b in zip(relations, example.relations)
        )
        return self.constraint(self.delta(scores, example, heads, relations), float(loss))

    def tree_score(self, scores: TreeScores, heads: Heads) -> np.float32:
        """The score of a tree's arcs and siblings, added up in the order of the words."""
        total = np.float32(0)
        for d in range(1, len(heads)):
            total = total + scores.arc[heads[d], d]
            if self.second_order:
                total = total + scores.sibling[heads[d], sibling_of(heads, d), d]
        return total

    def may_miss(self, gold: Heads) -> bool:
        """Whether the search may not have seen the gold tree."""
        decoder = self.settings.decoder
        return decoder == "climb" or (decoder != "mst" and bool(non_projective_arcs(gold[1:])))

    # ------------------------------------------------------------ Δ

    def delta(self, scores: TreeScores, example: Example, heads: Heads, relations: list[int]) -> Delta:
        """Δ = Φ(gold) − Φ(guess). Where the search may miss the gold tree, the arcs are left out unless the guess
        scores as much."""
        gold, delta = example.heads, Delta()
        if not self.may_miss(gold) or self.tree_score(scores, heads) >= self.tree_score(scores, gold):
            for d in range(1, len(gold)):
                self._add_word(delta, scores, gold, heads, d)
        if self.labelled:
            for d in range(1, len(gold)):
                if relations[d] != example.relations[d]:
                    for key in relation_keys(scores.sides, gold, d):
                        self._put(delta, RELATIONS, key, example.relations[d], 1)
                        self._put(delta, RELATIONS, key, relations[d], -1)
        return delta

    def _add_word(self, delta: Delta, scores: TreeScores, gold: Heads, heads: Heads, d: int) -> None:
        if gold[d] != heads[d]:
            self._add(delta, scores.arc_features(gold[d], d), arc_label(gold[d], d), 1)
            self._add(delta, scores.arc_features(heads[d], d), arc_label(heads[d], d), -1)
        if self.second_order:
            right, wrong = (gold[d], sibling_of(gold, d)), (heads[d], sibling_of(heads, d))
            if right != wrong:
                for (h, s), count in ((right, 1), (wrong, -1)):
                    self._add(delta, scores.sibling_features(h, s, d), arc_label(s or h, d), count)

    def _add(self, delta: Delta, features: Sequence[tuple[int, bool]], label: int, count: float) -> None:
        for key, directed in features:
            self._put(delta, ARCS, key, ANY, count)
            if directed:
                self._put(delta, ARCS, key, label, count)

    def _put(self, delta: Delta, bank: int, key: int, label: int, count: float) -> None:
        if key and (self.kept is None or key in self.kept):
            delta.add(bank, key, label, count)
