"""Runs a process and measures it: wall clock, processor seconds, and the peak of the resident memory, all of them of
it and all its descendants.

Memory is sampled from /proc. Pages that processes of one tree share are counted in each of them, so the sum of a
tree is an upper bound; for a single process the kernel's own high-water mark makes it exact.
"""

import contextlib
import os
import re
import resource
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple, Optional

from problems import Failed

INTERVAL = 0.02  # seconds between two samples
STATUS = re.compile(rb"^Vm(HWM|RSS):\s+(\d+) kB", re.MULTILINE)


class Measurement(NamedTuple):
    seconds: float
    peak: int  # bytes
    output: str  # what it wrote to standard output
    processor: float = 0.0  # seconds of all its threads and descendants, user and system


def measure(
    command: Sequence[object], variables: Optional[Mapping[str, str]] = None, folder: Optional[str] = None
) -> Measurement:
    """Run the command to its end; raise Failed if its exit code is not 0."""
    arguments = [str(argument) for argument in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began, before = time.perf_counter(), _processor()
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **(variables or {})},
            cwd=folder,
        )
        with _ended_with_us(process), _Sampler(process.pid) as sampler:
            code = process.wait()
            seconds, processor = time.perf_counter() - began, _processor() - before
        if code:
            words = _text(err)
            raise Failed(f"{os.path.basename(arguments[0])} ended with exit code {code}: {_last_line(words)}", words)
        return Measurement(seconds, sampler.peak, _text(out), processor)


def _processor() -> float:
    """The processor seconds of all processes that have ended; only one is measured at a time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _last_line(words: str) -> str:
    """The line that says what was wrong: the last one which is not a part of a traceback."""
    lines = [line for line in words.splitlines() if line.strip() and not line[0].isspace()]
    return lines[-1] if lines else "it did not say why"


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


@contextlib.contextmanager
def _ended_with_us(process: subprocess.Popen) -> Iterator[None]:
    """An interrupted benchmark leaves nothing running."""
    try:
        yield
    except BaseException:
        for descendant in reversed(list(tree(process.pid))):
            with contextlib.suppress(ProcessLookupError):
                os.kill(descendant, 9)
        process.wait()
        raise


class _Sampler(threading.Thread):
    """The peak of a process tree's resident memory while the `with` block runs."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.peak = root, 0
        self._over = threading.Event()

    def __enter__(self) -> "_Sampler":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        while not self._over.is_set():
            sizes = [_resident(process) for process in tree(self.root)]
            together = sum(now for now, _ in sizes)
            alone = max((high for _, high in sizes), default=0)
            self.peak = max(self.peak, together, alone)
            self._over.wait(INTERVAL)


def tree(root: int) -> Iterator[int]:
    """A process and its descendants, parents first."""
    yield root
    try:
        for thread in os.listdir(f"/proc/{root}/task"):
            with open(f"/proc/{root}/task/{thread}/children") as file:
                children = file.read().split()
            for child in children:
                yield from tree(int(child))
    except OSError:  # it has just ended
        return


def _resident(process: int) -> tuple[int, int]:
    """Bytes that a process has in memory now, and the most that it ever had."""
    try:
        with open(f"/proc/{process}/status", "rb") as file:
            sizes = {name: int(number) << 10 for name, number in STATUS.findall(file.read())}
    except OSError:
        return 0, 0
    return sizes.get(b"RSS", 0), sizes.get(b"HWM", 0)
