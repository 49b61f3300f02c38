"""Sequences of labels, second order: a label's score depends on the input and on the two labels before it.

    score(x, y) = the first-order score + Σ over tokens t ≥ 2:  w · τ(x, t; y[t-2], y[t-1], y[t])

τ are the templates with `label[-2]`: joined with both labels before (`label[-2] & label[-1] & word[0]`), or only with
the farther one (`label[-2] & word[0]`). It also has the features of a first-order model; `label[-1]` by itself is the
transition. The search is exact over pairs of labels (viterbi), or a beam of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Optional

import numpy as np

from perceptron_core.errors import UserError
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import TypeTables
from perceptron_core.features.feature_set import FeatureSet, Program, has_no_label, template_key, without_labels
from perceptron_core.features.filters import StepSizes
from perceptron_core.features.keys import FeatureKeys, compose, joined_key
from perceptron_core.features.templates import LABEL_COLUMN, Template, parse_feature_name
from perceptron_core.kernels import DENSE_LABELS, KeyTable
from perceptron_core.settings import Settings
from perceptron_core.structures.base import Structure
from perceptron_core.structures.sequence.blocks import FeatureNumbers
from perceptron_core.structures.sequence.second_order_engine import SecondOrderEngine
from perceptron_core.structures.sequence.structure import FirstOrder
from perceptron_core.weights.rows import Rows
from perceptron_core.weights.text import START, STOP, before

TRANSITION = "label[-1]"
PAIR, TRIPLE, SKIP = (-1,), (-1, -2), (-2,)  # the labels that a feature is joined with, the nearest first


class SecondOrder(FirstOrder):
    """A second-order sequence."""

    decoders: ClassVar[tuple[str, ...]] = ("viterbi", "beam")

    def __init__(self, features: FeatureSet, record: Mapping[str, Any]) -> None:
        super().__init__(features, record)
        self.pairs, self.triples, self.skips = (
            features.program([without_labels(t) for t in self._joined(offsets)]) for offsets in (PAIR, TRIPLE, SKIP)
        )

    def _joined(self, offsets: tuple[int, ...]) -> list[Template]:
        """The templates joined with these labels; `label[-1]` by itself means the transitions and is left out."""
        return [t for t in self.features.templates if self.label_offsets(t) == offsets and t.text != TRANSITION]

    @classmethod
    def fits(cls, kind: str, features: FeatureSet, decoder: str) -> bool:
        return kind == cls.kind and decoder != "greedy" and not all(map(has_no_label, features.templates))

    def check(self, settings: Settings) -> None:
        super().check(settings)
        for template in self.features.templates:
            if self.label_offsets(template) not in ((), PAIR, TRIPLE, SKIP):
                raise UserError(
                    f"`{template.text}` looks at labels farther back than `label[-2]`, which {settings.decoder} cannot "
                    "do; choose --decoder greedy, or leave the template out"
                )

    def check_labels(self, labels: Sequence[str], settings: Settings) -> None:
        if settings.decoder == "viterbi" and len(labels) > DENSE_LABELS:
            raise UserError(
                f"an exact search over pairs of labels works with at most {DENSE_LABELS} labels, but there are "
                f"{len(labels)}; choose --decoder beam"
            )

    def scored(self) -> dict[str, bool]:
        """Transitions have weights unless the task file switches them off."""
        return {"transitions": self.record["transitions"] is not False, "start_stop": self.record["start_stop"]}

    def keys(self, encoded: Encoded, tables: TypeTables, label_hashes: np.ndarray) -> FeatureKeys:
        first = super().keys(encoded, tables, label_hashes)
        triples, skips = compose(self.triples, encoded, tables), compose(self.skips, encoded, tables)
        return first._replace(groups=(*first.groups, triples, skips))

    def label_offsets(self, template: Template) -> tuple[int, ...]:
        return tuple(sorted((part.offset for part in template.parts if part.column == LABEL_COLUMN), reverse=True))

    def program(self, template: Template) -> Program:
        return self.features.program([without_labels(template)])

    def memory(self, kept: Optional[KeyTable] = None, step_sizes: Optional[StepSizes] = None) -> FeatureNumbers:
        """Triples and skips are numbered together."""
        return FeatureNumbers(4, kept, step_sizes, together=(2, 3))

    def engine(
        self,
        labels: Sequence[str],
        settings: Settings,
        weights: Rows,
        memory: Optional[FeatureNumbers] = None,
        threads: int = 1,
    ) -> SecondOrderEngine:
        self.check_labels(labels, settings)
        allowed = self.allowed_transitions(labels)
        return SecondOrderEngine(self, labels, settings, weights, memory or self.memory(), threads, allowed)

    # ------------------------------------------------------------ names

    def key_of(self, name: str, label: str) -> int:
        label_before, feature = before(name)
        if name in (START, STOP) or (label_before is not None and feature is None):
            return super().key_of(name, label)  # a transition
        template, values = self._parsed(name)
        if template is None:
            return Structure.key_of(self, name, label)
        plain = [value for part, value in zip(template.parts, values) if part.column != LABEL_COLUMN]
        return joined_key(template_key(without_labels(template), plain), self._labels(template, values))

    def labels_in(self, name: str) -> set[str]:
        label_before, feature = before(name)
        if label_before is not None and feature is None:
            return {label_before}
        template, values = self._parsed(name)
        return set() if template is None else set(self._labels(template, values))

    def _parsed(self, name: str) -> tuple[Optional[Template], tuple[str, ...]]:
        """The template and the values of a name that has labels in it."""
        if not name.startswith(f"{LABEL_COLUMN}["):
            return None, ()
        return parse_feature_name(name, [t for t in self.features.templates if self.label_offsets(t)])

    def _labels(self, template: Template, values: Sequence[str]) -> list[str]:
        """The values of the template's labels, the nearest first."""
        found = {part.offset: value for part, value in zip(template.parts, values) if part.column == LABEL_COLUMN}
        return [found[offset] for offset in self.label_offsets(template)]
