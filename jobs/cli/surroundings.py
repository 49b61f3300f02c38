"""What commands have in common: where their jobs run, where their output goes, which arguments they need."""

import argparse
import contextlib
import logging
import os
import posixpath
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO

from perceptron_core.atomic import written_atomically, written_inside, written_to_device
from perceptron_core.errors import UserError
from perceptron_jobs.cli.terminal import CLEAR, Terminal
from perceptron_jobs.engines.runners import Cluster
from perceptron_jobs.storage import is_remote, storage_of

Arguments = argparse.Namespace


class _ToStandardError(logging.Handler):
    """Shows what the runner logs, such as the address where a job can be watched."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"\r{CLEAR}" if sys.stderr.isatty() else "", self.format(record), sep="", file=sys.stderr)


@contextlib.contextmanager
def opened_cluster(arguments: Arguments, what: str = "") -> Iterator[Cluster]:
    """Where the command's jobs run; what is started for them ends with the block. A bar shows how `what` goes on."""
    log = logging.getLogger("perceptron")
    log.setLevel(logging.WARNING if getattr(arguments, "quiet", False) else logging.INFO)
    log.handlers, log.propagate = [_ToStandardError()], False
    named = Cluster(arguments.runner, arguments.conf, arguments.reducers, tuple(arguments.property))
    with named._replace(cluster_id=arguments.cluster_id).opened() as cluster:
        if not what:
            yield cluster
            return
        terminal = Terminal(getattr(arguments, "quiet", False))
        terminal.step(what, 100)
        yield cluster._replace(progress=lambda done, of, state="": terminal.progress(100 * done // max(1, of), state))
        terminal.clear()


def require(arguments: Arguments, *names: str) -> None:
    for name in names:
        if not getattr(arguments, name):
            flag = f"--{name.replace('_', '-')}"
            raise UserError(f"{flag} is missing; give it here or under `options` in the task file")


@contextlib.contextmanager
def local_files(names: list[str]) -> Iterator[list[str]]:
    """The files; standard input ("-") is copied to a file first."""
    if "-" not in names:
        yield names
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "standard-input")
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield [path if name == "-" else name for name in names]
        except UserError as error:
            raise UserError(str(error).replace(path, "standard input")) from error


def refuse_own_input(output: str, inputs: Sequence[str]) -> None:
    """Refuse an output that is also an input, by whatever name or link."""
    for name in inputs:
        if name != "-" and _same_file(output, name):
            where = "standard output" if output == "-" else output
            raise UserError(f"{where} is the same file as {name}, which is read; choose another --output")


def _same_file(output: str, name: str) -> bool:
    if is_remote(output) or is_remote(name):
        return _plain(output) == _plain(name)
    try:
        into = os.fstat(sys.stdout.fileno()) if output == "-" else os.stat(output)
        return os.path.samestat(into, os.stat(name)) and not stat.S_ISCHR(into.st_mode)
    except (OSError, ValueError):  # one of them is not there, or standard output is not a file
        return False


def _plain(path: str) -> str:
    """A remote path without doubled slashes and dots."""
    scheme, separator, rest = path.partition("://")
    return scheme + separator + posixpath.normpath(rest) if separator else os.path.abspath(path)


@contextlib.contextmanager
def opened_output(name: str) -> Iterator[IO[bytes]]:
    """Standard output for "-", or a file that appears when all of it is written."""
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    is_device = os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)
    if is_device:  # such as /dev/null, which must not be replaced
        with written_to_device(name) as file:
            yield file
    elif is_remote(name):
        with storage_of(name).new_file(name) as local, written_inside(local) as file:
            yield file
    else:
        with written_atomically(name) as file:
            yield file
