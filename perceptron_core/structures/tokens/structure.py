"""Token classification with history: every token is classified by itself, also by features of the labels before it.

    training:  for each token t:  z = argmax over c of w · φ(x, t, y[t-1], y[t-2], …; c)     # the gold labels before it
                                  if z ≠ y[t]:  w ← w + φ(…; y[t]) − φ(…; z)
    testing:   for t = 1, 2, …:   z[t] = argmax over c of w · φ(x, t, z[t-1], z[t-2], …; c)  # its own guesses

So in training every token is an example: a sentence of one token without transitions, and its history is a column of
the corpus like any other. Learners, mixing and averages work as for sentences, but count tokens.

Reference: Y. Goldberg and M. Elhadad, Learning sparser perceptron models, ACL 2011, section 4 (chunking).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from perceptron_core.errors import UserError
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import TypeTables
from perceptron_core.features.feature_set import FeatureSet, has_no_label
from perceptron_core.features.keys import FeatureKeys, KeyGroup, append_per_token
from perceptron_core.features.templates import Template
from perceptron_core.kernels import compose_keys
from perceptron_core.settings import Settings
from perceptron_core.structures.base import Structure
from perceptron_core.structures.sequence.blocks import FeatureNumbers
from perceptron_core.structures.sequence.structure import FirstOrder
from perceptron_core.structures.tokens.engine import TokenEngine
from perceptron_core.weights.rows import Rows


class Tokens(FirstOrder):
    """Tokens with history; everything else is the same as in a sequence."""

    unit = "tokens"
    decoders = ("greedy",)

    def __init__(self, features: FeatureSet, record: Mapping[str, Any]) -> None:
        super().__init__(features, record)
        self.history = features.program([t for t in features.templates if not has_no_label(t)])

    @classmethod
    def fits(cls, kind: str, features: FeatureSet, decoder: str) -> bool:
        return kind == cls.kind and decoder == "greedy" and not all(map(has_no_label, features.templates))

    def check(self, settings: Settings) -> None:
        super().check(settings)
        if self.record["transitions"] or self.record["legal_transitions"]:
            template = next(t for t in self.features.templates if not has_no_label(t))
            raise UserError(
                f"with --decoder greedy `{template.text}` makes every token an example, without transitions; "
                "remove `transitions` and `legal_transitions` from the task file, or choose another decoder"
            )

    def scored(self) -> dict[str, bool]:
        return {"transitions": False, "start_stop": False}

    def keys(self, encoded: Encoded, tables: TypeTables, label_hashes: np.ndarray) -> FeatureKeys:
        """The history is the gold labels; without them, there are no features of it."""
        features = super().keys(encoded, tables, label_hashes)
        if not len(encoded.labels):
            return features
        ids, all_tables = [*encoded.ids, encoded.labels], [*tables.columns, label_hashes]
        starts, keys = compose_keys(self.history, encoded.lengths, ids, all_tables)
        first = KeyGroup(*append_per_token(*features.groups[0], np.diff(starts), keys))
        return features._replace(groups=(first, *features.groups[1:]))

    def label_offsets(self, template: Template) -> tuple[int, ...]:
        return ()

    def engine(
        self,
        labels: Sequence[str],
        settings: Settings,
        weights: Rows,
        memory: Optional[FeatureNumbers] = None,
        threads: int = 1,
    ) -> TokenEngine:
        allowed = self.allowed_transitions(labels)
        return TokenEngine(self, labels, settings, weights, memory or self.memory(), threads, allowed)

    def fixed_names(self, labels: Sequence[str], wanted: Optional[np.ndarray] = None) -> dict[int, str]:
        return {}

    def key_of(self, name: str, label: str) -> int:
        return Structure.key_of(self, name, label)

    def labels_in(self, name: str) -> set[str]:
        return set()
