"""What must hold of rows: every condition, broken by itself, is refused."""

from typing import Any, Callable

import numpy as np
import pytest

from perceptron_core.weights.checks import check_keys, check_rows, check_shape
from perceptron_core.weights.rows import Rows, empty, select
from perceptron_core.wire import DamagedRecord

COLUMNS = {"weight": "f4"}
SOUND = Rows(
    np.array([2, 5, 9, 2**64 - 1], np.uint64),
    np.array([0, 2, 2, 3, 5], np.int64),
    np.array([0, 2, 2, 0, 1], np.uint32),
    {"weight": np.array([1, -2, 0, 3, 3e38], np.float32)},
    np.array([1, 0, 7, 2], np.int32),
)


def array(values: Any, kind: type) -> np.ndarray:
    return np.array(values, kind)


def misaligned(keys: np.ndarray) -> np.ndarray:
    return np.frombuffer(b"1234" + keys.tobytes(), np.uint64, offset=4)


BROKEN: dict[str, Callable[[Rows], Rows]] = {
    "keys reversed": lambda rows: rows._replace(keys=rows.keys[::-1].copy()),
    "a key twice": lambda rows: rows._replace(keys=array([2, 5, 5, 9], np.uint64)),
    "starts from 1": lambda rows: rows._replace(starts=array([1, 2, 2, 3, 5], np.int64)),
    "starts fall": lambda rows: rows._replace(starts=array([0, 3, 2, 3, 5], np.int64)),
    "starts end early": lambda rows: rows._replace(starts=array([0, 2, 2, 3, 4], np.int64)),
    "starts end late": lambda rows: rows._replace(starts=array([0, 2, 2, 3, 6], np.int64)),
    "a negative start": lambda rows: rows._replace(starts=array([0, -1, 2, 3, 5], np.int64)),
    "a label too high": lambda rows: rows._replace(labels=array([0, 2, 2, 0, 3], np.uint32)),
    "labels of a row fall": lambda rows: rows._replace(labels=array([2, 0, 2, 0, 1], np.uint32)),
    "a label twice in a row": lambda rows: rows._replace(labels=array([0, 2, 2, 1, 1], np.uint32)),
    "a value is missing": lambda rows: rows.with_values(weight=rows.values["weight"][1:]),
    "no column": lambda rows: rows.with_values(),
    "one column more": lambda rows: rows.with_values(**rows.values, lag=np.zeros(5)),
    "values of 64 bits": lambda rows: rows.with_values(weight=rows.values["weight"].astype("f8")),
    "big-endian values": lambda rows: rows.with_values(weight=rows.values["weight"].astype(">f4")),
    "infinite": lambda rows: rows.with_values(weight=array([1, -2, 0, 3, np.inf], np.float32)),
    "not a number": lambda rows: rows.with_values(weight=array([1, -2, np.nan, 3, 1], np.float32)),
    "a negative count": lambda rows: rows._replace(counts=array([1, 0, -1, 2], np.int32)),
    "a count is missing": lambda rows: rows._replace(counts=array([1, 0, 1], np.int32)),
    "keys of 32 bits": lambda rows: rows._replace(keys=array([2, 5, 9, 11], np.uint32)),
    "keys not aligned": lambda rows: rows._replace(keys=misaligned(rows.keys)),
    "signed labels": lambda rows: rows._replace(labels=array([0, 2, 2, 0, -1], np.int32)),
    "no starts": lambda rows: rows._replace(starts=array([], np.int64)),
}


def test_sound_rows_pass() -> None:
    assert check_rows(SOUND, 3, COLUMNS) is SOUND
    check_rows(SOUND._replace(counts=None), 3, COLUMNS)
    check_rows(empty(weight="f4"), 0, COLUMNS)


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_is_refused(what: str) -> None:
    with pytest.raises(DamagedRecord, match="weights are damaged: .*; copy or make them again"):
        check_rows(BROKEN[what](SOUND), 3, COLUMNS)


def test_the_shape_is_checked_without_reading() -> None:
    check_shape(BROKEN["keys reversed"](SOUND), COLUMNS)
    for what in ("a value is missing", "no column", "keys of 32 bits", "keys not aligned", "no starts"):
        with pytest.raises(DamagedRecord):
            check_shape(BROKEN[what](SOUND), COLUMNS)


def test_keys_ascend() -> None:
    check_keys(array([], np.uint64))
    check_keys(array([0, 2**63, 2**64 - 1], np.uint64))
    with pytest.raises(DamagedRecord):
        check_keys(array([2**63, 2**63 - 1], np.uint64))


@pytest.mark.parametrize("starts", [[0, 2, 9, 3, 5], [0, 2, -4, 3, 5], [0, 2, 1, 3, 5], [0, 5, 0, 5, 0]])
def test_rows_are_selected_only_where_they_are(starts: list[int]) -> None:
    """Of a file that was mapped but not read."""
    assert select(SOUND, np.array([0, 3])).labels.tolist() == [0, 2, 0, 1]
    with pytest.raises(DamagedRecord):
        select(SOUND._replace(starts=array(starts, np.int64)), np.array([0, 1, 2]))
