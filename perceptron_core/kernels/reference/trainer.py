"""The trainer: finds the violated constraints of a minibatch and updates by them. It does not depend on a structure.

for each minibatch:
    C = [c for each example for c in finder.find(example)]
    w ← w + Σ α_c Δ_c over all c in C            # the α are the learner's
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from perceptron_core.kernels.reference.bank import Bank, KeyedBank
from perceptron_core.learners import LEARNERS, SET_LEARNERS
from perceptron_core.learners.constraint import Constraint

Part = tuple[int, int, int]  # of Δ: the bank's number; the feature's number, or in a bank by key its key; the label


class Delta(dict[Part, float]):
    """Δ = Φ(gold) − Φ(guess): (bank, feature, label) → count, in the order in which they first came up."""

    def add(self, bank: int, feature: int, label: int, count: float) -> None:
        self[bank, feature, label] = self.get((bank, feature, label), 0) + count


class Finder(ABC):
    """What a structure provides: the search of an example, and the constraints that it violates."""

    banks: Sequence[Union[Bank, KeyedBank]]

    @abstractmethod
    def examples(self, block: Any) -> Iterable[Any]:
        """The block's examples that are not empty."""

    @abstractmethod
    def find(self, example: Any) -> tuple[int, list[Constraint]]:
        """(how much of the guess is wrong, the violated constraints)."""

    @abstractmethod
    def decode(self, block: Any) -> np.ndarray:
        """The best guess of every example of the block."""

    def constraint(self, delta: Mapping[Part, float], loss: float) -> Constraint:
        """The constraint with the margin and the norm of Δ, added in the order of the parts."""
        margin = norm = 0.0
        for (bank, feature, label), count in delta.items():
            margin += count * float(self.banks[bank].value(feature, label))
            norm += count * count
        return Constraint(delta, loss, margin, norm)


class Trainer:
    """Minibatches, updates and averages, for any structure."""

    def __init__(self, finder: Finder, settings: Any) -> None:
        self.finder, self.settings = finder, settings
        self.seen = 0.0  # examples so far
        self.constraints: list[Constraint] = []  # of the minibatch so far
        self.gathered = 0  # how many examples of the minibatch were searched

    def use_threads(self, threads: int) -> None:
        """The compiled trainer searches the examples of a minibatch in parallel; here they are searched one by one."""

    def train(self, block: Any) -> tuple[int, int, int]:
        """Train on a block's examples, in order: (wrong examples, updates, how much of them is wrong)."""
        errors = updates = all_wrong = 0
        for example in self.finder.examples(block):
            wrong, found = self.finder.find(example)
            errors += wrong > 0
            all_wrong += wrong
            self.constraints += found
            self.seen += 1
            self.gathered += 1
            if self.gathered == self.settings.minibatch:
                updates += self.flush()
        return errors, updates, all_wrong

    def flush(self) -> int:
        """Update by the last minibatch of a pass, which may not be full; returns the number of updates, 0 or 1."""
        found, self.constraints, self.gathered = self.constraints, [], 0
        return int(self.update(found))

    def update(self, constraints: Sequence[Constraint]) -> bool:
        """w ← w + Σ α_c Δ_c, each weight once; False if nothing moves."""
        cap = self.settings.cap()
        if len(constraints) == 1:
            (only,) = constraints
            multipliers = [LEARNERS[self.settings.learner](only.loss, only.margin, only.norm, cap)]
        else:
            multipliers = SET_LEARNERS[self.settings.learner](constraints, cap) if constraints else []
        step: dict[Part, float] = {}
        for multiplier, constraint in zip(multipliers, constraints):
            for part, count in constraint.delta.items():
                step[part] = step.get(part, 0.0) + multiplier * count
        step = {part: amount for part, amount in step.items() if amount}
        for (number, feature, label), amount in step.items():
            self.finder.banks[number].row(feature).change(label, amount, self.seen - 1)
        for number, bank in enumerate(self.finder.banks):
            if bank.min_updates > 1:
                bank.count_update({feature for own, feature, _ in step if own == number})
        return bool(step)

    def decode(self, block: Any) -> np.ndarray:
        """The best guess of every example of the block."""
        return self.finder.decode(block)
