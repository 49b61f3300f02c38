"""Runs the cases of a target in child processes: a crash or a hang is counted, and its input is kept.

A case is a number: the same target and number give the same input. A child works through its numbers without a process
per case, and notes in shared memory where it is, so that the parent knows what a child died of. A case works, or is
refused with a sentence (UserError); any other exception is a traceback. A case that takes more memory than there is
room for ends with a MemoryError, which is a traceback, too.
"""

import faulthandler
import mmap
import os
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Callable, NamedTuple, Optional

import numpy as np

from perceptron_core.errors import UserError

ROOM = 3 << 30  # bytes that a child may have
SECONDS = 20.0  # that a case may take
CHILDREN = 2
KEPT = 30  # inputs of tracebacks that are kept per child
COUNTS = ("worked", "refused", "tracebacks", "crashes", "hangs")
Child = tuple[int, int, int]  # process id, its place, when it began (ns)


class Target(NamedTuple):
    """A kind of input: makes one, and gives it to the program."""

    make: Callable[[Random], bytes]
    run: Callable[[bytes, Path], object]  # the folder is the child's own
    ready: Callable[[], object] = lambda: None  # makes what all children share


class Found(NamedTuple):
    """What came of the cases of a target."""

    cases: int
    worked: int
    refused: int
    tracebacks: int
    crashes: int
    hangs: int
    messages: Sequence[str]  # one per kind of failure

    def is_clean(self) -> bool:
        return not (self.tracebacks or self.crashes or self.hangs)


def input_of(name: str, target: Target, case: int) -> bytes:
    return target.make(Random(f"{name} {case}"))


def fuzz(
    name: str,
    target: Target,
    cases: int,
    kept: Path,
    first: int = 0,
    limit: float = SECONDS,
    until: Optional[float] = None,
) -> Found:
    """Run the cases first … first+cases-1, or as many as there is time for; failing inputs are kept in a folder."""
    input_of(name, target, first)
    target.ready()
    memory = mmap.mmap(-1, CHILDREN * 64)
    # per child: the case it is at, when it began (ns), worked, refused, tracebacks
    places = np.frombuffer(memory, np.int64).reshape(CHILDREN, 8)
    crashes = hangs = 0
    messages: dict[str, str] = {}
    kept.mkdir(parents=True, exist_ok=True)
    numbers = [first + place for place in range(CHILDREN)]
    running: dict[int, int] = {}

    def start(place: int) -> None:
        places[place, :2] = numbers[place], time.monotonic_ns()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _work(name, target, range(numbers[place], first + cases, CHILDREN), places[place], kept, until)
                code = 0
            finally:
                os._exit(code)
        running[child] = place

    for place in range(CHILDREN):
        start(place)
    while running:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child in running:
            place = running.pop(child)
            if status != 0:
                case = int(places[place, 0])
                hung = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
                crashes, hangs = crashes + (not hung), hangs + hung
                what = "hangs" if hung else f"crashes (status {status})"
                messages.setdefault(what, f"{name} {case} {what}")
                (kept / f"{name}-{case}.input").write_bytes(input_of(name, target, case))
                numbers[place] = case + CHILDREN
                if numbers[place] < first + cases:
                    start(place)
            continue
        for child, place in running.items():
            if time.monotonic_ns() - places[place, 1] > limit * 1e9:
                os.kill(child, signal.SIGKILL)
        time.sleep(0.02)
    for file in sorted(kept.glob(f"{name}-*.traceback")):
        text = file.read_text(encoding="utf-8", errors="replace")
        messages.setdefault("\n".join(text.strip().split("\n")[-3:])[:200], f"{file}:\n{text}")
    worked, refused, tracebacks = (int(count) for count in places[:, 2:5].sum(axis=0))
    done = worked + refused + tracebacks + crashes + hangs
    return Found(done, worked, refused, tracebacks, crashes, hangs, list(messages.values()))


def _work(name: str, target: Target, cases: range, place: np.ndarray, kept: Path, until: Optional[float]) -> None:
    """Run the cases of one child."""
    faulthandler.disable()  # the parent tells of a crash
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which reserves terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    seen: set[str] = set()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
        for case in cases:
            if until is not None and time.monotonic() > until:
                return
            data = input_of(name, target, case)
            place[:2] = case, time.monotonic_ns()
            try:
                target.run(data, Path(scratch))
                place[2] += 1
            except UserError:
                place[3] += 1
            except Exception as error:
                place[4] += 1
                frames = traceback.extract_tb(error.__traceback__)
                kind = f"{type(error).__name__} {frames[-1].filename}:{frames[-1].lineno}"
                if kind not in seen and len(seen) < KEPT:
                    seen.add(kind)
                    base = str(kept / f"{name}-{case}")
                    Path(base + ".input").write_bytes(data)
                    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
                    Path(base + ".traceback").write_text(text[-6000:], encoding="utf-8", errors="replace")
