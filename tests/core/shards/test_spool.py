"""Records that wait: under their keys, in order, in memory and on disk."""

import numpy as np
import pytest

from perceptron_core.shards import spool
from perceptron_core.shards.spool import Spool


@pytest.mark.parametrize("room", [0, 300, 1 << 20])
def test_records_come_back_by_key_and_in_order(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "ROOM", room)
    waiting = Spool()
    for number in range(20):
        waiting.add((number % 3, 0), {"number": number, "array": np.arange(number), "texts": ["кот", "猫"] * number})
    found = [record["number"] for record in waiting.in_order()]
    assert found == sorted(range(20), key=lambda number: number % 3)
    assert found == [record["number"] for record in waiting.in_order()]  # as often as one likes
    last = list(waiting.under((1, 0)))[-1]
    assert last["array"].tolist() == list(range(19)) and last["texts"] == ["кот", "猫"] * 19
    assert waiting.has((2, 0)) and not waiting.has((3, 0)) and not list(waiting.under((3, 0)))
    assert (waiting._file is None) == (room > waiting.size) and waiting.size > 20 * 19 / 2 * 8
