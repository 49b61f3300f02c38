"""What this machine refuses, said in a sentence: a full disk, a folder that is read-only or was removed.

Nothing here needs more than the standard library, since `perceptron --help` goes through it, too.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TextIO, cast

from perceptron_core import scratch
from perceptron_core.errors import UserError


@contextmanager
def said_plainly() -> Iterator[None]:
    """Around a command; other errors than these are defects, and keep their traceback."""
    stdout = sys.stdout
    sys.stdout = cast(TextIO, _Told(stdout))
    try:
        yield
        sys.stdout.flush()
    except UserError:
        raise
    except OSError as error:
        if error.errno not in scratch.FULL | scratch.GONE | scratch.REFUSED:
            raise
        path = error.filename2 or error.filename
        problem = f"{path}: {error.strerror}" if path else str(error.strerror)
        raise scratch.told(error) or UserError(problem) from error
    finally:
        sys.stdout = stdout


class _Told:
    """Standard output, which says its name if it cannot be written; who closes a pipe early needs no message."""

    def __init__(self, file: IO[Any]) -> None:
        self.file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    @property
    def buffer(self) -> "_Told":
        return _Told(self.file.buffer)  # type: ignore[attr-defined]

    def write(self, data: Any) -> int:
        with self._blamed():
            return self.file.write(data)

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
            with suppress(OSError):  # Python would try once more when it ends, and complain
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())
            raise UserError(f"cannot write standard output: {error.strerror}") from error
