"""A fixed number of damaged inputs of every kind: each works, or is refused with a sentence."""

from pathlib import Path

import pytest

import fuzz_wire
import material
from pool import fuzz
from targets import TARGETS

CASES = 400


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_refused_with_a_sentence(name: str, tmp_path: Path) -> None:
    found = fuzz(name, TARGETS[name], CASES, tmp_path)
    assert found.is_clean(), "\n".join(found.messages)
    assert found.cases == CASES
    assert found.refused, "no input was damaged"
    assert found.worked, "not every input can be refused: is the material sound?"


@pytest.mark.parametrize("job", ["train", "sums", "shards", "features"])
def test_what_shards_send_is_sound_before_it_is_damaged(job: str, tmp_path: Path) -> None:
    fuzz_wire.reduce(job.encode() + b"\n" + fuzz_wire.lines_of(fuzz_wire.sent()[job]), tmp_path)


@pytest.mark.parametrize("number", range(len(fuzz_wire.TASKS)), ids=fuzz_wire.TASKS)
def test_shards_are_sound_before_they_are_damaged(number: int, tmp_path: Path) -> None:
    shard = material.trained(fuzz_wire.TASKS[number]).shards[0]
    fuzz_wire.read_shard(str(number).encode() + fuzz_wire.lines_of(shard), tmp_path)
