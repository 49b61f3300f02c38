"""Training in memory: from examples to a model without files and jobs; the model has the same bytes as from the jobs.

deal the sentences to shards                        # shards/builder.py
for n in 1 … N:                                     # McDonald et al. 2010, Fig. 3
    train one epoch on every shard, from the same weights
    mix; stop?                                      # the first epoch, in several rounds: see rounds.py
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from perceptron_core.corpus import Sentence
from perceptron_core.counting.rare import Counter, kept_keys, token_counts
from perceptron_core.counting.shard_counts import ShardFeatures, count_shards
from perceptron_core.counting.summands import DocumentFrequencies, NaiveBayes, Rocchio
from perceptron_core.counting.sums import ShardSums, SummingPass
from perceptron_core.errors import UserError
from perceptron_core.evaluation.held_out import HeldOut
from perceptron_core.features.filters import StepSizes
from perceptron_core.kernels import KeyTable
from perceptron_core.registry import DEFAULT_MIXING, ONE_PASS
from perceptron_core.settings import Settings
from perceptron_core.shards.builder import PieceEncoder, ShardBuilder, in_chunks
from perceptron_core.shards.dealing import choose_shard
from perceptron_core.shards.records import Record
from perceptron_core.task import Task
from perceptron_core.training.epoch import EpochPlan, EpochStats, Resident, ShardEpoch
from perceptron_core.training.mixing import SCALED, ShardStep, check_mixing, mix, mixing_now
from perceptron_core.training.rounds import WHOLE, RoundPart, parts, usual_rounds
from perceptron_core.training.standing import Standing, settings_of_run
from perceptron_core.training.stopping import StopRule, best_epoch, reason_to_stop
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.rows import Rows, add_up, empty

CHUNK = 4096  # sentences that are encoded at a time


class Options(NamedTuple):
    """The options of `perceptron train` that decide the weights."""

    settings: Settings = Settings()
    shards: int = 1
    seed: int = 1
    mixing: str = DEFAULT_MIXING
    rounds: Optional[int] = None  # of the first epoch; None: see rounds.py
    subsample: bool = False
    min_count: int = 1
    stop: StopRule = StopRule(10, 0.0005, None)
    threads: int = 1


class Trained(NamedTuple):
    model: Model
    history: list[dict[str, Any]]  # one entry per epoch: its counts and scores


def make_shards(task: Task, sentences: Sequence[Sentence], shards: int, seed: int) -> list[list[Record]]:
    """The records of every shard, the same as in a prepared corpus of one file."""
    encoder = PieceEncoder(task.encoder(), seed, 0, 0, shards)
    dealt: list[list[dict[str, Any]]] = [[] for _ in range(shards)]
    for chunk in in_chunks(iter(sentences), CHUNK):
        for shard, record in encoder.encode(chunk):
            dealt[shard].append(record)
    return [list(_build(task, records, number, shards, seed)) for number, records in enumerate(dealt)]


def _build(task: Task, records: Sequence[dict[str, Any]], shard: int, shards: int, seed: int) -> Iterator[Record]:
    builder = ShardBuilder(task.features, task.layout)
    for record in records:
        builder.add(record)
    return builder.finish({"shard": shard, "shards": shards, "seed": seed, "features": task.fingerprint})


class InMemory:
    """Training in memory, epoch after epoch."""

    def __init__(self, task: Task, shards: Sequence[list[Record]], options: Options) -> None:
        options.settings.check()
        check_mixing(options.mixing, options.settings.learner)
        structure = task.structure(options.settings.decoder)
        structure.check(options.settings)
        structure.check_mixing(options.mixing)
        self.task, self.options = task.for_decoder(options.settings.decoder), options
        self.structure = self.task.structure(options.settings.decoder)
        self.settings = settings_of_run(self.task, options.settings)
        if self.settings.learner in ONE_PASS:
            self.settings = self.settings._replace(average=False)
        found = {label for records in shards for label in records[0][1]["labels"]}
        self.labels = self.task.labels(sorted(found))
        if not self.labels:
            raise UserError("the corpus has no labels to learn; give sentences with labels")
        chosen = [choose_shard(options.seed, len(shards))] if options.subsample else range(len(shards))
        self.kept = self._kept(shards) if options.min_count > 1 else None
        self.shards = [shards[number] for number in chosen]
        self.resident: list[Optional[Resident]] = [None] * len(self.shards)
        self.rounds = options.rounds or usual_rounds(
            options.mixing, len(self.shards), self.settings.local_epochs, has_weights=False
        )
        self.step_sizes = self._step_sizes() if options.mixing == SCALED else None
        start = empty(weight=np.float32)
        self.standing = Standing.before_training(self.task, self.labels, self.settings, start)
        self.history: list[dict[str, Any]] = []

    # ------------------------------------------------------------ counted beforehand

    def _kept(self, shards: Sequence[list[Record]]) -> KeyTable:
        """The features that occur on enough tokens."""
        counter = Counter(self.options.min_count, most=1 << 62)
        for records in shards:
            reader = self.task.shard_reader(records[0][1]["labels"])
            for kind, record in records:
                encoded = reader.take(kind, record)
                if encoded is not None:
                    tables, hashes = reader.tables(), reader.label_hashes
                    counter.add(token_counts([s.keys(encoded, tables, hashes) for s in self.task.structures()]))
        table = KeyTable()
        table.intern(kept_keys(counter.finish(), self.options.min_count))
        return table

    def _step_sizes(self) -> StepSizes:
        features = []
        for records in self.shards:
            counter = ShardFeatures(self.task.shard_reader(self.labels), self.structure)
            for kind, record in records:
                counter.take(kind, record)
            features.append(counter.finish()[1])
        counts = count_shards(features)
        return StepSizes(counts.keys, counts.values["shards"], len(self.shards))

    # ------------------------------------------------------------ epochs

    def train(self, held_out: Optional[HeldOut] = None) -> Trained:
        """Train until there is a reason to stop; the model of the best epoch, or of the last if there is no dev set."""
        best = self.standing
        while not reason_to_stop(self.history, self.options.stop):
            self.epoch(held_out)
            if best_epoch(self.history) in (None, len(self.history)):
                best = self.standing
        return Trained(best.model(), self.history)

    def epoch(self, held_out: Optional[HeldOut] = None) -> dict[str, Any]:
        """Train one more epoch; returns its entry in the history."""
        number = len(self.history) + 1
        counted: list[EpochStats] = []
        mixing = mixing_now(self.options.mixing, [entry["errors"] or 0 for entry in self.history])
        if self.settings.learner in ONE_PASS:
            self.standing = self.standing.after(self._one_pass(), number)
            entry: dict[str, Any] = {"epoch": number, "errors": None, "sentences": self._examples(WHOLE)}
        else:
            for part in parts(self.rounds if number == 1 else 1):
                share = self._examples(part) / max(1, self._examples(WHOLE)) if part.rounds > 1 else 1
                steps, stats = self.shard_steps(part)
                counted.append(stats)
                self.standing = self.standing.after(mix(mixing, self.standing.weights.rows, steps), number, share)
            total = EpochStats(*map(sum, zip(*counted)))
            entry = {"epoch": number, "mixing": mixing, "sentences": total.examples, **total._asdict()}
        if held_out is not None:
            scores = self.standing.score(held_out)
            entry["dev"] = {**scores._asdict(), "score": scores.deciding()}
        self.history.append(entry)
        return entry

    def _examples(self, part: RoundPart) -> int:
        """The number of examples in the part of all shards."""
        spans = [part.span(records[0][1][self.structure.unit]) for records in self.shards]
        return sum(last - first for first, last in spans)

    def plan(self, part: RoundPart = WHOLE) -> EpochPlan:
        options = self.options
        return EpochPlan(self.task, self.labels, self.settings, part, self.kept, self.step_sizes, options.threads)

    def shard_steps(self, part: RoundPart = WHOLE) -> tuple[list[ShardStep], EpochStats]:
        """Train on the part of every shard: the shards' weights after it, and what was counted."""
        before, steps, total = self.standing.weights.rows, [], EpochStats()
        for number, records in enumerate(self.shards):
            epoch = ShardEpoch(self.plan(part), before, room=sys.maxsize)
            known = self.resident[number]
            if known is not None:
                epoch.take_resident(known)
            else:
                for kind, record in records:
                    epoch.take(kind, record)
            _, rows = epoch.finish()
            stats = epoch.stats
            steps.append(ShardStep(number, len(self.shards), "in memory", stats.updates, stats.examples, rows))
            self.resident[number] = epoch.resident()
            total = EpochStats(*(a + b for a, b in zip(total, stats)))
        return steps, total

    # ------------------------------------------------------------ learners of one pass

    def _one_pass(self) -> Rows:
        """The weights of a learner that counts in a single pass."""
        if self.settings.learner == "naive-bayes":
            learner = NaiveBayes(self.task.features.constant_keys())
            return learner.weights(*self._sums(learner))
        frequencies = DocumentFrequencies()
        rocchio = Rocchio(frequencies.idf(*self._sums(frequencies)))
        return rocchio.weights(*self._sums(rocchio))

    def _sums(self, summing: SummingPass) -> tuple[Rows, np.ndarray]:
        sums, instances = [], np.zeros(len(self.labels), np.int64)
        for records in self.shards:
            shard = ShardSums(self.task.shard_reader(self.labels), self.structure, summing, self.kept)
            for kind, record in records:
                shard.take(kind, record)
            sums.append(shard.finish()[1])
            instances = instances + shard.instances
        return add_up(sums), instances


def train_in_memory(
    task: Task, sentences: Sequence[Sentence], options: Options, dev: Optional[Sequence[Sentence]] = None
) -> Trained:
    """The model of these sentences; with `dev`, the model of the epoch with the best score on these."""
    shards = make_shards(task, sentences, options.shards, options.seed)
    held_out = None if dev is None else HeldOut(task, options.settings.decoder, dev)
    return InMemory(task, shards, options).train(held_out)
