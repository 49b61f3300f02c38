"""The finder of second-order sequences in NumPy and plain Python: the specification of the compiled one.

Besides what a first-order model has, a label is scored by features that are joined with the labels before it:

    triple  with the two labels before, q = y[t-2] and p = y[t-1]; its row has the key extend(extend(f, H[p]), H[q])
    skip    with the label y[t-2] only;                            its row has the key extend(f, H[q])

f is the base key of the feature, H[label] the hash of a label. These rows are in one bank by key, since most of the
L² rows of a feature never get a weight.

The search is that of a first-order model over pairs of labels. State (p, c) of token t means label p at t-1 and label c
at t; its number is p·L + c, and p = L at the first token. With local[t][p, c] = step[t][p, c] + emission[t, c]:

    alpha[0][L, c] = start[c] + emission[0, c]
    alpha[1][p, c] = alpha[0][L, p] + local[1][p, c]
    alpha[t][p, c] = max over q of (alpha[t-1][q, p] + triple[t][q, p, c]) + local[t][p, c]
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from perceptron_core.hashing import extend_key
from perceptron_core.kernels.reference.bank import Bank, KeyedBank
from perceptron_core.structures.sequence.lattice import NEVER, Scores
from perceptron_core.structures.sequence.reference import TRIPLES, Delta, SequenceFinder, Tokens, per_token

MOST_EXACT = 64  # labels; with more of them, Viterbi over label pairs is too slow


class PairScores(Scores):
    """A sentence over pairs of labels; into[t], for t ≥ 2, is triple[t] of the module's docstring: L × L × L."""

    def reach(self, before: np.ndarray, t: int) -> np.ndarray:
        labels = self.into[t].shape[0]
        pairs = before.reshape(labels + 1, labels)
        reached = np.full((labels + 1, labels), NEVER)
        if t == 1:
            reached[:labels] = pairs[labels][:, None]
        else:
            reached[:labels] = (pairs[:labels, :, None] + self.into[t]).max(axis=0)
        return reached.ravel()

    def steps_into(self, t: int, state: int) -> np.ndarray:
        labels = self.into[t].shape[0]
        p, c = divmod(state, labels)
        steps = np.full((labels + 1, labels), NEVER)
        if p < labels and t == 1:
            steps[labels, p] = 0
        elif p < labels:
            steps[:labels, p] = self.into[t][:, p, c]
        return steps.ravel()


class SecondOrderFinder(SequenceFinder):
    """Second-order sequences, by Viterbi or beam search."""

    def __init__(
        self,
        labels: int,
        emissions: Bank,
        pairs: Bank,
        transitions: Bank,
        triples: KeyedBank,
        label_hashes: np.ndarray,
        settings: Any,
        allowed: np.ndarray,
    ) -> None:
        super().__init__(labels, emissions, pairs, transitions, settings, allowed)
        if settings.decoder == "greedy" or (settings.decoder == "viterbi" and labels > MOST_EXACT):
            raise ValueError(f"second-order models need the decoder beam, or viterbi with at most {MOST_EXACT} labels")
        self.triples = triples
        self.banks = (emissions, pairs, transitions, triples)
        self.hashes = [int(h) for h in label_hashes]
        self.base_keys: list[int] = []

    def set_triple_keys(self, keys: np.ndarray) -> None:
        """The base keys of all triple and skip features, by their number; those set before must stay the same."""
        self.base_keys = keys.tolist()

    def tokens_between(self, block: Any, begin: int, end: int) -> Tokens:
        return (
            super()
            .tokens_between(block, begin, end)
            ._replace(
                triples=per_token(block.triple_starts, block.triple_ids, begin, end),
                skips=per_token(block.skip_starts, block.skip_ids, begin, end),
            )
        )

    def row_keys(self, tokens: Tokens, t: int, q: int, p: int) -> list[int]:
        """The keys of a token's rows after the labels q and p: of the triple features, then of the skip features."""
        triples = [extend_key(extend_key(self.base_keys[f], self.hashes[p]), self.hashes[q]) for f in tokens.triples[t]]
        return triples + [extend_key(self.base_keys[f], self.hashes[q]) for f in tokens.skips[t]]

    def scores(self, tokens: Tokens) -> Scores:
        first = super().scores(tokens)
        size, length = self.labels, len(tokens.emissions)
        start = np.full((size + 1, size), NEVER)
        start[size] = first.start
        local = np.full((length, size + 1, size), NEVER)
        local[0] = first.emissions[0]
        triples = np.zeros((length, size, size, size), np.float32)
        for t in range(1, length):
            local[t, :size] = first.into[t] + first.emissions[t]
            for q, p in np.ndindex(size, size) if t > 1 else ():
                for key in self.row_keys(tokens, t, q, p):
                    row = self.triples.shown(key)
                    if row is not None:
                        triples[t, q, p] += row.weights
        return PairScores(local.reshape(length, -1), start.ravel(), list(triples), np.tile(first.stop, size + 1))

    def states(self, labels: Sequence[int]) -> list[int]:
        return [p * self.labels + c for p, c in zip([self.labels, *labels], labels)]

    def add_gold(self, total: np.float32, tokens: Tokens, t: int) -> np.float32:
        if t == 0:
            return super().add_gold(total, tokens, t)
        if t > 1:
            triple = np.float32(0)
            for key in self.row_keys(tokens, t, tokens.gold[t - 2], tokens.gold[t - 1]):
                triple = triple + self.triples.value(key, tokens.gold[t])
            total = total + triple
        return total + (self.gold_step(tokens, t) + self.gold_emission(tokens, t))

    def add_more(self, delta: Delta, tokens: Tokens, t: int, gold: Sequence[int], guess: Sequence[int]) -> None:
        if t > 1 and gold[t - 2 : t + 1] != guess[t - 2 : t + 1]:
            right, wrong = (self.row_keys(tokens, t, *labels[t - 2 : t]) for labels in (gold, guess))
            for right_key, wrong_key in zip(right, wrong):
                delta.add(TRIPLES, right_key, gold[t], 1)
                delta.add(TRIPLES, wrong_key, guess[t], -1)
