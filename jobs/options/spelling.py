"""Options by name, as a task file or an experiment gives them, as arguments of a command."""

import argparse
from typing import Any


def as_arguments(options: dict[str, Any]) -> list[str]:
    """The options as arguments, so that they are checked just as the command line's are."""
    arguments: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            arguments.append(flag if value else f"--no-{flag[2:]}")
        elif value is not None:
            values = value if isinstance(value, list) else [value]
            arguments += [flag, *map(str, values)]
    return arguments


def option_names(parser: argparse.ArgumentParser) -> set[str]:
    """The names of a parser's options, as `as_arguments` takes them."""
    return {action.dest for action in parser._actions if action.option_strings} - {"help"}
