"""What the fuzzer counts: cases that work, are refused, raise, crash or hang; the same number is the same input."""

import os
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest

from mutators import array, mutated, mutated_text
from perceptron_core.errors import UserError
from pool import ROOM, Target, fuzz, input_of


def behave(data: bytes, scratch: Path) -> None:
    (scratch / "file").write_bytes(data)
    if data == b"refused":
        raise UserError("a sentence")
    if data == b"traceback":
        raise KeyError("a defect")
    if data == b"memory":
        bytearray(2 * ROOM)
    if data == b"crash":
        os.abort()
    if data == b"hang":
        time.sleep(60)


def only(data: bytes) -> Target:
    return Target(lambda random: data, behave)


@pytest.mark.parametrize(
    ("data", "counted"),
    [("worked", 1), ("refused", 2), ("traceback", 3), ("crash", 4), ("hang", 5)],
)
def test_every_end_is_counted(data: str, counted: int, tmp_path: Path) -> None:
    cases = 2 if data in ("crash", "hang") else 9
    found = fuzz("target", only(data.encode()), cases, tmp_path, limit=0.5 if data == "hang" else 30)
    assert list(found[:6]) == [cases, *(cases if i == counted else 0 for i in range(1, 6))]
    assert found.is_clean() == (data in ("worked", "refused"))
    kept = {file.read_bytes() for file in tmp_path.glob("*.input")}
    assert kept == (set() if found.is_clean() else {data.encode()})


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer needs all addresses")
def test_memory_without_bound_is_a_traceback(tmp_path: Path) -> None:
    found = fuzz("target", only(b"memory"), 2, tmp_path)
    assert found.tracebacks == 2 and "MemoryError" in found.messages[0]


def test_a_time_limit_ends_it(tmp_path: Path) -> None:
    found = fuzz("target", only(b"worked"), 1 << 60, tmp_path, until=time.monotonic() + 0.2)
    assert found.is_clean() and 0 < found.cases < 1 << 30


def test_a_number_is_an_input() -> None:
    target = Target(lambda random: mutated_text(random, b"some text\nof two lines\n" * 3), behave)
    inputs = [input_of("target", target, case) for case in range(100)]
    assert inputs == [input_of("target", target, case) for case in range(100)]
    assert len(set(inputs)) > 80


def test_damage_leaves_what_it_was_given() -> None:
    data = {"a": [1, 2.5, "text", None, True], "b": {"c": np.arange(4)}}
    results = [repr(mutated(Random(seed), data)) for seed in range(300)]
    assert repr(data) == "{'a': [1, 2.5, 'text', None, True], 'b': {'c': array([0, 1, 2, 3])}}"
    assert len(set(results)) > 150


@pytest.mark.parametrize("kind", ["u1", "i4", "u8", "f4", "f8"])
def test_arrays_are_damaged_in_every_way(kind: str) -> None:
    whole = np.arange(6).astype(kind)
    made = [array(Random(seed), whole) for seed in range(300)]
    assert {one.dtype for one in made} > {whole.dtype}
    assert {len(one) for one in made} > {0, 3, 6, 12}
    assert any(sorted(one.tolist()) == whole.tolist() != one.tolist() for one in made)
    assert whole.tolist() == list(range(6))
