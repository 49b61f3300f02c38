"""What every storage can do. Paths are complete: `run/model`, `hdfs:///runs/1/model`."""

import io
import os
import posixpath
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any, Optional

from perceptron_core.errors import UserError


class Storage(ABC):
    """A few operations. If a process dies during one of them, either nothing has changed or all is done."""

    @abstractmethod
    def open(self, path: str, start: int = 0) -> io.BufferedReader:
        """A stream of the file's bytes from `start` on."""

    @abstractmethod
    def size(self, path: str) -> Optional[int]:
        """Bytes of a file, None if there is no such file (or it is a folder)."""

    @abstractmethod
    def is_folder(self, path: str) -> bool: ...

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """What is in a folder."""

    @abstractmethod
    def make_folder(self, folder: str) -> None:
        """Make the folder, and those above it, if they are not there."""

    @abstractmethod
    def write(self, path: str, data: bytes, lasting: bool = True) -> None:
        """Make a file appear, complete, in place of what was there; not lasting: see perceptron_core/atomic.py."""

    @abstractmethod
    def new_file(self, path: str) -> AbstractContextManager[str]:
        """A local path to write to; its content appears at `path` when the block succeeds."""

    @abstractmethod
    def new_folder(self, folder: str) -> AbstractContextManager[str]:
        """A local folder to fill, which appears at `folder` when the block succeeds; nothing may be there before.

        The folder above it must be there: if somebody has removed it, it is not made again."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file, or a folder with its content; nothing happens if it is not there."""

    @abstractmethod
    def identity(self, path: str) -> dict[str, Any]:
        """Size and checksum: equal for equal content on the same kind of storage."""

    @abstractmethod
    def fetch(self, path: str) -> str:
        """The path of a local file with this content: itself, or a copy."""

    @abstractmethod
    def held(self, folder: str) -> AbstractContextManager[None]:
        """Lock a folder against other processes; the lock ends with its process, even if that is killed."""

    def exists(self, path: str) -> bool:
        return self.size(path) is not None or self.is_folder(path)


def is_remote(path: str) -> bool:
    return "://" in path


def join(folder: str, *names: str) -> str:
    """A path below the folder; a name that leads out of it is refused, since names may come from somebody's file."""
    for name in names:
        if name.startswith("/") or ".." in name.split("/") or "\0" in name:
            raise UserError(f"{name!r} leads out of the folder {folder}")
    return posixpath.join(folder, *names) if is_remote(folder) else os.path.join(folder, *names)


def inner_path(path: str) -> str:
    """The path within its host or bucket; all of it counts, also `?` and `#`."""
    inner = path.partition("://")[2].partition("/")[2]
    if any(part in (".", "..") for part in inner.split("/")):  # which a client or server might resolve, or not
        raise UserError(f"{path}: `.` and `..` cannot stand in such a path; write it out")
    return inner


def absolute(path: str) -> str:
    return path if is_remote(path) else os.path.abspath(path)


def parent(path: str) -> str:
    """The folder that a file or folder is in."""
    return posixpath.dirname(path.rstrip("/")) if is_remote(path) else os.path.dirname(os.path.abspath(path))


def base_name(path: str) -> str:
    return posixpath.basename(path.rstrip("/")) if is_remote(path) else os.path.basename(os.path.normpath(path))


class NotOurs(UserError):
    """Another process has locked the folder, so this one must not write or remove anything in it."""


IN_USE = "the run directory {} is in use by another process; wait for it to end, or choose another --run-dir"
TAKEN_OVER = "the run directory {} was taken over by another process, so this one stops; the other one continues it"
