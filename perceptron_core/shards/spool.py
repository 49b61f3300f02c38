"""Records that wait on disk, under keys; as long as they are few, in memory.

The file has no name, so nothing stays behind, even if the process is killed.
"""

import tempfile
from collections.abc import Iterator
from typing import Any

from perceptron_core.wire import pack, unpack

ROOM = 8 << 20  # bytes that stay in memory


class Spool:
    def __init__(self, room: int = ROOM) -> None:
        self._file: Any = tempfile.SpooledTemporaryFile(max_size=room)  # noqa: SIM115 - see close
        self._places: dict[Any, list[tuple[int, int]]] = {}
        self.size = 0  # bytes

    def add(self, key: Any, record: Any) -> None:
        data = pack(record)
        self._file.seek(self.size)
        self._file.write(data)
        self._places.setdefault(key, []).append((self.size, len(data)))
        self.size += len(data)

    def has(self, key: Any) -> bool:
        return key in self._places

    def under(self, key: Any) -> Iterator[Any]:
        """The records of a key, in the order in which they were added."""
        for begin, size in self._places.get(key, ()):
            self._file.seek(begin)
            yield unpack(self._file.read(size))

    def in_order(self) -> Iterator[Any]:
        """All records, by their keys."""
        for key in sorted(self._places):
            yield from self.under(key)

    def close(self) -> None:
        self._file.close()

    __del__ = close
