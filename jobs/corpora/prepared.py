"""A prepared corpus: a folder of encoded shards, and prepared.json, which is written last and says what is in it.

If rare features are to be left out, the file `kept` lists the others; the shards are the same.
"""

import gzip
import hashlib
import io
import json
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Optional

from perceptron_core.atomic import written_atomically
from perceptron_core.errors import InputError, UserError
from perceptron_core.task import Task
from perceptron_core.wire import decode_line
from perceptron_jobs.corpora.frequent_features import KeptFeatures
from perceptron_jobs.corpora.pieces import cut_files, numbered
from perceptron_jobs.engines.errors import JobFailed
from perceptron_jobs.engines.runners import Cluster, job_lines, listed
from perceptron_jobs.mr.prepare import MRPrepare
from perceptron_jobs.storage import base_name, join, parent, storage_of

MANIFEST, KEPT = "prepared.json", "kept"
VERSION = 2


class Prepared(NamedTuple):
    folder: str
    content: dict[str, Any]

    @property
    def shards(self) -> list[dict[str, Any]]:
        return self.content["shards"]

    def path(self, shard: int) -> str:
        return join(self.folder, self.shards[shard]["file"])

    def kept_path(self) -> Optional[str]:
        """The file of the features that are kept, unless all are."""
        return join(self.folder, KEPT) if "kept" in self.content else None

    def remark(self) -> Optional[str]:
        """A sentence, if there are more shards than sentences to fill them."""
        none = sum(shard["sentences"] == 0 for shard in self.shards)
        return f"{none} of the {len(self.shards)} shards have no sentence; fewer shards would do" if none else None

    def labels(self) -> list[str]:
        """All labels of the corpus, sorted."""
        return sorted({label for shard in self.shards for label in shard["labels"]})


def data_identity(files: Sequence[str]) -> list[dict[str, Any]]:
    """What the corpus is, whatever it is called: size and checksum of each file, in order."""
    check_files(files)
    return [storage_of(path).identity(path) for path in files]


def read_prepared(folder: str) -> Prepared:
    path, storage = join(folder, MANIFEST), storage_of(folder)
    if not storage.exists(path):
        raise InputError(
            f"is no prepared corpus ({MANIFEST}: no such file); make one with `perceptron prepare`", folder
        )
    try:
        with storage.open(path) as file:
            content = json.load(file)
    except ValueError as error:
        raise InputError(f"is damaged ({error}); prepare the corpus again", path) from error
    if content.get("version") != VERSION:
        raise InputError(f"has version {content.get('version')}, not {VERSION}; prepare the corpus again", path)
    return Prepared(folder, content)


def check_intact(prepared: Prepared) -> None:
    """Refuse a shard that is not there, or not what was written."""
    files = [("the shard", prepared.path(number), shard) for number, shard in enumerate(prepared.shards)]
    kept = prepared.kept_path()
    if kept:
        files.append(("the list of features", kept, prepared.content["kept"]))
    for what, path, written in files:
        size = storage_of(prepared.folder).size(path)
        if size is None:
            raise InputError(f"{what} is missing; prepare the corpus again", path)
        if size != written["bytes"] or not _unaltered(path, written):
            raise InputError(f"{what} was altered since it was prepared; prepare the corpus again", path)


def _unaltered(path: str, written: dict[str, Any]) -> bool:
    """Whether a file has its checksum: our own, or HDFS's if a reducer wrote it (and it is still on HDFS)."""
    if written["sha256"] is None:
        return storage_of(path).identity(path).get("hdfs", written["hdfs"]) == written["hdfs"]
    digest = hashlib.sha256()
    with storage_of(path).open(path) as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest() == written["sha256"]


def check_files(files: Sequence[str]) -> None:
    """Refuse a file that is not there before any work is done."""
    for path in files:
        if storage_of(path).is_folder(path):
            raise InputError("is a folder; name the files in it", path)
        if storage_of(path).size(path) is None:
            raise InputError("there is no such file; check the name", path)


def prepare(
    task: Task,
    files: Sequence[str],
    shards: int,
    seed: int,
    folder: str,
    cluster: Cluster,
    min_count: int = 1,
) -> Prepared:
    """Run MRPrepare, and MRCountFeatures if rare features are left out; the folder appears when all is in it."""
    check_files(files)
    storage = storage_of(folder)
    if storage.exists(folder) and (not storage.is_folder(folder) or storage.names(folder)):
        raise UserError(f"{folder} exists already; choose another --output, or remove it")
    pieces = numbered(task, cut_files(files, task.format, cluster), cluster)
    content = {
        "version": VERSION,
        "features": task.fingerprint,
        "seed": seed,
        "data": data_identity(files),
    }
    with tempfile.TemporaryDirectory() as scratch, listed(pieces) as manifest:
        record = os.path.join(scratch, "task.json")
        with open(record, "w", encoding="utf-8") as file:
            json.dump(task.record, file)
        arguments = ["--task", record, "--shards", str(shards), "--seed", str(seed)]
        if task.python_path:
            arguments += ["--python", os.path.abspath(task.python_path)]
        build = _by_reducers if cluster.runner == "hadoop" and folder.startswith("hdfs:") else _by_client
        count = KeptFeatures(task, record, min_count, cluster)
        built = build(folder, content, shards, cluster, arguments, manifest, count)
    return Prepared(folder, built)


@contextmanager
def blaming_damage(corpus: Prepared) -> Iterator[None]:
    """A job on the shards: if it fails and one was damaged meanwhile, that is the cause, and the user can mend it."""
    try:
        yield
    except (UserError, JobFailed, OSError, EOFError, zlib.error):
        check_intact(corpus)
        raise


def with_shards(content: dict[str, Any], built: Iterable[dict[str, Any]], shards: int) -> dict[str, Any]:
    """The manifest, once all shards are there."""
    ordered = sorted(built, key=lambda shard: shard["shard"])
    assert [shard["shard"] for shard in ordered] == list(range(shards)), "the job did not build every shard once"
    totals = {name: sum(shard[name] for shard in ordered) for name in ("sentences", "tokens")}
    return {**content, **totals, "shards": ordered}


def _by_client(
    folder: str,
    content: dict[str, Any],
    shards: int,
    cluster: Cluster,
    arguments: list[str],
    manifest: str,
    count: KeptFeatures,
) -> dict[str, Any]:
    """The reducers' output comes here, and is written from here."""
    with storage_of(folder).new_folder(folder) as local:
        lines = job_lines(MRPrepare, cluster, arguments, [manifest])
        content = with_shards(content, (write_shard_file(local, shard) for shard in _shards(lines)), shards)
        content, kept = count.find(content, [os.path.join(local, shard["file"]) for shard in content["shards"]])
        if kept is not None:
            with written_atomically(os.path.join(local, KEPT)) as file:
                file.write(kept)
        with open(os.path.join(local, MANIFEST), "w", encoding="utf-8") as out:
            json.dump(content, out, indent=1)
    return content


def _by_reducers(
    folder: str,
    content: dict[str, Any],
    shards: int,
    cluster: Cluster,
    arguments: list[str],
    manifest: str,
    count: KeptFeatures,
) -> dict[str, Any]:
    """On a cluster as many reducers as shards write one .gz each, and nothing passes through the client."""
    from perceptron_jobs.storage.webhdfs import WebHdfsStorage

    storage = storage_of(folder)
    assert isinstance(storage, WebHdfsStorage)
    hidden = join(parent(folder), f".{base_name(folder)}.tmp")
    storage.remove(hidden)
    output = {
        "mapreduce.job.reduces": shards,
        "mapreduce.output.fileoutputformat.compress": "true",
        "mapreduce.output.fileoutputformat.compress.codec": "org.apache.hadoop.io.compress.GzipCodec",
    }
    arguments = [*arguments, "--output-dir", hidden, *(f"-D{name}={value}" for name, value in output.items())]
    try:
        job_lines(MRPrepare, cluster, arguments, [manifest], leave_output=True)
        built = []
        for part in storage.names(hidden):
            path = join(hidden, part)
            if not part.startswith("part-"):
                storage.remove(path)
                continue
            with storage.open(path) as packed, gzip.open(packed) as lines:
                header = decode_line(lines.readline())[1]
            name = shard_file(header)
            built.append({**_described(header), "file": name, "sha256": None, **storage.identity(path)})
            storage.move(path, join(hidden, name))
        content = with_shards(content, built, shards)
        content, kept = count.find(content, [join(hidden, shard["file"]) for shard in content["shards"]])
        if kept is not None:
            storage.write(join(hidden, KEPT), kept)
        storage.write(join(hidden, MANIFEST), json.dumps(content, indent=1).encode())
        storage.move(hidden, folder)
        return content
    except BaseException:
        storage.remove(hidden)
        raise


def shard_file(header: dict[str, Any]) -> str:
    return f"shard-{header['shard']:05d}-of-{header['shards']:05d}.gz"


def _described(header: dict[str, Any]) -> dict[str, Any]:
    return {name: header[name] for name in ("shard", "sentences", "tokens", "labels")}


def _shards(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """The lines of each shard: from its header to its trailer."""
    begin = 0
    for number, line in enumerate(lines, start=1):
        if line.startswith(b"trailer\t"):
            yield lines[begin:number]
            begin = number


def write_shard_file(folder: str, lines: Sequence[bytes]) -> dict[str, Any]:
    """Write a shard as one gzip member without a time or a name (equal content, equal bytes); what is in it."""
    _, header = decode_line(lines[0])
    name = shard_file(header)
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=buffer, mtime=0) as packed:
        packed.write(b"\n".join(lines) + b"\n")
    data = buffer.getvalue()
    with written_atomically(os.path.join(folder, name)) as file:
        file.write(data)
    return {**_described(header), "file": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
