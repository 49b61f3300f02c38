"""Records that wait under keys: the first ones in memory, the others on disk.

The file has no name, so nothing stays behind, even if the process is killed.
"""

import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

import numpy as np

from perceptron_core.wire import pack, unpack

ROOM = 8 << 20  # bytes that stay in memory, roughly
ITEM_BYTES = 60  # of a string or a number


class _OnDisk(NamedTuple):
    begin: int
    size: int


class Spool:
    def __init__(self) -> None:
        self.size = 0  # bytes, roughly
        self._records: dict[Any, list[Any]] = {}
        self._file: Optional[Any] = None
        self._end = 0  # of the file

    def add(self, key: Any, record: dict[str, Any]) -> None:
        """Add a record; it must not be changed afterwards."""
        self.size += _bytes(record)
        waiting = self._records.setdefault(key, [])
        if self.size <= ROOM:
            waiting.append(record)
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - see close
        data = pack(record)
        self._file.seek(self._end)
        self._file.write(data)
        waiting.append(_OnDisk(self._end, len(data)))
        self._end += len(data)

    def has(self, key: Any) -> bool:
        return key in self._records

    def under(self, key: Any) -> Iterator[Any]:
        """The records of a key, in the order in which they were added."""
        for record in self._records.get(key, ()):
            if isinstance(record, _OnDisk):
                assert self._file is not None
                self._file.seek(record.begin)
                yield unpack(self._file.read(record.size))
            else:
                yield record

    def in_order(self) -> Iterator[Any]:
        """All records, by their keys."""
        for key in sorted(self._records):
            yield from self.under(key)

    def close(self) -> None:
        self._records = {}
        if self._file is not None:
            self._file.close()

    __del__ = close


def _bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, dict):
        return sum(map(_bytes, value.values()))
    if isinstance(value, list):
        return len(value) * ITEM_BYTES if value and isinstance(value[0], str) else sum(map(_bytes, value))
    return ITEM_BYTES
