"""What a job has put out: parts, which are files of this machine, read line by line and never held as a whole.

On a cluster the parts are copied here first. Hadoop numbers map tasks as it likes, so the parts are put in the order of
their first keys; within a part, the keys of our jobs ascend.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from perceptron_core.errors import UserError
from perceptron_core.wire import decode_line
from perceptron_jobs.mr.protocol import ERROR

CHUNK_BYTES = 1 << 20
ERROR_LINE = b"\n" + ERROR.encode() + b"\t"  # no record contains a line end


def parts_of(runner: Any, scratch: str) -> list[str]:
    """The parts of a finished job's output, as local files, in order; those of a cluster are copied to `scratch`."""
    folder = runner.get_output_dir()
    parts: list[str] = []
    for path in runner.fs.ls(folder):
        if any(name[:1] in ("_", ".") for name in path[len(folder) :].strip("/").split("/")):
            continue  # Hadoop's own, such as _SUCCESS
        if not os.path.isfile(path):
            local = os.path.join(scratch, f"{len(parts):06d}")
            with open(local, "wb") as file:
                file.writelines(runner.fs._cat_file(path))
            path = local
        parts.append(path)
    return sorted(parts, key=_first_key)  # stable: parts whose keys tell nothing stay in the order of their names


def _first_key(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(64).partition(b"\t")[0]


def raise_errors(parts: Sequence[str]) -> None:
    """Raise the user's error that a task has found; of several, the one with the lowest order."""
    errors = [decode_line(line)[1] for part in parts if _has_error(part) for line in _lines(part) if _is_error(line)]
    if errors:
        raise UserError(min(errors, key=lambda error: error["order"])["message"])


def _has_error(path: str) -> bool:
    """Whether there is such a line, without splitting the file into lines."""
    before = b"\n"
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(CHUNK_BYTES), b""):
            window = before + chunk
            if ERROR_LINE in window:
                return True
            before = window[-len(ERROR_LINE) :]
    return False


def _is_error(line: bytes) -> bool:
    return line.startswith(ERROR_LINE[1:])


def lines_of(parts: Sequence[str]) -> Iterator[bytes]:
    """The lines of all parts, without their ends."""
    for part in parts:
        yield from _lines(part)


def _lines(path: str) -> Iterator[bytes]:
    with open(path, "rb") as file:
        for line in file:
            yield line.rstrip(b"\n")


def sort_lines(inputs: Sequence[str], output: str) -> None:
    """Write the lines of the files by their keys, and lines of one key as they came; only their places are in memory.

    mrjob's own way is to sort all lines in memory, or to let the `sort` command take as much memory as it likes.
    """
    places = []
    for number, path in enumerate(inputs):
        begin = 0
        with open(path, "rb") as file:
            for line in file:
                places.append((line.partition(b"\t")[0], number, begin, len(line)))
                begin += len(line)
    places.sort()
    opened, source = -1, None
    try:
        with open(output, "wb") as out:
            for _, number, begin, size in places:
                if number != opened:  # one at a time: there may be more map tasks than files may be open
                    if source is not None:
                        source.close()
                    opened, source = number, open(inputs[number], "rb")  # noqa: SIM115 - closed below
                assert source is not None
                if source.tell() != begin:
                    source.seek(begin)
                out.write(source.read(size))
    finally:
        if source is not None:
            source.close()
