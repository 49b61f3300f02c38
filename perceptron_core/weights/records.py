"""Rows as they are sent: narrow integers, and each row's size instead of its start. What is received is checked.

Values that are whole numbers, such as the perceptron's steps and lags, are sent as integers, too.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from perceptron_core.arrays import smallest, typed
from perceptron_core.weights.checks import check_rows
from perceptron_core.weights.rows import Rows
from perceptron_core.wire import DamagedRecord

NARROW = ("|u1", "<u2", "<u4")
WHOLE = ("|i1", "<i2", "<i4")


def to_record(rows: Rows) -> dict[str, Any]:
    return {
        "keys": rows.keys,
        "sizes": smallest(np.diff(rows.starts)),
        "labels": smallest(rows.labels),
        "values": {name: [column.dtype.str, _whole(column)] for name, column in rows.values.items()},
        **({} if rows.counts is None else {"counts": smallest(rows.counts)}),
    }


def _whole(column: np.ndarray) -> np.ndarray:
    """The same numbers as narrower integers, if no bit is lost by that."""
    top = float(np.abs(column).max()) if len(column) else 0.0
    for kind in (np.int8, np.int16, np.int32):
        if top <= np.iinfo(kind).max and np.dtype(kind).itemsize < column.itemsize:
            whole = column.astype(kind)
            return whole if whole.astype(column.dtype).tobytes() == column.tobytes() else column
    return column


def from_record(record: Any, labels: int, columns: Mapping[str, str]) -> Rows:
    """The rows; DamagedRecord if they are not sound for this number of labels and columns of these names and types."""
    try:
        starts = np.append(0, np.cumsum(typed(record["sizes"], *NARROW), dtype=np.int64))
        with np.errstate(over="ignore"):  # the check that follows finds what is not finite
            sent = {name: typed(record["values"][name][1], *WHOLE, "<" + columns[name]) for name in columns}
            values = {name: column.astype(columns[name], copy=False) for name, column in sent.items()}
        counts = typed(record["counts"], *NARROW).astype(np.int32) if "counts" in record else None
        numbers = typed(record["labels"], *NARROW).astype(np.uint32)
        rows = Rows(typed(record["keys"], "<u8"), starts, numbers, values, counts)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DamagedRecord(f"a task sent rows that do not decode ({error!r:.100})") from error
    return check_rows(rows, labels, columns)
