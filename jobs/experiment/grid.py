"""Commands as processes, several at a time; each is a `perceptron` of its own, so if one fails, others do not."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Callable

import perceptron_jobs
from perceptron_core.errors import UserError
from perceptron_jobs.engines.errors import JobFailed

PAUSE = 0.05  # seconds between looks at the processes
MISTAKE = 2  # the exit code of a user's mistake
# Like `python -m perceptron_jobs.cli.main`, except that packages are not looked up in the current folder first: in a
# source tree that has the packages without their compiled kernel.
START = "import sys; sys.path[0] = sys.argv.pop(1); from perceptron_jobs.cli.main import main; sys.exit(main())"

Command = list[str]  # the arguments of `perceptron`


def run_commands(commands: dict[str, Command], at_once: int, logs: str, ended: Callable[[str, float], None]) -> None:
    """Run the commands, `at_once` at a time; the output of each goes to a file of its name in `logs`."""
    os.makedirs(logs, exist_ok=True)
    waiting = list(commands)
    running: dict[str, tuple[subprocess.Popen, float]] = {}
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # `kill` and a scheduler's limit act like Ctrl-C
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                name = waiting.pop(0)
                with _interrupts_waiting():
                    running[name] = _start(commands[name], _log(logs, name)), time.monotonic()
            for name, (process, began) in list(running.items()):
                if process.poll() is not None:
                    del running[name]
                    _check(name, process.returncode, _log(logs, name))
                    ended(name, time.monotonic() - began)
            time.sleep(PAUSE)
    finally:  # a training that is stopped can be continued from its last epoch
        for process, _ in running.values():
            process.terminate()
        for process, _ in running.values():
            process.wait()
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _interrupts_waiting() -> Iterator[None]:
    """Signals wait for the end of the block, so that every process that has started is among the running ones."""
    came = False

    def note(*_: object) -> None:
        nonlocal came
        came = True

    before = {each: signal.signal(each, note) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if came:
        raise KeyboardInterrupt


def _log(logs: str, name: str) -> str:
    return os.path.join(logs, f"{name}.log")


def _where_packages_are() -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(perceptron_jobs.__file__)))


def _start(command: Command, log: str) -> subprocess.Popen:
    with open(log, "wb") as output:
        whole = [sys.executable, "-c", START, _where_packages_are(), *command]
        return subprocess.Popen(whole, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)


def _check(name: str, code: int, log: str) -> None:
    if code == 0:
        return
    with open(log, encoding="utf-8", errors="replace") as file:
        said = file.read().strip().splitlines()
    last = said[-1].replace("perceptron: ", "", 1) if said else f"it ended with exit code {code}"
    problem = f"{name}: {last} (all of its output: {log})"
    raise UserError(problem) if code == MISTAKE else JobFailed(problem)
