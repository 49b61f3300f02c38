"""The finder of first-order sequences in NumPy and plain Python: the specification of the compiled one.

First-order models: every label is scored by the features of its token, by the transition from the label before it, and
by features that are joined with the label before it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from perceptron_core.kernels.reference.bank import Bank
from perceptron_core.kernels.reference.trainer import Delta, Finder
from perceptron_core.learners.constraint import Constraint
from perceptron_core.structures.prefixes import UPDATES
from perceptron_core.structures.sequence.decoders import DECODERS
from perceptron_core.structures.sequence.k_best import k_best
from perceptron_core.structures.sequence.lattice import NEVER, Scores, read_path, trace

EMISSIONS, PAIRS, TRANSITIONS, TRIPLES = range(4)  # the numbers of the banks


class Tokens(NamedTuple):
    """One sentence of a block."""

    gold: list[int]  # empty in a block that is only decoded
    emissions: list[np.ndarray]
    pairs: list[np.ndarray]
    values: list[np.ndarray]  # of the emissions, float32; empty where all are 1
    triples: Sequence[np.ndarray] = ()  # of second-order models
    skips: Sequence[np.ndarray] = ()


class SequenceFinder(Finder):
    """First-order sequences.

    Transitions are a bank of L+2 rows: 0 … L-1 from a label, L from the start of a sentence, L+1 to its end.
    """

    def __init__(
        self, labels: int, emissions: Bank, pairs: Bank, transitions: Bank, settings: Any, allowed: np.ndarray
    ) -> None:
        self.labels, self.settings = labels, settings
        self.emissions, self.pairs, self.transitions = emissions, pairs, transitions
        self.banks = (emissions, pairs, transitions)
        self.allowed = allowed.astype(bool)

    def examples(self, block: Any) -> Iterator[Tokens]:
        """The sentences that are not empty."""
        begin = 0
        for length in filter(None, block.lengths.tolist()):
            yield self.tokens_between(block, begin, begin + length)
            begin += length

    def tokens_between(self, block: Any, begin: int, end: int) -> Tokens:
        """The tokens from number `begin` to before number `end` of a block."""
        return Tokens(
            block.gold[begin:end].tolist(),
            per_token(block.starts, block.ids, begin, end),
            per_token(block.pair_starts, block.pair_ids, begin, end),
            per_token(block.starts, block.values, begin, end),
        )

    # ------------------------------------------------------------ the search

    def scores(self, tokens: Tokens) -> Scores:
        """What the decoders search by; a state is a label."""
        weights = np.array([self.transitions.row(p).weights for p in range(self.labels + 2)])
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

    def states(self, labels: Sequence[int]) -> list[int]:
        """The states that a sequence of labels goes through."""
        return list(labels)

    def labels_of(self, states: Sequence[int]) -> list[int]:
        return [state % self.labels for state in states]

    def find(self, example: Tokens) -> tuple[int, list[Constraint]]:
        """(wrong tokens, the violated constraints)."""
        gold, k, scores = example.gold, self.settings.k_best, self.scores(example)
        alpha = DECODERS[self.settings.decoder](scores, self.settings.beam)
        wrong = hamming(self.labels_of(read_path(scores, alpha, len(gold))), gold)
        if not wrong and k == 1:
            return 0, []
        gold_scores, prefix = self.gold_scores(example), len(gold)
        if wrong:
            prefix = UPDATES[self.settings.update](trace(scores, alpha, self.states(gold), gold_scores))
        guesses = [read_path(scores, alpha, prefix)]
        if k > 1:
            others = k_best(scores, alpha, prefix, k)[1:]
            guesses += [list(states) for score, states in others if score >= gold_scores[prefix - 1]]
        right, found = gold[:prefix], []
        for guess in map(self.labels_of, guesses):
            if guess != right:
                found.append(self.constraint(self.delta(example, right, guess), float(hamming(guess, right))))
        return wrong, [constraint for constraint in found if constraint.norm]  # without those with equal Φ

    def decode(self, block: Any) -> np.ndarray:
        """The best labels of every token of the block."""
        guesses = [np.zeros(0, np.int32)]
        for tokens in self.examples(block):
            scores = self.scores(tokens)
            alpha = DECODERS[self.settings.decoder](scores, self.settings.beam)
            guesses.append(np.array(self.labels_of(read_path(scores, alpha, len(alpha))), np.int32))
        return np.concatenate(guesses)

    # ------------------------------------------------------------ the gold labels

    def gold_scores(self, tokens: Tokens) -> np.ndarray:
        """The score of the gold labels up to each token, even if they are not allowed."""
        gold, total, totals = tokens.gold, np.float32(0), np.zeros(len(tokens.gold), np.float32)
        for t in range(len(gold)):
            total = self.add_gold(total, tokens, t)
            if t == len(gold) - 1:
                total = total + self.transitions.value(self.labels + 1, gold[t])
            totals[t] = total
        return totals

    def add_gold(self, total: np.float32, tokens: Tokens, t: int) -> np.float32:
        """The score of the gold up to token t, from that up to the token before; added in the order of the search."""
        return (total + self.gold_step(tokens, t)) + self.gold_emission(tokens, t)

    def gold_emission(self, tokens: Tokens, t: int) -> np.float32:
        scores = np.zeros(self.labels, np.float32)
        self.emissions.add_scores(tokens.emissions[t], scores, tokens.values[t])
        return scores[tokens.gold[t]]

    def gold_step(self, tokens: Tokens, t: int) -> np.float32:
        """The score of the step to the gold label of token t."""
        label, before = tokens.gold[t], tokens.gold[t - 1] if t else self.labels
        step = self.transitions.value(before, label)
        if t:
            for pair in tokens.pairs[t].tolist():
                step = step + self.pairs.value(pair * self.labels + before, label)
        return step

    def delta(self, tokens: Tokens, gold: Sequence[int], guess: Sequence[int]) -> Delta:
        """Δ = Φ(gold) − Φ(guess) over a prefix, zeros included."""
        delta = Delta()
        right_before = wrong_before = self.labels
        for t, (right, wrong) in enumerate(zip(gold, guess)):
            if right != wrong:
                values = tokens.values[t].tolist() or [1.0] * len(tokens.emissions[t])
                for feature, value in zip(tokens.emissions[t].tolist(), values):
                    delta.add(EMISSIONS, feature, right, value)
                    delta.add(EMISSIONS, feature, wrong, -value)
            if right != wrong or right_before != wrong_before:
                if self.settings.transitions if t else self.settings.start_stop:
                    delta.add(TRANSITIONS, right_before, right, 1)
                    delta.add(TRANSITIONS, wrong_before, wrong, -1)
                if t:
                    for pair in tokens.pairs[t].tolist():
                        delta.add(PAIRS, pair * self.labels + right_before, right, 1)
                        delta.add(PAIRS, pair * self.labels + wrong_before, wrong, -1)
            self.add_more(delta, tokens, t, gold, guess)
            right_before, wrong_before = right, wrong
        whole = len(gold) == len(tokens.emissions)
        if whole and self.settings.start_stop and right_before != wrong_before:
            delta.add(TRANSITIONS, self.labels + 1, right_before, 1)
            delta.add(TRANSITIONS, self.labels + 1, wrong_before, -1)
        return delta

    def add_more(self, delta: Delta, tokens: Tokens, t: int, gold: Sequence[int], guess: Sequence[int]) -> None:
        """Add what a model of higher order has at token t."""


def per_token(starts: np.ndarray, ids: np.ndarray, begin: int, end: int) -> list[np.ndarray]:
    """The ids of each of the tokens from `begin` to before `end`."""
    return [ids[starts[t] : starts[t + 1]] for t in range(begin, end)]


def hamming(a: Sequence[int], b: Sequence[int]) -> int:
    """The number of places in which they differ."""
    return sum(x != y for x, y in zip(a, b))
