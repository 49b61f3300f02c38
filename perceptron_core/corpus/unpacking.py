"""Gzip files; one that unpacks to very much more than it is is refused before it fills the memory, or the day."""

import gzip
import io
from typing import Optional

from perceptron_core.errors import InputError
from perceptron_core.limits import EXPANDED_FREELY, limits, raise_by


class _Counting:
    """The packed file, which counts what is read of it."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.count += len(data)
        return data


class Unpacked(gzip.GzipFile):
    """The content of a gzip file, read forwards by `read` or `read1`; `source` names it in errors."""

    def __init__(self, file: io.BufferedReader, source: str) -> None:
        self._packed, self._source, self._unpacked = _Counting(file), source, 0
        super().__init__(fileobj=self._packed, mode="rb")  # type: ignore[call-overload]  # it only reads

    def read(self, size: Optional[int] = -1) -> bytes:
        return self._checked(super().read(size))

    def read1(self, size: int = -1) -> bytes:
        return self._checked(super().read1(size))

    def _checked(self, data: bytes) -> bytes:
        self._unpacked += len(data)
        most = limits().expansion
        if self._unpacked > EXPANDED_FREELY and self._unpacked > most * self._packed.count:
            raise InputError(
                f"the gzip data unpacks to more than {most} times its size; {raise_by('expansion')}", self._source
            )
        return data
