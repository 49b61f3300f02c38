"""What a structure is, and what an engine is.

A **structure** is what is predicted: a sequence of labels, a class, a tree. It holds no weights and no learner. It says
how sentences become numbers and features, which searches there are, and how a guess is written.

An **engine** applies a structure to weights. The epoch, the held-out set, the predictor, experiments and benchmarks use
only engines. Learners never see a structure: an engine finds violated constraints and updates by them.

    engine = structure.engine(labels, settings, weights, memory)
    block  = engine.take(encoded, tables)        # features composed and numbered; may be kept for the next epoch
    counts = engine.train(block)                 # every example once, in order
    engine.end_of_pass()                         # update by a minibatch that is not full
    rows   = engine.touched()                    # what took part in an update, for mixing
    guess  = engine.decode(block)                # the predicted columns, as numbers

To add a structure: a folder here with its `Structure`, its `Engine` and its searches, and a line in `STRUCTURES`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, ClassVar, NamedTuple, Optional, Protocol

import numpy as np

from perceptron_core.corpus import Sentence
from perceptron_core.corpus.sentence import Targets
from perceptron_core.errors import InputError, UserError
from perceptron_core.features.attributes import AttributeSet
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import Layout, TypeTables
from perceptron_core.features.feature_set import FeatureSet, Program, extracted_key, template_key
from perceptron_core.features.filters import StepSizes
from perceptron_core.features.keys import FeatureKeys
from perceptron_core.features.templates import Part, Template, parse_feature_name, parse_templates
from perceptron_core.kernels import KeyTable
from perceptron_core.settings import Settings
from perceptron_core.weights.rows import Rows
from perceptron_core.weights.text import EXTRACTED, unescape

ValueAt = Callable[[Part, int], str]
"""The value of a template's part at a word, counted over all sentences."""


class Counted(NamedTuple):
    """What was counted in a pass over some examples."""

    errors: int = 0  # examples that were guessed wrongly
    updates: int = 0  # how often the weights were moved
    wrong_tokens: int = 0


class Block(Protocol):
    """Examples as the engine's kernel takes them."""

    def examples(self) -> int: ...

    def tokens(self) -> int: ...

    def between(self, first: int, last: int) -> "Block":
        """The examples from number `first` to before number `last`."""

    def size(self) -> int:
        """Bytes."""


class Memory(Protocol):
    """The numbers of the features met so far; it is kept for the next engine if blocks stay in memory."""

    def size(self) -> int:
        """Bytes, roughly."""


class Engine(ABC):
    """Applies a structure to weights; see the module's docstring."""

    @abstractmethod
    def take(self, encoded: Encoded, tables: TypeTables) -> Block:
        """Sentences with their features composed and numbered."""

    @abstractmethod
    def train(self, block: Any) -> Counted:
        """Train on the block's examples, in order."""

    @abstractmethod
    def end_of_pass(self) -> int:
        """Update by the last minibatch, if it is not full; returns the number of updates, 0 or 1."""

    @abstractmethod
    def decode(self, block: Any) -> Mapping[str, np.ndarray]:
        """The best guess: the predicted columns of all tokens, as numbers."""

    @abstractmethod
    def touched(self) -> Rows:
        """Every weight that took part in an update: its value now ("weight") and its lag ("lag"); with the growth of
        the features' counts, if they are counted."""


class Structure(ABC):
    """What is predicted; see the module's docstring."""

    kind: ClassVar[str]  # in the task file
    unit: ClassVar[str] = "sentences"  # what an example is, and in what errors are counted: sentences or tokens
    called: ClassVar[str] = "sentences"  # what the corpus consists of, in messages
    layout: ClassVar[Layout] = Layout()
    anchors: ClassVar[tuple[str, ...]] = ()  # the names of a site's positions, if there are several
    values: ClassVar[tuple[str, ...]] = ()  # parts of templates that it makes itself
    decoders: ClassVar[tuple[str, ...]]
    updates: ClassVar[tuple[str, ...]]
    own_keys: ClassVar[dict[str, Any]] = {}  # of its task files, besides those that all have, with their defaults
    own_labels: ClassVar[tuple[str, ...]] = ()  # of its weights, before the labels of the corpus

    def __init__(self, features: FeatureSet, record: Mapping[str, Any]) -> None:
        self.features = features
        self.record = record  # the task's

    # ------------------------------------------------------------ the task file

    @classmethod
    @abstractmethod
    def fits(cls, kind: str, features: FeatureSet, decoder: str) -> bool:
        """Whether this is the structure of a task of this kind, with these templates and this decoder."""

    @classmethod
    def defaults(cls, given: Mapping[str, Any], path: str) -> dict[str, Any]:
        """The values of keys that a task file leaves out; refuses keys that make no sense here."""
        return {}

    @classmethod  # noqa: B027
    def fold_keys(cls, record: dict[str, Any], path: str) -> None:
        """Replace its own keys by those that every record has."""

    @classmethod
    def read_templates(
        cls, record: dict[str, Any], texts: Sequence[str], inputs: Sequence[str], attributes: AttributeSet, path: str
    ) -> list[Template]:
        """The templates of a task file."""
        return parse_templates(texts, inputs, attributes, path, cls.anchors)

    @classmethod  # noqa: B027
    def check_templates(cls, templates: Sequence[Template], path: str) -> None:
        """Refuse a template that makes no sense here."""

    @classmethod
    def more_templates(cls, inputs: Sequence[str]) -> list[Template]:
        """Templates that are added because of the input columns."""
        return []

    def check(self, settings: Settings) -> None:
        """Refuse settings that this structure does not support."""
        for name, wanted, known in (
            ("decoder", settings.decoder, self.decoders),
            ("update", settings.update, self.updates),
        ):
            if wanted not in known:
                raise UserError(f"{name}: {wanted} does not work for {self.kind}; choose one of {', '.join(known)}")

    def check_mixing(self, mixing: str) -> None:  # noqa: B027
        """Refuse a mixing that this structure does not support."""

    def scored(self) -> dict[str, bool]:
        """The settings that the task and the structure decide: whether transitions, starts and stops have weights."""
        return {name: bool(self.record[name]) for name in ("transitions", "start_stop")}

    # ------------------------------------------------------------ features

    @abstractmethod
    def keys(self, encoded: Encoded, tables: TypeTables, label_hashes: np.ndarray) -> FeatureKeys:
        """The keys of all features at every site, to be counted and numbered."""

    def label_offsets(self, template: Template) -> tuple[int, ...]:
        """The offsets of the labels that are joined to the keys of a template during the search."""
        return ()

    @abstractmethod
    def program(self, template: Template) -> Program:
        """One template as `keys` composes it at every word; used to find the names of features."""

    def names_at_sites(
        self, encoded: Encoded, tables: TypeTables, wanted: np.ndarray, value: "ValueAt"
    ) -> Optional[Iterator[tuple[int, str]]]:
        """(key, name) of those of the wanted keys that occur at its sites; None if its sites are the words. `value` is
        the string of a part at a word."""
        return None

    # ------------------------------------------------------------ engines

    @abstractmethod
    def memory(self, kept: Optional[KeyTable] = None, step_sizes: Optional[StepSizes] = None) -> Any:
        """An empty memory; with `kept`, only those features are numbered; `step_sizes` are those of scaled mixing."""

    @abstractmethod
    def engine(
        self, labels: Sequence[str], settings: Settings, weights: Rows, memory: Any = None, threads: int = 1
    ) -> Engine:
        """An engine that starts from these weights (a column "weight", float32)."""

    def fields(self, guess: Mapping[str, np.ndarray], labels: Sequence[str], lengths: np.ndarray) -> Iterator[Targets]:
        """A guess as the columns of strings that the format writes, one sentence after the other."""
        columns = []
        for name in self.layout.targets:
            numbers = guess[name].tolist()
            columns.append([labels[i] for i in numbers] if name in self.layout.labels else list(map(str, numbers)))
        begin = 0
        for length in lengths.tolist():
            yield tuple(column[begin : begin + length] for column in columns)
            begin += length

    def shown(self, sentence: Sentence) -> Sequence[str]:
        """The words of a sentence, as they are shown to the user."""
        return sentence.columns[0]

    # ------------------------------------------------------------ names

    def fixed_names(self, labels: Sequence[str], wanted: Optional[np.ndarray] = None) -> dict[int, str]:
        """The names of the weights that are known without a corpus, by key; only of those that are wanted."""
        return {}

    def key_of(self, name: str, label: str) -> int:
        """The key of a feature, from its name."""
        if name.startswith(EXTRACTED) and self.features.extractor:
            return extracted_key(unescape(name[len(EXTRACTED) :]))
        return template_key(*parse_feature_name(name, [t for t in self.features.templates if not t.bigram]))

    def labels_in(self, name: str) -> set[str]:
        """The labels that a feature's name mentions."""
        return set()


def refuse_keys(keys: Sequence[str], given: Mapping[str, Any], why: str, path: str) -> None:
    """Refuse keys of a task file that its kind does not have."""
    for key in keys:
        if given.get(key):
            raise InputError(f"`{key}` {why}; leave it out", path)
