"""One pass over a shard: mixed weights in, the weights that took part in an update out.

    for each minibatch of M sentences, in order:            # Zhao & Huang 2013, Algorithm 4
        C = {}
        for each sentence (x, y) of it:                     # in parallel: w stays the same
            z = decode(x, w)                                # find the violated constraint (or those of the k best) …
            if z ≠ y:  C ← C ∪ {Δ = Φ(x, y) − Φ(x, z)}
        w ← w + Σ α_c Δ_c                                   # … and update by all of them: see learners/

With M = 1 this is the ordinary learner: Collins 2002; McDonald et al. 2010, OneEpochPerceptron. A minibatch may
continue in the next block, but ends with a pass, so that the result does not depend on how sentences are stored.
Averages count sentences. A round of the first epoch (rounds.py) trains on only a part of the shard.

The inner loops are in the kernel. Blocks are trained on as they arrive, so that a task's memory grows with the features
of its shard, not with its sentences. They are kept only for more local passes (kept_blocks.py: in memory or on disk),
or in memory for the next epoch if the same process will run it and there is room (`Resident`).
"""

from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Optional

from perceptron_core.features.filters import StepSizes
from perceptron_core.kernels import KeyTable
from perceptron_core.settings import Settings
from perceptron_core.structures.base import Block, Counted, Engine
from perceptron_core.task import Task
from perceptron_core.training.kept_blocks import KeptBlocks
from perceptron_core.training.rounds import WHOLE, RoundPart
from perceptron_core.weights.rows import Rows

PASSES_ROOM = 64 << 20  # bytes of blocks that more local passes keep in memory


class EpochStats(NamedTuple):
    """Counted over all local passes."""

    examples: int = 0  # sentences (or tokens, or instances) trained on
    errors: int = 0  # of these, decoded wrongly
    updates: int = 0  # how often the weights were moved: once per wrong sentence, or once per minibatch
    tokens: int = 0
    wrong_tokens: int = 0

    def plus(self, block: Block, counted: Counted) -> "EpochStats":
        more = block.examples(), counted.errors, counted.updates, block.tokens(), counted.wrong_tokens
        return EpochStats(*(a + b for a, b in zip(self, more)))


class Resident(NamedTuple):
    """A decoded shard: with it, the next epoch does not have to unzip, compose and number again."""

    header: dict[str, Any]
    memory: Any  # the structure's: the numbers of the features
    blocks: KeptBlocks

    def size(self) -> int:
        """Bytes, roughly."""
        return self.blocks.size + self.memory.size()


class EpochPlan(NamedTuple):
    """How to train on a shard; the same for all shards of an epoch."""

    task: Task
    labels: Sequence[str]
    settings: Settings
    part: RoundPart = WHOLE  # of every shard
    kept: Optional[KeyTable] = None  # the features that are not too rare; None: all
    step_sizes: Optional[StepSizes] = None  # of scaled mixing
    threads: int = 1


class ShardEpoch:
    """Trains on one shard's records as they come in."""

    def __init__(
        self,
        plan: EpochPlan,
        weights: Rows,
        room: int = 0,
        progress: Callable[[int], None] = lambda sentences: None,
    ) -> None:
        """`room`: how many bytes of blocks may be kept for the next epoch."""
        self.plan, self.weights, self.room, self.progress = plan, weights, room, progress
        self.again = plan.settings.local_epochs > 1  # this epoch needs the blocks once more
        self.kept: Optional[KeptBlocks] = KeptBlocks(max(room, PASSES_ROOM)) if room or self.again else None
        self.structure = plan.task.structure(plan.settings.decoder)
        self.reader = plan.task.shard_reader(plan.labels)
        self.memory = self.structure.memory(plan.kept, plan.step_sizes)
        self.passed = 0  # examples of this pass so far, whether in the part or not
        self._engine: Optional[Engine] = (
            None  # made once it is known whether the memory is new or that of a resident shard
        )
        self.stats = EpochStats()

    def take(self, kind: str, record: dict[str, Any]) -> None:
        """Train on a block; check any other record."""
        encoded = self.reader.take(kind, record)
        if encoded is None:
            return
        examples = encoded.tokens() if self.structure.unit == "tokens" else len(encoded.lengths)
        if self.kept is not None or self._of_part(examples):
            self._train(self.engine().take(encoded, self.reader.tables()))
        else:
            self.passed += examples

    def take_resident(self, shard: Resident) -> None:
        """Train on a shard that is in memory."""
        self.reader.header, self.reader.complete = shard.header, True
        self.memory, self.kept = shard.memory, None
        for block in shard.blocks:
            self._train(block)
        self.kept = shard.blocks

    def _of_part(self, size: int) -> range:
        """Which of the next block's examples are in the part of the shard that is trained on."""
        assert self.reader.header is not None, "a shard's blocks follow its header"
        total = self.reader.header[self.structure.unit]
        first, last = (min(max(0, end - self.passed), size) for end in self.plan.part.span(total))
        return range(first, last)

    def engine(self) -> Engine:
        if self._engine is None:
            plan = self.plan
            self._engine = self.structure.engine(plan.labels, plan.settings, self.weights, self.memory, plan.threads)
        return self._engine

    def _train(self, block: Block) -> None:
        """Train on those of its examples that are in the part; the whole block is kept."""
        wanted = self._of_part(block.examples())
        self.passed += block.examples()
        if wanted:
            part = block.between(wanted.start, wanted.stop)
            self.stats = self.stats.plus(part, self.engine().train(part))
            self.progress(len(wanted))
        if self.kept is not None:
            self._keep(block)

    def _keep(self, block: Block) -> None:
        """Keep the block; if there is no room for the whole shard and this epoch does not need it, keep nothing."""
        assert self.kept is not None
        if self.again or self.kept.size + block.size() + self.memory.size() <= self.room:
            self.kept.add(block)
        else:
            self.kept = None

    def _end_pass(self) -> None:
        self.passed = 0
        self.stats = self.stats._replace(updates=self.stats.updates + self.engine().end_of_pass())

    def finish(self) -> tuple[dict[str, Any], Rows]:
        """The shard's header, and "weight" and "lag" of all that took part in an update."""
        header = self.reader.finish()
        kept, self.kept = self.kept, None
        self._end_pass()
        for _ in range(1, self.plan.settings.local_epochs):
            assert kept is not None
            for block in kept:
                self._train(block)
            self._end_pass()
        self.kept = kept
        return header, self.engine().touched()

    def resident(self) -> Optional[Resident]:
        """The shard for the next epoch; None if there was no room for it."""
        if not self.room or self.kept is None or not self.kept.in_memory():
            return None
        return Resident(self.reader.finish(), self.memory, self.kept)
