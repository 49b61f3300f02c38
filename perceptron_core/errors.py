"""Errors that the user can fix.

Every message is a sentence: what is wrong, where (the file and the line, if there is one), what to do about it.
Any other exception is a defect of the program and keeps its traceback.
"""

from typing import Optional


class UserError(Exception):
    """A mistake in the input, the options or the environment; the command ends with exit code 2."""


class InputError(UserError):
    """Something is wrong with a file: the message begins with `file:line:` (or `file:`)."""

    def __init__(self, message: str, source: str, line: Optional[int] = None) -> None:
        where = source if line is None else f"{source}:{line}"
        super().__init__(f"{where}: {message}")
        self.problem = message
        self.source = source
        self.line = line
