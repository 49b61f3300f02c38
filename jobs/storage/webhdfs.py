"""HDFS: through WebHDFS, or through the `hadoop` command if this process cannot use WebHDFS."""

import io
import logging
import os
import posixpath
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Callable, Optional

from hdfs.util import HdfsError
from urllib3.exceptions import HTTPError

from perceptron_core.errors import InputError, UserError
from perceptron_core.scratch import folder_for_copies
from perceptron_jobs.storage.base import Storage, inner_path
from perceptron_jobs.storage.hdfs_verbs import HdfsVerbs, Status, hidden
from perceptron_jobs.storage.lease import Lease
from perceptron_jobs.storage.namenodes import connect
from perceptron_jobs.storage.webhdfs_client import WebHdfs

log = logging.getLogger("perceptron")


def reach(host: str) -> HdfsVerbs:
    """WebHDFS; if it is closed (or requires Kerberos and there is no client for it), the `hadoop` command."""
    web: Optional[WebHdfs] = None
    refused: Optional[UserError] = None
    try:
        web = WebHdfs(connect(host))
        if web.answers():
            return web
    except UserError as error:
        refused = error
    from perceptron_jobs.storage.hadoop_command import HadoopCommand, find_hadoop  # only now: few need it

    found = find_hadoop()
    command = HadoopCommand(found, host) if found else None
    if command is not None and command.works():
        closed = refused or f"WebHDFS does not answer at {web.client.url if web else host}"
        log.warning("%s; using the `hadoop` command instead, which is slower", closed)
        return command
    if refused is not None:
        raise refused
    assert web is not None, "it is there, or it was refused"
    return web


class _Stream(io.RawIOBase):
    """A file's bytes from `position` on; if a source fails, it is opened again there by `open_at`."""

    def __init__(self, open_at: Callable[[int], Any], position: int) -> None:
        self._open_at, self._position = open_at, position
        self._source = open_at(position)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._source.read(len(buffer))
        except (HTTPError, HdfsError):  # its DataNode has died
            self._source.close()
            self._source = self._open_at(self._position)
            data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


class WebHdfsStorage(Storage):
    def __init__(self, host: str) -> None:
        self.host = host

    @cached_property
    def client(self) -> HdfsVerbs:
        """How HDFS is reached: found out once, with the first request."""
        return reach(self.host)

    @staticmethod
    def inner(path: str) -> str:
        """The path within HDFS of hdfs://host/path."""
        return f"/{inner_path(path)}"

    def _status(self, path: str) -> Optional[Status]:
        return self._do(f"cannot read {path}", self.client.status, self.inner(path))

    def open(self, path: str, start: int = 0) -> io.BufferedReader:
        def open_at(offset: int) -> Any:
            return self._do(f"cannot read {path}", self.client.open, self.inner(path), offset)

        return io.BufferedReader(_Stream(open_at, start), 1 << 20)

    def size(self, path: str) -> Optional[int]:
        status = self._status(path)
        return status.length if status and not status.is_folder else None

    def is_folder(self, path: str) -> bool:
        status = self._status(path)
        return status is not None and status.is_folder

    def exists(self, path: str) -> bool:
        return self._status(path) is not None

    def names(self, folder: str) -> list[str]:
        return sorted(self._do(f"cannot list {folder}", self.client.names, self.inner(folder)))

    def make_folder(self, folder: str) -> None:
        self._do(f"cannot make the folder {folder}", self.client.make_folder, self.inner(folder))

    def write(self, path: str, data: bytes, lasting: bool = True) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(data)
            self._do(f"cannot write {path}", self.client.replace, self.inner(path), file)

    @contextmanager
    def new_file(self, path: str) -> Iterator[str]:
        with tempfile.TemporaryDirectory() as scratch:
            local = os.path.join(scratch, posixpath.basename(path))
            yield local
            with open(local, "rb") as file:
                self._do(f"cannot write {path}", self.client.replace, self.inner(path), file)

    @contextmanager
    def new_folder(self, folder: str) -> Iterator[str]:
        target, cannot = self.inner(folder), f"cannot write {folder}"
        with tempfile.TemporaryDirectory() as scratch:
            yield scratch
            self._do(cannot, self.client.remove, hidden(target))
            self._do(cannot, self.client.upload, scratch, hidden(target))
            self._do(cannot, self.client.move, hidden(target), target)

    def remove(self, path: str) -> None:
        self._do(f"cannot remove {path}", self.client.remove, self.inner(path))

    def move(self, path: str, target: str) -> None:
        """Rename a file or a folder; nothing may be at the target."""
        self._do(f"cannot write {target}", self.client.move, self.inner(path), self.inner(target))

    def identity(self, path: str) -> dict[str, Any]:
        """HDFS's own checksum of the blocks' checksums; the file is not read."""
        size = self.size(path)
        if size is None:
            raise InputError("there is no such file; check the name", path)
        return {"bytes": size, "hdfs": self._do(f"cannot read {path}", self.client.checksum, self.inner(path))}

    def fetch(self, path: str) -> str:
        local = os.path.join(folder_for_copies(), posixpath.basename(path))
        with self.open(path) as source, open(local, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        return local

    @contextmanager
    def held(self, folder: str) -> Iterator[None]:
        with Lease(self.client, posixpath.join(self.inner(folder), ".lease"), folder).renewed():
            yield

    @staticmethod
    def _do(cannot: str, verb: Callable[..., Any], *arguments: Any) -> Any:
        """Ask HDFS for something; `cannot` is the beginning of the message if HDFS refuses."""
        try:
            return verb(*arguments)
        except HdfsError as error:
            raise UserError(f"{cannot}: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
