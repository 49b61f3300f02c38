"""A task: what the corpus looks like, which column is predicted from which features, and which metric scores it.

It is made from its record, which is kept in models and runs, or which task_file.py reads from YAML. The record is
self-contained: it holds the CRF++ template and the lookup files, parsed. Only a user's Python file is not in a model:
the record has its name and its checksum. Code is never loaded because a record names it: whoever wants features made
gives the file's path, and it must have that checksum.
"""

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Optional, Union

from perceptron_core.corpus import Format, Labels, Opener, Piece, Sentence, make_format, open_local, read_sentences
from perceptron_core.corpus.label_encodings import convert
from perceptron_core.corpus.sentence import Targets
from perceptron_core.errors import InputError, UserError
from perceptron_core.features.attributes import Attribute, AttributeSet
from perceptron_core.features.encoding import Encoder, Layout
from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.features.templates import BARE, LABEL_COLUMN, Part, Template, check_number, literals
from perceptron_core.features.user_code import Extractor, checked_attribute, checked_extractor, load_functions
from perceptron_core.limits import limits, raise_by
from perceptron_core.registry import DECODERS
from perceptron_core.shards.records import ShardReader
from perceptron_core.structures import KINDS, structure_of
from perceptron_core.structures.base import Structure

RECORD = "the task's record"  # names it in errors


class Task:
    """A task, from its record, which is as perceptron_core/task_record.py says."""

    def __init__(self, record: dict[str, Any], python_path: Optional[str] = None) -> None:
        self.record = record
        self.python_path = python_path  # the Python file that the user named, in the task file or by --python
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
        )
        self._structures: dict[str, Structure] = {}
        self._check_templates()

    def _check_templates(self) -> None:
        """Refuse templates that the format or the structure cannot have; those of a task file are checked already."""
        structure, known = KINDS[self.kind], {*self.format.inputs, LABEL_COLUMN}
        check_number(self.features.templates, RECORD)
        for template in self.features.templates:
            for part in template.parts:
                is_label = part.column == LABEL_COLUMN
                of_structure = part.anchor == BARE and part.column in structure.values
                if not of_structure and (part.column not in known or part.anchor not in (structure.anchors or ("",))):
                    raise InputError(f"the template `{template.text}` has an unknown column or anchor", RECORD)
                if is_label and (part.offset >= 0 or part.attribute != "identity" or template.bigram):
                    raise InputError(f"the template `{template.text}` has a label that is not before its token", RECORD)
            if len(literals(template)) != len(template.parts) + 1:
                raise InputError(f"the template `{template.text}` has {len(template.parts)} parts", RECORD)
        structure.check_templates(self.features.templates, RECORD)

    @property
    def kind(self) -> str:
        """What is predicted; the format decides it."""
        return self.format.kind

    @property
    def called(self) -> str:
        """What its corpus consists of, in messages: sentences, instances."""
        return KINDS[self.kind].called

    @property
    def layout(self) -> Layout:
        """How its sentences become numbers; the same for every decoder."""
        return KINDS[self.kind].layout

    def structure(self, decoder: str) -> Structure:
        """What is predicted, with this decoder."""
        if decoder not in self._structures:
            self._structures[decoder] = structure_of(self.kind, self.features, self.record, decoder)
        return self._structures[decoder]

    def structures(self) -> list[Structure]:
        """Its structures with all decoders."""
        found = {type(self.structure(decoder)): self.structure(decoder) for decoder in DECODERS}
        return list(found.values())

    def for_decoder(self, decoder: str) -> "Task":
        """The same task; what the decoder decides is in its record."""
        return Task({**self.record, **self.structure(decoder).scored()}, self.python_path)

    def portable(self) -> dict[str, Any]:
        """The record without the options, which belong to the run and may hold paths."""
        return {name: value for name, value in self.record.items() if name != "options"}

    @property
    def fingerprint(self) -> str:
        """A checksum of all that decides what a prepared shard holds."""
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
        """The labels in the order that decides ties: that of the task, or sorted; after those of the structure."""
        self._check_labels(found)
        fixed, own = self.record["labels"], KINDS[self.kind].own_labels
        if fixed is None:
            return [*own, *sorted(set(found) - set(own))]
        unknown = sorted(set(found) - set(fixed))
        if unknown:
            raise UserError(
                f"the corpus has labels that the task does not list: {', '.join(unknown)}; "
                "add them to `labels` in the task file, or remove the list"
            )
        return list(fixed)

    def read(
        self,
        source: Union[str, Piece],
        labels: Labels,
        keep_text: bool = False,
        fmt: Optional[Format] = None,
        opener: Opener = open_local,
    ) -> Iterator[Sentence]:
        """The sentences of a file or a piece of one, with their labels in the encoding that is trained. Optional labels
        stay as they are, since prediction does not use them."""
        sentences = read_sentences(source, fmt or self.format, keep_text, labels, opener)
        if labels == "optional":
            return sentences
        return self._trained_encoding(sentences, source.path if isinstance(source, Piece) else source)

    def _trained_encoding(self, sentences: Iterator[Sentence], path: str) -> Iterator[Sentence]:
        given, trained = self.encoding["input"], self.encoding["train"]
        known: set[str] = set()
        for sentence in sentences:
            if sentence.targets is None:
                yield sentence
                continue
            try:
                if not known.issuperset(sentence.targets[-1]):
                    self._check_labels(set(sentence.targets[-1]) - known, len(known))
                    known.update(sentence.targets[-1])
                if given != trained:
                    sentence = sentence._replace(targets=(convert(sentence.targets[0], given, trained),))
            except UserError as error:
                raise InputError(str(error), path, sentence.line) from error
            yield sentence

    def _check_labels(self, found: Collection[str], known: int = 0) -> None:
        """Refuse labels that could not be written, and too many of them; `known` were found before."""
        self.format.check_labels(found)
        if known + len(found) > limits().labels:
            raise UserError(
                f"there are more than {limits().labels:,} different labels; is {self.record['predict']} the column to "
                f"predict? Otherwise {raise_by('labels')}"
            )

    def as_output(self, targets: Targets) -> Targets:
        """Predicted columns (labels in the encoding that was trained) in the encoding of the output."""
        source, target = self.encoding["train"], self.encoding["output"]
        return targets if source == target else (convert(targets[0], source, target),)

    def as_counted(self, targets: Targets) -> Targets:
        """Predicted columns as the metric takes them: conlleval's rules do not know IOBES."""
        if self.record["metric"] != "spans" or self.encoding["train"] != "iobes":
            return targets
        return (convert(targets[0], "iobes", "iob2"),)

    def shard_reader(self, labels: Sequence[str]) -> ShardReader:
        """Reads the shards of this task; their labels become numbers in this order."""
        return ShardReader(self.features, self.layout, self.fingerprint, labels)

    def encoder(self) -> Encoder:
        """What turns sentences into numbers; loads the user's Python file if the features need it."""
        functions: dict[str, Attribute] = {}
        extractor: Optional[Extractor] = None
        python = self.find_python()
        if python:
            functions, extractor = user_functions(python, self.record["extractor"])
        attributes = AttributeSet(self.record["lookups"], functions)
        return Encoder(self.features, attributes.get, self.layout, extractor)

    def find_python(self) -> Optional[str]:
        """The user's Python file, if the features need one; refuses one that was not named, or is not the same."""
        named = self.record["python"]
        if not named:
            return None
        needed = f"the Python file {named['file']} (sha256 {named['sha256']})"
        if self.python_path is None:
            raise UserError(
                f"the features need {needed}; read it, since it will be run, and give its path: --python FILE"
            )
        if not os.path.isfile(self.python_path):
            raise InputError(f"there is no such file; the features need {needed}: --python FILE", self.python_path)
        if checksum(self.python_path) != named["sha256"]:
            raise InputError(
                f"is not the file that the features were made with, which is {needed}; give that one: --python FILE",
                self.python_path,
            )
        return self.python_path


def checksum(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def user_functions(path: str, extractor: Optional[str]) -> tuple[dict[str, Attribute], Optional[Extractor]]:
    """The user's attributes by name, and the extractor."""
    functions = load_functions(path)
    if extractor is None:
        return {name: checked_attribute(name, f, path) for name, f in functions.items()}, None
    if extractor not in functions:
        raise InputError(
            f"there is no function {extractor}; the file has {', '.join(sorted(functions)) or 'none'}", path
        )
    attributes = {name: checked_attribute(name, f, path) for name, f in functions.items() if name != extractor}
    return attributes, checked_extractor(extractor, functions[extractor], path)
