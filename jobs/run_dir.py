"""A run's directory: what decides the weights, and the epochs, each whole or not there at all.

    config.json                 the task, labels, settings, mixing, shards, seed and data: what decides the weights
    prepared/                   the encoded shards, if the run prepared them itself
    epoch-0007/weights          the mixed weights after the epoch
    epoch-0007/average          the sum of the epochs' averages, to go on with
    epoch-0007/stats.json       the epoch's counts and those of all epochs before it
    history.jsonl               one line an epoch
    model                       last and averaged weights of the best epoch (or the last), once training has ended

An epoch is written under a temporary name and renamed. Of the epochs only the last and the best are kept.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional

from perceptron_core.atomic import written_atomically
from perceptron_core.errors import InputError, UserError
from perceptron_core.mixing import averaged_rows
from perceptron_core.model import Model, read_model, write_model
from perceptron_core.stopping import best_epoch

EPOCH = re.compile(r"epoch-(\d{4,})")
CONFIG_VERSION = 1


class RunDir:
    def __init__(self, path: str) -> None:
        self.path = path

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)

    def epoch_dir(self, epoch: int) -> str:
        return self.file(f"epoch-{epoch:04d}")

    # ------------------------------------------------------------ the run as a whole

    @contextmanager
    def opened(self) -> Iterator[None]:
        """The directory, made if need be, and locked; if a run is refused before it began, all of it goes again."""
        is_new = not os.path.isdir(self.path)
        try:
            os.makedirs(self.path, exist_ok=True)
            before = os.listdir(self.path)
        except OSError as error:
            raise UserError(f"cannot make the run directory {self.path}: {error.strerror}") from error
        with self._locked():
            try:
                yield
            except UserError:
                if self.config() is None:
                    for name in {".lock", "prepared"} - set(before):
                        _remove(self.file(name))
                    if is_new:
                        os.rmdir(self.path)
                raise

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Only one process may train in a run directory; the lock ends with its process, however that ends.

        A POSIX lock, since the other kind (flock) lives on in the worker processes of a driver that was killed.
        """
        try:
            lock = open(self.file(".lock"), "w")  # noqa: SIM115 - held open for as long as the lock is
        except OSError as error:
            raise UserError(f"cannot write to the run directory {self.path}: {error.strerror}") from error
        with lock:
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise UserError(
                    f"the run directory {self.path} is in use by another process; "
                    "wait for it to end, or choose another --run-dir"
                ) from error
            yield

    def config(self) -> Optional[dict[str, Any]]:
        """The configuration, or None if the run has none yet."""
        if not os.path.exists(self.file("config.json")):
            return None
        return _read_json(self.file("config.json"))

    def write_config(self, config: dict[str, Any]) -> None:
        _write_json(self.file("config.json"), config)

    def remove_leftovers(self) -> None:
        """What a killed process was still writing."""
        for name in os.listdir(self.path):
            if name.startswith(".") and name.endswith(".tmp"):
                _remove(self.file(name))

    def note_prepared(self, folder: str) -> None:
        """Remember where the corpus lies that was prepared elsewhere: feature names are looked up there."""
        _write_json(self.file("prepared_elsewhere.json"), {"folder": os.path.abspath(folder)})

    def prepared_folder(self) -> Optional[str]:
        """The prepared corpus, if it is still where it was."""
        if os.path.isdir(self.file("prepared")):
            return self.file("prepared")
        if not os.path.exists(self.file("prepared_elsewhere.json")):
            return None
        folder = _read_json(self.file("prepared_elsewhere.json"))["folder"]
        return folder if os.path.isdir(folder) else None

    # ------------------------------------------------------------ epochs

    def epochs(self) -> list[int]:
        """The epochs that are there, in order."""
        found = (EPOCH.fullmatch(name) for name in os.listdir(self.path))
        return sorted(int(match[1]) for match in found if match)

    def history(self, epoch: int) -> list[dict[str, Any]]:
        """The counts of all epochs up to this one."""
        return _read_json(os.path.join(self.epoch_dir(epoch), "stats.json"))["history"]

    def publish(self, epoch: int, weights: Model, average: Optional[Model], history: list[dict[str, Any]]) -> None:
        """Make an epoch appear, whole; then tidy up."""
        temporary = self.file(f".epoch-{epoch:04d}.tmp")
        if os.path.exists(temporary):
            shutil.rmtree(temporary)
        try:
            os.mkdir(temporary)
            write_model(os.path.join(temporary, "weights"), weights)
            if average is not None:
                write_model(os.path.join(temporary, "average"), average)
            last = history[-1] if history else {}
            _write_json(os.path.join(temporary, "stats.json"), {**last, "history": history})
            os.rename(temporary, self.epoch_dir(epoch))
        except OSError as error:
            raise UserError(f"cannot write to the run directory {self.path}: {error.strerror}") from error
        self.tidy(history)

    def tidy(self, history: list[dict[str, Any]]) -> None:
        """Bring the rest in line with the last epoch: its history, and no epochs that nobody needs any more."""
        self.write_history(history)
        *earlier, _ = self.epochs()
        for epoch in earlier:
            if epoch != best_epoch(history):
                self._drop(epoch)

    def _drop(self, epoch: int) -> None:
        """Out of sight by one rename, so that no half of it is ever taken for an epoch."""
        temporary = self.file(f".dropped-epoch-{epoch:04d}.tmp")
        os.rename(self.epoch_dir(epoch), temporary)
        shutil.rmtree(temporary)

    def write_history(self, history: list[dict[str, Any]]) -> None:
        with written_atomically(self.file("history.jsonl")) as file:
            for entry in history:
                file.write(json.dumps(entry).encode() + b"\n")

    def weights(self, epoch: int) -> Model:
        return read_model(os.path.join(self.epoch_dir(epoch), "weights"))

    def average(self, epoch: int) -> Optional[Model]:
        path = os.path.join(self.epoch_dir(epoch), "average")
        return read_model(path) if os.path.exists(path) else None

    def chosen_epoch(self) -> int:
        """The best epoch by dev score, or the last."""
        epochs = [epoch for epoch in self.epochs() if epoch]
        if not epochs:
            raise UserError(f"the run {self.path} has no finished epoch yet; let `perceptron train` finish one")
        best = best_epoch(self.history(epochs[-1]))
        return best if best in epochs else epochs[-1]

    def model(self) -> Model:
        """The chosen epoch's last and averaged weights in one."""
        epoch = self.chosen_epoch()
        return combine(self.weights(epoch), self.average(epoch))


def combine(weights: Model, average: Optional[Model]) -> Model:
    """Last and averaged weights in one model."""
    rows = averaged_rows(weights.rows, average.rows, average.epochs) if average else weights.rows
    return weights._replace(kind="model", rows=rows)


def open_model(path: str) -> Model:
    """MODEL as users name it: a model file, or a run directory."""
    if not os.path.exists(path):
        raise InputError("there is no such model; give a model file or a run directory", path)
    if not os.path.isdir(path):
        model = read_model(path)
        if model.kind == "average":
            raise InputError("holds a run's sums, not weights; give the run directory or its file `model`", path)
        return model
    run = RunDir(path)
    if run.config() is None:
        raise InputError("is no run directory (it has no config.json); give a model file or a run directory", path)
    return run.model()


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


def _read_json(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({error}); the run directory is damaged", path) from error


def _write_json(path: str, content: Any) -> None:
    with written_atomically(path) as file:
        file.write(json.dumps(content, indent=1).encode() + b"\n")
