r"""Weights as text, for exchange with any other system: one weight per line, `feature TAB label TAB weight`.

    word[-1]=of & word[0]=the      B-NP   1.5     a feature by its name (see features/templates.py)
    label[-1]=B-NP                 I-NP   2.25    a transition: from B-NP to I-NP
    <start>                        O      0.5     a sentence begins with O
    <stop>                         O      0.25    a sentence ends with O
    label[-1]=B-NP & word[0]=the   I-NP   0.1     a label-bigram feature: joined with the previous label
    extracted=anything             O      1       a feature that a free-form extractor named

In previous labels and extracted features, a backslash is written `\\`, `&` is `\&`, TAB `\t`, newline `\n`, carriage
return `\r`. Blank lines and lines that begin with `#` and a space are skipped when reading.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Callable, NamedTuple, Optional, Protocol

import numpy as np

from perceptron_core.errors import InputError, UserError
from perceptron_core.schema import fault
from perceptron_core.task_record import LABEL
from perceptron_core.weights.rows import Rows, from_entries

START, STOP, EXTRACTED = "<start>", "<stop>", "extracted="
_BEFORE = "label[-1]="
_ESCAPES = {"\\": "\\\\", "&": "\\&", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_UNESCAPES = {escaped: plain for plain, escaped in _ESCAPES.items()}


def escape(text: str) -> str:
    return re.sub(r"[\\&\t\n\r]", lambda match: _ESCAPES[match[0]], text)


def unescape(text: str) -> str:
    return re.sub(r"\\.", lambda match: _UNESCAPES.get(match[0], match[0]), text)


def before_name(label: str, feature: Optional[str] = None) -> str:
    """The name of a transition, or of a feature joined with the label before."""
    name = _BEFORE + escape(label)
    if feature is None:
        return name
    joined = _BEFORE[:-1] + " & "
    return f"{name} & {feature[len(joined) :] if feature.startswith(joined) else feature}"


def before(name: str) -> tuple[Optional[str], Optional[str]]:
    """The inverse: the label before, if the name has one, and the feature that it is joined with, if there is one."""
    if not name.startswith(_BEFORE):
        return None, None
    label, joined, feature = name[len(_BEFORE) :].partition(" & ")
    return unescape(label), feature if joined else None


def extracted_name(feature: str) -> str:
    return EXTRACTED + escape(feature)


class Naming(Protocol):
    """What reading names needs to know: a structure."""

    def key_of(self, name: str, label: str) -> int: ...

    def labels_in(self, name: str) -> set[str]: ...


class TextWeights(NamedTuple):
    labels: list[str]
    rows: Rows  # "weight", float32
    names: dict[int, str]


def format_weights(rows: Rows, column: str, labels: list[str], names: Mapping[int, str]) -> Iterator[str]:
    """The lines of all non-zero weights, in the order of their keys; a label that has none gets a line of its own,
    so that it is not lost."""
    keys, values = rows.entry_keys().tolist(), rows.values[column]
    for key, label, value in zip(keys, rows.labels.tolist(), values):
        if value:
            yield f"{names[key]}\t{labels[label]}\t{value!s}\n"
    used = set(rows.labels[values != 0].tolist())
    for number in sorted(set(range(len(labels))) - used):
        yield f"{START}\t{labels[number]}\t0.0\n"


def parse_weights(
    lines: Iterable[str], source: str, naming: Naming, in_order: Callable[[list[str]], list[str]]
) -> TextWeights:
    """Read weights by name; refuses a doubled or unreadable line with its number. `in_order` puts the labels in the
    task's order."""
    entries: dict[tuple[int, str], np.float32] = {}
    names: dict[int, str] = {}
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\n")
        if not line.strip() or line.startswith("# "):
            continue
        fields = line.split("\t")
        if len(fields) != 3:
            raise InputError(f"has {len(fields)} fields; a line is feature TAB label TAB weight", source, number)
        name, label, text = fields
        if fault(label, LABEL):
            raise InputError(f"the label {label!r} is empty, or has NUL or a line break in it", source, number)
        weight = _parse_weight(text)
        if weight is None:
            raise InputError(f"{text!r} is not a weight; write a finite number", source, number)
        try:
            key = naming.key_of(name, label)
        except UserError as error:
            raise InputError(str(error), source, number) from error
        if (key, label) in entries:
            raise InputError(f"the weight of {name!r} with {label} stands here a second time", source, number)
        entries[key, label] = weight
        names[key] = name
    if not entries:
        raise InputError("holds no weight", source)
    found = {label for _, label in entries}
    found.update(label for name in names.values() for label in naming.labels_in(name))
    labels = in_order(sorted(found))
    numbers = {label: number for number, label in enumerate(labels)}
    rows = from_entries(
        np.array([key for key, _ in entries], np.uint64),
        np.array([numbers[label] for _, label in entries], np.uint32),
        weight=np.array(list(entries.values()), np.float32),
    )
    return TextWeights(labels, rows, names)


def _parse_weight(text: str) -> Optional[np.float32]:
    try:
        with np.errstate(over="ignore"):
            weight = np.float32(float(text))
    except ValueError:
        return None
    return weight if np.isfinite(weight) else None
