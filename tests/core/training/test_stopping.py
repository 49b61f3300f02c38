"""When a run is done, and the held-out score that may say so."""

from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest

from perceptron_core.errors import InputError
from perceptron_core.evaluation.held_out import HeldOut
from perceptron_core.features.feature_set import template_key
from perceptron_core.settings import Settings
from perceptron_core.task import Task
from perceptron_core.task_file import read_task
from perceptron_core.training.stopping import StopRule, best_epoch, reason_to_stop, training_score
from perceptron_core.weights.rows import empty, from_entries

RULE = StopRule(epochs=100, threshold=0.001, patience=3)


def epochs(*errors: int, dev: Optional[list[float]] = None, updates: Optional[int] = None) -> list[dict[str, Any]]:
    """A history of epochs over 1,000 sentences."""
    history = []
    for number, wrong in enumerate(errors, 1):
        entry: dict[str, Any] = {"epoch": number, "sentences": 1000, "errors": wrong}
        entry["updates"] = wrong if updates is None else updates
        entry["dev"] = None if dev is None else {"score": dev[number - 1]}
        history.append(entry)
    return history


def test_a_run_goes_on_at_first() -> None:
    assert reason_to_stop([], RULE) is None
    assert reason_to_stop(epochs(500), RULE) is None


def test_a_separated_training_set_ends_the_run() -> None:
    assert reason_to_stop(epochs(500, 3, 0), RULE) == "the training set is separated"


def test_errors_that_move_nothing_end_the_run() -> None:
    assert "nothing can change" in str(reason_to_stop(epochs(5, updates=0), RULE))


@pytest.mark.parametrize(
    "errors, done",
    [
        ((100, 101, 102, 101), True),  # three changes of 0.001
        ((900, 100, 101, 102, 101), True),
        ((100, 101, 102), False),  # two changes only
        ((100, 101, 103, 102), False),  # one of 0.002
        ((100, 100, 100, 102), False),
    ],
)
def test_three_steady_epochs_end_the_run(errors: tuple[int, ...], done: bool) -> None:
    # a little above 0.001, since 1 − 0.101 is no exact number
    reason = reason_to_stop(epochs(*errors), RULE._replace(threshold=0.0010001))
    assert (reason is not None) == done
    assert not done or "on 3 epochs in a row" in str(reason)


def test_equal_scores_are_steady_with_a_threshold_of_zero() -> None:
    rule = RULE._replace(threshold=0.0)
    assert reason_to_stop(epochs(7, 7, 7, 7), rule) is not None
    assert reason_to_stop(epochs(7, 7, 7, 6), rule) is None


@pytest.mark.parametrize(
    "dev, done",
    [
        ([0.5, 0.6, 0.6, 0.6, 0.5], True),  # the best is the first of equals, three epochs ago
        ([0.5, 0.6, 0.6, 0.6, 0.61], False),
        ([0.5, 0.5, 0.6, 0.59, 0.59], False),
    ],
)
def test_patience_ends_the_run(dev: list[float], done: bool) -> None:
    history = epochs(500, 400, 300, 200, 100, dev=dev)
    assert (reason_to_stop(history, RULE) is not None) == done
    assert reason_to_stop(history, RULE._replace(patience=None)) is None


def test_the_last_epoch_ends_the_run() -> None:
    rule = RULE._replace(epochs=3)
    assert reason_to_stop(epochs(500, 400), rule) is None
    assert reason_to_stop(epochs(500, 400, 300), rule) == "3 epochs are done"


def test_the_best_epoch() -> None:
    assert best_epoch([]) is None
    assert best_epoch(epochs(5, 4)) is None
    assert best_epoch(epochs(5, 4, 3, dev=[0.1, 0.7, 0.7])) == 2


def test_the_training_score() -> None:
    assert training_score({"errors": 1, "sentences": 4}) == 0.75
    assert training_score({"errors": 0, "sentences": 0}) == 1.0


# ---------------------------------------------------------------- a held-out set


@pytest.fixture
def pos_task(tmp_path: Path) -> Task:
    (tmp_path / "pos.yaml").write_text(
        "columns: [word, tag]\npredict: tag\nfeatures: ['word[0]']\nbias: false\n", encoding="utf-8"
    )
    return read_task(str(tmp_path / "pos.yaml"))


def write(folder: Path, text: str) -> str:
    (folder / "dev.txt").write_text(text, encoding="utf-8")
    return str(folder / "dev.txt")


def weights_for(task: Task, labels: list[str], **label_of: str) -> Any:
    [template] = task.features.templates
    keys = np.array([template_key(template, [word]) for word in label_of], np.uint64)
    numbers = np.array([labels.index(label) for label in label_of.values()], np.uint32)
    return from_entries(keys, numbers, weight=np.ones(len(keys), np.float32))


def test_a_held_out_set_is_scored(tmp_path: Path, pos_task: Task) -> None:
    """Of five tokens, two words are known; the third word has a label that training never saw."""
    held_out = HeldOut(pos_task, [write(tmp_path, "Иван\tN\nидёт\tV\n\n北京\tX\nИван\tN\nидёт\tV\n")])
    assert held_out.label_names == ["N", "V", "X"]
    labels = ["N", "V"]
    counts = held_out.score(labels, Settings(), weights_for(pos_task, labels, Иван="N", идёт="V"))
    assert (counts.correct_tokens, counts.tokens) == (4, 5)
    assert (counts.correct_sentences, counts.sentences) == (1, 2)
    worse = held_out.score(labels, Settings(), empty(weight="f4"))  # all ties: the first label
    assert (worse.correct_tokens, worse.correct_sentences) == (2, 0)


def test_weights_of_one_epoch_do_not_stay_for_the_next(tmp_path: Path, pos_task: Task) -> None:
    held_out = HeldOut(pos_task, [write(tmp_path, "идёт\tV\n")])
    labels = ["N", "V"]
    right = weights_for(pos_task, labels, идёт="V")
    for weights, expected in ((right, 1), (empty(weight="f4"), 0), (right, 1)):
        assert held_out.score(labels, Settings(), weights).correct_tokens == expected


def test_spans_are_counted_in_iob2_whatever_is_trained(tmp_path: Path) -> None:
    (tmp_path / "ner.yaml").write_text(
        "columns: [word, tag]\npredict: tag\nfeatures: ['word[0]']\nbias: false\nmetric: spans\n"
        "encoding: {input: iob1, train: iobes, output: iob2}\n",
        encoding="utf-8",
    )
    task = read_task(str(tmp_path / "ner.yaml"))
    # IOB1: two entities side by side, the second begins by B-
    held_out = HeldOut(task, [write(tmp_path, "Анна\tI-PER\nИван\tB-PER\nГрозный\tI-PER\nв\tO\n")])
    labels = ["O", "B-PER", "E-PER", "S-PER"]
    weights = weights_for(task, labels, Анна="S-PER", Иван="B-PER", Грозный="E-PER")
    perfect = held_out.score(labels, Settings(), weights)
    assert perfect.headline() == 1.0 and perfect.correct_tokens == 4
    half = held_out.score(labels, Settings(), weights_for(task, labels, Анна="S-PER"))
    assert half.headline() == pytest.approx(2 / 3)  # one span of two found, none wrong: precision 1, recall 1/2


def test_a_held_out_file_needs_labels(tmp_path: Path, pos_task: Task) -> None:
    with pytest.raises(InputError, match="dev.txt:2"):
        HeldOut(pos_task, [write(tmp_path, "Иван\tN\nидёт\n")])
