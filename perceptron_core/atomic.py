"""Files that appear complete or not at all: written under a temporary name, then renamed."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from perceptron_core.errors import UserError


@contextmanager
def written_atomically(path: str) -> Iterator[IO[bytes]]:
    """A file to write to; it gets its name when the block ends, and is removed if the block fails."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", suffix=".tmp", dir=folder)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}; check the folder and its permissions") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        _remove(temporary)
        raise UserError(f"cannot write {path}: {error.strerror}") from error
    except BaseException:
        _remove(temporary)
        raise


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)


def _umask() -> int:
    """mkstemp makes private files; a result should have the same permissions as any other file of the user."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
