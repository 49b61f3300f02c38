"""Text files that users write, and YAML in them, read so that none can do harm: files that end, plain values only.

An alias repeats a value by its name. A few lines of them make a value of any size, and no task needs them.
"""

import os
import stat
from typing import Any, Optional

import yaml

from perceptron_core.errors import InputError


class _Loader(yaml.SafeLoader):
    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            problem = f"*{event.anchor} repeats a value, which is not allowed; write it out"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        return super().compose_node(parent, index)


def parse_yaml(text: str, path: str) -> Any:
    """What a YAML text says; `path` names it in errors."""
    try:
        return _Loader(text).get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise InputError(f"this is not YAML: {problem}", path, line) from error
    except RecursionError:
        raise InputError("this is not a file of ours: its values are nested too deeply", path) from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        # What PyYAML raises for a number of thousands of digits, a date that is none, a tag that does not fit.
        raise InputError(f"this is not YAML: a value cannot be read ({error})", path) from error


def read_text(path: str, named_in: Optional[str] = None) -> str:
    """A text file of the user's; not a device, which may never end. A pipe can be read where the user names it."""
    where = f" (named in {named_in})" if named_in else ""
    try:
        if is_device(path) or (named_in and stat.S_ISFIFO(os.stat(path).st_mode)):
            raise InputError(f"is a device or a pipe, which may have no end{where}; give a file", path)
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}{where}", path) from error
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text{where}", path) from error
    except ValueError as error:  # NUL in the path, or half of a pair of surrogates
        raise InputError(f"is not the name of a file{where}", path) from error


def is_device(path: str) -> bool:
    """Whether the path is that of a device, such as /dev/zero."""
    mode = os.stat(path).st_mode
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
