"""Files of this machine."""

import fcntl
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional

from perceptron_core.atomic import written_atomically
from perceptron_core.errors import InputError, UserError
from perceptron_jobs.storage.base import IN_USE, NotOurs, Storage


class LocalStorage(Storage):
    def open(self, path: str, start: int = 0) -> io.BufferedReader:
        file = open(path, "rb")  # noqa: SIM115 - the caller closes it
        file.seek(start)
        return file

    def size(self, path: str) -> Optional[int]:
        return os.path.getsize(path) if os.path.exists(path) and not os.path.isdir(path) else None

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def names(self, folder: str) -> list[str]:
        return sorted(os.listdir(folder))

    def make_folder(self, folder: str) -> None:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot make the folder {folder}: {error.strerror}") from error

    def write(self, path: str, data: bytes) -> None:
        with written_atomically(path) as file:
            file.write(data)

    @contextmanager
    def new_file(self, path: str) -> Iterator[str]:
        yield path  # the caller writes it with written_atomically

    @contextmanager
    def new_folder(self, folder: str) -> Iterator[str]:
        try:
            parent = os.path.dirname(os.path.abspath(folder))
            os.makedirs(parent, exist_ok=True)
            temporary = tempfile.mkdtemp(prefix=f".{os.path.basename(folder)}.", suffix=".tmp", dir=parent)
        except OSError as error:
            raise UserError(f"cannot write {folder}: {error.strerror}; check the folder and its permissions") from error
        try:
            yield temporary
            os.chmod(temporary, 0o755)
            os.replace(temporary, folder)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise UserError(f"cannot write {folder}: {error.strerror}") from error
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise

    def remove(self, path: str) -> None:
        """A folder is renamed before it is deleted, so that no half of it is ever taken for the whole."""
        if os.path.isdir(path):
            hidden = os.path.join(os.path.dirname(os.path.abspath(path)), f".dropped-{os.path.basename(path)}.tmp")
            if not os.path.basename(path).endswith(".tmp"):
                os.rename(path, hidden)
                path = hidden
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.unlink(path)

    def identity(self, path: str) -> dict[str, Any]:
        digest = hashlib.sha256()
        try:
            with open(path, "rb") as file:
                for part in iter(lambda: file.read(1 << 20), b""):
                    digest.update(part)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}; check the name", path) from error
        return {"bytes": os.path.getsize(path), "sha256": digest.hexdigest()}

    def fetch(self, path: str) -> str:
        return path

    @contextmanager
    def held(self, folder: str) -> Iterator[None]:
        """A POSIX lock, since the other kind (flock) stays with the worker processes of a driver that was killed."""
        try:
            lock = open(os.path.join(folder, ".lock"), "w")  # noqa: SIM115 - held open for as long as the lock is
        except OSError as error:
            raise UserError(f"cannot write to the run directory {folder}: {error.strerror}") from error
        with lock:
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise NotOurs(IN_USE.format(folder)) from error
            yield
