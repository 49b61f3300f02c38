"""The operations that the storage on HDFS needs, done through WebHDFS or by the `hadoop` command.

Paths are those within HDFS (`/runs/1/model`). If HDFS refuses something, an HdfsError is raised, whose `exception` is
HDFS's own name of the error (FileNotFoundException …).
"""

import posixpath
from abc import ABC, abstractmethod
from typing import Any, BinaryIO, NamedTuple, Optional


class Status(NamedTuple):
    """What is at a path."""

    is_folder: bool
    length: int  # bytes of a file


class HdfsVerbs(ABC):
    @abstractmethod
    def status(self, path: str) -> Optional[Status]:
        """None if nothing is there."""

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """What is in a folder; nothing if there is no such folder."""

    @abstractmethod
    def make_folder(self, folder: str) -> None: ...

    @abstractmethod
    def open(self, path: str, start: int) -> Any:
        """The file's bytes from `start` on: an object with read(size) and close()."""

    @abstractmethod
    def checksum(self, path: str) -> str:
        """HDFS's checksum of a file, in hexadecimal digits."""

    @abstractmethod
    def replace(self, path: str, source: BinaryIO) -> None:
        """Make a file appear, complete, in place of what was there; `source` is a file of this machine."""

    @abstractmethod
    def upload(self, local: str, folder: str) -> None:
        """Copy a local folder of files to one that is not there."""

    @abstractmethod
    def move(self, path: str, target: str) -> None:
        """Rename a file or a folder; it is an error if anything is at the target."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file, or a folder with its content; nothing happens if it is not there."""

    # ------------------------------------------------------------ for a lease, which retries by itself

    @abstractmethod
    def write(self, path: str, data: bytes, overwrite: bool) -> None:
        """Without `overwrite`, only one process can write the file."""

    @abstractmethod
    def read(self, path: str) -> Any:
        """The file, to be used in a `with` statement."""

    @abstractmethod
    def delete(self, path: str) -> None: ...


def hidden(path: str) -> str:
    """The name under which something is written before it appears."""
    return posixpath.join(posixpath.dirname(path), f".{posixpath.basename(path)}.tmp")
