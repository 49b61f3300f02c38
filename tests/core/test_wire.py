"""Records as lines: what is sent comes back, and what is not ours is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.wire import DamagedRecord, decode_line, encode_line, pack, unpack

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.text("abc0159", max_size=5), plain)
def test_records_travel_in_a_line(key: str, record: Any) -> None:
    line = encode_line(key, record)
    assert not set(b"\r\n") & set(line) and line.startswith(key.encode() + b"\t")
    assert decode_line(line + b"\n") == (key, record)


@settings(max_examples=50)
@given(
    st.sampled_from(["u1", "u2", "u4", "u8", "i4", "i8", "f4", "f8", ">f8", ">u4"]),
    st.lists(st.integers(0, 200)),
)
def test_arrays_travel_with_their_type(dtype: str, numbers: list[int]) -> None:
    array = np.array(numbers, dtype)
    back = unpack(pack({"array": array}))["array"]
    assert back.dtype == array.dtype.newbyteorder("<") and back.tolist() == array.tolist()
    assert not back.flags.writeable


def test_only_plain_data_travels() -> None:
    for value in (np.zeros((2, 2)), object(), {1, 2}):
        with pytest.raises(TypeError, match="cannot send a"):
            encode_line("key", value)


@pytest.mark.parametrize(
    "line", [b"", b"no tab", b"key\t", b"key\t====", b"key\tQUJD", "ключ\tQUJD".encode(), b"\xff\t"]
)
def test_a_line_that_is_not_ours_is_refused(line: bytes) -> None:
    with pytest.raises(DamagedRecord):
        decode_line(line)
