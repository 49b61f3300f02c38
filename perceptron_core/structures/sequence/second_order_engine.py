"""The engine of second-order sequences: that of first order, and a bank by key for features joined with `label[-2]`.

A feature joined with two labels has L² rows, of which few exist. So they are not numbered: the bank finds a row by its
key. A key does not show whether a row of the model is such a row, so all rows that do not belong to numbered features
are loaded. With many shards, some of them belong to features of other shards.
"""

from typing import Any

import numpy as np

from perceptron_core.kernels import Bank, KeyedBank
from perceptron_core.settings import Settings
from perceptron_core.structures.sequence.engine import EMISSIONS, SequenceEngine, load_rows
from perceptron_core.structures.sequence.kernel import SecondOrderFinder
from perceptron_core.structures.sequence.keys import transition_keys
from perceptron_core.weights.rows import Rows, interleave, select

TRIPLES = 2  # the group of features; skips are numbered with them


class SecondOrderEngine(SequenceEngine):
    triples: KeyedBank

    def _finder(self, settings: Settings, allowed: np.ndarray) -> Any:
        self.triples = KeyedBank(len(self.labels), self.dense_from, self.min_updates)
        self._fetched_triples, self._loaded = 0, False
        banks: tuple[Bank, ...] = (self.emissions, self.pairs, self.transitions)
        return SecondOrderFinder(len(self.labels), *banks, self.triples, self.hashes, settings, allowed)

    def fetch(self) -> None:
        super().fetch()
        known = self.memory.tables[TRIPLES]
        if len(known) > self._fetched_triples:
            if not self._loaded:
                self._load_rows()
            self.trainer.finder.set_triple_keys(known.keys())
            self._fetched_triples = len(known)

    def _load_rows(self) -> None:
        rows, self._loaded = self.weights, True
        numbered = self.memory.tables[EMISSIONS].find(rows.keys) >= 0
        others = np.flatnonzero(~numbered & ~np.isin(rows.keys, transition_keys(self.labels).ravel()))
        if len(others):
            chosen = select(rows, others)
            load_rows(self.triples, chosen.keys, chosen, len(self.labels))

    def touched(self) -> Rows:
        keys, starts, labels, weights, lags = self.triples.touched_entries()
        counts = self.triples.counted(keys) if self.min_updates > 1 else None
        moved = Rows(keys, starts, labels, {"weight": weights, "lag": lags}, counts)
        return interleave([super().touched(), moved])
