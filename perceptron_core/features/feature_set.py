"""A task's templates as numbers: which attributes of which column, at which offset, make up which key.

Needs no attribute function, so whoever only composes keys from an encoded shard (a training task) does not load
the user's code or lookups.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np

from perceptron_core.features.templates import CRFPP, LABEL_COLUMN, Part, Template, boundary_value, literals
from perceptron_core.hashing import extend_key, hash_string

EXTRACTOR_SEED = hash_string("extractor")


class Program(NamedTuple):
    """The templates of one kind, flattened for the kernel: template k has parts part_starts[k] … part_starts[k+1]-1."""

    seeds: np.ndarray  # uint64, a key before any value joins it
    part_starts: np.ndarray
    part_columns: np.ndarray  # index into the feature set's columns
    part_attributes: np.ndarray  # index into that column's attributes
    part_offsets: np.ndarray
    before: np.ndarray  # uint64, parts × distance: the value of a position before the sentence
    after: np.ndarray  # uint64, parts × distance: and of one behind it
    widths: np.ndarray  # attributes of each column


def template_seed(template: Template) -> int:
    """The key of a template whose values have not joined it yet.

    In CRF++ the offsets are no part of a feature: lines with equal text around the macros make equal features.
    """
    text = "\0".join(literals(template)) if template.style == CRFPP else template.text
    return hash_string(("B " if template.bigram else "U ") + text)


def template_key(template: Template, values: Sequence[str]) -> int:
    """The key of a feature, from its values: what the kernel computes from their hashes."""
    key = template_seed(template)
    for value in values:
        key = extend_key(key, hash_string(value))
    return key


def extracted_key(feature: str) -> int:
    """The key of a feature that a free-form extractor named."""
    return extend_key(EXTRACTOR_SEED, hash_string(feature))


def _is_input(part: Part) -> bool:
    return part.column != LABEL_COLUMN


class FeatureSet:
    """Templates over input columns, and perhaps a free-form extractor beside them.

    If it is `pooled`, a text has the features of all its words together; `constants`, such as the bias, it has once,
    also when it has no word. There a template needs all its words: no feature tells where a text ends.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        columns: Sequence[str],
        extractor: Optional[str] = None,
        pooled: bool = False,
    ) -> None:
        self.templates = list(templates)
        self.extractor = extractor
        self.pooled = pooled
        used: dict[str, list[str]] = {}
        for template in templates:
            for part in filter(_is_input, template.parts):
                attributes = used.setdefault(part.column, [])
                if part.attribute not in attributes:
                    attributes.append(part.attribute)
        self.columns = [column for column in columns if column in used]
        self.attributes = [used[column] for column in self.columns]
        self.column_numbers = [list(columns).index(column) for column in self.columns]
        self.history_templates = [t for t in self.templates if not all(map(_is_input, t.parts))]
        self.unigram_templates = [t for t in self.templates if not t.bigram and t not in self.history_templates]
        self.bigram_templates = [t for t in self.templates if t.bigram]
        at_words = [t for t in self.unigram_templates if t.parts or not pooled]
        self.constants = np.array([template_seed(t) for t in self.unigram_templates if t not in at_words], np.uint64)
        self.unigrams = self.program(at_words)
        self.bigrams = self.program(self.bigram_templates)
        self.history = self.program(self.history_templates)

    def constant_keys(self) -> list[int]:
        """The keys of the features that every token has, such as the bias."""
        return [template_seed(template) for template in self.unigram_templates if not template.parts]

    def program(self, templates: Sequence[Template]) -> Program:
        """Some of the templates, as the kernel takes them; where they have labels, these are one more column."""
        parts = [(template.style, part) for template in templates for part in template.parts]
        sizes = [len(template.parts) for template in templates]
        farthest = max((abs(part.offset) for _, part in parts), default=0)
        distances = range(1, farthest + 1)

        def numbers(values: Sequence[int]) -> np.ndarray:
            return np.array(values, np.int32)

        def boundary(sign: int) -> np.ndarray:
            if self.pooled:
                return np.zeros((len(parts), farthest), np.uint64)
            hashes = [[hash_string(boundary_value(style, sign * d)) for d in distances] for style, _ in parts]
            return np.array(hashes, np.uint64).reshape(len(parts), farthest)

        columns, attributes = [*self.columns, LABEL_COLUMN], [*self.attributes, ["identity"]]
        numbers_of_columns = [columns.index(part.column) for _, part in parts]
        if all(_is_input(part) for _, part in parts):
            attributes.pop()
        return Program(
            seeds=np.array([template_seed(template) for template in templates], np.uint64),
            part_starts=numbers([0, *np.cumsum(sizes).tolist()]),
            part_columns=numbers(numbers_of_columns),
            part_attributes=numbers(
                [attributes[c].index(part.attribute) for c, (_, part) in zip(numbers_of_columns, parts)]
            ),
            part_offsets=numbers([part.offset for _, part in parts]),
            before=boundary(-1),
            after=boundary(+1),
            widths=numbers([len(names) for names in attributes]),
        )
