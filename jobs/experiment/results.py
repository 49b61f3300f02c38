"""The results of a trained cell: curves over its epochs, and single numbers for tables."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any, Callable, NamedTuple, Optional

from perceptron_jobs.experiment.attachment import attachment
from perceptron_jobs.experiment.cell import Cell
from perceptron_jobs.experiment.clock import seconds_until, training_seconds
from perceptron_jobs.experiment.model_size import model_size
from perceptron_jobs.experiment.team import Team
from perceptron_jobs.records.epoch_entry import EpochEntry

MARGIN = 0.3  # a run has arrived when it is this many points below the baseline's final dev score
LATE_EPOCHS = 5  # last weights change from epoch to epoch, so the mean over several says more


class Result(NamedTuple):
    cell: Cell
    history: Sequence[EpochEntry]
    run_dir: str = ""
    team: Optional[Team] = None  # simulated processors

    def curve(self, name: str) -> list[float]:
        return [CURVES[name].of(epoch) for epoch in self.history]

    def seconds_until(self) -> list[float]:
        """What the clock shows after each epoch."""
        return seconds_until(self.history, self.team)

    @property
    def score_name(self) -> str:
        """F1 or accuracy."""
        dev = self.history[-1].dev
        return (dev.name if dev else None) or "score"


class Curve(NamedTuple):
    """One number per epoch."""

    title: str
    of: Callable[[EpochEntry], float]


def _percent(epoch: EpochEntry, series: str) -> float:
    score = getattr(epoch.dev, series)
    assert score is not None, "every cell has a dev set; whoever asks for averages has chosen a learner with averages"
    return 100 * score


CURVES = {
    "dev.averaged": Curve("dev {score}, averaged weights", lambda epoch: _percent(epoch, "averaged")),
    "dev.last": Curve("dev {score}, last weights", lambda epoch: _percent(epoch, "last")),
    "errors": Curve("training errors (sentences)", lambda epoch: epoch.errors or 0),
}


class Measure(NamedTuple):
    """One number per run, or one that compares it with the baseline on the same corpus with the same seed."""

    title: str
    decimals: int
    of: Callable[[Result, Optional[Result]], Optional[float]]
    meaning: str = ""  # a sentence, where the title does not say it all
    compared_with: Optional[Callable[[Result, Sequence[Result]], Optional[Result]]] = None  # None: the baseline
    of_seeds: Optional["OfSeeds"] = None  # of several seeds together, if it is not their mean


Seeds = Sequence[Result]  # the same run with several seeds
OfSeeds = Callable[[Seeds, Seeds], Optional[float]]  # of the runs and the baselines with the same seeds


def with_one_processor(result: Result, results: Sequence[Result]) -> Optional[Result]:
    """The run of the same name, on the same corpus with the same seed, on one processor."""

    def same(cell: Cell) -> tuple:
        return cell.run, cell.corpus, cell.options["seed"]

    found = (r for r in results if same(r.cell) == same(result.cell) and r.cell.axes["processors"] == 1)
    return next(found, None)


def _convergence(result: Result, baseline: Optional[Result]) -> Optional[int]:
    """The number of epochs, if the stop rule has ended the run, and not the limit."""
    epochs = result.history[-1].epoch
    return None if epochs == result.cell.options.get("epochs") else epochs


def _mean_scores(runs: Seeds) -> list[float]:
    """After each epoch, of the averaged weights."""
    return [fmean(scores) for scores in zip(*(run.curve("dev.averaged") for run in runs))]


def _arrival(runs: Seeds, baselines: Seeds) -> Optional[int]:
    """The number of epochs after which the averaged weights are about as good as the last of the baseline. With several
    seeds, their mean scores decide, since that of one may stay just below the mark for long."""
    if not baselines:
        return None
    target = _mean_scores(baselines)[-1] - MARGIN
    return next((epochs for epochs, score in enumerate(_mean_scores(runs), start=1) if score >= target), None)


def _gain(cost: Callable[[Result, int], float]) -> OfSeeds:
    """The baseline's cost of arriving, divided by the run's."""

    def gain(runs: Seeds, baselines: Seeds) -> Optional[float]:
        ours, theirs = _arrival(runs, baselines), _arrival(baselines, baselines)
        if ours is None or theirs is None:
            return None
        return fmean(cost(run, theirs) for run in baselines) / fmean(cost(run, ours) for run in runs)

    return gain


def _by_seeds(title: str, decimals: int, of_seeds: OfSeeds, meaning: str) -> Measure:
    def of_one(run: Result, baseline: Optional[Result]) -> Optional[float]:
        return of_seeds([run], [baseline] if baseline else [])

    return Measure(title, decimals, of_one, meaning, of_seeds=of_seeds)


def _epoch_seconds(result: Result, _: Optional[Result] = None) -> float:
    """Of an epoch's training; the first epoch is left out, if there are others, since it reads the shards."""
    return fmean(training_seconds(epoch, result.team) for epoch in result.history[1:] or result.history)


def _intrinsic(result: Result, alone: Optional[Result]) -> Optional[float]:
    return _epoch_seconds(alone) / _epoch_seconds(result) if alone else None


def _waiting(result: Result, _: Optional[Result]) -> float:
    if result.team:
        return 100 * result.team.waiting
    shards = [[shard.seconds for shard in epoch.shards] for epoch in result.history]
    return 100 * (1 - sum(map(fmean, shards)) / sum(map(max, shards)))


def _waiting_in_order(result: Result, _: Optional[Result]) -> Optional[float]:
    return 100 * result.team.waiting_in_order if result.team else None


def _sparser(result: Result, baseline: Optional[Result]) -> Optional[float]:
    return model_size(baseline.run_dir).features / model_size(result.run_dir).features if baseline else None


def _loss(result: Result, baseline: Optional[Result]) -> Optional[float]:
    return baseline.curve("dev.averaged")[-1] - result.curve("dev.averaged")[-1] if baseline else None


def _uas(which: str) -> Callable[[Result, Optional[Result]], Optional[float]]:
    return lambda run, _: getattr(attachment(run.run_dir, run.cell.corpus), which)


def _uas_lost(result: Result, baseline: Optional[Result]) -> Optional[float]:
    ours, theirs = (_uas("averaged")(run, None) if run else None for run in (result, baseline))
    return None if ours is None or theirs is None else theirs - ours


def _last_of(curve: str) -> Callable[[Result, Optional[Result]], float]:
    return lambda run, _: run.curve(curve)[-1]


MEASURES = {
    **{
        name: Measure(curve.title, 2 if name.startswith("dev") else 0, _last_of(name)) for name, curve in CURVES.items()
    },
    "dev.last.late": Measure(
        f"dev {{score}}, last weights, mean of the last {LATE_EPOCHS} epochs",
        2,
        lambda run, _: fmean(run.curve("dev.last")[-LATE_EPOCHS:]),
    ),
    "dev": Measure("dev {score}", 2, lambda run, _: _percent(run.history[-1], "score")),
    "uas.averaged": Measure("dev UAS, averaged weights", 2, _uas("averaged")),
    "uas.last": Measure("dev UAS, last weights", 2, _uas("last")),
    "uas.lost": Measure("UAS lost", 2, _uas_lost, "UAS lost: the baseline's averaged dev UAS, less the run's."),
    "epochs": Measure("epochs", 0, lambda run, _: run.history[-1].epoch),
    "convergence": Measure(
        "epochs to convergence",
        0,
        _convergence,
        "A run has converged when the stop rule ends it, not the limit of its epochs.",
    ),
    "seconds": Measure("seconds on a simulated cluster", 2, lambda run, _: run.seconds_until()[-1]),
    "seconds.measured": Measure(
        "seconds measured",
        2,
        lambda run, _: sum((epoch.seconds or 0.0) - epoch.phases["dev"] for epoch in run.history),
        "Seconds measured: of all jobs as they ran here, without scoring the dev set.",
    ),
    "arrival": _by_seeds(
        "epochs to arrive",
        0,
        _arrival,
        f"A run has arrived when its averaged weights reach the baseline's final dev score less {MARGIN}.",
    ),
    "efficiency": _by_seeds(
        "statistical efficiency",
        2,
        _gain(lambda run, epochs: epochs),
        f"Statistical efficiency: the baseline's epochs to its final averaged dev score less {MARGIN}, "
        "divided by the run's epochs to it.",
    ),
    "speedup": _by_seeds(
        "simulated speed-up",
        1,
        _gain(lambda run, epochs: run.seconds_until()[epochs - 1]),
        f"Simulated speed-up: the baseline's seconds on a simulated cluster to its final averaged dev score less "
        f"{MARGIN}, divided by the run's seconds to it.",
    ),
    "epoch.seconds": Measure(
        "seconds per epoch",
        3,
        _epoch_seconds,
        "Seconds per epoch: only of its training (the slowest shard), without mixing; without the first epoch, which "
        "reads the shards.",
    ),
    "intrinsic": Measure(
        "intrinsic speed-up",
        1,
        _intrinsic,
        "Intrinsic speed-up: the seconds per epoch of the same run on one processor, divided by the run's.",
        with_one_processor,
    ),
    "intrinsic.loop": Measure(
        "of the loop only",
        1,
        lambda run, _: run.team.loop if run.team else None,
        "Of the loop only: the same for decoding and updates, without what else a task does: reading the weights, and "
        "collecting the step.",
    ),
    "waiting": Measure("waiting (%)", 1, _waiting, "Waiting for others, as a share of the time of all processors."),
    "waiting.in-order": Measure(
        "waiting, if unbalanced (%)",
        1,
        _waiting_in_order,
        "Unbalanced: the sentences of a minibatch are handed out in their order, not by their length.",
    ),
    "features": Measure("features", 0, lambda run, _: model_size(run.run_dir).features),
    "fewer": Measure("times fewer", 1, _sparser, "Times fewer: the baseline's features, divided by the run's."),
    "megabytes": Measure("MB of the model", 2, lambda run, _: model_size(run.run_dir).bytes / 1e6),
    "loss": Measure("points lost", 2, _loss, "Points lost: the baseline's averaged dev score, less the run's."),
    "shuffled": Measure("MB shuffled", 1, lambda run, _: sum(epoch.shuffled or 0 for epoch in run.history) / 1e6),
}


def baseline_of(result: Result, results: Sequence[Result], group: Optional[str]) -> Optional[Result]:
    """The baseline's run on the same corpus with the same seed; if there are several, the one with the same number of
    shards, or else the first."""
    cell, found = result.cell, [other for other in results if other.cell.group == group]
    found = [r for r in found if (r.cell.corpus, r.cell.options["seed"]) == (cell.corpus, cell.options["seed"])]
    return next((r for r in found if r.cell.options["shards"] == cell.options["shards"]), found[0] if found else None)


def mean_over_seeds(name: str, pooled: Sequence[Result], results: Sequence[Result], baseline: Optional[str]) -> Any:
    """The mean of a measure, or its value for all seeds together; None if one of the runs does not have it."""
    measure = MEASURES[name]
    others = [
        measure.compared_with(result, results) if measure.compared_with else baseline_of(result, results, baseline)
        for result in pooled
    ]
    if measure.of_seeds:
        return measure.of_seeds(pooled, [other for other in others if other])
    numbers = [measure.of(result, other) for result, other in zip(pooled, others)]
    return None if None in numbers else fmean(number for number in numbers if number is not None)
