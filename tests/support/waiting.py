"""Waiting with a limit: whatever a test waits for, it fails with a sentence when that does not come."""

import contextlib
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any, Callable


def wait_until(
    what: str,
    condition: Callable[[], Any],
    seconds: float = 120.0,
    alive: Callable[[], None] = lambda: None,
    pause: float = 0.02,
) -> Any:
    """Wait until the condition holds, and return what it said; `alive` complains if it can never hold."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        alive()
        assert time.monotonic() < end, f"waited {seconds:g} seconds in vain for {what}"
        time.sleep(pause)


def read_line(what: str, stream: IO[bytes], seconds: float = 120.0) -> bytes:
    """The first line that a process writes to a pipe."""
    ready, _, _ = select.select([stream], [], [], seconds)
    assert ready, f"waited {seconds:g} seconds in vain for {what}"
    return stream.readline()


@contextlib.contextmanager
def started(words: Sequence[str], **options: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that does not outlive the block: a test that fails in it does not wait for the process to end."""
    with subprocess.Popen(words, **options) as process:
        try:
            yield process
        finally:
            process.kill()  # does nothing to one that has ended


def still_runs(process: "subprocess.Popen[bytes]") -> Callable[[], None]:
    """For `alive`: the process that is to do what is waited for has not ended."""

    def check() -> None:
        if process.poll() is not None:
            said = process.stderr.read().decode() if process.stderr else ""
            raise AssertionError(f"the process ended with {process.returncode}: {said}")

    return check
