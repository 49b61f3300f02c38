"""The record of a task, as models and runs keep it: what its values must be, whoever wrote the file.

A record comes from a task file (task_file.py), which makes it, or from a file that somebody else may have made.
"""

import contextlib
from typing import Any

from perceptron_core.errors import shown
from perceptron_core.features.templates import CRFPP, NAMES
from perceptron_core.limits import FARTHEST_OFFSET, MOST_PARTS, MOST_TEMPLATES, limits, raise_by
from perceptron_core.registry import ENCODINGS, FORMATS, METRICS
from perceptron_core.schema import (
    Schema,
    Wrong,
    dict_of,
    flag,
    list_of,
    one_of,
    or_nothing,
    record,
    row_of,
    text,
    whole,
)

LABEL = text(r"[^\0\t\r\n]+", "a label: text that is not empty and has no NUL, TAB or line break")


def labels(value: Any) -> None:
    """A list of labels, in their order."""
    list_of(LABEL, distinct=True)(value)
    if len(value) > limits().labels:
        raise Wrong(f"has {len(value):,} labels, but {limits().labels:,} are the limit; {raise_by('labels')}")


def some_labels(value: Any) -> None:
    """The labels of a model, which has one at least."""
    labels(value)
    if not value:
        raise Wrong("is empty, but must have a label")


def _part(value: Any) -> None:
    """Column, attribute, offset, and the anchor if it has a name."""
    attribute = text(r"[^()]+(\([^()]+\))?", "an attribute, or one of another: suffix3(lower)")
    items: list[Schema] = [text(), attribute, whole(-FARTHEST_OFFSET, FARTHEST_OFFSET)]
    row_of(*items, *([text()] if isinstance(value, list) and len(value) > 3 else []))(value)


def _option(value: Any) -> None:
    """Of the command line, which checks it."""
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, (str, int, float, type(None))):
            raise Wrong(f"is {shown(each)}, but must be text or a number")


def word_classes(value: Any) -> None:
    """Word → class. There may be a million, and every task of a job reads them: good ones are seen all at once."""
    if type(value) is dict and {*map(type, value), *map(type, value.values())} <= {str}:
        with contextlib.suppress(UnicodeEncodeError):
            "".join([*value, *value.values()]).encode()
            return
    dict_of(text())(value)


_OPTION_LIST = list_of(text())


def format_option(value: Any) -> None:
    """The formats themselves check which values they take."""
    (_OPTION_LIST if isinstance(value, list) else or_nothing(flag if isinstance(value, bool) else text()))(value)


TASK = record(
    {
        "format": one_of(*FORMATS),
        "format_options": dict_of(format_option),
        "columns": list_of(text()),
        "predict": text(),
        "encoding": record(dict.fromkeys(("input", "train", "output"), one_of(*ENCODINGS))),
        "labels": or_nothing(labels),
        "extractor": or_nothing(text()),
        "python": or_nothing(
            record({"file": text(r"[^/\0]+", "the name of a file"), "sha256": text("[0-9a-f]{64}", "a sha256")})
        ),
        "lookups": dict_of(word_classes),
        "transitions": or_nothing(flag),
        "start_stop": flag,
        "bias": flag,
        "legal_transitions": flag,
        "metric": one_of(*METRICS),
        "templates": list_of(
            row_of(text(), list_of(_part, most=MOST_PARTS), flag, one_of(NAMES, CRFPP)), most=MOST_TEMPLATES
        ),
    },
    may={"options": dict_of(_option)},
)
