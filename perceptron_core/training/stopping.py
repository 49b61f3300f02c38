"""When a run is done: the training set is separated, nothing changes any more, or the dev score no longer improves."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from perceptron_core.training.mixing import CERTAIN

STEADY_EPOCHS = 3  # McDonald et al. 2010: no change beyond a threshold on three consecutive epochs


class StopRule(NamedTuple):
    epochs: int
    threshold: float  # of the training score, 1 − wrong sentences / sentences
    patience: Optional[int]  # epochs without a better dev score


def training_score(entry: dict[str, Any]) -> float:
    return 1.0 - entry["errors"] / max(1, entry["sentences"])


def best_epoch(history: Sequence[dict[str, Any]]) -> Optional[int]:
    """The epoch with the best dev score (the first of equals), or None without dev scores."""
    scored = [entry for entry in history if entry.get("dev")]
    if not scored:
        return None
    return max(scored, key=lambda entry: (entry["dev"]["score"], -entry["epoch"]))["epoch"]


def reason_to_stop(history: Sequence[dict[str, Any]], rule: StopRule) -> Optional[str]:
    """A sentence that says why the run is done, or None if it is not."""
    if not history:
        return None
    last = history[-1]
    if last["errors"] is None:
        return "one pass is all it needs"
    if last["updates"] == 0:
        if last["errors"]:
            return "no wrong sentence moves a weight, so nothing can change any more"
        return "the training set is separated"
    scores = [training_score(entry) for entry in history[-STEADY_EPOCHS - 1 :]]
    changes = [abs(b - a) for a, b in zip(scores, scores[1:])]
    steady = len(changes) == STEADY_EPOCHS and max(changes) <= rule.threshold
    # The same number of errors in every epoch may be a circle, which mixing will leave (mixing.mixing_now).
    in_a_circle = steady and max(changes) == 0 and last.get("mixing", CERTAIN[0]) not in CERTAIN
    if steady and not in_a_circle:
        return f"the training score changed by no more than {rule.threshold} on {STEADY_EPOCHS} epochs in a row"
    best = best_epoch(history)
    if rule.patience is not None and best is not None and last["epoch"] - best >= rule.patience:
        return f"the dev score has not improved for {rule.patience} epochs"
    if last["epoch"] >= rule.epochs:
        return f"{rule.epochs} epochs are done"
    return None
