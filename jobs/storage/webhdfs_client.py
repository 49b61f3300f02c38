"""HDFS through WebHDFS, by the `hdfs` package: an operation takes milliseconds and starts no Java."""

import io
import os
import posixpath
from typing import Any, BinaryIO, Optional

from hdfs import Client
from hdfs.util import HdfsError
from requests.exceptions import RequestException

from perceptron_jobs.storage.hdfs_verbs import HdfsVerbs, Status, hidden
from perceptron_jobs.storage.patience import patiently

INSTEAD = "if WebHDFS is closed, put a `hadoop` command on the PATH, which is used instead"


class WebHdfs(HdfsVerbs):
    def __init__(self, client: Client) -> None:
        self.client = client

    def answers(self) -> bool:
        """Whether there is a WebHDFS at the address, even if it refuses the request."""
        try:
            self.client.status("/")
        except RequestException:
            return False
        except HdfsError as error:
            return error.exception is not None  # otherwise it is the page of a web server: not found, not allowed …
        return True

    def _ask(self, verb: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return patiently(verb, *arguments, **named)
        except RequestException as error:
            problem = f"HDFS does not answer at {self.client.url}; is it up, and does HADOOP_CONF_DIR name its address?"
            raise HdfsError(f"{problem} ({INSTEAD})", exception="ConnectException") from error
        except HdfsError as error:
            if isinstance(error.message, bytes):  # a web server's page
                raise HdfsError(f"there is no WebHDFS at {self.client.url}; {INSTEAD}") from error
            raise

    def status(self, path: str) -> Optional[Status]:
        try:
            found = self._ask(self.client.status, path)
        except HdfsError as error:
            if error.exception == "FileNotFoundException":
                return None
            raise
        return Status(found["type"] == "DIRECTORY", found["length"])

    def names(self, folder: str) -> list[str]:
        status = self.status(folder)
        return self._ask(self.client.list, folder) if status and status.is_folder else []

    def make_folder(self, folder: str) -> None:
        self._ask(self.client.makedirs, folder)

    def open(self, path: str, start: int) -> Any:
        status = self.status(path) if start else None
        if status and status.length == start:  # HDFS refuses to begin at the end
            return io.BytesIO()
        return self._ask(self.client._open, path, offset=start).raw

    def checksum(self, path: str) -> str:
        found = self._ask(self.client.checksum, path)
        return found["bytes"][: 2 * found["length"]]  # zeros without meaning may follow

    def replace(self, path: str, source: BinaryIO) -> None:
        self._send(hidden(path), source)
        self._rename(hidden(path), path, "OVERWRITE")

    def upload(self, local: str, folder: str) -> None:
        self.make_folder(folder)
        for name in sorted(os.listdir(local)):
            with open(os.path.join(local, name), "rb") as file:
                self._send(posixpath.join(folder, name), file)

    def _send(self, path: str, source: BinaryIO) -> None:
        def send() -> None:
            source.seek(0)
            self.client.write(path, data=source, overwrite=True)

        self._ask(send)

    def move(self, path: str, target: str) -> None:
        self._rename(path, target, "NONE")

    def _rename(self, source: str, target: str, option: str) -> None:
        """With OVERWRITE the target is replaced; with NONE it is an error if anything is at the target."""
        answer = self._ask(self.client._rename, source, destination=target, renameoptions=option)
        if answer.content and not answer.json()["boolean"]:  # HttpFS, which knows no options: the old file goes first
            if option == "NONE":
                raise HdfsError("something is there already", exception="FileAlreadyExistsException")
            self._ask(self.client.delete, target)
            self._ask(self.client.rename, source, target)

    def remove(self, path: str) -> None:
        self._ask(self.client.delete, path, recursive=True)

    def write(self, path: str, data: bytes, overwrite: bool) -> None:
        self.client.write(path, data=data, overwrite=overwrite)

    def read(self, path: str) -> Any:
        return self.client.read(path)

    def delete(self, path: str) -> None:
        self.client.delete(path)
