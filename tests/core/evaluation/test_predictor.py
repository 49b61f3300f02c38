"""A predictor forgets what it knows of types and features when that is too much; the guesses stay the same."""

from pathlib import Path

import pytest

from perceptron_core.evaluation import predictor
from perceptron_core.evaluation.predictor import Predictor
from perceptron_core.settings import Settings
from perceptron_core.training.in_memory import InMemory, Options, make_shards
from perceptron_core.training.stopping import StopRule
from textbook import make_task, random_corpus


@pytest.mark.parametrize("decoder", ["viterbi", "beam", "greedy"])
def test_the_guesses_do_not_depend_on_the_room(decoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, corpus = make_task(tmp_path), random_corpus(3, sentences=40)
    options = Options(Settings(decoder=decoder), stop=StopRule(3, 0.0, None))
    model = InMemory(task, make_shards(task, corpus, 1, 1), options).train().model

    def guesses(room: int) -> tuple[list[object], int]:
        monkeypatch.setattr(predictor, "ROOM", room)
        made = Predictor(model, "averaged", task)
        first = made.engine
        found = [guess for begin in range(0, 40, 5) for guess in made.predict(corpus[begin : begin + 5])]
        return found, made.engine is first

    assert guesses(0) == (guesses(1 << 30)[0], False)
    assert guesses(1 << 30)[1]
