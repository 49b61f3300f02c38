"""Task files: reads and checks the YAML that users write; the files that it names are read into the task's record."""

import os
from typing import Any

from perceptron_core.corpus import Format, make_format
from perceptron_core.corpus.instances import NUMBER
from perceptron_core.corpus.label_encodings import AS_IS
from perceptron_core.errors import InputError, UserError
from perceptron_core.features.attributes import Attribute, AttributeSet, did_you_mean, read_lookup
from perceptron_core.features.crfpp import parse_crfpp
from perceptron_core.features.feature_set import has_no_label
from perceptron_core.features.templates import Template
from perceptron_core.registry import ENCODINGS, LABEL_METRICS, TREE, TREE_METRICS
from perceptron_core.schema import dict_of, fault
from perceptron_core.structures import KINDS
from perceptron_core.structures.base import Structure, refuse_keys
from perceptron_core.task import Task, checksum, user_functions
from perceptron_core.task_record import TASK, format_option
from perceptron_core.text_file import parse_yaml, read_text

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
EXTENDS = "extends"  # names a task file in the same folder
KEYS = [*DEFAULTS, EXTENDS, *(key for structure in KINDS.values() for key in structure.own_keys)]


def read_task(path: str) -> Task:
    """The task of a YAML file; the files that it names are looked for in its folder."""
    given = _read_keys(path)
    record = {**DEFAULTS, **given}
    kind = record.pop("kind")  # the record keeps only the format, which decides it
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"unknown kind {kind!r}; choose one of {', '.join(KINDS)}", path)
    structure = KINDS[kind]
    for other in KINDS.values():
        if other is not structure:
            refuse_keys(list(other.own_keys), given, f"is for the kind {other.kind}, not for {kind}", path)
    defaults = {**structure.own_keys, **structure.defaults(given, path)}
    record.update({key: value for key, value in defaults.items() if key not in given})
    for key in ("columns", "predict"):
        if not record[key]:
            raise InputError(f"`{key}` is missing; say which columns there are and which one is predicted", path)
    _check_kinds(record, path)
    structure.fold_keys(record, path)
    folder = os.path.dirname(path)
    python_path = os.path.join(folder, record["python"]) if record["python"] else None
    metrics = TREE_METRICS if kind == TREE else LABEL_METRICS
    if record["metric"] not in metrics:
        raise InputError(
            f"unknown metric {record['metric']!r} of the kind {kind}; choose one of {', '.join(metrics)}", path
        )
    record["encoding"] = _read_encoding(record["encoding"], path)
    if record["legal_transitions"] and record["encoding"]["train"] == AS_IS:
        raise InputError("`legal_transitions` needs the `encoding` of the labels; set it to iob1, iob2 or iobes", path)
    record["lookups"] = {
        name: read_lookup(read_text(os.path.join(folder, file), path), os.path.join(folder, file))
        for name, file in record["lookups"].items()
    }
    try:
        fmt = make_format(record["format"], record["columns"], record["predict"], **record["format_options"])
    except UserError as error:
        raise InputError(str(error), path) from error
    if fmt.kind != kind:
        raise InputError(f"the format {record['format']} is for the kind {fmt.kind}; write `kind: {fmt.kind}`", path)
    functions: dict[str, Attribute] = {}
    if python_path:
        functions, _ = user_functions(python_path, record["extractor"])
        record["python"] = {"file": os.path.basename(python_path), "sha256": checksum(python_path)}
    elif record["extractor"]:
        raise InputError("`extractor` names a function; name the file that it is in under `python`", path)
    templates = _read_templates(record, structure, fmt, AttributeSet(record["lookups"], functions), path)
    if not templates and not record["extractor"]:
        raise InputError("there are no features; list templates under `features`", path)
    record["templates"] = [[t.text, [part.record() for part in t.parts], t.bigram, t.style] for t in templates]
    problem = fault(record, TASK)
    if problem:
        raise InputError(f"{problem}; correct the file", path)
    return Task(record, python_path)


def _read_keys(path: str) -> dict[str, Any]:
    """What the file says; if it extends another, with what that file says where this one is silent. Features and
    options are added to those of the other file."""
    given = _read_known(path)
    other = given.pop(EXTENDS, None)
    if other is None:
        return given
    if not isinstance(other, str) or os.path.dirname(other):
        raise InputError(f"`{EXTENDS}` is {other!r}, but must name a task file in the same folder", path)
    first = _read_known(os.path.join(os.path.dirname(path), other))
    if EXTENDS in first:
        raise InputError(f"`{EXTENDS}` names {other}, which extends another file; name that file instead", path)
    both = {**first, **given}
    if isinstance(first.get("features"), list) and isinstance(given.get("features"), list):
        both["features"] = [*first["features"], *given["features"]]
    if isinstance(first.get("options"), dict) and isinstance(given.get("options"), dict):
        both["options"] = {**first["options"], **given["options"]}
    return both


def _read_known(path: str) -> dict[str, Any]:
    """The keys of one file that have a value."""
    given = _read_yaml(path)
    for key in given:
        if key not in KEYS:
            hint = did_you_mean(str(key), KEYS)
            raise InputError(f"unknown key `{key}`{hint}; a task has {', '.join(KEYS)}", path)
    return {key: value for key, value in given.items() if value is not None}


def _read_templates(
    record: dict[str, Any], structure: type[Structure], fmt: Format, attributes: AttributeSet, path: str
) -> list[Template]:
    """The parsed templates; also sets `transitions` and adds the bias, where the templates decide that."""
    inputs = [name for name in fmt.inputs if name != NUMBER or not structure.layout.texts]
    templates: list[Template] = []
    crfpp = record.pop("crfpp")
    texts = list(record.pop("features"))
    if crfpp:
        file = os.path.join(os.path.dirname(path), crfpp)
        templates, wants_transitions = parse_crfpp(read_text(file, path), file, inputs)
        if record["transitions"] is None:
            record["transitions"] = wants_transitions
    elif record["bias"] and "bias" not in texts:
        texts.append("bias")
    if not inputs and set(texts) - {"bias"}:
        raise InputError("the input has only numbers and no text; leave out `features`", path)
    templates += structure.read_templates(record, texts, inputs, attributes, path)
    if record["transitions"] is None and all(map(has_no_label, templates)):
        record["transitions"] = True  # otherwise the decoder decides
    structure.check_templates(templates, path)
    return templates + structure.more_templates(fmt.inputs)


def _read_encoding(given: Any, path: str) -> dict[str, str]:
    if isinstance(given, str):
        given = {"input": given}
    if not isinstance(given, dict) or set(given) - {"input", "train", "output"}:
        raise InputError("`encoding` must be a name, or have the keys input, train and output", path)
    source = given.get("input", "as-is")
    trained = given.get("train", source)
    encoding = {"input": source, "train": trained, "output": given.get("output", trained)}
    for name in encoding.values():
        if name not in ENCODINGS:
            raise InputError(f"unknown encoding {name!r}; choose one of {', '.join(ENCODINGS)}", path)
    return encoding


def _check_kinds(record: dict[str, Any], path: str) -> None:
    """Refuse a value of the wrong type here, where the message can name its key."""
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
            raise InputError(f"`{key}` is {record[key]!r}, but must be of the type {names}", path)
    texts = {key: list(record[key] or ()) for key in ("columns", "features", "labels", "format_options", "options")}
    texts["lookups"] = [text for item in record["lookups"].items() for text in item]
    for key, values in texts.items():
        for value in values:
            if not isinstance(value, str):
                raise InputError(f"`{key}` holds {value!r}, which is not a string; put it in quotes", path)
    labels = record["labels"]
    if labels and len(set(labels)) != len(labels):
        raise InputError("`labels` names a label twice; remove one", path)
    problem = fault(record["format_options"], dict_of(format_option))
    if problem:
        raise InputError(f"in `format_options`, {problem}; correct it", path)


def _read_yaml(path: str) -> dict[str, Any]:
    content = parse_yaml(read_text(path), path)
    if not isinstance(content, dict):
        raise InputError("a task file must consist of `key: value` lines", path)
    return content
