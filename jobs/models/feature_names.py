"""The names of a model's features, found in the prepared corpus: a model only holds keys, which are hashes.

Names take time and memory, so they are made only when they are needed (inspect, export, report), and only for the keys
of the model.
"""

import gzip
from collections.abc import Iterator
from typing import Any, Optional

import numpy as np

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.encoding import Encoded
from perceptron_core.features.feature_set import extracted_key, template_key
from perceptron_core.features.templates import LABEL_COLUMN, Template, boundary_value, feature_name
from perceptron_core.kernels import KeyTable, compose_keys, hash_strings
from perceptron_core.shards.records import ShardReader
from perceptron_core.structures.sequence.model import pair_keys, transition_keys
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.text import extracted_name, pair_name, start_name, stop_name, transition_name
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
    names = structural_names(model)
    wanted = set(model.rows.keys.tolist()) - set(names)
    finder = _Finder(model, task, names, wanted)
    for shard in range(len(prepared.shards)):
        if not wanted:
            break
        finder.search(prepared.path(shard))
    return names


def structural_names(model: Model) -> dict[int, str]:
    """The names of the transitions, which need no corpus."""
    keys = transition_keys(model.labels)
    size = len(model.labels)
    names = {}
    for before in range(size):
        names.update(dict.fromkeys(keys[before].tolist(), transition_name(model.labels[before])))
    names.update(dict.fromkeys(keys[size].tolist(), start_name()))
    names.update(dict.fromkeys(keys[size + 1].tolist(), stop_name()))
    return names


class _Finder:
    def __init__(self, model: Model, task: Task, names: dict[int, str], wanted: set[int]) -> None:
        if task.fingerprint != Task(model.task).fingerprint:
            raise UserError("the prepared corpus was made for another task than the model's")
        self.model, self.task, self.names, self.wanted = model, task, names, wanted
        self.encoder = task.encoder()  # for its attribute functions
        for template in task.features.unigram_templates:
            if not template.parts:  # a constant, which even a text without words has
                self._name(template_key(template, ()), feature_name(template, ()))

    def search(self, path: str) -> None:
        reader = ShardReader(self.task.features, self.task.fingerprint, self.model.labels)
        types: list[list[str]] = [[] for _ in reader.tables]
        for kind, record in _records(path):
            encoded = reader.take(kind, record)
            if encoded is None:
                continue
            for column, new in zip(types, record["types"]):
                column.extend(new)
            for feature in record["types"][-1]:
                self._name(extracted_key(feature), extracted_name(feature))
            tables = [table.view() for table in reader.tables]
            wanted = np.sort(np.fromiter(self.wanted, np.uint64, len(self.wanted)))
            if not self._occur(wanted, encoded, tables):
                continue
            for template in self.task.features.templates:
                self._search_template(template, encoded, tables, types, wanted)
        reader.finish()

    def _occur(self, wanted: np.ndarray, encoded: Encoded, tables: list[Any]) -> bool:
        """Whether any of the keys is in the block. This is much quicker than to search in vain for where it is."""
        features = self.task.features
        unigrams, others = features.unigrams, [*features.bigram_templates, *features.history_templates]
        if not len(wanted) or others or not len(unigrams.seeds):
            return bool(len(wanted) and others)
        asked = KeyTable()
        asked.intern(wanted)
        keys = compose_keys(unigrams, encoded.words(), encoded.ids, tables)[1]
        return bool((asked.find(keys) >= 0).any())

    def _search_template(
        self, template: Template, encoded: Encoded, tables: list[Any], types: list[list[str]], wanted: np.ndarray
    ) -> None:
        program = self.task.features.program([template])
        label_table = hash_strings(self.model.labels)
        ids, all_tables = [*encoded.ids, encoded.labels], [*tables[:-1], label_table]  # the last is an extractor's
        starts, keys = compose_keys(program, encoded.words(), ids, all_tables)
        tokens = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        if not template.bigram:  # a bigram's key and a label make a key of the model
            asked = wanted[np.searchsorted(wanted[:-1], keys)] == keys
            keys, tokens = keys[asked], tokens[asked]
        keys, first = np.unique(keys, return_index=True)
        for key, token in zip(keys.tolist(), tokens[first].tolist()):
            if template.bigram:
                found = pair_keys(np.array([key], np.uint64), self.model.labels).tolist()
                if self.wanted.isdisjoint(found):
                    continue
                name = feature_name(template, self._values(template, encoded, types, token))
                for label, pair_key in zip(self.model.labels, found):
                    self._name(pair_key, pair_name(label, name))
            elif key in self.wanted:
                self._name(key, feature_name(template, self._values(template, encoded, types, token)))

    def _name(self, key: int, name: str) -> None:
        if key in self.wanted:
            self.wanted.discard(key)
            self.names[key] = name

    def _values(self, template: Template, encoded: Encoded, types: list[list[str]], token: int) -> list[str]:
        lengths = encoded.words()
        ends = np.cumsum(lengths)
        end = int(ends[np.searchsorted(ends, token, side="right")])
        begin = end - int(lengths[np.searchsorted(ends, token, side="right")])
        values = []
        for part in template.parts:
            at = token + part.offset
            if at < begin:
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


def _records(path: str) -> Iterator[tuple[str, Any]]:
    for line in _gunzip(path).split(b"\n"):
        if line:
            yield decode_line(line)


def _gunzip(path: str) -> bytes:
    try:
        with open_file(path) as packed, gzip.open(packed) as file:
            return file.read()
    except (OSError, EOFError) as error:
        raise DamagedRecord(f"{path}: cannot be read ({error}); prepare the corpus again") from error
