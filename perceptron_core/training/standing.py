"""The state of a training after an epoch: its weights, the sums of its averages, and the model made from them.

There are two training loops: with jobs, and in memory. They differ in where an epoch runs and where its result is kept.
What an epoch does to the weights is the same, and is here.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np

from perceptron_core.evaluation.held_out import HeldOut
from perceptron_core.registry import ONE_PASS
from perceptron_core.settings import Settings
from perceptron_core.task import Task
from perceptron_core.training.mixing import add_average, apply, averaged_rows
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.relevance import counted_from, relevant
from perceptron_core.weights.rows import Rows, empty


def settings_of_run(task: Task, settings: Settings) -> Settings:
    """The settings, completed by what the task decides; a learner of one pass classifies every token by itself."""
    if settings.learner in ONE_PASS:
        return settings.scoring({"transitions": False, "start_stop": False})
    return settings.scoring(task.structure(settings.decoder).scored())


class Standing(NamedTuple):
    weights: Model
    average: Optional[Model] = None  # the sum of the epochs' averages; None before the first, and if none is wanted

    @classmethod
    def before_training(cls, task: Task, labels: Sequence[str], settings: Settings, start: Rows) -> "Standing":
        """Without weights, or with those of another model."""
        if settings.min_updates > 1:  # the features of the other model are relevant
            start = counted_from(start, settings.min_updates)
        return cls(Model("weights", task.portable(), list(labels), settings.record(), start))

    def settings(self) -> Settings:
        return Settings.from_record(self.weights.settings)

    def after(self, mixed: Rows, epoch: int, share: float = 1) -> "Standing":
        """The state after an epoch, or after a round that had this share of the epoch's examples; within an epoch all
        examples count the same."""
        weights = self.weights._replace(rows=apply(self.weights.rows, mixed))
        if not self.settings().average:
            return Standing(weights)
        known = self.average.rows if self.average else empty(sum=np.float64)
        total = add_average(known, self.weights.rows, mixed, epoch * share)
        return Standing(weights, self.weights._replace(kind="average", rows=total, epochs=epoch))

    def model(self) -> Model:
        """Last and averaged weights in one model, of the features that are used in scoring."""
        rows = self.weights.rows
        if self.average is not None:
            rows = averaged_rows(rows, self.average.rows, self.average.epochs)
        return self.weights._replace(kind="model", rows=relevant(rows, self.settings().min_updates))

    def score(self, held_out: HeldOut) -> "HeldOutScores":
        model, settings = self.model(), self.settings()
        last = held_out.score(model.labels, settings, relevant(self.weights.rows, settings.min_updates))
        averaged = None
        if self.average is not None:
            rows = model.rows.with_values(weight=model.rows.values["averaged"])
            averaged = round(held_out.score(model.labels, settings, rows).headline(), 6)
        return HeldOutScores(last.headline_name, round(last.headline(), 6), averaged)


class HeldOutScores(NamedTuple):
    name: str  # of the metric's headline
    last: float  # of the last weights
    averaged: Optional[float]  # of the averaged ones, if there are any

    def deciding(self) -> float:
        """The score that decides which epoch is best."""
        return self.last if self.averaged is None else self.averaged
