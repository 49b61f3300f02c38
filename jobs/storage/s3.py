"""S3 through boto3. S3 has no rename, so a folder exists when its manifest exists.

The files of a new folder are written one by one, each marked as a member of a folder. `_manifest.json` is written last,
with their names, sizes and checksums. Without a manifest that matches, neither the folder nor its members count as
existing; to remove a folder, its manifest is removed first. Other folders are made by an object whose name ends in a
slash, as S3's own console does; other files (such as a corpus) need nothing.

Credentials and region are those of boto3. An endpoint other than Amazon's is read from AWS_ENDPOINT_URL_S3, or given to
`connect_by`.
"""

import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Callable, Optional

from hdfs.util import HdfsError

from perceptron_core.errors import InputError, UserError
from perceptron_core.schema import dict_of, read_json, record, text, whole
from perceptron_core.scratch import folder_for_copies
from perceptron_jobs.storage.base import Storage, base_name, inner_path, join, parent
from perceptron_jobs.storage.lease import Lease

try:
    import boto3
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError as error:
    raise UserError("S3 and EMR need boto3; install it: pip install 'mr-perceptron[emr]'") from error

MANIFEST = "_manifest.json"
FILES = record(
    {"files": dict_of(record({"bytes": whole(), "sha256": text()}))}  # by their names
)
MEMBER = {"perceptron": "member"}  # metadata of a file that exists only if its folder's manifest lists it
AWS_ERRORS = (Boto3Error, BotoCoreError, ClientError)
DELETED_AT_ONCE = 1000  # S3's limit

_options: dict[str, Any] = {}
_clients: list[Any] = []  # one, once it is needed


def connect_by(**options: Any) -> None:
    """How to reach S3 from now on: boto3's endpoint_url, region_name, aws_access_key_id …"""
    _options.clear()
    _options.update({name: value for name, value in options.items() if value})
    _clients.clear()


def client() -> Any:
    if not _clients:
        _clients.append(boto3.client("s3", **_options))
    return _clients[0]


class Unreachable(UserError, OSError):
    """A UserError for the user; an OSError for a lease, which tries again."""


@contextmanager
def plainly(what: str) -> Iterator[None]:
    """Turn Amazon's errors into sentences; `what` says what cannot be done."""
    try:
        yield
    except AWS_ERRORS as error:
        raise Unreachable(f"{what}: {str(error).strip()}") from error


def _code(error: ClientError) -> str:
    return error.response["Error"]["Code"]


def _if_there(verb: Callable[..., dict[str, Any]], **named: Any) -> Optional[dict[str, Any]]:
    """S3's answer, None if there is no such object."""
    try:
        return verb(**named)
    except ClientError as error:
        if _code(error) in ("404", "NoSuchKey"):
            return None
        raise


class S3Storage(Storage):
    def __init__(self, bucket: str) -> None:
        self.bucket = bucket

    @staticmethod
    def key(path: str) -> str:
        """The name within the bucket of s3://bucket/name."""
        return inner_path(path).strip("/")

    def place(self, path: str) -> dict[str, str]:
        """The object of a path, as boto3 wants it named."""
        return {"Bucket": self.bucket, "Key": self.key(path)}

    def marker(self, folder: str) -> dict[str, str]:
        """The object that makes a folder without a manifest; its name begins those of all that is in the folder."""
        return {"Bucket": self.bucket, "Key": f"{self.key(folder)}/".lstrip("/")}

    def _pages(self, folder: str, **how: str) -> Iterator[dict[str, Any]]:
        pages = client().get_paginator("list_objects_v2")
        yield from pages.paginate(Bucket=self.bucket, Prefix=self.marker(folder)["Key"], **how)

    # ------------------------------------------------------------ what is there

    def _manifest(self, folder: str) -> Optional[dict[str, dict[str, Any]]]:
        """The files of a published folder: name → size and checksum; None if it is not there, or not whole."""
        found = _if_there(client().get_object, **self.place(join(folder, MANIFEST)))
        if found is None:
            return None
        try:
            files = read_json(found["Body"].read(), FILES, join(folder, MANIFEST), "publish it again")["files"]
            if any("/" in name or name in ("", ".", "..") for name in files):  # not one of ours
                return None
        except InputError:
            return None
        sizes = {entry["Key"]: entry["Size"] for page in self._pages(folder) for entry in page.get("Contents", ())}
        whole = all(sizes.get(self.key(join(folder, name))) == file["bytes"] for name, file in files.items())
        return files if whole else None

    def _published(self, path: str, metadata: dict[str, str]) -> Optional[dict[str, Any]]:
        """What the manifest says of an object; {} if it needs none, None if it needs one and is not named there."""
        if metadata.items() >= MEMBER.items():
            return (self._manifest(parent(path)) or {}).get(base_name(path))
        return {}

    def _found(self, path: str) -> Optional[dict[str, Any]]:
        """S3's description of a file that is there."""
        found = _if_there(client().head_object, **self.place(path)) if self.key(path) else None
        return found if found and self._published(path, found["Metadata"]) is not None else None

    def size(self, path: str) -> Optional[int]:
        with plainly(f"cannot read {path}"):
            found = self._found(path)
        return found["ContentLength"] if found else None

    def is_folder(self, path: str) -> bool:
        with plainly(f"cannot read {path}"):
            return (
                not self.key(path)
                or self._manifest(path) is not None
                or _if_there(client().head_object, **self.marker(path)) is not None
            )

    def names(self, folder: str) -> list[str]:
        with plainly(f"cannot list {folder}"):
            files = self._manifest(folder)
            if files is not None:
                return sorted(files)
            if not self.is_folder(folder):
                return []
            found = []
            for page in self._pages(folder, Delimiter="/"):
                keys = (entry["Key"] for entry in page.get("Contents", ()))
                found += [base_name(f"s3://{key}") for key in keys if not key.endswith("/")]
                inner = (base_name(f"s3://{entry['Prefix']}") for entry in page.get("CommonPrefixes", ()))
                found += [name for name in inner if name.strip(".") and self.is_folder(join(folder, name))]
            return sorted(name for name in found if name.strip("."))  # `.` and `..` are not ours

    def identity(self, path: str) -> dict[str, Any]:
        """S3's own tag of the content; it does not read the file."""
        with plainly(f"cannot read {path}"):
            found = self._found(path)
        if found is None:
            raise _absent(path)
        return {"bytes": found["ContentLength"], "s3": found["ETag"].strip('"')}

    # ------------------------------------------------------------ reading

    def open(self, path: str, start: int = 0) -> io.BufferedReader:
        part = {"Range": f"bytes={start}-"} if start else {}
        with plainly(f"cannot read {path}"):
            try:
                found = _if_there(client().get_object, **self.place(path), **part)
            except ClientError as error:
                if _code(error) != "InvalidRange":  # it begins at the end of the file, where nothing is left
                    raise
                return io.BufferedReader(io.BytesIO())
            if found is None or self._published(path, found["Metadata"]) is None:
                raise _absent(path)
        return io.BufferedReader(_Stream(found["Body"]), 1 << 20)

    def fetch(self, path: str) -> str:
        local = os.path.join(folder_for_copies(), base_name(path))
        with plainly(f"cannot read {path}"):
            found = self._found(path)
            if found is None:
                raise _absent(path)
            client().download_file(self.bucket, self.key(path), local)
            published = self._published(path, found["Metadata"])
        if published and published["sha256"] != _sha256(local):
            raise InputError("was altered since it was written; remove its folder and make it again", path)
        return local

    # ------------------------------------------------------------ writing

    def make_folder(self, folder: str) -> None:
        if self.is_folder(folder):
            return
        self.make_folder(parent(folder))
        with plainly(f"cannot make the folder {folder}"):
            client().put_object(**self.marker(folder), Body=b"")

    def write(self, path: str, data: bytes, lasting: bool = True) -> None:
        with plainly(f"cannot write {path}"):
            client().put_object(**self.place(path), Body=data)

    @contextmanager
    def new_file(self, path: str) -> Iterator[str]:
        with tempfile.TemporaryDirectory() as scratch:
            local = os.path.join(scratch, base_name(path))
            yield local
            with plainly(f"cannot write {path}"):
                client().upload_file(local, self.bucket, self.key(path))

    @contextmanager
    def new_folder(self, folder: str) -> Iterator[str]:
        with tempfile.TemporaryDirectory() as scratch:
            yield scratch
            files = {}
            for name in sorted(os.listdir(scratch)):
                local = os.path.join(scratch, name)
                files[name] = {"bytes": os.path.getsize(local), "sha256": _sha256(local)}
                with plainly(f"cannot write {join(folder, name)}"):
                    key = self.key(join(folder, name))
                    client().upload_file(local, self.bucket, key, ExtraArgs={"Metadata": MEMBER})
            self.write(join(folder, MANIFEST), json.dumps({"files": files}, indent=1).encode())

    def remove(self, path: str) -> None:
        """Manifests are removed before anything else, so that no half of a folder is ever taken for the whole."""
        with plainly(f"cannot remove {path}"):
            if not self.is_folder(path):
                client().delete_object(**self.place(path))
                return
            keys = [entry["Key"] for page in self._pages(path) for entry in page.get("Contents", ())]
            manifests = [key for key in keys if base_name(f"s3://{key}") == MANIFEST]
            for some in (manifests, [key for key in keys if key not in set(manifests)]):
                for begin in range(0, len(some), DELETED_AT_ONCE):
                    self._delete(path, some[begin : begin + DELETED_AT_ONCE])

    def _delete(self, path: str, keys: list[str]) -> None:
        wanted = {"Objects": [{"Key": key} for key in keys], "Quiet": True}
        for failure in client().delete_objects(Bucket=self.bucket, Delete=wanted).get("Errors", ()):
            raise UserError(f"cannot remove {failure['Key']} of {path}: {failure.get('Message')}")

    @contextmanager
    def held(self, folder: str) -> Iterator[None]:
        with Lease(_LeaseClient(self.bucket), self.key(join(folder, ".lease")), folder).renewed():
            yield


class _LeaseClient:
    """What a lease needs, with the errors it knows from HDFS; only one process can create an object."""

    def __init__(self, bucket: str) -> None:
        self.bucket = bucket

    def write(self, path: str, data: bytes, overwrite: bool) -> None:
        place = {"Bucket": self.bucket, "Key": path}
        with plainly(f"cannot write s3://{self.bucket}/{path}"):
            try:
                client().put_object(**place, Body=data, **({} if overwrite else {"IfNoneMatch": "*"}))
            except ClientError as error:
                if _code(error) in ("PreconditionFailed", "ConditionalRequestConflict"):
                    raise HdfsError("it is there already") from error
                if overwrite or _code(error) != "NotImplemented":
                    raise
                if _if_there(client().head_object, **place):  # nearly as safe as a conditional write
                    raise HdfsError("it is there already") from error
                client().put_object(**place, Body=data)

    def read(self, path: str) -> Any:
        with plainly(f"cannot read s3://{self.bucket}/{path}"):
            found = _if_there(client().get_object, Bucket=self.bucket, Key=path)
        if found is None:
            raise HdfsError("there is none")
        return closing(found["Body"])

    def delete(self, path: str) -> None:
        with plainly(f"cannot remove s3://{self.bucket}/{path}"):
            client().delete_object(Bucket=self.bucket, Key=path)


class _Stream(io.RawIOBase):
    """An object's content as a file."""

    def __init__(self, body: Any) -> None:
        self._body = body

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._body.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._body.close()
        super().close()


def _absent(path: str) -> InputError:
    return InputError("there is no such file; check the name", path)


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest()
