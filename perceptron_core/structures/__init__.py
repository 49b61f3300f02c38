"""What can be predicted: one folder for each structure. See base.py for what a structure is."""

from collections.abc import Mapping
from typing import Any

from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.structures.base import Structure
from perceptron_core.structures.classification.structure import Classification
from perceptron_core.structures.sequence.second_order_structure import SecondOrder
from perceptron_core.structures.sequence.structure import FirstOrder
from perceptron_core.structures.tokens.structure import Tokens
from perceptron_core.structures.tree.structure import Tree

STRUCTURES: tuple[type[Structure], ...] = (FirstOrder, SecondOrder, Tokens, Classification, Tree)
# The structure that answers for a kind of task before its decoder is known.
KINDS: dict[str, type[Structure]] = {structure.kind: structure for structure in (FirstOrder, Classification, Tree)}


def structure_of(kind: str, features: FeatureSet, record: Mapping[str, Any], decoder: str) -> Structure:
    """The structure of a task with these templates and this decoder."""
    return next(s for s in STRUCTURES if s.fits(kind, features, decoder))(features, record)
