"""A hold on a folder of HDFS that ends by itself, so that a killed driver does not lock its user out."""

import contextlib
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from hdfs import Client
from hdfs.util import HdfsError

from jobs.storage.base import IN_USE
from perceptron_core.errors import UserError


class Lease:
    """A hold on a folder that ends by itself: a small file that is renewed while its owner lives."""

    SECONDS = 60.0

    def __init__(self, client: Client, path: str, folder: str) -> None:
        self.client, self.path, self.folder = client, path, folder
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"

    def _content(self) -> bytes:
        return json.dumps({"owner": self.owner, "until": time.time() + self.SECONDS}).encode()

    def take(self) -> None:
        """Create the file, which only one process can; a lease that has run out is removed first."""
        for _ in range(2):
            try:
                self.client.write(self.path, data=self._content(), overwrite=False)
                return
            except HdfsError:
                if self._holder_lives():
                    raise UserError(IN_USE.format(self.folder)) from None
                self.client.delete(self.path)
        raise UserError(IN_USE.format(self.folder))

    def _holder_lives(self) -> bool:
        try:
            with self.client.read(self.path) as reader:
                return json.loads(reader.read() or b"{}").get("until", 0) > time.time()
        except HdfsError:
            return False  # it has just gone

    def _renew(self, done: threading.Event) -> None:
        while not done.wait(self.SECONDS / 4):
            with contextlib.suppress(HdfsError, OSError):  # the next renewal may do better; a minute is four of them
                self.client.write(self.path, data=self._content(), overwrite=True)

    @contextmanager
    def renewed(self) -> Iterator[None]:
        self.take()
        done = threading.Event()
        renewer = threading.Thread(target=self._renew, args=(done,), daemon=True)
        renewer.start()
        try:
            yield
        finally:
            done.set()
            renewer.join()
            self.client.delete(self.path)
