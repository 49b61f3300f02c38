"""Is every file of a run, a model or a prepared corpus what was written? Each is read to its end.

A file is read by the function that all other commands read it with, so what these refuse is found here, too: checksums,
unknown keys, arrays that do not fit together.
"""

import gzip
import zlib
from collections.abc import Iterator
from functools import partial
from typing import Any, Callable, NamedTuple, Optional

from perceptron_core.counting.rare import read_kept
from perceptron_core.errors import InputError, UserError
from perceptron_core.shards.records import ShardReader
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model
from perceptron_core.wire import DamagedRecord, decode_line
from perceptron_jobs.corpora.prepared import (
    MANIFEST,
    DescribedFile,
    Prepared,
    check_file,
    described_files,
    read_prepared,
)
from perceptron_jobs.records.run_config import RunConfig
from perceptron_jobs.storage import join, open_file, storage_of
from perceptron_jobs.training.run_dir import EPOCH, RunDir, fetch_model

# What a reader may raise besides a UserError if a file has the right checksum and the wrong content.
WRONG_CONTENT = (ArithmeticError, AttributeError, EOFError, LookupError, OSError, TypeError, ValueError, zlib.error)
MODELS = {"model": "model", "idf": "idf", "occurrences": "occurrences"}  # name → kind
LETTERS = {"header": "h", "block": "b", "trailer": "t"}  # the records of a shard


class Checked(NamedTuple):
    path: str
    problem: Optional[str] = None


def check(path: str) -> Iterator[Checked]:
    """All files of a run directory or a prepared corpus, or a model file; one after the other."""
    storage = storage_of(path)
    if not storage.is_folder(path):
        if storage.size(path) is None:
            raise InputError("there is no such file or folder; check the name", path)
        yield _checked(path, lambda: fetch_model(path))
        return
    names = storage.names(path)
    if MANIFEST in names:
        yield from _check_prepared(path)
    elif "config.json" in names or any(map(EPOCH.fullmatch, names)):
        yield from _check_run(RunDir(path))
    else:
        raise InputError(
            f"is neither a run directory (config.json) nor a prepared corpus ({MANIFEST}); name one, or a model file",
            path,
        )


def _checked(path: str, read: Callable[[], Any]) -> Checked:
    try:
        read()
    except UserError as error:
        return Checked(path, str(error).removeprefix(f"{path}: "))
    except WRONG_CONTENT as error:
        return Checked(path, f"is not what was written ({type(error).__name__}: {error})")
    return Checked(path)


# ---------------------------------------------------------------- a run


def _check_run(run: RunDir) -> Iterator[Checked]:
    configs: list[RunConfig] = []

    def read_config() -> None:
        config = run.config()
        if config is None:
            raise InputError("is missing", run.file("config.json"))
        config.training_settings().check()
        Task(config.task)
        configs.append(config)

    yield _checked(run.file("config.json"), read_config)
    config = configs[0] if configs else None
    names = run.storage.names(run.path)
    if "prepared" in names:
        yield from _check_prepared(run.file("prepared"), config)
    for epoch in run.epochs():
        yield from _check_epoch(run, epoch, config)
    readers: dict[str, Callable[[], Any]] = {
        **{name: partial(_read_model, run.file(name), kind, config) for name, kind in MODELS.items()},
        "history.jsonl": partial(_read_history, run),
        "mistakes.json": run.mistakes,
        "prepared_elsewhere.json": run.prepared_folder,
    }
    for name in sorted(readers.keys() & set(names)):
        yield _checked(run.file(name), readers[name])


def _read_history(run: RunDir) -> None:
    """A killed process may not have written down its last epoch."""
    written, last = [entry.epoch for entry in run.written_history()], max(run.epochs(), default=0)
    if written != list(range(1, len(written) + 1)) or len(written) < last - 1:
        raise InputError("lacks epochs; remove it", run.file("history.jsonl"))


def _check_epoch(run: RunDir, epoch: int, config: Optional[RunConfig]) -> Iterator[Checked]:
    folder = run.epoch_dir(epoch)
    yield _checked(join(folder, "stats.json"), lambda: run.history(epoch))
    kinds = ["weights"]
    if "average" in run.storage.names(folder) or (epoch and config and config.training_settings().average):
        kinds.append("average")
    for kind in kinds:
        yield _checked(join(folder, kind), partial(_read_model, join(folder, kind), kind, config))


def _read_model(path: str, kind: str, config: Optional[RunConfig]) -> Model:
    if storage_of(path).size(path) is None:
        raise InputError("is missing", path)
    model = fetch_model(path)
    if model.kind != kind:
        raise InputError(f"is a file of the kind {model.kind}, not {kind}", path)
    if config and model.labels != config.labels:
        raise InputError("has other labels than the run", path)
    return model


# ---------------------------------------------------------------- a prepared corpus


def _check_prepared(folder: str, config: Optional[RunConfig] = None) -> Iterator[Checked]:
    """With the configuration of a run, its shards are read as a training reads them."""
    found: list[Prepared] = []
    yield _checked(join(folder, MANIFEST), lambda: found.append(read_prepared(folder)))
    for prepared in found:
        for number, file in enumerate(described_files(prepared)):
            yield _checked(file.path, partial(_read_file, prepared, number, file, config))


def _read_file(prepared: Prepared, number: int, file: DescribedFile, config: Optional[RunConfig]) -> None:
    check_file(file)
    if number < len(prepared.shards):
        _read_shard(prepared, number, config)
    else:
        read_kept(storage_of(file.path).fetch(file.path))


def _read_shard(prepared: Prepared, number: int, config: Optional[RunConfig]) -> None:
    reader = Task(config.task).shard_reader(config.labels) if config else None
    written = prepared.shards[number]
    kinds = ""
    header: dict[str, Any] = {}
    trailer: dict[str, Any] = {}
    with open_file(prepared.path(number)) as packed, gzip.open(packed) as lines:
        for line in lines:
            kind, record = decode_line(line)
            kinds += LETTERS.get(kind, "?")
            header, trailer = (record if kind == "header" else header), record
            _take(reader, kind, record)
    if kinds != "h" + "b" * trailer.get("blocks", 0) + "t":
        raise DamagedRecord("is not a header, blocks and a trailer; prepare the corpus again")
    told = (header["shard"], header["shards"], header["sentences"], header["tokens"], header["features"])
    expected = (number, len(prepared.shards), written.sentences, written.tokens, prepared.manifest.features)
    if told != expected or header["labels"] != written.labels:
        raise DamagedRecord(f"does not hold what {MANIFEST} says; prepare the corpus again")


def _take(reader: Optional[ShardReader], kind: str, record: dict[str, Any]) -> None:
    if reader is not None:
        reader.take(kind, record)
