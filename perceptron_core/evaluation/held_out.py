"""A held-out set that is scored after every epoch: read, encoded and numbered once."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from perceptron_core.corpus import Opener, Sentence, open_local
from perceptron_core.corpus.sentence import Targets
from perceptron_core.evaluation.metrics import METRICS, AttachmentCounts, ClassCounts, Counts
from perceptron_core.evaluation.mistakes import find_mistakes
from perceptron_core.evaluation.tree_mistakes import worst_trees
from perceptron_core.settings import Settings
from perceptron_core.task import Task
from perceptron_core.weights.rows import Rows


class HeldOut:
    def __init__(self, task: Task, decoder: str, sentences: Sequence[Sentence]) -> None:
        self.task, self.structure = task, task.structure(decoder)
        encoder = task.encoder()
        self.encoded = encoder.encode(sentences).unlabelled()
        self.tables = encoder.type_tables()
        self.memory = self.structure.memory()
        self.block: Any = None  # made by the first engine
        self.metric = METRICS[task.record["metric"]]
        self.label_names = list(encoder.labels)
        self.shown = [self.structure.shown(sentence) for sentence in sentences]
        self.gold = [task.as_counted(sentence.targets or ((),)) for sentence in sentences]

    def score(self, labels: Sequence[str], settings: Settings, weights: Rows) -> Counts:
        """The counts of these weights' guesses against the gold columns."""
        return self._count(self._guesses(labels, settings, weights))

    def _count(self, guesses: Iterable[Targets]) -> Counts:
        counts = self.metric()
        for gold, guess in zip(self.gold, guesses):
            counts.add_targets(gold, guess)
        return counts

    def mistakes(self, labels: Sequence[str], settings: Settings, weights: Rows) -> dict[str, Any]:
        """The most frequent confusions of these weights' guesses, with examples; and what classes and trees have to
        tell, if these are what is counted."""
        guesses = list(self._guesses(labels, settings, weights))
        found = find_mistakes(
            (words, gold[-1], guess[-1]) for words, gold, guess in zip(self.shown, self.gold, guesses)
        )
        if self.metric is ClassCounts:
            found["classes"] = self._count(guesses).score()
        if self.metric is AttachmentCounts:
            found["attachment"] = self._count(guesses).score()
            found["trees"] = worst_trees(zip(self.shown, self.gold, guesses))
        return found

    def _guesses(self, labels: Sequence[str], settings: Settings, weights: Rows) -> Iterator[Targets]:
        engine = self.structure.engine(labels, settings, weights, self.memory)
        if self.block is None:
            self.block = engine.take(self.encoded, self.tables)
        guess = engine.decode(self.block)
        return map(self.task.as_counted, self.structure.fields(guess, labels, self.encoded.lengths))


def read_held_out(task: Task, decoder: str, files: Sequence[str], opener: Opener = open_local) -> HeldOut:
    """The held-out set of some files with gold labels."""
    return HeldOut(task, decoder, [s for path in files for s in task.read(path, "required", opener=opener)])
