"""First-order sequence models: the constraints that a minibatch violates, and the update by them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from perceptron_core.kernels.reference.bank import Row, WeightRows
from perceptron_core.learners import LEARNERS, SET_LEARNERS
from perceptron_core.learners.constraint import Constraint
from perceptron_core.structures.prefixes import UPDATES
from perceptron_core.structures.sequence.decoders import DECODERS, Scores, trace
from perceptron_core.structures.sequence.k_best import k_best
from perceptron_core.structures.sequence.lattice import NEVER


class Tokens(NamedTuple):
    """One sentence's features, cut out of a block."""

    emissions: list[np.ndarray]
    pairs: list[np.ndarray]
    values: list[np.ndarray]  # of the emissions, float32; empty where all are 1


class SequenceKernel:
    """First-order sequence models: find the violated constraints of a minibatch, update by them."""

    def __init__(
        self, labels: int, emissions: WeightRows, pairs: WeightRows, settings: Any, allowed: np.ndarray
    ) -> None:
        self.labels, self.emissions, self.pairs, self.settings = labels, emissions, pairs, settings
        self.allowed = allowed.astype(bool)
        self.seen = 0.0  # examples so far
        self.constraints: list[Constraint] = []  # of the minibatch so far
        self.gathered = 0  # how many examples of the minibatch these are of
        # rows 0 … L-1 from a label, row L from the start of a sentence, row L+1 to its end
        self.transitions = [Row(labels) for _ in range(labels + 2)]
        self.decode_scores = DECODERS[settings.decoder]
        self.step = LEARNERS[settings.learner]
        self.find_prefix = UPDATES[settings.update]

    def load_transitions(self, weights: np.ndarray) -> None:
        """Set the (L+2) × L transition weights: from each label, from the start, to the end."""
        for row, values in zip(self.transitions, weights):
            row.weights[:] = values

    def transition_state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(weights, lags, touched) of the transitions, (L+2) × L each."""
        return (
            np.array([row.weights for row in self.transitions]),
            np.array([row.lags for row in self.transitions]),
            np.array([row.touched for row in self.transitions], np.uint8),
        )

    def scores(self, tokens: Tokens) -> Scores:
        weights = np.array([row.weights for row in self.transitions])
        weights[~self.allowed] = NEVER
        emissions = np.zeros((len(tokens.emissions), self.labels), np.float32)
        into = [weights[: self.labels]] * len(emissions)
        for t, features in enumerate(tokens.emissions):
            self.emissions.add_scores(features, emissions[t], tokens.values[t])
            if len(tokens.pairs[t]):
                into[t] = into[t].copy()
                for p in range(self.labels):
                    self.pairs.add_scores(tokens.pairs[t] * self.labels + p, into[t][p])
        return Scores(emissions, weights[self.labels], into, weights[self.labels + 1])

    def gold_scores(self, tokens: Tokens, emissions: np.ndarray, gold: Sequence[int]) -> np.ndarray:
        """The gold labels' own score up to each token, allowed or not."""
        total, totals = np.float32(0), np.zeros(len(gold), np.float32)
        for t, label in enumerate(gold):
            before = gold[t - 1] if t else self.labels
            step = self.transitions[before].weights[label]
            if t:
                for pair in tokens.pairs[t].tolist():
                    step = step + self.pairs.value(pair * self.labels + before, label)
            total = (total + step) + emissions[t, label]
            if t == len(gold) - 1:
                total = total + self.transitions[self.labels + 1].weights[label]
            totals[t] = total
        return totals

    def delta(self, tokens: Tokens, gold: Sequence[int], guess: Sequence[int]) -> dict[tuple[Any, int, int], float]:
        """Δ = Φ(gold) − Φ(guess) over a prefix: (weights, feature, label) → count, zeros included."""
        parts: dict[tuple[Any, int, int], float] = {}

        def add(weights: Any, feature: int, label: int, count: float) -> None:
            parts[weights, feature, label] = parts.get((weights, feature, label), 0) + count

        right_before = wrong_before = self.labels
        for t, (right, wrong) in enumerate(zip(gold, guess)):
            if right != wrong:
                values = tokens.values[t].tolist() or [1.0] * len(tokens.emissions[t])
                for feature, value in zip(tokens.emissions[t].tolist(), values):
                    add("emissions", feature, right, value)
                    add("emissions", feature, wrong, -value)
            if right != wrong or right_before != wrong_before:
                if self.settings.transitions if t else self.settings.start_stop:
                    add("transitions", right_before, right, 1)
                    add("transitions", wrong_before, wrong, -1)
                if t:
                    for pair in tokens.pairs[t].tolist():
                        add("pairs", pair * self.labels + right_before, right, 1)
                        add("pairs", pair * self.labels + wrong_before, wrong, -1)
            right_before, wrong_before = right, wrong
        whole = len(gold) == len(tokens.emissions)
        if whole and self.settings.start_stop and right_before != wrong_before:
            add("transitions", self.labels + 1, right_before, 1)
            add("transitions", self.labels + 1, wrong_before, -1)
        return parts

    def row_of(self, weights: str, feature: int) -> Row:
        if weights == "transitions":
            return self.transitions[feature]
        return (self.emissions if weights == "emissions" else self.pairs).row(feature)

    def weight(self, weights: str, feature: int, label: int) -> np.float32:
        """As scoring sees it."""
        if weights == "transitions":
            return self.transitions[feature].weights[label]
        return (self.emissions if weights == "emissions" else self.pairs).value(feature, label)

    def constraint(self, tokens: Tokens, gold: Sequence[int], guess: Sequence[int]) -> Constraint:
        """That the gold labels of a prefix should score higher than the guess."""
        parts = self.delta(tokens, gold, guess)
        margin = norm = 0.0
        for (weights, feature, label), count in parts.items():
            margin += count * float(self.weight(weights, feature, label))
            norm += count * count
        return Constraint(parts, float(sum(a != b for a, b in zip(guess, gold))), margin, norm)

    def find_constraints(self, tokens: Tokens, gold: list[int]) -> tuple[int, list[Constraint]]:
        """(wrong tokens, the violated constraints)."""
        k, scores = self.settings.k_best, self.scores(tokens)
        alpha = self.decode_scores(scores, self.settings.beam)
        guess = trace(scores, alpha, len(gold))
        wrong = sum(a != b for a, b in zip(guess, gold))
        if not wrong and k == 1:
            return 0, []
        gold_scores = self.gold_scores(tokens, scores.emissions, gold)
        prefix = self.find_prefix(scores, alpha, gold, gold_scores) if wrong else len(gold)
        right, guesses = gold[:prefix], [trace(scores, alpha, prefix)]
        if k > 1:
            more = k_best(scores, alpha, prefix, k)[1:]
            guesses += [list(labels) for score, labels in more if score >= gold_scores[prefix - 1]]
        found = [self.constraint(tokens, right, guess) for guess in guesses if guess != right]
        return wrong, [constraint for constraint in found if constraint.norm]  # equal Φ: there is nothing to correct

    def update(self, constraints: Sequence[Constraint]) -> bool:
        """w ← w + Σ α_c Δ_c, each weight once; False if nothing moves."""
        cap = self.settings.cap()
        if len(constraints) == 1:
            (only,) = constraints
            multipliers = [self.step(only.loss, only.margin, only.norm, cap)]
        else:
            multipliers = SET_LEARNERS[self.settings.learner](constraints, cap) if constraints else []
        step: dict[Any, float] = {}
        for multiplier, constraint in zip(multipliers, constraints):
            for part, count in constraint.delta.items():
                step[part] = step.get(part, 0.0) + multiplier * count
        step = {part: amount for part, amount in step.items() if amount}
        for (weights, feature, label), amount in step.items():
            self.row_of(weights, feature).change(label, amount, self.seen - 1)
        if self.emissions.min_updates > 1:
            for name, rows in (("emissions", self.emissions), ("pairs", self.pairs)):
                rows.count_update({feature for weights, feature, _ in step if weights == name})
        return bool(step)

    def use_threads(self, threads: int) -> None:
        """The compiled kernel decodes a minibatch in parallel; here it is one sentence after the other all the same."""

    def train(self, block: Any) -> tuple[int, int, int]:
        """Training on a block's sentences, in order: (wrong sentences, updates, wrong tokens)."""
        errors = updates = wrong_tokens = 0
        for begin, tokens in self._sentences(block):
            gold = block.gold[begin : begin + len(tokens.emissions)].tolist()
            wrong, found = self.find_constraints(tokens, gold)
            errors += wrong > 0
            wrong_tokens += wrong
            self.constraints += found
            self.seen += 1
            self.gathered += 1
            if self.gathered == self.settings.minibatch:
                updates += self.flush()
        return errors, updates, wrong_tokens

    def flush(self) -> int:
        """Update by the minibatch as far as it has come, which a pass's end may cut short: how many updates, 0 or 1."""
        found, self.constraints, self.gathered = self.constraints, [], 0
        return int(self.update(found))

    def decode(self, block: Any) -> np.ndarray:
        """The best labels of every token of the block."""
        guesses = np.zeros(len(block.starts) - 1, np.int32)
        for begin, tokens in self._sentences(block):
            scores = self.scores(tokens)
            alpha = self.decode_scores(scores, self.settings.beam)
            guesses[begin : begin + len(alpha)] = trace(scores, alpha, len(alpha))
        return guesses

    @staticmethod
    def _sentences(block: Any) -> Any:
        begin = 0
        for length in filter(None, block.lengths.tolist()):
            span = range(begin, begin + length)
            yield (
                begin,
                Tokens(
                    [block.ids[block.starts[t] : block.starts[t + 1]] for t in span],
                    [block.pair_ids[block.pair_starts[t] : block.pair_starts[t + 1]] for t in span],
                    [block.values[block.starts[t] : block.starts[t + 1]] for t in span],
                ),
            )
            begin += length
