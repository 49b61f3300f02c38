"""Rows as they are sent: what was sent comes back, and what is damaged is refused."""

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.weights.records import from_record, to_record
from perceptron_core.weights.rows import Rows, empty, from_entries
from perceptron_core.wire import DamagedRecord, decode_line, encode_line, pack, unpack

COLUMNS = {"weight": "f4"}
KEYS = [1, 5, 2**32, 2**63, 2**64 - 1]
Entries = dict[tuple[int, int], float]
some_entries = st.dictionaries(
    st.tuples(st.sampled_from(KEYS), st.integers(0, 300)), st.sampled_from([0.0, 1.0, -2.5, 0.1])
)


def to_rows(entries: Entries) -> Rows:
    keys, labels = (np.array([entry[i] for entry in entries], kind) for i, kind in enumerate((np.uint64, np.uint32)))
    return from_entries(keys, labels, weight=np.array(list(entries.values()), np.float32))


@given(some_entries)
def test_rows_travel_in_a_line(entries: Entries) -> None:
    rows = to_rows(entries)
    key, record = decode_line(encode_line("00007", to_record(rows)))
    back = from_record(record, 301, COLUMNS)
    assert key == "00007"
    for a, b in zip((*rows[:3], rows.values["weight"]), (*back[:3], back.values["weight"])):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()


def test_no_rows_travel_too() -> None:
    back = from_record(
        decode_line(encode_line("k", to_record(empty(weight="f4", lag="f8"))))[1], 0, {"weight": "f4", "lag": "f8"}
    )
    assert (len(back.keys), back.starts.tolist(), list(back.values)) == (0, [0], ["weight", "lag"])


@given(
    st.sampled_from(["f4", "f8"]),
    st.lists(st.sampled_from([0.0, -0.0, 1.0, -128.0, 127.0, 32767.0, -40000.0, 2.0**40, 0.5])),
)
def test_every_bit_of_a_value_travels(dtype: str, numbers: list[float]) -> None:
    """Also where whole numbers travel as integers, which have no -0.0."""
    values = np.array(numbers, dtype)
    rows = Rows(
        np.arange(len(values), dtype=np.uint64), np.arange(len(values) + 1), np.zeros(len(values), np.uint32), {}
    )
    back = from_record(unpack(pack(to_record(rows.with_values(weight=values)))), 1, {"weight": dtype}).values["weight"]
    assert back.dtype == values.dtype and back.tobytes() == values.tobytes()


def test_whole_numbers_travel_as_integers() -> None:
    numbers = np.arange(100.0)
    rows = Rows(np.arange(100, dtype=np.uint64), np.arange(101), np.zeros(100, np.uint32), {"lag": numbers})
    assert len(pack(to_record(rows.with_values(lag=numbers + 0.5)))) - len(pack(to_record(rows))) >= 700


DAMAGE = {
    "no record": lambda record: None,
    "no keys": lambda record: record.pop("keys"),
    "keys of 32 bits": lambda record: record.update(keys=record["keys"].astype(np.uint32)),
    "a number instead of an array": lambda record: record.update(sizes=3),
    "signed sizes": lambda record: record.update(sizes=np.array([2, -1], np.int8)),
    "too large sizes": lambda record: record.update(sizes=np.array([2, 200], np.uint8)),
    "text as values": lambda record: record["values"].update(weight=["<f4", "abc"]),
    "values without a type": lambda record: record["values"].update(weight=3),
    "another column": lambda record: record.update(values={"lag": record["values"]["weight"]}),
    "fewer values": lambda record: record["values"].update(weight=["<f4", np.ones(2, "f4")]),
    "a label beyond": lambda record: record.update(labels=np.array([0, 3, 1], np.uint8)),
    "more counts": lambda record: record.update(counts=np.zeros(3, np.uint8)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_rows_are_refused(damage: str) -> None:
    record = to_record(to_rows({(1, 0): 0.5, (1, 2): -1.5, (9, 1): 2.5}))
    assert len(from_record(record, 3, COLUMNS).labels) == 3
    record = None if damage == "no record" else record
    DAMAGE[damage](record)
    with pytest.raises(DamagedRecord):
        from_record(record, 3, COLUMNS)


def test_arrays_of_a_line_are_aligned() -> None:
    """Kernels read 64 bits at once; on some machines that fails where an address is not a multiple of 8."""
    arrays = {name: np.arange(5).astype(name) for name in ("u1", "i2", "f4", "u8", "f8")}
    for name, array in unpack(pack(arrays)).items():
        assert array.flags.aligned and array.tolist() == arrays[name].tolist()


@pytest.mark.parametrize("kind", [b"|O  ", b"S9  ", b"V0  ", b">u8 ", b"<M8 ", b"\xff   ", b""])
def test_an_array_of_something_else_is_refused(kind: bytes) -> None:
    with pytest.raises(DamagedRecord):
        unpack(msgpack.packb(msgpack.ExtType(1, kind + bytes(16))))
