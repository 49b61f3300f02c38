"""Errors that the user can fix.

Every message is a sentence: what is wrong, where (the file and the line, if there is one), what to do about it.
Any other exception is a defect of the program and keeps its traceback.

A message may quote a file of any size, so its length is limited here, and what could control a terminal is escaped.
"""

import re
import reprlib
from typing import Any, Optional

LONGEST_BEGINNING, LONGEST_END = 1500, 500  # characters of a message that are kept
LONGEST_VALUE = 80

_LONG_WORD = re.compile(r"\S{500,}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class UserError(Exception):
    """A mistake in the input, the options or the environment; the command ends with exit code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message))


class InputError(UserError):
    """Something is wrong with a file: the message begins with `file:line:` (or `file:`)."""

    def __init__(self, message: str, source: str, line: Optional[int] = None) -> None:
        where = source if line is None else f"{source}:{line}"
        super().__init__(f"{where}: {message}")
        self.problem = shortened(message)
        self.source = source
        self.line = line


def shortened(message: str) -> str:
    """A message without its middle, if it is very long; its end says what to do."""
    message = _cut(message, 50_000, 50_000)  # what follows looks at every character
    message = _LONG_WORD.sub(lambda found: _cut(found[0], LONGEST_VALUE, LONGEST_VALUE), message)
    message = _cut(message, LONGEST_BEGINNING, LONGEST_END)
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", message)


def _cut(text: str, beginning: int, end: int) -> str:
    left_out = len(text) - beginning - end
    return text if left_out <= 0 else f"{text[:beginning]} […{left_out:,} characters…] {text[-end:]}"


def shown(value: Any) -> str:
    """A value for a message, however large it is."""
    return _cut(_REPR.repr(value), LONGEST_VALUE, LONGEST_VALUE)


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxlong = _REPR.maxother = LONGEST_VALUE
_REPR.maxlevel, _REPR.maxlist, _REPR.maxdict, _REPR.maxtuple, _REPR.maxset = 2, 4, 4, 4, 4
