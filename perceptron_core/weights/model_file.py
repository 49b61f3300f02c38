"""Model files: a header and aligned raw arrays, mapped into memory rather than read.

    magic          8 bytes
    header size    4 bytes, little-endian; then the header's CRC-32, 4 bytes
    header         msgpack: kind, task, labels, settings, and the name, type, size, place and CRC-32 of every array
    arrays         each at a multiple of 64 bytes

Five kinds of file have this form:

    weights        the last weights: what an epoch sends to its tasks
    average        the exact sum of the epochs' averages, and their number: what a resumed run continues with
    model          last and averaged weights together: what a user keeps
    occurrences    in how many shards features occur; see counting/shard_counts.py
    idf            inverse document frequencies; see learners/one_pass/rocchio.py

None contains a time, a host or a path, so equal trainings give equal bytes.
"""

import mmap
import os
import zlib
from typing import IO, Any, NamedTuple, Optional, Union

import msgpack
import numpy as np

from perceptron_core.arrays import smallest
from perceptron_core.atomic import written_atomically
from perceptron_core.errors import InputError
from perceptron_core.schema import check, list_of, one_of, record, row_of, text, whole
from perceptron_core.settings import SETTINGS
from perceptron_core.task_record import TASK, some_labels
from perceptron_core.weights.checks import check_rows, check_shape
from perceptron_core.weights.rows import Rows
from perceptron_core.wire import DamagedRecord

MAGIC = b"PERCEPT\x01"
ALIGNMENT = 64
# The kinds of files, and the columns of values that each may have; it has one at least.
KINDS = {
    "weights": ("weight",),
    "average": ("sum",),
    "model": ("weight", "averaged"),
    "occurrences": ("shards",),
    "idf": ("idf",),
}
UNSIGNED = ("|u1", "<u2", "<u4", "<u8")
# The types of the arrays that there may be.
TYPES = {
    "keys": ("<u8",),
    "starts": UNSIGNED,
    "labels": UNSIGNED,
    "counts": UNSIGNED,
    "names": ("|u1",),
    "value:weight": ("<f4",),
    "value:averaged": ("<f4",),
    "value:sum": ("<f8",),
    "value:shards": ("<u4",),
    "value:idf": ("<f8",),
}
HEADER = record(
    {
        "kind": one_of(*KINDS),
        "task": TASK,
        "labels": some_labels,
        "settings": SETTINGS,
        "epochs": whole(),
        "arrays": list_of(row_of(one_of(*TYPES), text(), whole(), whole(), whole(most=2**32 - 1)), most=len(TYPES)),
        "size": whole(),
    }
)
NAMES = list_of(row_of(whole(most=2**64 - 1), text()))
REMEDY = "copy or train the model again"


class Model(NamedTuple):
    kind: str  # "weights", "average", "model", "occurrences" or "idf"
    task: dict[str, Any]  # the task's record
    labels: list[str]
    settings: dict[str, Any]  # those that decoding needs
    rows: Rows  # value columns: "weight" (last), "averaged", "sum", "shards", or "idf"
    epochs: int = 0  # the number of epochs whose averages "sum" adds up
    names: Optional[dict[int, str]] = None  # feature names by key, if they are known


def _pad(size: int) -> int:
    return -size % ALIGNMENT


def write_model(path: str, model: Model) -> None:
    """Write the file, whole or not at all."""
    with written_atomically(path) as file:
        save_model(file, model)


def save_model(file: IO[bytes], model: Model) -> None:
    arrays = {
        "keys": model.rows.keys,
        "starts": smallest(model.rows.starts),
        "labels": smallest(model.rows.labels),
        **{f"value:{name}": column for name, column in model.rows.values.items()},
        **({} if model.rows.counts is None else {"counts": smallest(model.rows.counts)}),
    }
    if model.names is not None:
        arrays["names"] = np.frombuffer(msgpack.packb(sorted(model.names.items())), np.uint8)
    data = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in arrays.items()}
    places, offset = [], 0
    for name, array in data.items():
        raw = np.ascontiguousarray(array).view(np.uint8).data
        places.append([name, array.dtype.str, len(array), offset, zlib.crc32(raw)])
        offset += array.nbytes + _pad(array.nbytes)
    header = msgpack.packb(
        {
            "kind": model.kind,
            "task": model.task,
            "labels": model.labels,
            "settings": model.settings,
            "epochs": model.epochs,
            "arrays": places,
            "size": offset,
        }
    )
    file.write(MAGIC + len(header).to_bytes(4, "little") + zlib.crc32(header).to_bytes(4, "little"))
    file.write(header)
    file.write(bytes(_pad(16 + len(header))))
    for array in data.values():
        file.write(np.ascontiguousarray(array).view(np.uint8).data)
        file.write(bytes(_pad(array.nbytes)))


def read_model(path: str, whole: bool = True) -> Model:
    """Map a model file into memory; every checksum is verified, and so are the zeros between the arrays and what must
    hold of the rows (checks.py).

    With whole=False only the header and the sizes are verified, and the rest is read only where it is used, so that a
    task that needs a few rows does not read all of them. Who fetches rows must check them. Labels and starts are then
    as narrow as in the file."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)) if size else memoryview(b"")
    except OSError as error:
        raise InputError(f"the model cannot be read: {error.strerror}", path) from error
    if bytes(data[:7]) != MAGIC[:7]:
        raise InputError("this is not a model file of mr-perceptron", path)
    damaged = InputError("the model file is damaged (cut or altered); copy or train it again", path)
    if len(data) < 16:
        raise damaged
    if data[7] != MAGIC[7]:
        raise InputError(f"the model has version {data[7]}, this program reads {MAGIC[7]}; train it again", path)
    header_size = int.from_bytes(data[8:12], "little")
    packed = data[16 : 16 + header_size]
    if len(packed) != header_size or zlib.crc32(packed) != int.from_bytes(data[12:16], "little"):
        raise damaged
    header = check(_unpacked(packed, path), HEADER, path, REMEDY)
    begin = 16 + header_size + _pad(16 + header_size)
    if len(data) != begin + header["size"] or any(data[16 + header_size : begin]):
        raise damaged
    arrays: dict[str, np.ndarray] = {}
    for name, dtype, count, offset, checksum in header["arrays"]:
        if name in arrays or dtype not in TYPES[name] or offset % ALIGNMENT:
            raise damaged
        if offset + count * np.dtype(dtype).itemsize > header["size"]:
            raise damaged
        array = np.frombuffer(data, dtype, count, begin + offset)
        end = begin + offset + array.nbytes
        if whole and (zlib.crc32(array.view(np.uint8).data) != checksum or any(data[end : end + _pad(array.nbytes)])):
            raise damaged
        arrays[name] = array
    if not {"keys", "starts", "labels"} <= set(arrays):
        raise damaged
    values = {name[6:]: array for name, array in arrays.items() if name.startswith("value:")}
    if not values or not set(values) <= set(KINDS[header["kind"]]):
        raise damaged
    counts = arrays["counts"].astype(np.int32) if "counts" in arrays else None
    starts, labels = arrays["starts"], arrays["labels"]
    if whole:
        starts, labels = starts.astype(np.int64), labels.astype(np.uint32)
    rows = Rows(arrays["keys"], starts, labels, values, counts)
    columns = {name: TYPES[f"value:{name}"][0] for name in values}
    try:
        if whole:
            check_rows(rows, len(header["labels"]), columns)
        else:
            check_shape(rows, columns)
    except DamagedRecord as error:
        raise InputError(str(error), path) from error
    names = None
    if "names" in arrays:
        names = dict(check(_unpacked(arrays["names"].tobytes(), path), NAMES, path, REMEDY))
    return Model(header["kind"], header["task"], header["labels"], header["settings"], rows, header["epochs"], names)


def _unpacked(packed: Union[bytes, memoryview], path: str) -> Any:
    try:
        return msgpack.unpackb(packed, strict_map_key=False)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise InputError(f"the model file is damaged ({error}); {REMEDY}", path) from error


def model_digest(path: str) -> str:
    """What identifies a model: the checksum of its header, which contains the checksums of all the rest."""
    with open(path, "rb") as file:
        return file.read(16)[12:16].hex()
