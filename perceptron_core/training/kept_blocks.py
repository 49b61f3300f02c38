"""The blocks of a shard that are trained on again: in memory as far as there is room, then on disk.

The file has no name and belongs to this process alone, so nothing stays behind and nobody else can write to it. It
holds arrays only: the blocks that engines train on are tuples of them.
"""

import tempfile
from collections.abc import Iterator
from typing import Any, Optional

import numpy as np

from perceptron_core.structures.base import Block


class KeptBlocks:
    def __init__(self, room: int) -> None:
        self.room = room  # bytes
        self.size = 0  # bytes in memory
        self._blocks: list[Block] = []
        self._file: Optional[Any] = None
        self._shapes: list[tuple[Any, int]] = []  # of the blocks in the file: class, number of arrays

    def add(self, block: Block) -> None:
        size = block.size()
        if self._file is None and self.size + size <= self.room:
            self._blocks.append(block)
            self.size += size
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - see __del__
        arrays: Any = block
        self._shapes.append((type(block), len(arrays)))
        for array in arrays:
            np.save(self._file, array, allow_pickle=False)

    def in_memory(self) -> bool:
        """Whether all of them are."""
        return self._file is None

    def __iter__(self) -> Iterator[Block]:
        yield from self._blocks
        if self._file is not None:
            self._file.seek(0)
            for make, size in self._shapes:
                yield make(*(np.load(self._file, allow_pickle=False) for _ in range(size)))

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()
