"""Dependency trees, by their arcs: every word gets a head, another word or the root, and a relation.

    score(x, tree) = Σ over arcs (h, d):  arc(h, d) + sibling(h, s, d)         s: the child of h next to d, towards h
    relation of an arc = argmax over r of  w · φ(x, tree, h, d; r)             in the tree that was found

The tree is searched first, then each of its arcs gets its relation; both are trained on the same sentences in the same
run. features.py tells what templates score, README.md is the way in.

References
----------
R. McDonald, K. Crammer, F. Pereira, Online large-margin training of dependency parsers, ACL 2005.
R. McDonald, F. Pereira, Online learning of approximate dependency parsing algorithms, EACL 2006.
R. McDonald, K. Lerman, F. Pereira, Multilingual dependency analysis with a two-stage discriminative parser, CoNLL 2006.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Optional

import numpy as np

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.attributes import AttributeSet
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import Layout, TypeTables
from perceptron_core.features.feature_set import FeatureSet, Program
from perceptron_core.features.filters import StepSizes
from perceptron_core.features.keys import FeatureKeys, KeyGroup
from perceptron_core.features.templates import Template, parse_feature_name, parse_templates
from perceptron_core.hashing import extend_key, hash_string
from perceptron_core.kernels import KeyTable
from perceptron_core.registry import ONE_PASS, TREE, TREE_DECODERS
from perceptron_core.settings import Settings
from perceptron_core.structures.base import Structure, ValueAt, refuse_keys
from perceptron_core.structures.tree.engine import TreeEngine, TreeMemory, tree_block
from perceptron_core.structures.tree.features import (
    ANCHORS,
    ARC_ANCHORS,
    ARC_LABELS,
    RELATION,
    RELATION_ANCHORS,
    SIBLING,
    VALUES,
    check_anchors,
    check_known,
    make_program,
    named_key,
    sort_templates,
)
from perceptron_core.structures.tree.kernel import TreeFeatures
from perceptron_core.structures.tree.names import find_names
from perceptron_core.weights.rows import Rows
from perceptron_core.weights.text import START

DEFAULTS: dict[str, Any] = {
    "format": "conllu_tree",
    "predict": "head",
    "transitions": False,
    "start_stop": False,
    "bias": False,
    "metric": "attachment",
}
# What only a sequence of labels can have.
OF_SEQUENCES = ("encoding", "crfpp", "extractor", "transitions", "start_stop", "legal_transitions", "labels", "bias")
SECOND_ORDER = ("eisner2", "climb")  # they score siblings


class Tree(Structure):
    """A dependency tree with relations."""

    kind = TREE
    layout = Layout(labels=("relations",), numbers=("heads",))
    anchors = ANCHORS
    values = VALUES
    decoders: ClassVar[tuple[str, ...]] = TREE_DECODERS
    updates: ClassVar[tuple[str, ...]] = ("standard",)
    own_keys: ClassVar[dict[str, Any]] = {"relations": [], "labelled": True, "roots": "one"}
    own_labels: ClassVar[tuple[str, ...]] = ARC_LABELS

    def __init__(self, features: FeatureSet, record: Mapping[str, Any]) -> None:
        super().__init__(features, record)
        self.templates = sort_templates(features.templates)
        self.tree_program = make_program(features, self.templates)
        self.one_root = record["format_options"].get("roots", "one") == "one"

    @classmethod
    def fits(cls, kind: str, features: FeatureSet, decoder: str) -> bool:
        return kind == TREE

    @classmethod
    def defaults(cls, given: Mapping[str, Any], path: str) -> dict[str, Any]:
        refuse_keys(OF_SEQUENCES, given, "is for sequences of labels, and a tree has none", path)
        return DEFAULTS

    @classmethod
    def fold_keys(cls, record: dict[str, Any], path: str) -> None:
        """`labelled` and `roots` are options of the format."""
        labelled, roots = record.pop("labelled"), record.pop("roots")
        if not isinstance(labelled, bool):
            raise InputError(f"`labelled` is {labelled!r}, but must be true or false", path)
        if roots not in ("one", "any"):
            raise InputError(f"`roots` is {roots!r}, but must be one or any", path)
        chosen = {} if labelled else {"labelled": False}
        record["format_options"] = {
            **record["format_options"],
            **chosen,
            **({} if roots == "one" else {"roots": roots}),
        }

    @classmethod
    def read_templates(
        cls, record: dict[str, Any], texts: Sequence[str], inputs: Sequence[str], attributes: AttributeSet, path: str
    ) -> list[Template]:
        relations = record.pop("relations")
        if not isinstance(relations, list) or not all(isinstance(text, str) for text in relations):
            raise InputError("`relations` must be a list of templates", path)
        labelled = record["format_options"].get("labelled", True)
        if labelled and not relations:
            raise InputError(
                "`relations` is missing: list the templates that score the relation of an arc, or write "
                "`labelled: false`",
                path,
            )
        found = parse_templates(texts, inputs, attributes, path, ARC_ANCHORS, VALUES)
        if labelled:
            of_relations = parse_templates(relations, inputs, attributes, path, RELATION_ANCHORS, VALUES)
            found += [template._replace(text=RELATION + template.text) for template in of_relations]
        return found

    @classmethod
    def check_templates(cls, templates: Sequence[Template], path: str) -> None:
        check_known(templates, path)

    def check(self, settings: Settings) -> None:
        super().check(settings)
        if settings.learner in ONE_PASS:
            raise UserError(f"learner: {settings.learner} counts labels, and a tree has none; choose another learner")
        if settings.decoder not in SECOND_ORDER:
            check_anchors(self.features.templates, SIBLING, settings.decoder, SECOND_ORDER)

    def check_mixing(self, mixing: str) -> None:
        if mixing == "scaled":
            raise UserError(
                "mixing: scaled counts the features of every shard, and the possible arcs of a tree have too many; "
                "choose another mixing"
            )

    # ------------------------------------------------------------ features

    def keys(self, encoded: Encoded, tables: TypeTables, label_hashes: np.ndarray) -> FeatureKeys:
        """The features of the gold trees, by word: those of its arc, of its place among the siblings, of its relation.
        The features of all possible arcs would be too many to count."""
        block = tree_block(self.features, encoded, tables)
        return FeatureKeys((KeyGroup(*TreeFeatures(self.tree_program).of_gold(block)),))

    def program(self, template: Template) -> Program:
        raise ValueError("a tree's templates apply at arcs; see names_at_sites")

    def names_at_sites(
        self, encoded: Encoded, tables: TypeTables, wanted: np.ndarray, value: ValueAt
    ) -> Iterator[tuple[int, str]]:
        block = tree_block(self.features, encoded, tables)
        return find_names(self.tree_program, self.templates, block, wanted, value)

    # ------------------------------------------------------------ engines

    def memory(self, kept: Optional[KeyTable] = None, step_sizes: Optional[StepSizes] = None) -> TreeMemory:
        return TreeMemory(kept)

    def engine(
        self,
        labels: Sequence[str],
        settings: Settings,
        weights: Rows,
        memory: Optional[TreeMemory] = None,
        threads: int = 1,
    ) -> TreeEngine:
        relations = labels[len(ARC_LABELS) :]
        if tuple(labels[: len(ARC_LABELS)]) != ARC_LABELS or not relations:
            raise UserError("the labels are not those of trees, or there is no relation; the model is damaged")
        return TreeEngine(
            self.features,
            self.tree_program,
            relations,
            settings,
            weights,
            memory or self.memory(),
            threads,
            self.one_root,
        )

    # ------------------------------------------------------------ names

    def key_of(self, name: str, label: str) -> int:
        if name == START:  # a label without weights; it has a row of its own
            return extend_key(hash_string(name), hash_string(label))
        template, values = parse_feature_name(name, self.features.templates)
        return named_key(template, values)
