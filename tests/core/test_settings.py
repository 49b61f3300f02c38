"""Settings: what is recorded of them, and which are refused."""

import math
from typing import Any

import pytest

from perceptron_core.errors import UserError
from perceptron_core.settings import Settings


def test_settings_that_came_later_are_recorded_where_they_are_used() -> None:
    """So that a model without them has the bytes that it had before, and is read."""
    assert not {"minibatch", "k_best"} & set(Settings().record())
    for settings in (Settings(), Settings("mira", None, minibatch=16, k_best=5)):
        assert Settings.from_record(settings.record()) == settings


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"learner": "pa3"}, "choose one of perceptron, pa, pa1, pa2, mira"),
        ({"decoder": "viterbo"}, "choose one of viterbi, beam, greedy"),
        ({"update": "late"}, "choose one of standard, early, max-violation"),
        ({"beam": 0}, "1 or more"),
        ({"local_epochs": 0}, "1 or more"),
        ({"aggressiveness": 0.0}, "greater than 0"),
        ({"aggressiveness": math.nan}, "greater than 0"),
        ({"learner": "pa2", "aggressiveness": None}, "pa2 needs a number"),
        ({"minibatch": 0}, "1 or more"),
        ({"learner": "pa1", "minibatch": 2}, "choose mira"),
        ({"learner": "mira", "k_best": 0}, "1 or more"),
        ({"k_best": 2}, "choose mira"),
        ({"learner": "mira", "k_best": 2, "decoder": "greedy"}, "choose viterbi or beam"),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        Settings(**wrong).check()
    assert Settings().check() == Settings()
