"""A task's templates as numbers: which attributes of which column, at which offset, make up which key.

No attribute function is needed here, so a training task, which only composes keys from an encoded shard, does not load
the user's code or lookups.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np

from perceptron_core.features.templates import BARE, CRFPP, LABEL_COLUMN, Part, Template, boundary_value, literals
from perceptron_core.hashing import extend_key, hash_string

EXTRACTOR_SEED = hash_string("extractor")


class Program(NamedTuple):
    """The templates of one kind, flattened for the kernel: template k has parts part_starts[k] … part_starts[k+1]-1."""

    seeds: np.ndarray  # uint64, the keys before any value has joined them
    part_starts: np.ndarray
    part_anchors: np.ndarray  # which position of a site the part looks from
    part_columns: np.ndarray  # index into the feature set's columns
    part_attributes: np.ndarray  # index into that column's attributes
    part_offsets: np.ndarray
    before: np.ndarray  # uint64, parts × distance: the value of a position before the sentence
    after: np.ndarray  # uint64, parts × distance: the value of a position after it
    widths: np.ndarray  # attributes of each column


def template_seed(template: Template) -> int:
    """The key of a template whose values have not joined it yet.

    In CRF++ the offsets are not part of a feature: lines with equal text around the macros make equal features.
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


def is_input(part: Part) -> bool:
    """Whether a part's value comes from the input, and not from the labels or the structure."""
    return part.column != LABEL_COLUMN and part.anchor != BARE


def has_no_label(template: Template) -> bool:
    """Whether all parts of the template are in the input."""
    return all(map(is_input, template.parts))


def without_labels(template: Template) -> Template:
    """The template with only the parts whose values come from the input; it keeps its text, by which it is hashed."""
    return template._replace(parts=tuple(filter(is_input, template.parts)))


class FeatureSet:
    """Templates over input columns, and perhaps a free-form extractor.

    It knows which attributes of which columns are needed, and makes programs of templates. The structure
    decides which templates are joined with which labels.
    """

    def __init__(self, templates: Sequence[Template], columns: Sequence[str], extractor: Optional[str] = None) -> None:
        self.templates = list(templates)
        self.extractor = extractor
        used: dict[str, list[str]] = {}
        for template in templates:
            for part in filter(is_input, template.parts):
                attributes = used.setdefault(part.column, [])
                if part.attribute not in attributes:
                    attributes.append(part.attribute)
        self.columns = [column for column in columns if column in used]
        self.attributes = [used[column] for column in self.columns]
        self.column_numbers = [list(columns).index(column) for column in self.columns]
        self.widths = [len(names) for names in self.attributes]

    def constant_keys(self) -> list[int]:
        """The keys of the features that every token has, such as the bias."""
        return [template_seed(t) for t in self.templates if not t.parts and not t.bigram]

    def program(self, templates: Sequence[Template], anchors: Sequence[str] = ("",), beyond: bool = True) -> Program:
        """Some of the templates, as the kernel takes them; if they have labels, these are one more column.

        `anchors` names the positions of a site. With beyond=False a position outside the sentence has no value, so
        that no feature depends on where a text ends."""
        parts = [(template.style, part) for template in templates for part in template.parts]
        sizes = [len(template.parts) for template in templates]
        farthest = max((abs(part.offset) for _, part in parts), default=0)
        distances = range(1, farthest + 1)

        def numbers(values: Sequence[int]) -> np.ndarray:
            return np.array(values, np.int32)

        def boundary(sign: int) -> np.ndarray:
            if not beyond:
                return np.zeros((len(parts), farthest), np.uint64)
            styles = {style for style, _ in parts}
            hashes = {style: [hash_string(boundary_value(style, sign * d)) for d in distances] for style in styles}
            return np.array([hashes[style] for style, _ in parts], np.uint64).reshape(len(parts), farthest)

        columns, attributes = [*self.columns, LABEL_COLUMN], [*self.attributes, ["identity"]]
        numbers_of_columns = [columns.index(part.column) for _, part in parts]
        if all(is_input(part) for _, part in parts):
            attributes.pop()
        return Program(
            seeds=np.array([template_seed(template) for template in templates], np.uint64),
            part_starts=numbers([0, *np.cumsum(sizes).tolist()]),
            part_anchors=numbers([list(anchors).index(part.anchor) for _, part in parts]),
            part_columns=numbers(numbers_of_columns),
            part_attributes=numbers(
                [attributes[c].index(part.attribute) for c, (_, part) in zip(numbers_of_columns, parts)]
            ),
            part_offsets=numbers([part.offset for _, part in parts]),
            before=boundary(-1),
            after=boundary(+1),
            widths=numbers([len(names) for names in attributes]),
        )
