"""One line of Hadoop Streaming: a key, a TAB, and a record (CRC-32 and msgpack), escaped so that it has no line ends.

Hadoop's line reader breaks on line feeds and on carriage returns, so these two bytes are escaped; it passes on all
others as they are. This adds one percent to the bytes; base64 would add a third.
A record is plain data (numbers, strings, lists, dicts), which may contain one-dimensional NumPy arrays; an array is
sent as its raw little-endian bytes. It comes back read-only: as a view of them, or as a copy where they are not
aligned, as kernels need them.
"""

import zlib
from typing import Any, Union

import msgpack
import numpy as np

from perceptron_core.errors import UserError
from perceptron_core.kernels import escape_line_ends, restore_line_ends

ARRAY_CODE = 1
TYPES = ("|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8")  # of arrays


class DamagedRecord(UserError):
    """A line or a block that does not decode: truncated, altered, or written by another program."""


def _pack_array(value: Any) -> msgpack.ExtType:
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise TypeError(f"cannot send a {type(value).__name__}")
    little = value.astype(value.dtype.newbyteorder("<"), copy=False)
    return msgpack.ExtType(ARRAY_CODE, little.dtype.str.encode("ascii").ljust(4) + little.tobytes())


def _unpack_array(code: int, data: bytes) -> np.ndarray:
    if code != ARRAY_CODE:
        raise ValueError(f"unknown extension {code}")
    dtype = data[:4].decode("ascii").strip()
    if dtype not in TYPES:
        raise ValueError(f"unknown type of array {dtype!r}")
    array = np.frombuffer(data, dtype, offset=4)
    if not array.flags.aligned:
        array = array.copy()
        array.flags.writeable = False
    return array


def pack(record: Any) -> bytes:
    """A record as msgpack bytes."""
    return msgpack.packb(record, default=_pack_array, use_bin_type=True, unicode_errors="surrogatepass")


def unpack(data: Union[bytes, memoryview]) -> Any:
    """The record that `pack` made; DamagedRecord if the bytes are not one."""
    try:
        return msgpack.unpackb(
            data, ext_hook=_unpack_array, raw=False, strict_map_key=False, unicode_errors="surrogatepass"
        )
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise DamagedRecord(f"a record does not decode ({error}); it was truncated or altered") from error


def encode_line(key: str, record: Any) -> bytes:
    """`key TAB (crc + msgpack, escaped)`, without the line end; the checksum is that of the key and the record."""
    return _line(key.encode("ascii"), pack(record), zlib.crc32(key.encode("ascii")))


def encode_file_line(key: str, record: Any) -> bytes:
    """The same for the files of a prepared corpus. There the checksum is that of the record alone: the file has one of
    its own."""
    return _line(key.encode("ascii"), pack(record), 0)


def _line(key: bytes, data: bytes, checksum_before: int) -> bytes:
    return key + b"\t" + escape_line_ends(zlib.crc32(data, checksum_before).to_bytes(4, "little") + data)


def decode_line(line: bytes) -> tuple[str, Any]:
    """The inverse of `encode_line` and `encode_file_line`."""
    key, tab, text = line.rstrip(b"\r\n").partition(b"\t")
    if not tab:
        raise DamagedRecord(
            "a line does not decode (no TAB between key and record); it was truncated, or another program wrote it"
        )
    checked = memoryview(restore_line_ends(text))
    data = checked[4:]
    checksum = int.from_bytes(checked[:4], "little")
    if zlib.crc32(data, zlib.crc32(key)) != checksum and zlib.crc32(data) != checksum:
        raise DamagedRecord("a line does not decode (its checksum is wrong); it was truncated or altered")
    try:
        return key.decode("ascii"), unpack(data)
    except UnicodeDecodeError as error:
        raise DamagedRecord(f"a line does not decode ({error}); it was truncated or altered") from error
