"""A hold on a folder of HDFS that ends by itself, so that a killed driver does not lock its user out.

A driver that was only asleep for so long that another one took its folder stops as soon as it wakes up.
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

from perceptron_core.errors import UserError
from perceptron_jobs.storage.base import IN_USE, TAKEN_OVER, NotOurs
from perceptron_jobs.storage.patience import patiently


class Lease:
    """A hold on a folder that ends by itself: a small file that is renewed while its owner lives."""

    SECONDS = 60.0
    EMPTY_READS = 4  # half a second apart: a file that is being renewed is empty for a moment

    def __init__(self, client: Any, path: str, folder: str) -> None:
        """`client` can write, read and delete a small file, on HDFS or on S3."""
        self.client, self.path, self.folder = client, path, folder
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"
        self.lost = False

    def _content(self) -> bytes:
        return json.dumps({"owner": self.owner, "until": time.time() + self.SECONDS}).encode()

    def take(self) -> None:
        """Create the file, which only one process can; a lease that has run out is removed first."""
        for _ in range(2):
            try:
                patiently(self.client.write, self.path, data=self._content(), overwrite=False)
                return
            except HdfsError as error:
                if "Already" not in (error.exception or "Already"):  # not that it is there already
                    raise UserError(f"cannot write to the run directory {self.folder}: {error}") from error
                if self._holder_lives():
                    raise NotOurs(IN_USE.format(self.folder)) from None
                self.client.delete(self.path)
        raise NotOurs(IN_USE.format(self.folder))

    def _read(self) -> dict[str, Any]:
        """What the file says; nothing if its writer died before it had said anything."""
        with self.client.read(self.path) as reader:
            return json.loads(reader.read() or b"{}")

    def _holder_lives(self) -> bool:
        """Whether somebody renews it; a file that stays empty is one whose writer died while it wrote."""
        try:
            for _ in range(self.EMPTY_READS):
                told = patiently(self._read)
                if told:
                    return told["until"] > time.time()
                time.sleep(0.5)
        except HdfsError:
            pass  # it has just gone
        return False

    def _is_lost(self) -> bool:
        """Another process has taken the folder, or has had it and left."""
        try:
            return self._read().get("owner", self.owner) != self.owner
        except HdfsError as error:
            return error.exception in (None, "FileNotFoundException")
        except OSError:
            return False  # nobody answers: nothing is known

    def _renew(self, done: threading.Event, holder: int) -> None:
        while not done.wait(self.SECONDS / 4):
            with contextlib.suppress(HdfsError, OSError):  # the next renewal may do better; a minute is four of them
                self.lost = self._is_lost()
                if self.lost:
                    signal.pthread_kill(holder, signal.SIGINT)  # ends what it waits for, too: a job on a cluster, say
                    return
                self.client.write(self.path, data=self._content(), overwrite=True)

    @contextmanager
    def renewed(self) -> Iterator[None]:
        self.take()
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # A script has started us in the background, where nothing would stop us if the lease is lost.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        done = threading.Event()
        renewer = threading.Thread(target=self._renew, args=(done, threading.get_ident()), daemon=True)
        renewer.start()
        try:
            yield
        except (KeyboardInterrupt, UserError):
            if self.lost or self._is_lost():  # what failed may have failed because of that
                self.lost = True
                raise NotOurs(TAKEN_OVER.format(self.folder)) from None
            raise
        finally:
            done.set()
            renewer.join()
            if not self.lost:
                with contextlib.suppress(HdfsError, OSError):  # then it ends by itself
                    self.client.delete(self.path)
