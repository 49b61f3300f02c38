"""A task: what the corpus looks like, which column is predicted, from which features, judged by which metric.

Read from a YAML file, or from the record that a model or a run carries. The record is self-contained: the CRF++
template and the lookup files stand in it, parsed. Only a user's Python file does not travel with a model, because
nothing is ever executed from data: it is named there, with its checksum, and looked for when features are made.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, Optional, Union

import numpy as np
import yaml

from perceptron_core.corpus import (
    CLASSIFICATION,
    Format,
    Labels,
    Opener,
    Piece,
    Sentence,
    make_format,
    open_local,
    read_sentences,
)
from perceptron_core.corpus.instances import NUMBER
from perceptron_core.corpus.label_encodings import AS_IS, ENCODINGS, convert, legal_transitions
from perceptron_core.errors import InputError, UserError
from perceptron_core.evaluation.metrics import METRICS
from perceptron_core.features.attributes import Attribute, AttributeSet, did_you_mean, read_lookup
from perceptron_core.features.crfpp import parse_crfpp
from perceptron_core.features.encoding import Encoder
from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.features.templates import LABEL_COLUMN, Part, Template, parse_templates
from perceptron_core.features.user_code import Extractor, checked_attribute, checked_extractor, load_functions
from perceptron_core.structures.classification import classification

DEFAULTS: dict[str, Any] = {
    "kind": "sequence",
    "format": "columns",
    "format_options": {},
    "columns": None,
    "predict": None,
    "encoding": {},
    "labels": None,
    "features": [],
    "crfpp": None,
    "extractor": None,
    "python": None,
    "lookups": {},
    "transitions": None,
    "start_stop": True,
    "bias": True,
    "legal_transitions": False,
    "metric": "accuracy",
    "options": {},
}


class Task:
    """A task, from its record."""

    def __init__(self, record: dict[str, Any], python_path: Optional[str] = None) -> None:
        self.record = record
        self.python_path = python_path  # where the user's Python file was found
        self.format: Format = make_format(
            record["format"], record["columns"], record["predict"], **record["format_options"]
        )
        self.encoding: dict[str, str] = record["encoding"]
        self.features = FeatureSet(
            [
                Template(text, tuple(Part(*part) for part in parts), bigram, style)
                for text, parts, bigram, style in record["templates"]
            ],
            self.format.inputs,
            record["extractor"],
            pooled=self.classifies,
        )

    @property
    def classifies(self) -> bool:
        """Whether it gives one label to an instance, not one to every token; the format knows."""
        return self.format.kind == CLASSIFICATION

    def labelled(self, sentence: Sentence) -> Sequence[str]:
        """What the labels are of, to show it: the words, or the text."""
        return [classification.shown(sentence)] if self.classifies else sentence.columns[0]

    @property
    def fingerprint(self) -> str:
        """Of all that decides what a prepared shard holds."""
        deciding = (
            "columns",
            "predict",
            "format",
            "format_options",
            "encoding",
            "templates",
            "extractor",
            "lookups",
        )
        content = {name: self.record[name] for name in (*deciding, "python")}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def labels(self, found: Sequence[str]) -> list[str]:
        """The labels in the order that decides ties: the task's own, or sorted."""
        fixed = self.record["labels"]
        if fixed is None:
            return sorted(found)
        unknown = sorted(set(found) - set(fixed))
        if unknown:
            raise UserError(
                f"the corpus has labels that the task does not list: {', '.join(unknown)}; "
                "add them to `labels` in the task file, or remove the list"
            )
        return list(fixed)

    def allowed_transitions(self, labels: Sequence[str]) -> np.ndarray:
        """(L+2) × L: from label to label, from the start, to the end; all, unless the task wants legal ones."""
        if not self.record["legal_transitions"]:
            return np.ones((len(labels) + 2, len(labels)), np.uint8)
        start, pair, stop = legal_transitions(labels, self.encoding["train"])
        return np.concatenate([pair, start[None, :], stop[None, :]]).astype(np.uint8)

    def read(
        self,
        source: Union[str, Piece],
        labels: Labels,
        keep_text: bool = False,
        fmt: Optional[Format] = None,
        opener: Opener = open_local,
    ) -> Iterator[Sentence]:
        """The sentences of a file or a piece of one, their labels in the encoding that is trained; as they are where
        they are optional, since whoever only predicts has no use for them."""
        sentences = read_sentences(source, fmt or self.format, keep_text, labels, opener)
        return sentences if labels == "optional" else self._trained_encoding(sentences, source)

    def _trained_encoding(self, sentences: Iterator[Sentence], source: Union[str, Piece]) -> Iterator[Sentence]:
        given, trained = self.encoding["input"], self.encoding["train"]
        for sentence in sentences:
            if given == trained or sentence.labels is None:
                yield sentence
                continue
            try:
                yield sentence._replace(labels=convert(sentence.labels, given, trained))
            except UserError as error:
                path = source.path if isinstance(source, Piece) else source
                raise InputError(str(error), path, sentence.line) from error

    def as_output(self, labels: Sequence[str]) -> Sequence[str]:
        """Labels of the trained encoding, as the user wants to see them."""
        source, target = self.encoding["train"], self.encoding["output"]
        return labels if source == target else convert(labels, source, target)

    def as_counted(self, labels: Sequence[str]) -> Sequence[str]:
        """Labels of the trained encoding, as the metric takes them: conlleval's rules do not know IOBES."""
        if self.record["metric"] != "spans" or self.encoding["train"] != "iobes":
            return labels
        return convert(labels, "iobes", "iob2")

    def encoder(self) -> Encoder:
        """Turns sentences into numbers; loads the user's Python file if the features need it."""
        functions: dict[str, Attribute] = {}
        extractor: Optional[Extractor] = None
        python = self.find_python()
        if python:
            functions, extractor = _user_functions(python, self.record["extractor"])
        attributes = AttributeSet(self.record["lookups"], functions)
        return Encoder(self.features, attributes.get, extractor)

    def find_python(self) -> Optional[str]:
        """The user's Python file, if the features need one; refuses one that is not there, or not the same."""
        named = self.record["python"]
        if not named:
            return None
        path = self.python_path or named["file"]
        if not os.path.isfile(path):
            raise UserError(
                f"the features need the Python file {named['file']}, which is not here; "
                f"run in its folder, or name it by --python {named['file']}"
            )
        if _checksum(path) != named["sha256"]:
            raise UserError(f"{path} is not the file that the features were made with (its contents have changed)")
        return path


def _checksum(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _user_functions(path: str, extractor: Optional[str]) -> tuple[dict[str, Attribute], Optional[Extractor]]:
    """The user's attributes by name, and the extractor."""
    functions = load_functions(path)
    if extractor is None:
        return {name: checked_attribute(name, f, path) for name, f in functions.items()}, None
    if extractor not in functions:
        raise InputError(f"there is no function {extractor}; it has {', '.join(sorted(functions)) or 'none'}", path)
    attributes = {name: checked_attribute(name, f, path) for name, f in functions.items() if name != extractor}
    return attributes, checked_extractor(extractor, functions[extractor], path)


# ---------------------------------------------------------------- from a YAML file


def read_task(path: str) -> Task:
    """The task of a YAML file; files that it names are relative to it."""
    given = _read_yaml(path)
    for key in given:
        if key not in DEFAULTS:
            hint = did_you_mean(str(key), list(DEFAULTS))
            raise InputError(f"unknown key `{key}`{hint}; a task has {', '.join(DEFAULTS)}", path)
    given = {key: value for key, value in given.items() if value is not None}
    record = {**DEFAULTS, **given}
    kind = record.pop("kind")  # the format tells it, too, and stays in the record
    if kind not in classification.KINDS:
        raise InputError(f"unknown kind {kind!r}; choose one of {', '.join(classification.KINDS)}", path)
    if kind == CLASSIFICATION:
        record.update({key: value for key, value in classification.defaults(given, path).items() if key not in given})
    for key in ("columns", "predict"):
        if not record[key]:
            raise InputError(f"`{key}` is missing; say which columns there are and which one is predicted", path)
    _check_kinds(record, path)
    folder = os.path.dirname(path)
    python_path = os.path.join(folder, record["python"]) if record["python"] else None
    if record["metric"] not in METRICS:
        raise InputError(f"unknown metric {record['metric']!r}; choose one of {', '.join(METRICS)}", path)
    record["encoding"] = _read_encoding(record["encoding"], path)
    if record["legal_transitions"] and record["encoding"]["train"] == AS_IS:
        raise InputError("`legal_transitions` needs to know the labels' `encoding`: iob1, iob2 or iobes", path)
    record["lookups"] = {
        name: read_lookup(_read_text(os.path.join(folder, file), path), os.path.join(folder, file))
        for name, file in record["lookups"].items()
    }
    try:
        fmt = make_format(record["format"], record["columns"], record["predict"], **record["format_options"])
    except UserError as error:
        raise InputError(str(error), path) from error
    if fmt.kind != kind:
        raise InputError(f"the format {record['format']} is of the kind {fmt.kind}; say `kind: {fmt.kind}`", path)
    functions: dict[str, Attribute] = {}
    if python_path:
        functions, _ = _user_functions(python_path, record["extractor"])
        record["python"] = {"file": os.path.basename(python_path), "sha256": _checksum(python_path)}
    elif record["extractor"]:
        raise InputError("`extractor` names a function; say by `python` which file it is in", path)
    record["templates"] = _read_templates(record, fmt, AttributeSet(record["lookups"], functions), path)
    return Task(record, python_path)


def _read_templates(record: dict[str, Any], fmt: Format, attributes: AttributeSet, path: str) -> list[Any]:
    """The parsed templates; also settles `transitions` and `bias`, which they may decide."""
    inputs = [name for name in fmt.inputs if fmt.kind != CLASSIFICATION or name != NUMBER]
    templates: list[Template] = []
    crfpp = record.pop("crfpp")
    texts = list(record.pop("features"))
    if crfpp:
        file = os.path.join(os.path.dirname(path), crfpp)
        templates, wants_transitions = parse_crfpp(_read_text(file, path), file, inputs)
        if record["transitions"] is None:
            record["transitions"] = wants_transitions
    elif record["bias"] and "bias" not in texts:
        texts.append("bias")
    if not inputs and set(texts) - {"bias"}:
        raise InputError("there are numbers alone and no text; leave out `features`", path)
    templates += parse_templates(texts, inputs, attributes, path)
    history = [t.text for t in templates if any(part.column == LABEL_COLUMN for part in t.parts)]
    if history and (record["transitions"] or record["legal_transitions"]):
        raise InputError(
            f"`{history[0]}` makes every token an instance of its own, without transitions; remove `transitions` and "
            "`legal_transitions`, or the template",
            path,
        )
    if history:
        record["start_stop"] = False
    if record["transitions"] is None:
        record["transitions"] = not history
    if fmt.kind == CLASSIFICATION:
        classification.check_templates(templates, path)
        templates += [classification.NUMBERS] if NUMBER in fmt.inputs else []
    if not templates and not record["extractor"]:
        raise InputError("there are no features; list templates under `features`", path)
    return [[t.text, [list(part) for part in t.parts], t.bigram, t.style] for t in templates]


def _read_encoding(given: Any, path: str) -> dict[str, str]:
    if isinstance(given, str):
        given = {"input": given}
    if not isinstance(given, dict) or set(given) - {"input", "train", "output"}:
        raise InputError("`encoding` is a name, or has the keys input, train and output", path)
    source = given.get("input", "as-is")
    trained = given.get("train", source)
    encoding = {"input": source, "train": trained, "output": given.get("output", trained)}
    for name in encoding.values():
        if name not in ENCODINGS:
            raise InputError(f"unknown encoding {name!r}; choose one of {', '.join(ENCODINGS)}", path)
    return encoding


def _check_kinds(record: dict[str, Any], path: str) -> None:
    """Refuse a value of the wrong kind before it becomes a riddle further on."""
    kinds: dict[str, Any] = {
        **dict.fromkeys(("format", "predict", "metric"), str),
        **dict.fromkeys(("extractor", "python", "crfpp"), (str, type(None))),
        **dict.fromkeys(("columns", "features"), list),
        **dict.fromkeys(("format_options", "lookups", "options"), dict),
        **dict.fromkeys(("start_stop", "bias", "legal_transitions"), bool),
        "labels": (list, type(None)),
        "transitions": (bool, type(None)),
    }
    for key, kind in kinds.items():
        if not isinstance(record[key], kind):
            names = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
            raise InputError(f"`{key}` is {record[key]!r}, but must be of the kind {names}", path)
    texts = {key: list(record[key] or ()) for key in ("columns", "features", "labels", "format_options", "options")}
    texts["lookups"] = [text for item in record["lookups"].items() for text in item]
    for key, values in texts.items():
        for value in values:
            if not isinstance(value, str):
                raise InputError(f"`{key}` holds {value!r}, which is no text; put it in quotes", path)
    labels = record["labels"]
    if labels and len(set(labels)) != len(labels):
        raise InputError("`labels` names a label twice", path)


def _read_yaml(path: str) -> dict[str, Any]:
    try:
        content = yaml.safe_load(_read_text(path, None))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise InputError(f"this is no YAML: {problem}", path, line) from error
    if not isinstance(content, dict):
        raise InputError("a task file holds `key: value` lines", path)
    return content


def _read_text(path: str, named_in: Optional[str]) -> str:
    where = f" (named in {named_in})" if named_in else ""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}{where}", path) from error
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text{where}", path) from error
