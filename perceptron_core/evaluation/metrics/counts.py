"""What every metric counts, and how counts travel and add up.

A metric is a subclass of `Counts`. A mapper adds its sentences and sends `to_record()`; a reducer reads the
records with `from_record`, adds them up and asks for the score once. All sums are of integers, so neither the
order of the sentences nor how they are split can change a score.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from perceptron_core.corpus.sentence import Targets
from perceptron_core.errors import UserError

AnyCounts = TypeVar("AnyCounts", bound="Counts")


class Counts(ABC):
    """Counts of tokens and sentences, all and right, and a table of the metric's own: row → column → how often.

    What is right is up to the metric."""

    headline_name: ClassVar[str]

    def __init__(self) -> None:
        self.tokens = 0
        self.correct_tokens = 0
        self.sentences = 0
        self.correct_sentences = 0
        self.table: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add_targets(self, gold: Targets, guess: Targets) -> None:
        """Count one sentence by its predicted columns; one without tokens is not counted."""
        if len(gold[0]) != len(guess[0]):
            raise UserError(
                f"A sentence has {len(gold[0])} gold labels but {len(guess[0])} predicted ones. "
                "Predict the labels of the file that has the gold ones."
            )
        if not gold[0]:
            return
        wrong = self._count_wrong_tokens(gold, guess)
        self.tokens += len(gold[0])
        self.correct_tokens += len(gold[0]) - wrong
        self.sentences += 1
        self.correct_sentences += not wrong

    @abstractmethod
    def _count_wrong_tokens(self, gold: Targets, guess: Targets) -> int:
        """Fill the table from one sentence and return how many of its tokens are wrong."""

    def add(self: AnyCounts, other: AnyCounts) -> None:
        """Add the counts of other sentences to these."""
        self.tokens += other.tokens
        self.correct_tokens += other.correct_tokens
        self.sentences += other.sentences
        self.correct_sentences += other.correct_sentences
        for row, columns in other.table.items():
            self.table[row].update(columns)

    def to_record(self) -> dict[str, Any]:
        """Plain values for msgpack or JSON; equal counts give equal bytes, so the table is sorted."""
        return {
            "tokens": self.tokens,
            "correct_tokens": self.correct_tokens,
            "sentences": self.sentences,
            "correct_sentences": self.correct_sentences,
            "table": {row: dict(sorted(columns.items())) for row, columns in sorted(self.table.items())},
        }

    @classmethod
    def from_record(cls: type[AnyCounts], record: Mapping[str, Any]) -> AnyCounts:
        counts = cls()
        counts.tokens = record["tokens"]
        counts.correct_tokens = record["correct_tokens"]
        counts.sentences = record["sentences"]
        counts.correct_sentences = record["correct_sentences"]
        for row, columns in record["table"].items():
            counts.table[row].update(columns)
        return counts

    def score(self) -> dict[str, Any]:
        """Plain numbers for JSON, fractions in 0..1; all zero where nothing was counted."""
        return {
            "tokens": self.tokens,
            "correct_tokens": self.correct_tokens,
            "accuracy": ratio(self.correct_tokens, self.tokens),
            "sentences": self.sentences,
            "correct_sentences": self.correct_sentences,
            "sentence_accuracy": ratio(self.correct_sentences, self.sentences),
        }

    @abstractmethod
    def headline(self) -> float:
        """The one number in 0..1 by which models are compared; its name is `headline_name`."""

    @abstractmethod
    def report(self) -> str:
        """Lines for a person, each with its newline."""


class LabelCounts(Counts):
    """What is predicted is one label per token."""

    def add_sentence(self, gold: Sequence[str], guess: Sequence[str]) -> None:
        """Count one sentence by its labels."""
        self.add_targets((gold,), (guess,))

    def _count_wrong_tokens(self, gold: Targets, guess: Targets) -> int:
        return self._count_wrong_labels(gold[0], guess[0])

    @abstractmethod
    def _count_wrong_labels(self, gold: Sequence[str], guess: Sequence[str]) -> int:
        """Fill the table from one sentence and return how many of its labels are wrong."""


def ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
