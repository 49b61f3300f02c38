"""The features of a tree: which templates score which part of it, and how a key is made of their values.

A template reads positions by *anchors*. A tree is scored by its arcs (head → child), by pairs of neighbouring children
of one head (siblings), and by the relation of each arc:

    anchors                     scores               rows hold
    head, child                 an arc               the weight by itself, and with direction × distance
    left, right                 an arc, by the pair of words in the order of the sentence: both directions in one row
    left, between, right        an arc, once for every different value between the two words
    sibling, child              an arc and the child of the same head next to it, towards the head
    head, sibling, child        the same, with the head: one weight, since there are n³ of them
    head, child, grand, …       the relation of an arc of the finished tree (`relations` in the task file)

`direction` and `distance` are parts, too. A template that names one of them has only that weight. In templates with a
sibling the distance is that of sibling and child; a first child has none, and then it is that of head and child.

The key of a feature: the values of each anchor are joined first (a *side*), then the sides, in the order of ANCHORS. So
the sides are made once per word, and a pair of words costs one step of hashing per template.

    side = extend(… extend(0, value₁) …, value_k)
    key  = extend(extend(extend(seed of the template, side₁), side₂), …)        0 if a value is missing
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Optional

import numpy as np

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.feature_set import FeatureSet, template_seed
from perceptron_core.features.templates import BARE, LABEL_COLUMN, NAMES, Part, Template, boundary_value
from perceptron_core.hashing import extend_key, hash_string

HEAD, CHILD, LEFT, RIGHT, SIBLING, BETWEEN = "head", "child", "left", "right", "sibling", "between"
ARC_ANCHORS = (HEAD, CHILD, LEFT, RIGHT, SIBLING, BETWEEN)
# In the finished tree: the head's head, the children of the head on either side, the outermost children of the child.
GRAND, PREVIOUS, NEXT, FIRST, LAST = "grand", "previous", "next", "first", "last"
RELATION_ANCHORS = (HEAD, CHILD, GRAND, PREVIOUS, NEXT, FIRST, LAST)
ANCHORS = (HEAD, CHILD, LEFT, RIGHT, SIBLING, BETWEEN, GRAND, PREVIOUS, NEXT, FIRST, LAST)
DIRECTION, DISTANCE = "direction", "distance"
VALUES = (DIRECTION, DISTANCE)

RELATION = "relation: "  # how the text of a template for relations begins
ROOT, NONE = "<root>", "<none>"  # the value of every column at the root, and where there is no such word

DIRECTIONS = ("right", "left")  # of the child, seen from the head
DISTANCES = ("1", "2", "3", "4", "5", "6-10", ">10")
# The weights of an arc's row: by itself, and with direction × distance.
ARC_LABELS = ("any", *(f"{direction} {distance}" for direction in DIRECTIONS for distance in DISTANCES))


def distance_of(apart: int) -> int:
    """Which of DISTANCES it is."""
    return apart - 1 if apart <= 5 else 5 if apart <= 10 else 6


def arc_label(begin: int, end: int) -> int:
    """Which of ARC_LABELS, besides `any`, belongs to an arc from `begin` to `end`."""
    return 1 + len(DISTANCES) * (end < begin) + distance_of(abs(end - begin))


class Templates(NamedTuple):
    """The templates by what they score."""

    heads: list[Template]  # with the anchor head only
    children: list[Template]
    pairs: list[Template]  # head and child
    ordered: list[Template]  # left, right
    between: list[Template]
    marked: list[Template]  # head and child, with direction or distance
    siblings: list[Template]  # sibling, and perhaps child
    triples: list[Template]  # head, sibling, and perhaps child
    relations: list[Template]


def anchors_of(template: Template) -> set[str]:
    return {part.anchor for part in template.parts if part.anchor}


def bare_values(template: Template) -> tuple[str, ...]:
    """Which of direction and distance it names, in the order of VALUES."""
    named = {part.column for part in template.parts if part.anchor == BARE}
    return tuple(name for name in VALUES if name in named)


def sort_templates(templates: Iterable[Template]) -> Templates:
    """Every template in its place."""
    sorted_templates = Templates([], [], [], [], [], [], [], [], [])
    for template in templates:
        getattr(sorted_templates, _place(template)).append(template)
    return sorted_templates


def _place(template: Template) -> str:
    if template.text.startswith(RELATION):
        return "relations"
    anchors = anchors_of(template) - {BARE}
    if SIBLING in anchors:
        return "triples" if HEAD in anchors else "siblings"
    if BETWEEN in anchors:
        return "between"
    if anchors & {LEFT, RIGHT}:
        return "ordered"
    if bare_values(template):
        return "marked"
    return "pairs" if anchors == {HEAD, CHILD} else "heads" if anchors == {HEAD} else "children"


def check_template(template: Template, path: str) -> None:
    """Refuse anchors that do not belong together."""
    anchors = anchors_of(template) - {BARE}
    if template.text.startswith(RELATION):
        return
    if anchors & {LEFT, RIGHT, BETWEEN} and anchors & {HEAD, CHILD, SIBLING}:
        raise InputError(
            f"`{template.text}` joins left, right or between with head, child or sibling; use the ones or the others",
            path,
        )
    if anchors & {LEFT, RIGHT, BETWEEN} and not {LEFT, RIGHT} <= anchors:
        raise InputError(f"`{template.text}`: name both left and right, or the anchors head and child", path)
    if SIBLING in anchors and CHILD not in anchors:
        raise InputError(f"`{template.text}`: a sibling is one of a child; name the child, too", path)
    if (anchors & {LEFT, RIGHT, BETWEEN}) and bare_values(template):
        raise InputError(f"`{template.text}`: direction and distance go with head and child; name these anchors", path)
    if SIBLING in anchors and DISTANCE in bare_values(template):
        raise InputError(
            f"`{template.text}`: a template with a sibling has the distance by itself, or not at all, if it also has "
            "the head; leave `distance` out",
            path,
        )
    if SIBLING in anchors and HEAD not in anchors and bare_values(template):
        raise InputError(f"`{template.text}` has the direction by itself; leave `direction` out", path)


def check_known(templates: Sequence[Template], path: str) -> None:
    """Refuse templates that a tree cannot have; the last two kinds only a damaged model can name."""
    for template in templates:
        check_template(template, path)
        known = {*(RELATION_ANCHORS if template.text.startswith(RELATION) else ARC_ANCHORS), BARE}
        if not anchors_of(template) - {BARE}:
            raise InputError(f"`{template.text}` looks at no word; name an anchor", path)
        if template.bigram or template.style != NAMES or not anchors_of(template) <= known:
            raise InputError(f"`{template.text}` is not a template of trees", path)
        if any(part.column == LABEL_COLUMN for part in template.parts):
            raise InputError(f"`{template.text}`: a tree has no labels to look at; leave them out", path)


# ---------------------------------------------------------------- keys from values


def side_key(values: Sequence[int]) -> int:
    """The hashes of one anchor's values, joined."""
    key = 0
    for value in values:
        key = extend_key(key, value)
    return key


def sides_of(template: Template) -> list[tuple[str, list[Part]]]:
    """The parts of every anchor, in the order in which sides are joined."""
    return [
        (anchor, parts) for anchor in ANCHORS if (parts := [part for part in template.parts if part.anchor == anchor])
    ]


def named_key(template: Template, values: Sequence[str]) -> int:
    """The key of a feature from the strings of its values, which are in the order of the template's parts."""
    by_part = dict(zip(template.parts, values))
    key = template_seed(template)
    for _, parts in sides_of(template):
        key = extend_key(key, side_key([hash_string(by_part[part]) for part in parts]))
    for name in bare_values(template):
        value = next(value for part, value in by_part.items() if part.anchor == BARE and part.column == name)
        key = extend_key(key, hash_string(value))
    return key


# ---------------------------------------------------------------- templates as numbers


class Sides:
    """All different sides of the templates, numbered: a side is a list of (attribute, offset)."""

    def __init__(self, attributes: Sequence[tuple[str, str]]) -> None:
        self.attributes = list(attributes)
        self.numbers: dict[tuple[tuple[int, int], ...], int] = {}

    def number(self, parts: Sequence[Part]) -> int:
        content = tuple((self.attributes.index((part.column, part.attribute)), part.offset) for part in parts)
        return self.numbers.setdefault(content, len(self.numbers))

    def farthest(self) -> int:
        return max((abs(offset) for side in self.numbers for _, offset in side), default=0)


class Group(NamedTuple):
    """Templates of one place as numbers: seeds, and the number of every side, -1 where a template has none."""

    seeds: np.ndarray  # uint64
    sides: np.ndarray  # int32, templates × anchors of the place
    values: np.ndarray  # uint8: 1 the direction joins, 2 the distance


class TreeProgram(NamedTuple):
    """The templates as the kernel takes them."""

    side_starts: np.ndarray  # int32: side s has the parts side_starts[s] … side_starts[s+1]-1
    part_attributes: np.ndarray  # int32: the column of a block's values
    part_offsets: np.ndarray  # int32
    before: np.ndarray  # uint64: the values before the root, the nearest first
    after: np.ndarray  # uint64: the values after the last word
    root: int  # the value at the root
    none: int  # the value where there is no word
    groups: dict[str, Group]
    directions: np.ndarray  # uint64: the hashes of DIRECTIONS
    distances: np.ndarray


PLACES: dict[str, tuple[str, ...]] = {
    "heads": (HEAD,),
    "children": (CHILD,),
    "pairs": (HEAD, CHILD),
    "ordered": (LEFT, RIGHT),
    "between": (LEFT, RIGHT, BETWEEN),
    "marked": (HEAD, CHILD),
    "siblings": (CHILD, SIBLING),
    "triples": (HEAD, CHILD, SIBLING),
    "relations": RELATION_ANCHORS,
}


def attributes_of(features: FeatureSet) -> list[tuple[str, str]]:
    """(column, attribute) of every value that a word has, in the order of a block's values."""
    return [(column, name) for column, names in zip(features.columns, features.attributes) for name in names]


def make_program(features: FeatureSet, templates: Templates) -> TreeProgram:
    sides = Sides(attributes_of(features))
    groups = {place: _group(getattr(templates, place), anchors, sides) for place, anchors in PLACES.items()}
    content = list(sides.numbers)
    parts = [part for side in content for part in side]
    distances = range(1, sides.farthest() + 1)

    def hashes(texts: Iterable[str]) -> np.ndarray:
        return np.array([hash_string(text) for text in texts], np.uint64)

    return TreeProgram(
        np.cumsum([0, *map(len, content)], dtype=np.int32),
        np.array([attribute for attribute, _ in parts], np.int32),
        np.array([offset for _, offset in parts], np.int32),
        hashes(boundary_value(NAMES, -d) for d in distances),
        hashes(boundary_value(NAMES, d) for d in distances),
        hash_string(ROOT),
        hash_string(NONE),
        groups,
        hashes(DIRECTIONS),
        hashes(DISTANCES),
    )


def _group(templates: Sequence[Template], anchors: Sequence[str], sides: Sides) -> Group:
    numbers = np.full((len(templates), len(anchors)), -1, np.int32)
    for row, template in zip(numbers, templates):
        for anchor, parts in sides_of(template):
            row[anchors.index(anchor)] = sides.number(parts)
    values = [sum(1 << VALUES.index(name) for name in bare_values(template)) for template in templates]
    return Group(np.array([template_seed(t) for t in templates], np.uint64), numbers, np.array(values, np.uint8))


def first_with(templates: Iterable[Template], anchor: str) -> Optional[Template]:
    return next((template for template in templates if anchor in anchors_of(template)), None)


def check_anchors(templates: Iterable[Template], anchor: str, decoder: str, others: Sequence[str]) -> None:
    """Refuse templates with an anchor that the decoder does not have."""
    found = first_with((t for t in templates if not t.text.startswith(RELATION)), anchor)
    if found is not None:
        raise UserError(
            f"`{found.text}` looks at a {anchor}, which {decoder} does not score; choose --decoder "
            f"{' or '.join(others)}, or leave the template out"
        )
