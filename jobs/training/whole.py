"""What of a run is whole: a damaged file is not the end of it.

    perceptron train      goes on after the last whole epoch; what came after it is trained again, to the same bytes
    predict, evaluate …   take the weights of the chosen epoch; if these are damaged, `model`; else the last whole epoch

A file is damaged if it is missing, cut short or altered. A file that cannot be opened is not: the reason is said, and
nothing is done.
"""

import logging
from collections.abc import Iterator
from functools import partial
from typing import Callable, Optional

from perceptron_core.errors import InputError, UserError
from perceptron_core.training.standing import Standing
from perceptron_core.weights.model_file import Model
from perceptron_jobs.storage import join, storage_of
from perceptron_jobs.training.run_dir import RunDir, fetch_model

log = logging.getLogger("perceptron")


def drop_damaged(run: RunDir, say: Callable[[str], None]) -> None:
    """Remove epochs that are not whole."""
    for epoch in run.epochs():
        problem = damage(run, epoch)
        if problem:
            say(f"{problem}; epoch {epoch} is dropped")
            run.storage.remove(run.epoch_dir(epoch))


def damage(run: RunDir, epoch: int) -> Optional[str]:
    """What is wrong with an epoch, None if it is whole."""
    try:
        for name in ("stats.json", "weights"):
            if run.storage.size(join(run.epoch_dir(epoch), name)) is None:
                raise InputError("is missing", join(run.epoch_dir(epoch), name))
        run.history(epoch)
        run.standing(epoch)
    except InputError as error:
        _refuse_if_unreadable(error)
        return str(error)
    return None


def chosen_model(run: RunDir) -> Model:
    """The last and the averaged weights of the chosen epoch, in one model; says so if they are those of another."""
    problem = None
    for what, read in _candidates(run):
        try:
            model = read()
        except InputError as error:
            _refuse_if_unreadable(error)
            problem = problem or error
            continue
        if problem is not None:
            log.warning("%s; using %s instead", problem, what)
        return model
    raise problem or UserError(f"the run {run.path} has no finished epoch yet; let `perceptron train` finish one")


def _candidates(run: RunDir) -> Iterator[tuple[str, Callable[[], Model]]]:
    """What may serve as the model of a run, the best first."""
    epochs = [epoch for epoch in run.epochs() if epoch]
    try:
        chosen = run.chosen_epoch() if epochs else None
    except InputError:  # no epoch can be read, which the caller will find out
        chosen = epochs[-1]
    if chosen in epochs:
        yield f"epoch {chosen}", partial(_model_of, run, chosen)
    model = run.file("model")
    if run.storage.size(model) is not None:
        yield model, partial(fetch_model, model)
    for epoch in reversed(epochs):
        if epoch != chosen:
            yield f"epoch {epoch}", partial(_model_of, run, epoch)


def _model_of(run: RunDir, epoch: int) -> Model:
    return run.standing(epoch).model()


def _refuse_if_unreadable(error: InputError) -> None:
    if isinstance(error.__cause__, OSError) and not isinstance(error.__cause__, FileNotFoundError):
        raise error


def open_model(path: str) -> Model:
    """MODEL as users name it: a model file, or a run directory."""
    storage = storage_of(path)
    if storage.is_folder(path):
        run = RunDir(path)
        if run.config() is None:
            raise InputError("is not a run directory (it has no config.json); give one, or a model file", path)
        return chosen_model(run)
    if storage.size(path) is None:
        raise InputError("there is no such model; give a model file or a run directory", path)
    model = fetch_model(path)
    if model.kind not in ("weights", "model"):
        raise InputError("holds a run's sums or counts, not weights; give the run directory or its file `model`", path)
    return Standing(model).model() if model.kind == "weights" else model
