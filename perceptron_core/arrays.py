"""Small operations on arrays: an array that grows at its end, ragged pieces, narrow integers, types."""

from typing import Any

import numpy as np


class GrowingArray:
    """An array that grows at its end without copying itself each time."""

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
        """A view of its values now, which does not change when the array grows."""
        return self._room[: self._size]


def ragged_range(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """starts[0], starts[0]+1, … (sizes[0] of them), then starts[1] …: the indices of ragged pieces."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - sizes), sizes)


def typed(value: Any, *types: str) -> np.ndarray:
    """The value; ValueError if it is not an array of one of these types."""
    if not isinstance(value, np.ndarray) or value.dtype.str not in types:
        raise ValueError("an array is missing or has another type")
    return value


def smallest(values: np.ndarray) -> np.ndarray:
    """The same non-negative integers in the narrowest unsigned type that holds them."""
    top = int(values.max()) if len(values) else 0
    for kind in (np.uint8, np.uint16, np.uint32):
        if top <= np.iinfo(kind).max:
            return values.astype(kind)
    return values.astype(np.uint64)
