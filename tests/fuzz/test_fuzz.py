"""A fixed number of damaged inputs of every kind: each works, or is refused with a sentence."""

from pathlib import Path

import pytest

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
