"""A lock on a folder of HDFS or S3 that expires, so that a killed driver does not lock its user out.

If a driver was suspended so long that another one took its folder, it stops as soon as it wakes up.
"""

import contextlib
import json
import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hdfs.util import HdfsError

from perceptron_core.errors import InputError, UserError
from perceptron_core.schema import number, read_json, record, text
from perceptron_jobs.storage.base import IN_USE, TAKEN_OVER, NotOurs
from perceptron_jobs.storage.patience import patiently

LEASE = record({"owner": text(), "until": number()})


class Lease:
    """A small file that its owner renews for as long as it lives."""

    SECONDS = 60.0
    EMPTY_READS = 4  # half a second apart; a file is empty for a moment while it is renewed

    def __init__(self, client: Any, path: str, folder: str) -> None:
        """`client` can write, read and delete a small file, on HDFS or on S3."""
        self.client, self.path, self.folder = client, path, folder
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"
        self.lost = False

    def _content(self) -> bytes:
        return json.dumps({"owner": self.owner, "until": time.time() + self.SECONDS}).encode()

    def take(self) -> None:
        """Create the file, which only one process can do; an expired lease is removed first."""
        for _ in range(2):
            try:
                patiently(self.client.write, self.path, data=self._content(), overwrite=False)
                return
            except HdfsError as error:
                if "Already" not in (error.exception or "Already"):  # some other error than that the file exists
                    raise UserError(f"cannot write to the run directory {self.folder}: {error}") from error
                if self._holder_lives():
                    raise NotOurs(IN_USE.format(self.folder)) from None
                self.client.delete(self.path)
        raise NotOurs(IN_USE.format(self.folder))

    def _read(self) -> dict[str, Any]:
        """The content of the file; nothing if its writer died before it wrote anything."""
        with self.client.read(self.path) as reader:
            data = reader.read()
        return read_json(data, LEASE, self.path, f"remove it if nobody uses {self.folder}") if data else {}

    def _holder_lives(self) -> bool:
        """Whether the lease is being renewed; if the file stays empty, its writer has died while writing."""
        try:
            for _ in range(self.EMPTY_READS):
                told = patiently(self._read)
                if told:
                    return told["until"] > time.time()
                time.sleep(0.5)
        except HdfsError:
            pass  # it has just been removed
        return False

    def _is_lost(self) -> bool:
        """Whether another process has taken the folder, even if it has released it again."""
        try:
            return self._read().get("owner", self.owner) != self.owner
        except InputError:
            return True  # whatever it is, this process did not write it
        except HdfsError as error:
            return error.exception in (None, "FileNotFoundException")
        except OSError:
            return False  # no answer: nothing is known

    def _renew(self, done: threading.Event, holder: int) -> None:
        while not done.wait(self.SECONDS / 4):
            with contextlib.suppress(HdfsError, OSError):  # the next renewal may succeed; there are four per minute
                self.lost = self._is_lost()
                if self.lost:
                    signal.pthread_kill(holder, signal.SIGINT)  # also ends a job that it waits for
                    return
                self.client.write(self.path, data=self._content(), overwrite=True)

    @contextmanager
    def renewed(self) -> Iterator[None]:
        self.take()
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # Scripts start processes in the background with SIGINT ignored, but a lost lease must stop this one.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        done = threading.Event()
        renewer = threading.Thread(target=self._renew, args=(done, threading.get_ident()), daemon=True)
        renewer.start()
        try:
            yield
        except (KeyboardInterrupt, UserError):
            if self.lost or self._is_lost():  # this may be why something failed
                self.lost = True
                raise NotOurs(TAKEN_OVER.format(self.folder)) from None
            raise
        finally:
            done.set()
            renewer.join()
            if not self.lost:
                with contextlib.suppress(HdfsError, OSError):  # then it expires
                    self.client.delete(self.path)
