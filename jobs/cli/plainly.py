"""What this machine refuses, said in a sentence: a full disk, a folder that is read-only or was removed.

Nothing here needs more than the standard library, since `perceptron --help` goes through it, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from perceptron_core import scratch
from perceptron_core.errors import UserError


@contextmanager
def said_plainly() -> Iterator[None]:
    """Around a command; other errors than these are defects, and keep their traceback."""
    try:
        yield
    except UserError:
        raise
    except OSError as error:
        if error.errno not in scratch.FULL | scratch.GONE | scratch.REFUSED:
            raise
        path = error.filename2 or error.filename
        problem = f"{path}: {error.strerror}" if path else str(error.strerror)
        raise scratch.told(error) or UserError(problem) from error


class Told:
    """An output that says its name if it cannot be written; who closes a pipe early needs no message."""

    def __init__(self, file: IO[Any], name: str = "standard output") -> None:
        self.file, self.name = file, name

    def write(self, data: Any) -> None:
        with self._blamed():
            self.file.write(data)

    def flush(self) -> None:
        with self._blamed():
            self.file.flush()

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UserError(f"cannot write {self.name}: {error.strerror}") from error
