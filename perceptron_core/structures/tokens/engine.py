"""The engine of tokens with history: trained with the gold labels before them, decoded with the guesses before them.

Decoding takes all sentences together, one position at a time: a guess needs only the earlier ones of its own sentence.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Union

import numpy as np

from perceptron_core.arrays import ragged_range
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import TypeTables
from perceptron_core.features.keys import append_per_token
from perceptron_core.kernels.reference import Sites, compose_sites
from perceptron_core.structures.sequence.blocks import NOTHING, FeatureBlock
from perceptron_core.structures.sequence.engine import EMISSIONS, SequenceEngine


class Unlabelled(NamedTuple):
    """Sentences to decode: their features without history, and what those with history are made from."""

    features: FeatureBlock
    encoded: Encoded
    tables: TypeTables

    def examples(self) -> int:
        return self.features.examples()

    def tokens(self) -> int:
        return self.features.tokens()

    def size(self) -> int:
        return self.features.size()


class TokenEngine(SequenceEngine):
    structure: Any  # an instance of Tokens, which makes this engine

    def take(self, encoded: Encoded, tables: TypeTables) -> Any:
        features = self.structure.keys(encoded, tables, self.hashes)
        one_by_one = np.ones(encoded.tokens(), np.int32)
        block = self.memory.number(one_by_one, encoded.labels, features)
        return block if len(encoded.labels) else Unlabelled(block, encoded, tables)

    def decode(self, block: Union[FeatureBlock, Unlabelled]) -> Mapping[str, np.ndarray]:
        if isinstance(block, FeatureBlock):  # it has labels, so its features include the history
            return super().decode(block)
        encoded, tables = block.encoded, block.tables
        ends = np.cumsum(encoded.lengths)
        begins = ends - encoded.lengths
        guesses = np.zeros(block.tokens(), np.int32)
        ids, all_tables = [*encoded.ids, guesses], [*tables.columns, self.hashes]
        for position in range(int(encoded.lengths.max(initial=0))):
            there = encoded.lengths > position
            tokens = begins[there] + position
            sites = Sites(tokens[:, None], begins[there], ends[there])
            starts, keys = compose_sites(self.structure.history, sites, ids, all_tables)
            instances = self._with_history(block.features, tokens, starts, keys)
            guesses[tokens] = super().decode(instances)["labels"]
        return {"labels": guesses}

    def _with_history(
        self, block: FeatureBlock, tokens: np.ndarray, starts: np.ndarray, keys: np.ndarray
    ) -> FeatureBlock:
        """Some tokens by themselves: their features and then, as in training, those of their history."""
        sizes = block.starts[tokens + 1] - block.starts[tokens]
        own = block.ids[ragged_range(block.starts[tokens], sizes)]
        own_starts = np.append(0, np.cumsum(sizes)).astype(np.int32)
        numbers = self.memory.tables[EMISSIONS].intern(keys)
        all_starts, ids = append_per_token(own_starts, own, np.diff(starts), numbers)
        alone = np.ones(len(tokens), np.int32)
        return FeatureBlock(alone, NOTHING, all_starts, ids, np.zeros_like(all_starts), NOTHING)
