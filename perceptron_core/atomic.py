"""Files and folders that appear complete or not at all, even if the power fails.

    write to a temporary name;  fsync the file;  rename it;  fsync the folder

Without the first fsync a journaling file system may keep the name and lose the content. Without the second it may lose
the name, although the caller was told that the file is there. A folder is published in the same way, once all that is
in it is on the disk.
"""

import errno
import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from perceptron_core import scratch
from perceptron_core.errors import UserError

UNPUBLISHED = re.compile(r"(?<=/)\.([^/]+)\.[^/.]+\.tmp(?=/)")  # the temporary name of a folder


@contextmanager
def written_atomically(path: str, lasting: bool = True) -> Iterator[IO[bytes]]:
    """A file to write to; it gets its name when the block ends, and is removed if the block fails.

    One that is not lasting can be made again, so nothing waits for the disk; a power cut may leave a part of it.
    """
    folder = os.path.dirname(os.path.abspath(path))
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", suffix=".tmp", dir=folder)
    except OSError as error:
        raise _cannot_make(path, error) from error
    try:
        with _opened(handle, path) as file:
            yield file
            file.flush()
            with _blaming(path):
                if lasting:
                    os.fsync(file.fileno())
        with _blaming(path):
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
            if lasting:
                _sync(folder)
    except BaseException:
        _remove(temporary)
        raise


@contextmanager
def folder_made_atomically(folder: str) -> Iterator[str]:
    """A folder to fill; it gets its name when the block ends, and is removed if the block fails."""
    parent = os.path.dirname(os.path.abspath(folder))
    try:
        temporary = tempfile.mkdtemp(prefix=f".{os.path.basename(folder)}.", suffix=".tmp", dir=parent)
    except OSError as error:
        raise _cannot_make(folder, error) from error
    try:
        yield temporary
        with _blaming(folder):
            os.chmod(temporary, 0o777 & ~_umask())
            for inner, _, names in os.walk(temporary):
                for name in names:
                    _sync(os.path.join(inner, name))
                _sync(inner)
            _rename(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


@contextmanager
def written_inside(path: str) -> Iterator[IO[bytes]]:
    """A file of a folder that has not been published: who publishes the folder makes the file durable."""
    with _blaming(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with _opened(handle, path) as file:
        yield file


@contextmanager
def written_to_device(path: str) -> Iterator[IO[bytes]]:
    """A device or a pipe, which cannot be renamed to."""
    with _blaming(path):
        handle = os.open(path, os.O_WRONLY)
    with _opened(handle, path) as file:
        yield file


def make_folders(folder: str) -> None:
    """Make a folder, and those above it, if they are not there."""
    with _blaming(folder, "cannot make the folder"):
        missing, above = [], os.path.abspath(folder)
        while not os.path.lexists(above):
            missing.append(above)
            above = os.path.dirname(above)
        os.makedirs(folder, exist_ok=True)
        for made in missing:
            _sync(os.path.dirname(made))


def remove_folder(folder: str) -> None:
    """Delete a folder. It loses its name first, so that no half of it is ever taken for the whole."""
    if os.path.islink(folder):
        os.unlink(folder)
        return
    parent, name = os.path.split(os.path.abspath(folder))
    if not name.endswith(".tmp"):
        hidden = os.path.join(parent, f".dropped-{name}.tmp")
        _rename(folder, hidden)
        folder = hidden
    shutil.rmtree(folder)


class _Named(io.FileIO):
    """A file that says its name if it cannot be written. Outside nobody could tell which file it was."""

    def __init__(self, handle: int, shown: str) -> None:
        super().__init__(handle, "wb")
        self.shown = shown

    def write(self, data: Any) -> int:
        with _blaming(self.shown):
            return super().write(data)


def _opened(handle: int, shown: str) -> IO[bytes]:
    raw: Any = _Named(handle, shown)
    return io.BufferedWriter(raw)


@contextmanager
def _blaming(path: str, cannot: str = "cannot write") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        shown = UNPUBLISHED.sub(r"\1", path)
        raise scratch.told(error, path) or UserError(f"{cannot} {shown}: {error.strerror}") from error


def _cannot_make(path: str, error: OSError) -> UserError:
    problem = f"cannot write {path}: {error.strerror}; check the folder and its permissions"
    return scratch.told(error, path) or UserError(problem)


def _rename(path: str, target: str) -> None:
    os.replace(path, target)
    _sync(os.path.dirname(os.path.abspath(target)))


def _sync(path: str) -> None:
    """Have a file or a folder written to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot do this for folders does it by itself
            raise
    finally:
        os.close(handle)


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)


def _umask() -> int:
    """mkstemp makes private files; a result should have the same permissions as any other file of the user."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
