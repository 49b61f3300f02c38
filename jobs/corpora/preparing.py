"""Preparing a corpus: the jobs that encode it, and the files that they become.

The folder of a prepared corpus appears when everything is in it.
"""

import gzip
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO, Any, NamedTuple

from perceptron_core.atomic import written_inside
from perceptron_core.errors import UserError
from perceptron_core.task import Task
from perceptron_core.wire import decode_line
from perceptron_jobs.corpora.first_look import check_shards
from perceptron_jobs.corpora.frequent_features import FrequentFeatures
from perceptron_jobs.corpora.pieces import cut_files, numbered
from perceptron_jobs.corpora.prepared import KEPT, MANIFEST, Prepared, check_files, data_identity
from perceptron_jobs.engines.runners import Cluster, job_lines, listed, run_in_place
from perceptron_jobs.mr.prepare import MRPrepare
from perceptron_jobs.records.prepared_manifest import Manifest, PreparedShard
from perceptron_jobs.storage import base_name, join, parent, storage_of


class Preparation(NamedTuple):
    """What `perceptron prepare` was asked for."""

    task: Task
    files: Sequence[str]
    folder: str
    shards: int = 1
    seed: int = 1
    min_count: int = 1


def prepare(asked: Preparation, cluster: Cluster) -> Prepared:
    """Run MRPrepare, and MRCountFeatures if rare features are left out."""
    check_files(asked.files)
    storage = storage_of(asked.folder)
    if storage.exists(asked.folder) and (not storage.is_folder(asked.folder) or storage.names(asked.folder)):
        raise UserError(f"{asked.folder} exists already; choose another --output, or remove it")
    check_shards(asked.task, asked.files, asked.shards)
    storage.make_folder(parent(asked.folder))
    pieces = numbered(asked.task, cut_files(asked.files, asked.task.format, cluster), cluster)
    manifest = Manifest(asked.task.fingerprint, asked.seed, data_identity(asked.files))
    with tempfile.TemporaryDirectory() as scratch, listed(pieces) as pieces_file:
        task_file = os.path.join(scratch, "task.json")
        with open(task_file, "w", encoding="utf-8") as file:
            json.dump(asked.task.record, file)
        jobs = _Jobs(asked, cluster, task_file, pieces_file, manifest)
        on_hdfs = cluster.runner == "hadoop" and asked.folder.startswith("hdfs:")
        return Prepared(asked.folder, jobs.written_by_reducers() if on_hdfs else jobs.written_by_client())


class _Jobs(NamedTuple):
    """The jobs, and the two ways to write what they put out."""

    asked: Preparation
    cluster: Cluster
    task_file: str
    pieces_file: str  # lists what the mappers read
    manifest: Manifest  # without shards

    def written_by_client(self) -> Manifest:
        """The reducers' output comes to this process, which writes the shards."""
        with storage_of(self.asked.folder).new_folder(self.asked.folder) as local:
            lines = job_lines(MRPrepare, self.cluster, self._arguments(), [self.pieces_file])
            built = [write_shard_file(local, shard) for shard in _shards(lines)]
            manifest = self.manifest.with_shards(built, self.asked.shards)
            manifest, kept = self._frequent().find(
                manifest, [os.path.join(local, shard.file) for shard in manifest.shards]
            )
            if kept is not None:
                with written_inside(os.path.join(local, KEPT)) as file:
                    file.write(kept)
            with written_inside(os.path.join(local, MANIFEST)) as out:
                out.write(manifest.as_json())
        return manifest

    def written_by_reducers(self) -> Manifest:
        """On a cluster each of as many reducers as shards writes one .gz, and nothing passes through this process."""
        from perceptron_jobs.storage.webhdfs import WebHdfsStorage

        folder = self.asked.folder
        storage = storage_of(folder)
        assert isinstance(storage, WebHdfsStorage)
        hidden = join(parent(folder), f".{base_name(folder)}.tmp")
        storage.remove(hidden)
        output = {
            "mapreduce.job.reduces": self.asked.shards,
            "mapreduce.output.fileoutputformat.compress": "true",
            "mapreduce.output.fileoutputformat.compress.codec": "org.apache.hadoop.io.compress.GzipCodec",
        }
        settings = [f"-D{name}={value}" for name, value in output.items()]
        arguments = [*self._arguments(), "--output-dir", hidden, *settings]
        try:
            run_in_place(MRPrepare, self.cluster, arguments, [self.pieces_file])
            built = []
            for part in storage.names(hidden):
                path = join(hidden, part)
                if not part.startswith("part-"):
                    storage.remove(path)
                    continue
                with storage.open(path) as packed, gzip.open(packed) as lines:
                    header = decode_line(lines.readline())[1]
                built.append(_described(header, sha256=None, **storage.identity(path)))
                storage.move(path, join(hidden, built[-1].file))
            manifest = self.manifest.with_shards(built, self.asked.shards)
            manifest, kept = self._frequent().find(manifest, [join(hidden, shard.file) for shard in manifest.shards])
            if kept is not None:
                storage.write(join(hidden, KEPT), kept)
            storage.write(join(hidden, MANIFEST), manifest.as_json())
            storage.move(hidden, folder)
            return manifest
        except BaseException:
            storage.remove(hidden)
            raise

    def _arguments(self) -> list[str]:
        arguments = ["--task", self.task_file, "--shards", str(self.asked.shards), "--seed", str(self.asked.seed)]
        python = self.asked.task.python_path
        return [*arguments, "--python", os.path.abspath(python)] if python else arguments

    def _frequent(self) -> FrequentFeatures:
        return FrequentFeatures(self.asked.task, self.task_file, self.asked.min_count, self.cluster)


def shard_name(header: dict[str, Any]) -> str:
    return f"shard-{header['shard']:05d}-of-{header['shards']:05d}.gz"


def _described(header: dict[str, Any], **file: Any) -> PreparedShard:
    """The shard of a header, with the size and the checksum of its file."""
    counted = header["shard"], header["sentences"], header["tokens"], header["labels"]
    return PreparedShard(*counted, shard_name(header), **file)


def _shards(lines: Iterator[bytes]) -> Iterator[Iterator[bytes]]:
    """The lines of each shard, from its header to its trailer; to be read one shard after the other."""
    for header in lines:
        yield chain([header], _to_trailer(lines))


def _to_trailer(lines: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield line
        if line.startswith(b"trailer\t"):
            return


class _Checked(io.RawIOBase):
    """A file that is written, with its size and checksum."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.bytes, self.sha256 = file, 0, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.bytes += len(data)
        self.sha256.update(data)
        return self.file.write(data)


def write_shard_file(folder: str, lines: Iterator[bytes]) -> PreparedShard:
    """Write a shard as one gzip member without a time or a name, so that equal content gives equal bytes."""
    header = next(lines)
    record = decode_line(header)[1]
    with written_inside(os.path.join(folder, shard_name(record))) as file:
        out = _Checked(file)
        with gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=out, mtime=0) as packed:
            for line in chain([header], lines):
                packed.write(line + b"\n")
    return _described(record, bytes=out.bytes, sha256=out.sha256.hexdigest())
