"""The folder for a command's temporary files. It is private, and the next command removes it if this one is killed.

$TMPDIR/perceptron-k3v9x1/         mode 0700: the temporary files of a process and of those that it starts
$TMPDIR/perceptron-k3v9x1/.lock    locked for as long as the process lives
"""

import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Optional

from perceptron_core.errors import UserError

PREFIX, LOCK = "perceptron-", ".lock"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
GONE = {errno.ENOENT, errno.ENOTDIR, errno.ESTALE}
REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO}

_mine: list[str] = []  # the folders of this process, the innermost last
_of_process: list[tempfile.TemporaryDirectory] = []


@contextmanager
def private_folder() -> Iterator[str]:
    """Until the block ends, `tempfile` and the processes that are started put their files into a folder of ours."""
    above, given = tempfile.tempdir, os.environ.get("TMPDIR")
    parent = above or given or _usual()
    _remove_left_behind(parent)
    folder, lock = _locked_folder(parent)
    _mine.append(folder)
    tempfile.tempdir = os.environ["TMPDIR"] = folder
    try:
        yield folder
    finally:
        tempfile.tempdir = above
        if given is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = given
        shutil.rmtree(folder, ignore_errors=True)
        _mine.remove(folder)
        os.close(lock)


def folder_for_copies() -> str:
    """A new folder that goes with the command; in a program that is no command, with the process."""
    if not _mine and not _of_process:
        _of_process.append(tempfile.TemporaryDirectory(prefix=PREFIX))
    return tempfile.mkdtemp(dir=_mine[-1] if _mine else _of_process[0].name)


def told(error: OSError, path: Optional[str] = None) -> Optional[UserError]:
    """A sentence, if what went wrong is about the temporary files: no room, say. None if it is not.

    An error without a path is about them, since whatever else is written says itself what it cannot write.
    """
    path = path or error.filename2 or error.filename
    if not _mine or error.errno not in FULL | GONE | REFUSED:
        return None
    folder = _mine[-1]
    if path is None:
        if error.errno not in FULL:
            return None
    elif os.path.commonpath([folder, os.path.abspath(os.fspath(path))]) != folder:
        return None
    if not os.path.isdir(folder):
        return UserError(f"the folder for temporary files, {folder}, was removed; give the command again")
    parent, why = os.path.dirname(_mine[0]), error.strerror
    return UserError(
        f"the folder for temporary files, {parent}, cannot be written: {why}; "
        "make room there, or set TMPDIR to another folder"
    )


def _usual() -> str:
    try:
        return tempfile.gettempdir()
    except OSError as error:
        raise UserError(f"{error.strerror}; make room, or set TMPDIR to a folder that can be written") from error
    finally:
        tempfile.tempdir = None  # it would be kept for ever


def _locked_folder(parent: str) -> tuple[str, int]:
    try:
        while True:
            folder = os.path.abspath(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
            path = os.path.join(folder, LOCK)
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            if _is_locked(lock) and os.path.exists(path):
                return folder, lock
            os.close(lock)  # another command has just taken the folder for one that was left behind
    except OSError as error:
        raise UserError(
            f"the folder for temporary files, {parent}, cannot be written: {error.strerror}; "
            "make room there, or set TMPDIR to another folder"
        ) from error


def _is_locked(lock: int) -> bool:
    """Lock the file: by a POSIX lock, which ends with this process, whatever its children do."""
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)  # a file system without locks: nobody can remove it
    return True


def _remove_left_behind(parent: str) -> None:
    """Remove the folders of processes that were killed."""
    with suppress(OSError):
        for entry in os.scandir(parent):
            if entry.name.startswith(PREFIX) and os.path.abspath(entry.path) not in _mine:
                with suppress(OSError):
                    _remove_if_left_behind(entry.path)


def _remove_if_left_behind(folder: str) -> None:
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return
    lock = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error: its process lives
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
