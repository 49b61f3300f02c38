"""What must hold of rows before a kernel sees them. A kernel trusts its arrays: it goes where their numbers lead.

    keys      64 bits, strictly ascending
    starts    from 0, ascending, to the number of entries
    labels    below the number of labels, strictly ascending within a row
    values    the expected columns, of their types, one value per entry, finite
    counts    one per row, not negative

Whatever comes from a file or from another task is checked: a whole model when it is read, a mapper's rows when they
are decoded. Of a model that is mapped but not read, the rows that are fetched from it are checked.
"""

from collections.abc import Mapping
from typing import Union

import numpy as np

from perceptron_core.weights.rows import Rows
from perceptron_core.wire import DamagedRecord


def check_rows(rows: Rows, labels: int, columns: Mapping[str, str]) -> Rows:
    """The rows, if all holds that is said above, for this number of labels and columns of these names and types."""
    check_shape(rows, columns)
    check_keys(rows.keys)
    starts, entries = rows.starts, len(rows.labels)
    _refuse_if(starts[0] != 0 or starts[-1] != entries or (starts[1:] < starts[:-1]).any(), "its starts do not ascend")
    if entries:
        _refuse_if(int(rows.labels.max()) >= labels, f"an entry has a label beyond the {labels} that there are")
        ascending = np.empty(entries, bool)
        np.greater(rows.labels[1:], rows.labels[:-1], out=ascending[1:])
        ascending[starts[:-1][starts[:-1] < entries]] = True  # where a row begins
        _refuse_if(not ascending.all(), "the labels of a row do not ascend")
    for name, column in rows.values.items():
        _refuse_if(column.dtype.kind == "f" and not np.isfinite(column).all(), f"a {name} is too large, or no number")
    if rows.counts is not None and len(rows.counts):
        _refuse_if(int(rows.counts.min()) < 0, "a count is negative")
    return rows


def check_shape(rows: Rows, columns: Mapping[str, str]) -> None:
    """Refuse arrays of other types or of sizes that do not agree; this reads none of them."""
    types = {name: column.dtype for name, column in rows.values.items()}
    _refuse_if(types != {name: np.dtype(kind) for name, kind in columns.items()}, "its columns are others")
    integers = rows.starts.dtype.kind in "iu" and rows.labels.dtype.kind == "u" and rows.labels.itemsize <= 4
    aligned = all(array.flags.aligned for array in (rows.keys, *rows.values.values()))
    _refuse_if(rows.keys.dtype != np.uint64 or not (integers and aligned), "an array has another type")
    per_row, per_entry = len(rows.keys), len(rows.labels)
    sizes = len(rows.starts) == per_row + 1 and all(len(column) == per_entry for column in rows.values.values())
    counts = rows.counts is None or (len(rows.counts) == per_row and rows.counts.dtype == np.int32)
    _refuse_if(not sizes or not counts, "the sizes of its arrays do not agree")


def check_keys(keys: np.ndarray) -> None:
    """Refuse keys that do not ascend."""
    _refuse_if((keys[1:] <= keys[:-1]).any(), "its keys do not ascend")


def _refuse_if(wrong: Union[bool, np.bool_], what: str) -> None:
    if wrong:
        raise DamagedRecord(f"the weights are damaged: {what}; copy or make them again")
