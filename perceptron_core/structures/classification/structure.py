"""Classification: one label for a whole instance, without neighbours.

    score(x, y) = w · φ(x; y)

An instance is a sentence of one token without transitions; two classes are not a special case. Its token is a whole
text. The templates are applied at every word of it and give the text's bag of features: each once, however often it
occurs, with the value of the word (1, if it is not a number). A template needs all its words: no feature depends on
where a text ends. A text has each constant, such as the bias, once, even if it has no words.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from perceptron_core.corpus import FORMATS, Sentence
from perceptron_core.corpus.instances import NUMBER
from perceptron_core.errors import InputError
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import Layout, TypeTables
from perceptron_core.features.feature_set import FeatureSet, Program, template_seed
from perceptron_core.features.keys import NO_KEYS, FeatureKeys, KeyGroup, compose
from perceptron_core.features.templates import NAMES, Part, Template
from perceptron_core.kernels import ALL_ONE, pool_keys
from perceptron_core.registry import CLASSIFICATION
from perceptron_core.structures.base import Structure, refuse_keys
from perceptron_core.structures.sequence.structure import FirstOrder

DEFAULTS: dict[str, Any] = {
    "format": "label_text",
    "predict": "label",
    "transitions": False,
    "start_stop": False,
    "metric": "classes",
}
# What only a sequence of labels can have.
OF_SEQUENCES = ("encoding", "crfpp", "extractor", "transitions", "start_stop", "legal_transitions")

# The feature of a number: its name, with its value.
NUMBERS = Template(NUMBER, (Part(NUMBER, "identity", 0),), False, NAMES)

SHOWN_WORDS = 30


class Classification(FirstOrder):
    """Classes; the engine is that of sequences, with one token per sequence."""

    kind = CLASSIFICATION
    called = "instances"
    layout = Layout(texts=True)

    def __init__(self, features: FeatureSet, record: Mapping[str, Any]) -> None:
        Structure.__init__(self, features, record)
        at_words = [t for t in features.templates if t.parts]
        self.at_words = features.program(at_words, beyond=False)
        self.constants = np.array([template_seed(t) for t in features.templates if not t.parts], np.uint64)

    @classmethod
    def fits(cls, kind: str, features: FeatureSet, decoder: str) -> bool:
        return kind == CLASSIFICATION

    @classmethod
    def defaults(cls, given: Mapping[str, Any], path: str) -> dict[str, Any]:
        refuse_keys(OF_SEQUENCES, given, "is for sequences, but an instance has only one label", path)
        if given.get("metric") == "spans":
            raise InputError("the metric spans counts chunks of tokens; for instances choose classes or accuracy", path)
        fmt = FORMATS.get(str(given.get("format") or DEFAULTS["format"]))
        return {**DEFAULTS, "columns": list(fmt.COLUMNS) if fmt else []}

    @classmethod
    def check_templates(cls, templates: Sequence[Template], path: str) -> None:
        for template in templates:
            if template.bigram:
                raise InputError(f"`{template.text}`: an instance has no previous label; leave out `label[-1]`", path)
            columns = sorted({part.column for part in template.parts})
            if len(columns) > 1:
                raise InputError(
                    f"`{template.text}` joins words of {' and '.join(columns)}, which have no common order; "
                    "join only words of one column",
                    path,
                )

    @classmethod
    def more_templates(cls, inputs: Sequence[str]) -> list[Template]:
        return [NUMBERS] if NUMBER in inputs else []

    def keys(self, encoded: Encoded, tables: TypeTables, label_hashes: np.ndarray) -> FeatureKeys:
        """The bag of every text's features."""
        word_starts, word_keys = compose(self.at_words, encoded, tables)
        starts, keys, sources = pool_keys(encoded.word_sizes, word_starts, word_keys, self.constants)
        values = ALL_ONE
        if len(encoded.values):
            # The last value, 1, is that of the constants.
            of_keys = np.append(np.repeat(encoded.values, np.diff(word_starts)), np.float32(1))
            values = of_keys[sources]
        return FeatureKeys((KeyGroup(starts, keys), KeyGroup(np.zeros(len(starts), np.int32), NO_KEYS)), values)

    def program(self, template: Template) -> Program:
        return self.features.program([template], beyond=False)

    def shown(self, sentence: Sentence) -> Sequence[str]:
        """The beginning of an instance's text."""
        words = [next((word for word in words if word is not None), "") for words in zip(*sentence.columns)]
        if sentence.values:
            words = [word if value == 1 else f"{word}:{value:g}" for word, value in zip(words, sentence.values)]
        return [" ".join(words[:SHOWN_WORDS] + ["…"] * (len(words) > SHOWN_WORDS))]
