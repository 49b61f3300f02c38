"""The attributes of tokens as strings, for rivals: exactly the names of our features, `word[-1]=of & word[0]=the`.

What a rival pays for them is kept low: a string is built once for each word type and place, and a conjunction joins
two such strings. Needs nothing but the standard library and our attributes, so a rival's start is not delayed by ours.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional

from perceptron_core.features.attributes import AttributeSet
from perceptron_core.features.templates import NAMES, Part, Template, boundary_value, feature_name

Series = list[Optional[str]]  # a string for each token, None where nothing fires


class Features(NamedTuple):
    """What a rival has to know of a task."""

    inputs: list[str]  # the columns that features are made of; the label is the one after them
    templates: list[Template]


def write_features(record: dict[str, Any], path: Path) -> None:
    """The features of a task's record, for `read_features`."""
    columns, templates = record["columns"], record["templates"]
    if columns[-1] != record["predict"] or any(bigram for _, _, bigram, _ in templates):
        raise ValueError("rivals take the last column's labels and features of one label")
    path.write_text(json.dumps({"inputs": columns[:-1], "templates": templates}), encoding="utf-8")


def read_features(path: str) -> Features:
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    templates = [
        Template(text, tuple(Part(*part) for part in parts), bigram, style)
        for text, parts, bigram, style in content["templates"]
    ]
    return Features(content["inputs"], templates)


def write_template_lines(features: Features, path: Path) -> None:
    """The templates as OpennlpTagger.java reads them."""
    with path.open("w", encoding="utf-8") as file:
        for template in features.templates:
            texts = template.text.split(" & ")
            parts = [f"{text}\t{part.attribute}\t{part.offset}" for text, part in zip(texts, template.parts)]
            file.write(("\t".join(parts) or template.text) + "\n")


class _Pieces(dict):
    """word → `suffix3[0]=ing`, or None where the attribute does not apply."""

    def __init__(self, text: str, part: Part) -> None:
        self.template = Template(text, (part,), False, NAMES)
        self.attribute = AttributeSet({}, {}).get(part.attribute)

    def __missing__(self, word: str) -> Optional[str]:
        value = self.attribute(word)
        self[word] = piece = None if value is None else feature_name(self.template, [value])
        return piece


class AttributeStrings:
    def __init__(self, features: Features) -> None:
        self.inputs = features.inputs
        self.pieces: dict[Part, _Pieces] = {}
        self.parts: list[tuple[Part, ...]] = []
        self.constants: list[str] = []
        for template in features.templates:
            for text, part in zip(template.text.split(" & "), template.parts):
                self.pieces.setdefault(part, _Pieces(text, part))
            if template.parts:
                self.parts.append(template.parts)
            else:
                self.constants.append(template.text)

    def __call__(self, columns: Sequence[Sequence[str]]) -> list[list[str]]:
        """The attributes of each token of a sentence that is given column by column."""
        series = {part: self._series(part, columns[self.inputs.index(part.column)]) for part in self.pieces}
        made = [self._conjunction([series[part] for part in parts]) for parts in self.parts]
        constants = self.constants
        return [[text for text in token if text is not None] + constants for token in zip(*made)]

    def _series(self, part: Part, words: Sequence[str]) -> Series:
        """The part's string at each token: of the word `offset` tokens away, or of the sentence's boundary."""
        pieces, size, offset = self.pieces[part], len(words), part.offset
        inside = [pieces[word] for word in words[max(0, offset) : max(0, size + offset)]]
        before = [self._boundary(part, at + offset) for at in range(min(size, -offset))]
        after = [self._boundary(part, at + offset - size + 1) for at in range(max(0, size - offset), size)]
        return before + inside + after

    def _boundary(self, part: Part, distance: int) -> str:
        return feature_name(self.pieces[part].template, [boundary_value(NAMES, distance)])

    @staticmethod
    def _conjunction(series: Sequence[Series]) -> Series:
        if len(series) == 1:
            return series[0]
        return [None if None in texts else " & ".join(texts) for texts in zip(*series)]
