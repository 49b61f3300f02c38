"""An array that grows at its end without copying itself each time."""

from typing import Any

import numpy as np


class GrowingArray:
    def __init__(self, dtype: Any) -> None:
        self._room = np.zeros(0, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, values: np.ndarray) -> None:
        size = self._size + len(values)
        if size > len(self._room):
            larger = np.zeros(max(size, 2 * len(self._room)), self._room.dtype)
            larger[: self._size] = self._room[: self._size]
            self._room = larger
        self._room[self._size : size] = values
        self._size = size

    def view(self) -> np.ndarray:
        """What is in it now; a view, which later growth does not change."""
        return self._room[: self._size]
