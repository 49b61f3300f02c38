"""The blocks of a shard that are trained on again: in memory as far as there is room, then on disk.

The file has no name and belongs to this process alone, so nothing stays behind and nobody else can write to it.
"""

import pickle
import tempfile
from collections.abc import Iterator
from typing import Any, Optional

from perceptron_core.structures.base import Block


class KeptBlocks:
    def __init__(self, room: int) -> None:
        self.room = room  # bytes
        self.size = 0  # bytes in memory
        self._blocks: list[Block] = []
        self._file: Optional[Any] = None

    def add(self, block: Block) -> None:
        size = block.size()
        if self._file is None and self.size + size <= self.room:
            self._blocks.append(block)
            self.size += size
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - see __del__
        pickle.dump(block, self._file, protocol=5)

    def in_memory(self) -> bool:
        """Whether all of them are."""
        return self._file is None

    def __iter__(self) -> Iterator[Block]:
        yield from self._blocks
        if self._file is not None:
            self._file.seek(0)
            while True:
                try:
                    yield pickle.load(self._file)
                except EOFError:
                    return

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()
