"""The entry point: parses the arguments, reads the task, runs the command, turns errors into exit codes.

Exit codes: 0 done, 2 a user's mistake (one sentence on standard error), 1 a defect (with a traceback) or a failed job,
130 interrupted.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, Optional

from perceptron_core import scratch
from perceptron_core.errors import InputError, UserError
from perceptron_jobs.cli.options import COMMANDS, Parsers, make_parsers, options_of
from perceptron_jobs.cli.plainly import said_plainly
from perceptron_jobs.engines.errors import JobFailed
from perceptron_jobs.options.names import find_task
from perceptron_jobs.options.spelling import as_arguments


def _use_task_options(parsers: Parsers, arguments: argparse.Namespace, options: dict[str, Any], path: str) -> None:
    """Make the task file's options the defaults of the command, so that the command line overrides them."""
    options = {name.replace("-", "_"): value for name, value in options.items()}
    known = {name for command in COMMANDS for name in options_of(command)}
    for name in options:
        if name not in known:
            raise InputError(f"unknown option `{name}`; there are {', '.join(sorted(known))}", path)
    mine = {name: value for name, value in options.items() if name in options_of(arguments.command)}
    if "prepared" in mine and arguments.train:
        del mine["prepared"]
    if "train" in mine and getattr(arguments, "prepared", None):
        del mine["train"]
    checked = parsers.main.parse_args([arguments.command, arguments.task, *as_arguments(mine)])
    parsers.commands[arguments.command].set_defaults(**{name: getattr(checked, name) for name in mine})


def run(given: list[str]) -> None:
    parsers = make_parsers()
    arguments = parsers.main.parse_args(given)
    # Only now: --help needs neither NumPy nor mrjob, and no command needs what the others do.
    module = importlib.import_module(f"perceptron_jobs.cli.{COMMANDS[arguments.command].module}")
    work = getattr(module, f"run_{arguments.command}")
    if not hasattr(arguments, "task"):
        work(arguments)
        return
    from perceptron_core.task_file import read_task

    path = find_task(arguments.task)
    task = read_task(path)
    if arguments.command in ("prepare", "train"):
        _use_task_options(parsers, arguments, task.record["options"], path)
        arguments = parsers.main.parse_args(given)
    work(arguments, task)


def main(given: Optional[Sequence[str]] = None) -> int:
    try:
        with scratch.private_folder(), said_plainly():
            run(list(sys.argv[1:] if given is None else given))
    except UserError as error:
        print(f"perceptron: {error}", file=sys.stderr)
        return 2
    except JobFailed as error:
        print(f"perceptron: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("perceptron: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
