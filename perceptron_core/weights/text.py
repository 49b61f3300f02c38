r"""Weights as text, for exchange with any other system: one weight a line, `feature TAB label TAB weight`.

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
from typing import NamedTuple, Optional

import numpy as np

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.feature_set import extracted_key, template_key
from perceptron_core.features.templates import parse_feature_name
from perceptron_core.hashing import extend_key, hash_string
from perceptron_core.task import Task
from perceptron_core.weights.rows import Rows, from_entries

_ESCAPES = {"\\": "\\\\", "&": "\\&", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_UNESCAPES = {escaped: plain for plain, escaped in _ESCAPES.items()}
_BIGRAM_PREFIX = "label[-1] & "


def _escape(text: str) -> str:
    return re.sub(r"[\\&\t\n\r]", lambda match: _ESCAPES[match[0]], text)


def _unescape(text: str) -> str:
    return re.sub(r"\\.", lambda match: _UNESCAPES.get(match[0], match[0]), text)


def transition_name(before: str) -> str:
    return f"label[-1]={_escape(before)}"


def start_name() -> str:
    return "<start>"


def stop_name() -> str:
    return "<stop>"


def pair_name(before: str, feature: str) -> str:
    """A label-bigram feature's name, joined with the previous label."""
    rest = feature[len(_BIGRAM_PREFIX) :] if feature.startswith(_BIGRAM_PREFIX) else feature
    return f"label[-1]={_escape(before)} & {rest}"


def extracted_name(feature: str) -> str:
    return f"extracted={_escape(feature)}"


def name_key(name: str, label: str, task: Task) -> int:
    """The key of a feature, from its name; a transition's key also has its label in it."""
    if name == start_name():
        return extend_key(hash_string("start"), hash_string(label))
    if name == stop_name():
        return extend_key(hash_string("stop"), hash_string(label))
    if name.startswith("extracted=") and task.features.extractor:
        return extracted_key(_unescape(name[len("extracted=") :]))
    history = task.features.history_templates  # then there are no transitions
    if history or not name.startswith("label[-1]="):
        template, values = parse_feature_name(name, [*task.features.unigram_templates, *history])
        return template_key(template, values)
    before, joined, feature = name[len("label[-1]=") :].partition(" & ")
    before_hash = hash_string(_unescape(before))
    if not joined:
        return extend_key(extend_key(hash_string("transition"), before_hash), hash_string(label))
    bigrams = task.features.bigram_templates
    plain = _BIGRAM_PREFIX + feature
    readable = plain if any(t.text.startswith(_BIGRAM_PREFIX) for t in bigrams) else feature
    template, values = parse_feature_name(readable, bigrams)
    return extend_key(template_key(template, values), before_hash)


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
        yield f"{start_name()}\t{labels[number]}\t0.0\n"


def parse_weights(lines: Iterable[str], source: str, task: Task) -> TextWeights:
    """Read weights by name; refuses a doubled or unreadable line with its number."""
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
        weight = _parse_weight(text)
        if weight is None:
            raise InputError(f"{text!r} is no weight; write a finite number", source, number)
        try:
            key = name_key(name, label, task)
        except UserError as error:
            raise InputError(str(error), source, number) from error
        if (key, label) in entries:
            raise InputError(f"the weight of {name!r} with {label} stands here a second time", source, number)
        entries[key, label] = weight
        names[key] = name
    if not entries:
        raise InputError("holds no weight", source)
    found = {label for _, label in entries}
    if not task.features.history_templates:
        found |= previous_labels(names.values())
    labels = task.labels(sorted(found))
    numbers = {label: number for number, label in enumerate(labels)}
    rows = from_entries(
        np.array([key for key, _ in entries], np.uint64),
        np.array([numbers[label] for _, label in entries], np.uint32),
        weight=np.array(list(entries.values()), np.float32),
    )
    return TextWeights(labels, rows, names)


def previous_labels(names: Iterable[str]) -> set[str]:
    """The labels that only occur as a previous one."""
    before = (name[len("label[-1]=") :].partition(" & ")[0] for name in names if name.startswith("label[-1]="))
    return {_unescape(text) for text in before}


def _parse_weight(text: str) -> Optional[np.float32]:
    try:
        with np.errstate(over="ignore"):
            weight = np.float32(float(text))
    except ValueError:
        return None
    return weight if np.isfinite(weight) else None
