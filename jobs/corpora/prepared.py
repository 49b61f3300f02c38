"""A prepared corpus: a folder of encoded shards, and prepared.json, which is written last and says what is in it.

If rare features are left out, the file `kept` lists the others; the shards are the same.
"""

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Optional, Union

from perceptron_core.errors import InputError, UserError, shown
from perceptron_core.schema import anything, check, read_json
from perceptron_core.text_file import is_device
from perceptron_jobs.engines.errors import JobFailed
from perceptron_jobs.records.prepared_manifest import PREPARED, VERSION, KeptFile, Manifest, PreparedShard
from perceptron_jobs.storage import is_remote, join, storage_of

MANIFEST, KEPT = "prepared.json", "kept"


class Prepared(NamedTuple):
    folder: str
    manifest: Manifest

    @property
    def shards(self) -> list[PreparedShard]:
        return self.manifest.shards

    def path(self, shard: int) -> str:
        return join(self.folder, self.shards[shard].file)

    def kept_path(self) -> Optional[str]:
        """The file of the features that are kept, unless all are."""
        return join(self.folder, KEPT) if self.manifest.kept else None

    def remark(self) -> Optional[str]:
        """A sentence, if there are more shards than sentences to fill them."""
        empty = sum(shard.sentences == 0 for shard in self.shards)
        return f"{empty} of the {len(self.shards)} shards have no sentence; use fewer shards" if empty else None

    def labels(self) -> list[str]:
        """All labels of the corpus, sorted."""
        return sorted({label for shard in self.shards for label in shard.labels})


def data_identity(files: Sequence[str]) -> list[dict[str, Any]]:
    """What the corpus is, whatever its files are called: the size and checksum of each, in order."""
    check_files(files)
    return [storage_of(path).identity(path) for path in files]


def read_prepared(folder: str) -> Prepared:
    path, storage = join(folder, MANIFEST), storage_of(folder)
    if not storage.exists(path):
        raise InputError(
            f"is not a prepared corpus ({MANIFEST}: no such file); make one with `perceptron prepare`", folder
        )
    with storage.open(path) as file:
        record = read_json(file.read(), anything, path, "prepare the corpus again")
    if isinstance(record, dict) and record.get("version", VERSION) != VERSION:
        raise InputError(f"has version {shown(record['version'])}, not {VERSION}; prepare the corpus again", path)
    check(record, PREPARED, path, "prepare the corpus again")
    if [shard["shard"] for shard in record["shards"]] != list(range(len(record["shards"]))):
        raise InputError("does not list every shard once; prepare the corpus again", path)
    return Prepared(folder, Manifest.from_record(record))


class DescribedFile(NamedTuple):
    """A file, and what prepared.json says of it."""

    what: str
    path: str
    written: Union[PreparedShard, KeptFile]


def described_files(prepared: Prepared) -> list[DescribedFile]:
    files = [DescribedFile("the shard", prepared.path(i), shard) for i, shard in enumerate(prepared.shards)]
    kept = prepared.kept_path()
    if kept and prepared.manifest.kept:
        files.append(DescribedFile("the list of features", kept, prepared.manifest.kept))
    return files


def check_intact(prepared: Prepared) -> None:
    """Refuse a shard that is missing or was altered."""
    for file in described_files(prepared):
        check_file(file)


def check_file(file: DescribedFile) -> None:
    size = storage_of(file.path).size(file.path)
    if size is None:
        raise InputError(f"{file.what} is missing; prepare the corpus again", file.path)
    if size != file.written.bytes or not _unaltered(file.path, file.written):
        raise InputError(f"{file.what} was altered since it was prepared; prepare the corpus again", file.path)


def _unaltered(path: str, written: Union[PreparedShard, KeptFile]) -> bool:
    """Whether a file has its checksum: our own, or that of HDFS if a reducer wrote it (and it is still on HDFS)."""
    if written.sha256 is None:
        return storage_of(path).identity(path).get("hdfs", written.hdfs) == written.hdfs
    digest = hashlib.sha256()
    with storage_of(path).open(path) as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest() == written.sha256


def check_files(files: Sequence[str]) -> None:
    """Refuse a file that is not there before any work is done."""
    for path in files:
        if storage_of(path).is_folder(path):
            raise InputError("is a folder; name the files in it", path)
        if storage_of(path).size(path) is None:
            raise InputError("there is no such file; check the name", path)
        if not is_remote(path) and is_device(path):
            raise InputError("is a device, which may have no end; give a file", path)


@contextmanager
def blaming_damage(corpus: Prepared) -> Iterator[None]:
    """Around a job on the shards: if it fails and a shard was damaged meanwhile, the error says so."""
    try:
        yield
    except (UserError, JobFailed, OSError, EOFError, zlib.error):
        check_intact(corpus)
        raise
