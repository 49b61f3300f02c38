"""Sequences of labels, first order: a label's score depends on the input and on the label before it.

    score(x, y) = Σ over tokens t:  w · φ(x, t; y[t]) + w · ψ(x, t; y[t-1], y[t])  + transition, start and stop weights

Features joined with the label before (`label[-1] & word[0]`) are ψ; see features/templates.py.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Optional

import numpy as np

from perceptron_core.corpus.label_encodings import legal_transitions
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import TypeTables
from perceptron_core.features.feature_set import FeatureSet, Program, has_no_label, template_key
from perceptron_core.features.filters import StepSizes
from perceptron_core.features.keys import FeatureKeys, compose, joined_key, with_extracted
from perceptron_core.features.templates import Template, parse_feature_name
from perceptron_core.hashing import extend_key, hash_string
from perceptron_core.kernels import KeyTable
from perceptron_core.registry import SEQUENCE, SEQUENCE_DECODERS, UPDATES
from perceptron_core.settings import Settings
from perceptron_core.structures.base import Structure
from perceptron_core.structures.sequence.blocks import FeatureNumbers
from perceptron_core.structures.sequence.engine import SequenceEngine
from perceptron_core.structures.sequence.keys import transition_keys
from perceptron_core.weights.rows import Rows
from perceptron_core.weights.text import START, STOP, before, before_name

JOINED = "label[-1] & "  # the beginning of the text of templates that are joined with the label before


class FirstOrder(Structure):
    """A first-order sequence."""

    kind = SEQUENCE
    decoders: ClassVar[tuple[str, ...]] = SEQUENCE_DECODERS
    updates: ClassVar[tuple[str, ...]] = UPDATES

    def __init__(self, features: FeatureSet, record: Mapping[str, Any]) -> None:
        super().__init__(features, record)
        self.alone = features.program([t for t in features.templates if not t.bigram and has_no_label(t)])
        self.pairs = features.program([t for t in features.templates if t.bigram])

    @classmethod
    def fits(cls, kind: str, features: FeatureSet, decoder: str) -> bool:
        return kind == SEQUENCE and all(map(has_no_label, features.templates))

    def keys(self, encoded: Encoded, tables: TypeTables, label_hashes: np.ndarray) -> FeatureKeys:
        first = with_extracted(compose(self.alone, encoded, tables), encoded, tables)
        return FeatureKeys((first, compose(self.pairs, encoded, tables)))

    def label_offsets(self, template: Template) -> tuple[int, ...]:
        return (-1,) if template.bigram else ()

    def program(self, template: Template) -> Program:
        return self.features.program([template])

    def allowed_transitions(self, labels: Sequence[str]) -> np.ndarray:
        """(L+2) × L: from label to label, from the start, to the end; all are allowed, unless the task has
        `legal_transitions`."""
        if not self.record["legal_transitions"]:
            return np.ones((len(labels) + 2, len(labels)), np.uint8)
        start, pair, stop = legal_transitions(labels, self.record["encoding"]["train"])
        return np.concatenate([pair, start[None, :], stop[None, :]]).astype(np.uint8)

    def memory(self, kept: Optional[KeyTable] = None, step_sizes: Optional[StepSizes] = None) -> FeatureNumbers:
        return FeatureNumbers(2, kept, step_sizes)

    def engine(
        self,
        labels: Sequence[str],
        settings: Settings,
        weights: Rows,
        memory: Optional[FeatureNumbers] = None,
        threads: int = 1,
    ) -> SequenceEngine:
        allowed = self.allowed_transitions(labels)
        return SequenceEngine(self, labels, settings, weights, memory or self.memory(), threads, allowed)

    # ------------------------------------------------------------ names

    def fixed_names(self, labels: Sequence[str], wanted: Optional[np.ndarray] = None) -> dict[int, str]:
        """Those of transitions; a tagset of thousands has millions of them."""
        rows = [*map(before_name, labels), START, STOP]
        keys = transition_keys(labels)
        there = np.isin(keys, keys if wanted is None else wanted)
        return {key: rows[row] for key, row in zip(keys[there].tolist(), np.nonzero(there)[0].tolist())}

    def key_of(self, name: str, label: str) -> int:
        """The key of a feature or a transition, from its name; the key of a transition depends on the label, too."""
        if name in (START, STOP):
            return extend_key(hash_string(name.strip("<>")), hash_string(label))
        label_before, feature = before(name)
        if label_before is None:
            return super().key_of(name, label)
        if feature is None:
            return extend_key(extend_key(hash_string("transition"), hash_string(label_before)), hash_string(label))
        joined = [t for t in self.features.templates if t.bigram]
        readable = JOINED + feature if any(t.text.startswith(JOINED) for t in joined) else feature
        template, values = parse_feature_name(readable, joined)
        return joined_key(template_key(template, values), [label_before])

    def labels_in(self, name: str) -> set[str]:
        label_before, _ = before(name)
        return set() if label_before is None else {label_before}
