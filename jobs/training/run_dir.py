"""A run's directory: its configuration and its epochs. An epoch is either complete or not there.

    config.json                 the task, labels, settings, mixing, shards, seed and data: what decides the weights
    prepared/                   the encoded shards, if the run prepared them itself
    occurrences                 in how many shards the features occur, if the mixing is scaled
    idf                         the features' inverse document frequencies, if the learner is rocchio
    epoch-0007/weights          the mixed weights after the epoch
    epoch-0007/average          the sum of the epochs' averages, to continue with
    epoch-0007/stats.json       the epoch's counts and those of all epochs before it
    round-3                     while the first epoch is trained in rounds: the mixed weights after the third
    history.jsonl               one line per epoch
    model                       last and averaged weights of the best epoch (or the last), once training has ended
    mistakes.json               the model's most frequent confusions on the dev set, with examples, if there is one
    report.html                 a page about the run

An epoch is written under a temporary name and renamed. Only the last epoch and the best are kept. What happens if a
file is damaged all the same is in whole.py.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional

from perceptron_core import schema
from perceptron_core.atomic import written_inside
from perceptron_core.errors import InputError, UserError
from perceptron_core.training.standing import Standing
from perceptron_core.training.stopping import best_epoch
from perceptron_core.weights.model_file import Model, read_model, save_model, write_model
from perceptron_jobs.engines.errors import JobFailed
from perceptron_jobs.records.epoch_entry import ENTRY, STATS, EpochEntry, History, as_records
from perceptron_jobs.records.mistakes import ELSEWHERE, check_mistakes
from perceptron_jobs.records.run_config import CONFIG, DAMAGED, RunConfig
from perceptron_jobs.storage import absolute, join, storage_of
from perceptron_jobs.storage.base import NotOurs

EPOCH = re.compile(r"epoch-(\d{4,})")
LEFTOVER = re.compile(r"\..*\.tmp|round-\d+")


class RunDir:
    def __init__(self, path: str) -> None:
        self.path = path
        self.storage = storage_of(path)

    def file(self, *names: str) -> str:
        return join(self.path, *names)

    def epoch_dir(self, epoch: int) -> str:
        return self.file(f"epoch-{epoch:04d}")

    # ------------------------------------------------------------ the run as a whole

    @contextmanager
    def opened(self) -> Iterator[bool]:
        """Make the directory if it is not there, and lock it; yields whether it is new.

        If a run is refused before it has begun, the directory is removed again.
        """
        is_new = not self.storage.is_folder(self.path)
        self.storage.make_folder(self.path)
        before = self.storage.names(self.path)
        try:
            with self.storage.held(self.path):
                yield is_new
        except NotOurs:
            raise
        except (UserError, JobFailed, OSError) as error:
            if self._is_gone():
                raise UserError(f"the run directory {self.path} was removed while it was in use") from error
            if not isinstance(error, JobFailed) and self.config() is None:
                for name in {".lock", "prepared"} - set(before):
                    self.storage.remove(self.file(name))
                if is_new and not self.storage.names(self.path):
                    self.storage.remove(self.path)
            raise

    def _is_gone(self) -> bool:
        try:
            return not self.storage.is_folder(self.path)
        except UserError:
            return False  # no answer: nothing is known

    def config(self) -> Optional[RunConfig]:
        """The configuration, or None if the run has none yet."""
        path = self.file("config.json")
        if not self.storage.exists(path):
            return None
        return RunConfig.from_record(read_json(path, CONFIG))

    def write_config(self, config: RunConfig) -> None:
        self.storage.write(self.file("config.json"), _json_bytes(config.record()))

    def remove_leftovers(self) -> None:
        """Remove rounds of the first epoch, and what a killed process was writing."""
        for name in self.storage.names(self.path):
            if LEFTOVER.fullmatch(name):
                self.storage.remove(self.file(name))

    def note_prepared(self, folder: str) -> None:
        """Remember where the prepared corpus is, if it is elsewhere: feature names are looked up there."""
        self.storage.write(self.file("prepared_elsewhere.json"), _json_bytes({"folder": absolute(folder)}))

    def prepared_folder(self) -> Optional[str]:
        """The prepared corpus, if it is still where it was."""
        if self.storage.is_folder(self.file("prepared")):
            return self.file("prepared")
        if not self.storage.exists(self.file("prepared_elsewhere.json")):
            return None
        folder = read_json(self.file("prepared_elsewhere.json"), ELSEWHERE)["folder"]
        return folder if storage_of(folder).is_folder(folder) else None

    # ------------------------------------------------------------ epochs

    def epochs(self) -> list[int]:
        """The epochs that are there, in order."""
        found = (EPOCH.fullmatch(name) for name in self.storage.names(self.path))
        return sorted(int(match[1]) for match in found if match)

    def history(self, epoch: int) -> History:
        """All epochs up to this one."""
        path = join(self.epoch_dir(epoch), "stats.json")
        return [EpochEntry.from_record(record) for record in read_json(path, STATS)["history"]]

    def publish(self, epoch: int, standing: Standing, history: History) -> None:
        """Make an epoch appear, complete, and remove those that are not needed any more."""
        with self.storage.new_folder(self.epoch_dir(epoch)) as folder:
            with written_inside(join(folder, "weights")) as file:
                save_model(file, standing.weights)
            if standing.average is not None:
                with written_inside(join(folder, "average")) as file:
                    save_model(file, standing.average)
            last = history[-1].record() if history else {}
            with written_inside(join(folder, "stats.json")) as file:
                file.write(_json_bytes({**last, "history": as_records(history)}))
        if epoch == 1:  # its rounds
            self.remove_leftovers()
        self.drop_epochs(history)

    def round_file(self, number: int) -> str:
        return self.file(f"round-{number}")

    def write_round(self, number: int, weights: Model) -> None:
        """The weights that the next round starts from; those of the round before are removed."""
        with self.storage.new_file(self.round_file(number)) as path:
            write_model(path, weights)
        if number > 1:
            self.storage.remove(self.round_file(number - 1))

    def written_history(self) -> History:
        """What history.jsonl says of each epoch: the same, and how long the publication took."""
        path = self.file("history.jsonl")
        return [
            EpochEntry.from_record(schema.read_json(line, ENTRY, f"{path}:{number}", "remove the file"))
            for number, line in enumerate(self._history_lines(), start=1)
        ]

    def _history_lines(self) -> list[bytes]:
        if self.storage.size(self.file("history.jsonl")) is None:
            return []
        with self.storage.open(self.file("history.jsonl")) as file:
            return file.readlines()

    def write_history(self, history: History) -> None:
        lines = [json.dumps(record).encode() + b"\n" for record in as_records(history)]
        self.storage.write(self.file("history.jsonl"), b"".join(lines), lasting=False)  # the epochs' folders have it

    def whole_history(self) -> History:
        """All epochs, from history.jsonl; or, if it lacks one, from the last epoch's folder."""
        epochs = self.epochs()
        try:
            written = self.written_history() if epochs else []
        except InputError:
            return self.last_history()
        return written if not epochs or len(written) >= epochs[-1] else self.last_history()

    def last_history(self) -> History:
        """All epochs, from the folder of the last one that can be read."""
        problems = []
        for epoch in reversed(self.epochs()):
            try:
                return self.history(epoch)
            except InputError as error:
                problems.append(error)
        if problems:
            raise problems[0]
        return []

    def tidy(self, history: History) -> None:
        """Do what a killed process may not have done after its last epoch."""
        self.drop_epochs(history)
        try:
            is_whole = len(self.written_history()) == len(history)
        except InputError:
            is_whole = False
        if not is_whole:
            self.write_history(history)

    def drop_epochs(self, history: History) -> None:
        """Keep the last epoch and the best."""
        *earlier, _ = self.epochs()
        for epoch in earlier:
            if epoch != best_epoch(as_records(history)):
                self.storage.remove(self.epoch_dir(epoch))

    def weights(self, epoch: int) -> Model:
        return fetch_model(join(self.epoch_dir(epoch), "weights"))

    def average(self, epoch: int) -> Optional[Model]:
        path = join(self.epoch_dir(epoch), "average")
        return fetch_model(path) if self.storage.exists(path) else None

    def standing(self, epoch: int) -> Standing:
        """Where the training stood after the epoch."""
        standing = Standing(self.weights(epoch), self.average(epoch))
        if epoch and standing.average is None and standing.settings().average:
            raise InputError("is missing; the run directory is damaged", join(self.epoch_dir(epoch), "average"))
        return standing

    def write_model(self, model: Model) -> None:
        """The file `model`: the training's result."""
        with self.storage.new_file(self.file("model")) as path:
            write_model(path, model)

    def write_idf(self, frequencies: Model) -> None:
        with self.storage.new_file(self.file("idf")) as path:
            write_model(path, frequencies)

    def write_occurrences(self, counts: Model) -> None:
        with self.storage.new_file(self.file("occurrences")) as path:
            write_model(path, counts)

    def mistakes(self) -> Optional[dict[str, Any]]:
        """The model's confusions on the dev set, or None if there was none."""
        path = self.file("mistakes.json")
        return read_json(path, check_mistakes) if self.storage.exists(path) else None

    def write_mistakes(self, mistakes: dict[str, Any]) -> None:
        self.storage.write(self.file("mistakes.json"), _json_bytes(mistakes))

    def write_report(self, page: str) -> None:
        self.storage.write(self.file("report.html"), page.encode())

    def chosen_epoch(self) -> int:
        """The best epoch by dev score, or the last. The best may be lost, if the file `model` is the one it became."""
        epochs = [epoch for epoch in self.epochs() if epoch]
        if not epochs:
            raise UserError(f"the run {self.path} has no finished epoch yet; let `perceptron train` finish one")
        best = best_epoch(as_records(self.last_history()))
        return best if best is not None and best in (*epochs, self._epoch_of_model()) else epochs[-1]

    def _epoch_of_model(self) -> Optional[int]:
        """Which epoch the file `model` is of, if there is a dev set to tell."""
        try:
            mistakes = self.mistakes() if self.storage.size(self.file("model")) else None
            return mistakes["epoch"] if mistakes else None
        except (InputError, KeyError, TypeError):
            return None


def fetch_model(path: str) -> Model:
    """A model file from any storage; an error names the file itself, not a local copy."""
    try:
        return read_model(storage_of(path).fetch(path))
    except InputError as error:
        raise InputError(error.problem, path) from error


def read_json(path: str, wanted: schema.Schema) -> Any:
    """What a JSON file of the run says, if it is as the schema says."""
    try:
        with storage_of(path).open(path) as file:
            data = file.read()
    except OSError as error:
        raise InputError(f"cannot be read ({error}); {DAMAGED}", path) from error
    return schema.read_json(data, wanted, path, DAMAGED)


def _json_bytes(content: Any) -> bytes:
    return json.dumps(content, indent=1).encode() + b"\n"
