"""One pass over a shard: mixed weights in, the weights that took part in an update out.

    for each minibatch of M sentences, in order:            # Zhao & Huang 2013, Algorithm 4
        C = {}
        for each sentence (x, y) of it:                     # in parallel: w stays the same
            z = decode(x, w)                                # find the violated constraint (or those of the k best) …
            if z ≠ y:  C ← C ∪ {Δ = Φ(x, y) − Φ(x, z)}
        w ← w + Σ α_c Δ_c                                   # … and update by all of them: see learners/

With M = 1 this is the ordinary learner: Collins 2002; McDonald et al. 2010, OneEpochPerceptron. A minibatch does not
end with a block, only with a pass, so that how sentences are stored changes nothing; averages count sentences. In a
round of the first epoch (rounds.py) only a part of the shard is passed over.

The inner loops are the kernel's. Blocks are trained on as they arrive, so that a task's memory grows with the features
of its shard, not with its sentences; they are kept only for further local passes, or for the next epoch if the same
process will run it (`Resident`).
"""

from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from perceptron_core.counting.rare import keep_only
from perceptron_core.counting.shard_counts import StepSizes
from perceptron_core.features.encoding import Encoded
from perceptron_core.kernels import KeyTable
from perceptron_core.settings import Settings
from perceptron_core.shards.records import ShardReader
from perceptron_core.structures.sequence.model import FeatureBlock, FeatureNumbers, SequenceModel
from perceptron_core.structures.tokens import history
from perceptron_core.task import Task
from perceptron_core.training.rounds import WHOLE, RoundPart
from perceptron_core.weights.rows import Rows


class EpochStats(NamedTuple):
    """Counted over all local passes."""

    examples: int = 0  # sentences trained on
    errors: int = 0  # of these, decoded wrongly
    updates: int = 0  # how often the weights were moved: once a wrong sentence, or once a minibatch
    tokens: int = 0
    wrong_tokens: int = 0

    def plus(self, *counts: int) -> "EpochStats":
        return EpochStats(*(a + b for a, b in zip(self, counts)))


class Resident(NamedTuple):
    """A shard as this process decoded it: what the next epoch need not unzip, compose and number again."""

    header: dict[str, Any]
    numbers: FeatureNumbers
    blocks: list[FeatureBlock]

    def size(self) -> int:
        """Bytes, roughly: the arrays, and the table of keys."""
        arrays = sum(array.nbytes for block in self.blocks for array in block)
        return arrays + 40 * (len(self.numbers.emissions) + len(self.numbers.pairs))


class ShardEpoch:
    """Trains on one shard's records as they come in."""

    def __init__(
        self,
        task: Task,
        labels: Sequence[str],
        settings: Settings,
        weights: Rows,
        keep: bool = False,
        progress: Callable[[int], None] = lambda sentences: None,
        kept: Optional[KeyTable] = None,
        threads: int = 1,
        steps: Optional[StepSizes] = None,
        part: RoundPart = WHOLE,
    ) -> None:
        self.task, self.labels, self.settings, self.weights = task, labels, settings, weights
        self.kept = kept  # the features that are not too rare; None: all
        self.progress, self.threads = progress, threads
        self.keep = keep or settings.local_epochs > 1
        self.reader = ShardReader(task.features, task.fingerprint, labels)
        self.steps, self.part = steps, part
        self.passed = 0  # sentences of this pass, of the part or not
        self.numbers = FeatureNumbers()
        self.model: Optional[SequenceModel] = None  # made when the features' numbers are known to be new or resident
        self.blocks: list[FeatureBlock] = []
        self.stats = EpochStats()

    def take(self, kind: str, record: dict[str, Any]) -> None:
        """Train on a block; check any other record."""
        encoded = self.reader.take(kind, record)
        if encoded is None:
            return
        lengths = history.instances(self.reader.features, encoded.lengths)
        if self.keep or self._of_part(len(lengths)):
            self._train(self._number(encoded, lengths))
        else:
            self.passed += len(lengths)

    def take_resident(self, shard: Resident) -> None:
        """Train on a shard that is in memory."""
        self.reader.header, self.reader.complete = shard.header, True
        self.numbers = shard.numbers
        for block in shard.blocks:
            self._train(block)

    def _of_part(self, size: int) -> range:
        """Which of the next block's sentences are in the part of the shard that is trained on."""
        assert self.reader.header is not None, "a shard's blocks follow its header"
        total = self.reader.header["tokens" if self.task.features.history_templates else "sentences"]
        first, last = (min(max(0, end - self.passed), size) for end in self.part.span(total))
        return range(first, last)

    def _number(self, encoded: Encoded, lengths: np.ndarray) -> FeatureBlock:
        features = self.reader.keys(encoded)
        if self.kept is not None:
            features = keep_only(features, self.kept)
        block = self.numbers.number(lengths, encoded.labels, features)
        if self.steps is not None:
            self.numbers.look_up_steps(self.steps)
        return block

    def _the_model(self) -> SequenceModel:
        if self.model is None:
            allowed = self.task.allowed_transitions(self.labels)
            self.model = SequenceModel(self.labels, self.settings, self.weights, self.numbers, allowed, self.threads)
        return self.model

    def _train(self, block: FeatureBlock) -> None:
        """On those of its sentences that are in the part; the block is kept as it is."""
        wanted = self._of_part(len(block.lengths))
        self.passed += len(block.lengths)
        if wanted:
            part = block.between(wanted.start, wanted.stop)
            errors, updates, wrong = self._the_model().train(part)
            self.stats = self.stats.plus(len(wanted), errors, updates, len(part.gold), wrong)
            self.progress(len(wanted))
        if self.keep:
            self.blocks.append(block)

    def _end_pass(self) -> None:
        self.passed = 0
        self.stats = self.stats._replace(updates=self.stats.updates + self._the_model().end_of_pass())

    def finish(self) -> tuple[dict[str, Any], Rows]:
        """The shard's header, and all that took part in an update: "weight" and "lag"."""
        header = self.reader.finish()
        first_pass = list(self.blocks)
        self._end_pass()
        for _ in range(1, self.settings.local_epochs):
            for block in first_pass:
                self._train(block)
            self._end_pass()
        self.blocks = first_pass
        return header, self._the_model().touched()

    def resident(self) -> Resident:
        header = self.reader.finish()
        return Resident(header, self.numbers, self.blocks)
