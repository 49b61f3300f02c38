"""What is different about a task of the kind `classification`: one label an instance, and no neighbours.

An instance is a sentence of one token without transitions: learners, decoders, mixing and jobs are those of sequences,
and two classes are many classes. Here is what its task file may say. How an instance becomes features is told in
features/encoding.py: each template is applied at every word, each feature counts once; numbers come with their value.
"""

from collections.abc import Sequence
from typing import Any

from perceptron_core.corpus import CLASSIFICATION, FORMATS, SEQUENCE, Sentence
from perceptron_core.corpus.instances import NUMBER
from perceptron_core.errors import InputError
from perceptron_core.features.templates import NAMES, Part, Template

KINDS = (SEQUENCE, CLASSIFICATION)
DEFAULTS: dict[str, Any] = {
    "format": "label_text",
    "predict": "label",
    "transitions": False,
    "start_stop": False,
    "metric": "classes",
}
# What only a sequence of labels can have.
OF_SEQUENCES = ("encoding", "crfpp", "extractor", "transitions", "start_stop", "legal_transitions")

# A number is known by its name, and has its value.
NUMBERS = Template(NUMBER, (Part(NUMBER, "identity", 0),), False, NAMES)

SHOWN_WORDS = 30


def defaults(given: dict[str, Any], path: str) -> dict[str, Any]:
    """What a task of classification says where its file is silent; refuses what makes no sense there."""
    for key in OF_SEQUENCES:
        if given.get(key):
            raise InputError(f"`{key}` is of sequences, but an instance has one label alone; leave it out", path)
    if given.get("metric") == "spans":
        raise InputError("the metric spans counts chunks of tokens; for instances choose classes or accuracy", path)
    fmt = FORMATS.get(str(given.get("format") or DEFAULTS["format"]))
    return {**DEFAULTS, "columns": list(fmt.COLUMNS) if fmt else []}


def check_templates(templates: Sequence[Template], path: str) -> None:
    for template in templates:
        if template.bigram:
            raise InputError(f"`{template.text}`: an instance has no previous label; leave out `label[-1]`", path)
        columns = sorted({part.column for part in template.parts})
        if len(columns) > 1:
            raise InputError(
                f"`{template.text}` joins words of {' and '.join(columns)}, which stand in no order; "
                "join words of one column",
                path,
            )


def shown(sentence: Sentence) -> str:
    """The beginning of an instance's text, for a report."""
    words = [next((word for word in words if word is not None), "") for words in zip(*sentence.columns)]
    if sentence.values:
        words = [word if value == 1 else f"{word}:{value:g}" for word, value in zip(words, sentence.values)]
    return " ".join(words[:SHOWN_WORDS] + ["…"] * (len(words) > SHOWN_WORDS))
