"""The names of a tree's features, found again at the arcs of a corpus.

A name is the template with its values filled in: `head.form[0]=ate & child.upos[0]=NOUN`.
"""

from collections.abc import Iterator

import numpy as np

from perceptron_core.features.templates import BARE, Part, Template, boundary_value, feature_name
from perceptron_core.structures.base import ValueAt
from perceptron_core.structures.tree.engine import TreeBlock
from perceptron_core.structures.tree.features import (
    DIRECTION,
    DIRECTIONS,
    DISTANCES,
    NONE,
    PLACES,
    ROOT,
    Templates,
    TreeProgram,
    distance_of,
)
from perceptron_core.structures.tree.kernel import TreeFeatures
from perceptron_core.structures.tree.relations import neighbourhood


def find_names(
    program: TreeProgram, templates: Templates, block: TreeBlock, wanted: np.ndarray, value: ValueAt
) -> Iterator[tuple[int, str]]:
    """(key, name) of those of the wanted keys that occur in the block."""
    places, lengths = list(PLACES), block.lengths[block.lengths > 0]
    begins = np.cumsum(lengths) - lengths
    for number, place, which, sentence, *positions in TreeFeatures(program).find(block, wanted).tolist():
        template: Template = getattr(templates, places[place])[which]
        site = _Site(int(begins[sentence]), int(lengths[sentence]), value)
        if places[place] == "relations":
            heads = [-1, *block.heads[site.begin : site.begin + site.n].tolist()]
            child = positions[0]
            anchors, arc = neighbourhood(heads, child), (heads[child], child)
        else:
            anchors, arc = tuple(positions), (positions[0], positions[1])
        at = dict(zip(PLACES[places[place]], anchors))
        yield int(wanted[number]), feature_name(template, [site.text(part, at, arc) for part in template.parts])


class _Site:
    """A sentence of n words that begins at word `begin` of the block."""

    def __init__(self, begin: int, n: int, value: ValueAt) -> None:
        self.begin, self.n, self.value = begin, n, value

    def text(self, part: Part, anchors: dict[str, int], arc: tuple[int, int]) -> str:
        """The value of a part, with the positions of the anchors; position n + 1 is nowhere."""
        if part.anchor == BARE:
            if part.column == DIRECTION:
                return DIRECTIONS[arc[1] < arc[0]]
            return DISTANCES[distance_of(abs(arc[1] - arc[0]))]
        position = anchors[part.anchor]
        at = position + part.offset
        if position == self.n + 1:
            return NONE
        if at == 0:
            return ROOT
        if at < 0 or at > self.n:
            return boundary_value("names", at if at < 0 else at - self.n)
        return self.value(part, self.begin + at - 1)
