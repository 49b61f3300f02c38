"""What a trained cell has to show: curves over its epochs, and single numbers for tables."""

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional

from jobs.experiment.clock import Epoch, seconds_until

if TYPE_CHECKING:  # the definition checks its measures against this module
    from jobs.experiment.definition import Cell

MARGIN = 0.3  # points below the baseline's final dev score that count as having arrived there
LATE_EPOCHS = 5  # last weights move from epoch to epoch: their mean over these says more than any one


class Result(NamedTuple):
    cell: "Cell"
    history: list[Epoch]

    def curve(self, name: str) -> list[float]:
        return [CURVES[name].of(epoch) for epoch in self.history]

    @property
    def score_name(self) -> str:
        """F1 or accuracy."""
        return self.history[-1]["dev"]["name"]


class Curve(NamedTuple):
    """A number an epoch."""

    title: str
    of: Callable[[Epoch], float]


CURVES = {
    "dev.averaged": Curve("dev {score}, averaged weights", lambda epoch: 100 * epoch["dev"]["averaged"]),
    "dev.last": Curve("dev {score}, last weights", lambda epoch: 100 * epoch["dev"]["last"]),
    "errors": Curve("training errors (sentences)", lambda epoch: epoch["errors"]),
}


class Measure(NamedTuple):
    """A number a run; where it is compared with the baseline, which trained on the same corpus with the same seed."""

    title: str
    decimals: int
    of: Callable[[Result, Optional[Result]], Optional[float]]
    meaning: str = ""  # a sentence, where the title does not say it all


def _convergence(result: Result, baseline: Optional[Result]) -> Optional[int]:
    """The number of epochs, if the stop rule ended the run and not the limit."""
    epochs = result.history[-1]["epoch"]
    return None if epochs == result.cell.options.get("epochs") else epochs


def _arrival(result: Result, baseline: Optional[Result]) -> Optional[int]:
    """The number of epochs after which the averaged weights are about as good as the baseline's in the end."""
    if baseline is None:
        return None
    target = baseline.curve("dev.averaged")[-1] - MARGIN
    scores = result.curve("dev.averaged")
    return next((epochs for epochs, score in enumerate(scores, start=1) if score >= target), None)


def _gain(cost: Callable[[Result, int], float]) -> Callable[[Result, Optional[Result]], Optional[float]]:
    """How many times less it costs than the baseline to arrive."""

    def gain(result: Result, baseline: Optional[Result]) -> Optional[float]:
        ours, theirs = _arrival(result, baseline), baseline and _arrival(baseline, baseline)
        if baseline is None or ours is None or theirs is None:
            return None
        return cost(baseline, theirs) / cost(result, ours)

    return gain


MEASURES = {
    **{
        name: Measure(curve.title, 2 if name.startswith("dev") else 0, lambda run, _, name=name: run.curve(name)[-1])
        for name, curve in CURVES.items()
    },
    "dev.last.late": Measure(
        f"dev {{score}}, last weights, mean of the last {LATE_EPOCHS} epochs",
        2,
        lambda run, _: fmean(run.curve("dev.last")[-LATE_EPOCHS:]),
    ),
    "epochs": Measure("epochs", 0, lambda run, _: run.history[-1]["epoch"]),
    "convergence": Measure(
        "epochs to convergence",
        0,
        _convergence,
        "A run has converged when the stop rule ends it, not the limit of its epochs.",
    ),
    "seconds": Measure("seconds on a simulated cluster", 2, lambda run, _: seconds_until(run.history)[-1]),
    "arrival": Measure(
        "epochs to arrive",
        0,
        _arrival,
        f"A run has arrived when its averaged weights reach the baseline's final dev score less {MARGIN}.",
    ),
    "efficiency": Measure(
        "statistical efficiency",
        2,
        _gain(lambda run, epochs: epochs),
        f"Statistical efficiency: the baseline's epochs to its final averaged dev score less {MARGIN}, "
        "divided by the run's epochs to it.",
    ),
    "speedup": Measure(
        "simulated speed-up",
        1,
        _gain(lambda run, epochs: seconds_until(run.history)[epochs - 1]),
        f"Simulated speed-up: the baseline's seconds on a simulated cluster to its final averaged dev score less "
        f"{MARGIN}, divided by the run's seconds to it.",
    ),
}


def baseline_of(result: Result, results: Sequence[Result], group: Optional[str]) -> Optional[Result]:
    """The baseline's run on the same corpus with the same seed."""
    for other in results:
        same = other.cell.corpus == result.cell.corpus and other.cell.options["seed"] == result.cell.options["seed"]
        if other.cell.group == group and same:
            return other
    return None


def mean_over_seeds(name: str, pooled: Sequence[Result], results: Sequence[Result], baseline: Optional[str]) -> Any:
    """The mean of a measure, None if one of the runs does not have it."""
    numbers = [MEASURES[name].of(result, baseline_of(result, results, baseline)) for result in pooled]
    return None if None in numbers else fmean(number for number in numbers if number is not None)
