"""Files of this machine."""

import fcntl
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Optional

from perceptron_core.atomic import folder_made_atomically, make_folders, remove_folder, written_atomically
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
        make_folders(folder)

    def write(self, path: str, data: bytes, lasting: bool = True) -> None:
        with written_atomically(path, lasting) as file:
            file.write(data)

    @contextmanager
    def new_file(self, path: str) -> Iterator[str]:
        yield path  # the caller writes it with written_atomically

    def new_folder(self, folder: str) -> AbstractContextManager[str]:
        return folder_made_atomically(folder)

    def remove(self, path: str) -> None:
        if os.path.isdir(path):
            remove_folder(path)
        elif os.path.lexists(path):
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
        path = os.path.join(folder, ".lock")
        try:
            # A run directory may come from somebody else: a link is not followed, and nothing is cut short.
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except OSError as error:
            if os.path.islink(path):
                raise InputError("is a symbolic link; remove it", path) from error
            raise UserError(f"cannot write to the run directory {folder}: {error.strerror}") from error
        try:
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise NotOurs(IN_USE.format(folder)) from error
            yield
        finally:
            os.close(lock)
