"""HDFS through WebHDFS, by the `hdfs` package: a file operation costs milliseconds, not a start of Java.

Which NameNodes there are is read from HADOOP_CONF_DIR (hdfs-site.xml; several of them where the name service is highly
available), or from PERCEPTRON_WEBHDFS (`http://host:9870`, several separated by `;`). Where the cluster asks for
Kerberos, the `hdfs` package's own extension is used (`pip install hdfs[kerberos]`).
"""

import getpass
import io
import os
import posixpath
import shutil
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Callable, Optional
from urllib.parse import urlsplit

from hdfs import Client, InsecureClient
from hdfs.util import HdfsError
from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

from jobs.storage.base import Storage
from jobs.storage.lease import Lease
from jobs.storage.patience import patiently
from perceptron_core.errors import InputError, UserError

DEFAULT_PORT = 9870


def hadoop_configuration() -> dict[str, str]:
    """The properties of core-site.xml and hdfs-site.xml in HADOOP_CONF_DIR."""
    properties: dict[str, str] = {}
    folder = os.environ.get("HADOOP_CONF_DIR", "")
    for name in ("core-site.xml", "hdfs-site.xml"):
        path = os.path.join(folder, name)
        if not folder or not os.path.exists(path):
            continue
        try:
            for item in ElementTree.parse(path).iter("property"):
                properties[item.findtext("name", "").strip()] = item.findtext("value", "").strip()
        except ElementTree.ParseError as error:
            raise InputError(f"is no XML ({error}); mend it, or unset HADOOP_CONF_DIR", path) from error
    return properties


def namenode_addresses(host: str, properties: dict[str, str]) -> str:
    """The WebHDFS address of a NameNode or a name service, several separated by `;`."""
    given = os.environ.get("PERCEPTRON_WEBHDFS")
    if given:
        return given
    scheme = "https" if properties.get("dfs.http.policy") == "HTTPS_ONLY" else "http"
    key = f"dfs.namenode.{scheme}-address"
    service = host or urlsplit(properties.get("fs.defaultFS", "")).netloc
    members = properties.get(f"dfs.ha.namenodes.{service}", "")
    if members:
        found = [properties.get(f"{key}.{service}.{member.strip()}") for member in members.split(",")]
        return ";".join(f"{scheme}://{address}" for address in found if address)
    name = service.partition(":")[0] or "localhost"
    address = properties.get(key, "")
    if not address or address.startswith("0.0.0.0"):
        address = f"{name}:{address.partition(':')[2] or DEFAULT_PORT}"
    return f"{scheme}://{address}"


def connect(host: str) -> Client:
    properties = hadoop_configuration()
    url = namenode_addresses(host, properties)
    if properties.get("hadoop.security.authentication", "simple") == "kerberos":
        try:
            from hdfs.ext.kerberos import KerberosClient
        except ImportError as error:
            raise UserError("the cluster wants Kerberos; install its client: pip install 'hdfs[kerberos]'") from error
        return KerberosClient(url, timeout=60)
    return InsecureClient(url, user=os.environ.get("HADOOP_USER_NAME") or getpass.getuser(), timeout=60)


class _Stream(io.RawIOBase):
    """A file's bytes from `position` on, by as many responses as it takes; `open_at` gives the one from an offset."""

    def __init__(self, open_at: Callable[[int], Any], position: int) -> None:
        self._open_at, self._position = open_at, position
        self._response = open_at(position)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._response.raw.read(len(buffer), decode_content=False)
        except HTTPError:  # its DataNode has died
            self._response = self._open_at(self._position)
            data = self._response.raw.read(len(buffer), decode_content=False)
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._response.close()
        super().close()


class WebHdfsStorage(Storage):
    def __init__(self, host: str) -> None:
        self.host = host
        self.client = connect(host)

    @staticmethod
    def inner(path: str) -> str:
        """The path within HDFS of hdfs://host/path."""
        return urlsplit(path).path or "/"

    def _status(self, path: str) -> Optional[dict[str, Any]]:
        try:
            return self._do(f"cannot read {path}", self.client.status, self.inner(path))
        except UserError as error:
            if getattr(error.__cause__, "exception", None) == "FileNotFoundException":
                return None
            raise

    def open(self, path: str, start: int = 0) -> io.BufferedReader:
        def open_at(offset: int) -> Any:
            return self._do(f"cannot read {path}", self.client._open, self.inner(path), offset=offset)

        if start and start == self.size(path):  # HDFS refuses to begin at the end
            return io.BufferedReader(io.BytesIO())  # type: ignore[arg-type]
        return io.BufferedReader(_Stream(open_at, start), 1 << 20)

    def size(self, path: str) -> Optional[int]:
        status = self._status(path)
        return status["length"] if status and status["type"] == "FILE" else None

    def is_folder(self, path: str) -> bool:
        status = self._status(path)
        return bool(status) and status["type"] == "DIRECTORY"

    def names(self, folder: str) -> list[str]:
        if not self.is_folder(folder):
            return []
        return sorted(self._do(f"cannot list {folder}", self.client.list, self.inner(folder)))

    def make_folder(self, folder: str) -> None:
        self._do(f"cannot make the folder {folder}", self.client.makedirs, self.inner(folder))

    def write(self, path: str, data: bytes) -> None:
        self._replace(path, io.BytesIO(data))

    def _replace(self, path: str, source: BinaryIO) -> None:
        target = self.inner(path)
        temporary = posixpath.join(posixpath.dirname(target), f".{posixpath.basename(target)}.tmp")
        self._upload(path, temporary, source)
        self._rename(path, temporary, target, "OVERWRITE")

    def _upload(self, path: str, target: str, source: BinaryIO) -> None:
        def send() -> None:
            source.seek(0)
            self.client.write(target, data=source, overwrite=True)

        self._do(f"cannot write {path}", send)

    def _rename(self, path: str, source: str, target: str, option: str) -> None:
        """With OVERWRITE a file takes another's place; with NONE it is an error if anything is at the target."""
        named = {"destination": target, "renameoptions": option}
        answer = self._do(f"cannot write {path}", self.client._rename, source, **named)
        if answer.content and not answer.json()["boolean"]:  # HttpFS, which knows no options: the old file goes first
            if option == "NONE":
                raise UserError(f"cannot write {path}: something is there already")
            self._do(f"cannot write {path}", self.client.delete, target)
            self._do(f"cannot write {path}", self.client.rename, source, target)

    @contextmanager
    def new_file(self, path: str) -> Iterator[str]:
        with tempfile.TemporaryDirectory() as scratch:
            local = os.path.join(scratch, posixpath.basename(path))
            yield local
            with open(local, "rb") as file:
                self._replace(path, file)

    @contextmanager
    def new_folder(self, folder: str) -> Iterator[str]:
        target = self.inner(folder)
        hidden = posixpath.join(posixpath.dirname(target), f".{posixpath.basename(target)}.tmp")
        with tempfile.TemporaryDirectory() as scratch:
            yield scratch
            cannot = f"cannot write {folder}"
            self._do(cannot, self.client.delete, hidden, recursive=True)
            self._do(cannot, self.client.makedirs, hidden)
            for name in sorted(os.listdir(scratch)):
                with open(os.path.join(scratch, name), "rb") as file:
                    self._upload(folder, posixpath.join(hidden, name), file)
            self._rename(folder, hidden, target, "NONE")

    def remove(self, path: str) -> None:
        self._do(f"cannot remove {path}", self.client.delete, self.inner(path), recursive=True)

    def move(self, path: str, target: str) -> None:
        """Rename a file or a folder; nothing may be at the target."""
        self._rename(target, self.inner(path), self.inner(target), "NONE")

    def identity(self, path: str) -> dict[str, Any]:
        """HDFS's own checksum of the blocks' checksums; it does not read the file."""
        size = self.size(path)
        if size is None:
            raise InputError("there is no such file; check the name", path)
        checksum = self._do(f"cannot read {path}", self.client.checksum, self.inner(path))
        return {"bytes": size, "hdfs": checksum["bytes"]}

    def fetch(self, path: str) -> str:
        local = os.path.join(tempfile.mkdtemp(dir=_scratch()), posixpath.basename(path))
        with self.open(path) as source, open(local, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        return local

    @contextmanager
    def held(self, folder: str) -> Iterator[None]:
        with Lease(self.client, posixpath.join(self.inner(folder), ".lease"), folder).renewed():
            yield

    def _do(self, cannot: str, verb: Any, *arguments: Any, **named: Any) -> Any:
        """Ask HDFS for something; `cannot` begins the sentence if it is not to be had."""
        try:
            return patiently(verb, *arguments, **named)
        except HdfsError as error:
            raise UserError(f"{cannot}: {first_line(error)}") from error
        except RequestException as error:
            reason = f"HDFS does not answer at {self.client.url}; is it up, and does HADOOP_CONF_DIR name its address?"
            raise UserError(f"{cannot}: {reason}") from error


_scratch_folder: Optional[tempfile.TemporaryDirectory] = None


def _scratch() -> str:
    """A folder for fetched files, removed when the process ends."""
    global _scratch_folder
    if _scratch_folder is None:
        _scratch_folder = tempfile.TemporaryDirectory(prefix="perceptron-")
    return _scratch_folder.name


def first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
