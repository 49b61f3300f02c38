"""The names of a model's features, found in the prepared corpus: a model only holds keys, which are hashes.

Names take time and memory, so they are made only when they are needed (inspect, export, report), and only for the keys
of the model.
"""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Optional

import numpy as np

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import TypeTables
from perceptron_core.features.feature_set import extracted_key, template_key
from perceptron_core.features.keys import joined_keys
from perceptron_core.features.templates import LABEL_COLUMN, Template, boundary_value, feature_name
from perceptron_core.kernels import KeyTable, compose_keys
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.text import before_name, extracted_name
from perceptron_core.wire import DamagedRecord, decode_line
from perceptron_jobs.corpora.prepared import Prepared, read_prepared
from perceptron_jobs.storage import open_file, parent, storage_of
from perceptron_jobs.training.run_dir import RunDir


def prepared_of(model_path: str, given: Optional[str]) -> Prepared:
    """The prepared corpus that a model was trained on: as given, or as its run directory says."""
    if given:
        return read_prepared(given)
    is_run = storage_of(model_path).is_folder(model_path)
    found = RunDir(model_path if is_run else parent(model_path)).prepared_folder()
    if found is None:
        raise InputError(
            "holds no feature names, and the prepared corpus it was trained on is not beside it; give the run "
            "directory, or --prepared DIR",
            model_path,
        )
    return read_prepared(found)


def find_names(model: Model, task: Task, prepared: Prepared) -> dict[int, str]:
    """Feature names by key, for those of the model's keys that occur in the corpus."""
    structure = task.structure(model.settings["decoder"])
    names = structure.fixed_names(model.labels)
    wanted = set(model.rows.keys.tolist()) - set(names)
    finder = _Finder(model, task, names, wanted)
    for shard in range(len(prepared.shards)):
        if not wanted:
            break
        finder.search(prepared.path(shard))
    return names


class _Finder:
    def __init__(self, model: Model, task: Task, names: dict[int, str], wanted: set[int]) -> None:
        if task.fingerprint != Task(model.task).fingerprint:
            raise UserError("the prepared corpus was made for another task than the model's")
        self.model, self.task, self.names, self.wanted = model, task, names, wanted
        self.structure = task.structure(model.settings["decoder"])
        self.encoder = task.encoder()  # for its attribute functions
        for template in task.features.templates:
            if not template.parts and not template.bigram:  # a constant, which even a text without words has
                self._name(template_key(template, ()), feature_name(template, ()))

    def search(self, path: str) -> None:
        reader = self.task.shard_reader(self.model.labels)
        types: list[list[str]] = [[] for _ in (*self.task.features.columns, "extractor")]
        for kind, record in _records(path):
            encoded = reader.take(kind, record)
            if encoded is None:
                continue
            for column, new in zip(types, record["types"]):
                column.extend(new)
            for feature in record["types"][-1]:
                self._name(extracted_key(feature), extracted_name(feature))
            wanted = np.sort(np.fromiter(self.wanted, np.uint64, len(self.wanted)))
            if not self._occur(wanted, encoded, reader.tables(), reader.label_hashes):
                continue
            for template in self.task.features.templates:
                keys, tokens = self._sites(template, encoded, reader.tables(), reader.label_hashes)
                self._search(template, keys, tokens, wanted, lambda t, at, e=encoded: self._values(t, e, types, at))
        reader.finish()

    def _occur(self, wanted: np.ndarray, encoded: Encoded, tables: TypeTables, label_hashes: np.ndarray) -> bool:
        """Whether any of the keys is in the block. This is much quicker than to search in vain for where it is."""
        if not len(wanted) or any(map(self.structure.label_offsets, self.task.features.templates)):
            return bool(len(wanted))
        asked = KeyTable()
        asked.intern(wanted)
        return bool((asked.find(self.structure.keys(encoded, tables, label_hashes).keys) >= 0).any())

    def _sites(
        self, template: Template, encoded: Encoded, tables: TypeTables, label_hashes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The template's keys in the block, each once, and a word where it is found."""
        program = self.structure.program(template)
        ids, all_tables = [*encoded.ids, encoded.labels], [*tables.columns, label_hashes]
        starts, keys = compose_keys(program, encoded.words(), ids, all_tables)
        tokens = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        keys, first = np.unique(keys, return_index=True)
        return keys, tokens[first]

    def _search(
        self, template: Template, keys: np.ndarray, tokens: np.ndarray, wanted: np.ndarray, values: Any
    ) -> None:
        """Name those of the keys that are wanted, joined with all labels that may join them."""
        offsets = self.structure.label_offsets(template)
        joined = joined_keys(keys, self.model.labels, len(offsets))
        each = len(self.model.labels) ** len(offsets)
        for at in np.flatnonzero(wanted[np.searchsorted(wanted[:-1], joined)] == joined).tolist():
            labels = [self.model.labels[i] for i in _digits(at % each, len(self.model.labels), len(offsets))]
            text = values(template, int(tokens[at // each]))
            self._name(int(joined[at]), self._named(template, text, dict(zip(offsets, labels))))

    def _named(self, template: Template, values: Sequence[Optional[str]], labels: dict[int, str]) -> str:
        if template.bigram:
            return before_name(labels[-1], feature_name(template, [v for v in values if v is not None]))
        filled = [labels[part.offset] if v is None else v for part, v in zip(template.parts, values)]
        return feature_name(template, filled)

    def _name(self, key: int, name: str) -> None:
        if key in self.wanted:
            self.wanted.discard(key)
            self.names[key] = name

    def _values(self, template: Template, encoded: Encoded, types: list[list[str]], token: int) -> list[Optional[str]]:
        """The values of the template's parts at a word; None for a label that the search decides."""
        lengths = encoded.words()
        ends = np.cumsum(lengths)
        end = int(ends[np.searchsorted(ends, token, side="right")])
        begin = end - int(lengths[np.searchsorted(ends, token, side="right")])
        decided = () if template.bigram else self.structure.label_offsets(template)
        values: list[Optional[str]] = []
        for part in template.parts:
            at = token + part.offset
            if part.column == LABEL_COLUMN and part.offset in decided:
                values.append(None)
            elif at < begin:
                values.append(boundary_value(template.style, at - begin))
            elif at >= end:
                values.append(boundary_value(template.style, at - end + 1))
            elif part.column == LABEL_COLUMN:
                values.append(self.model.labels[int(encoded.labels[at])])
            else:
                column = self.task.features.columns.index(part.column)
                attribute = self.encoder.attribute(column, part.attribute)
                value = attribute(types[column][int(encoded.ids[column][at])])
                assert value is not None, "a feature without a value does not fire"
                values.append(value)
        return values


def _digits(number: int, base: int, count: int) -> list[int]:
    """A number as `count` digits, the highest first."""
    digits = []
    for _ in range(count):
        number, digit = divmod(number, base)
        digits.append(digit)
    return digits[::-1]


def _records(path: str) -> Iterator[tuple[str, Any]]:
    try:
        with open_file(path) as packed, gzip.open(packed) as lines:
            yield from map(decode_line, lines)
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedRecord(f"{path}: cannot be read ({error}); prepare the corpus again") from error
