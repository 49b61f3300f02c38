"""The metric `classes`, against numbers worked out by hand from scikit-learn's definitions (none, macro, micro)."""

import pytest

from perceptron_core.evaluation.metrics import METRICS, ClassCounts

# gold a a a a b b b c c d, guess a a b c b b a c b e: d is never guessed, e is never gold
GOLD, GUESS = "aaaabbbccd", "aabcbbacbe"


def counted(gold: str = GOLD, guess: str = GUESS) -> ClassCounts:
    counts = ClassCounts()
    for right, guessed in zip(gold, guess):
        counts.add_sentence([right], [guessed])
    return counts


def test_scores_by_hand() -> None:
    """a: 2 of 3 guesses, of 4 gold; b: 2 of 4, of 3; c: 1 of 2, of 2; d: none, of 1; e: 0 of 1, of none."""
    score = counted().score()
    classes = score["classes"]
    assert list(classes) == ["a", "b", "c", "d", "e"]
    assert [classes[name]["precision"] for name in classes] == pytest.approx([2 / 3, 2 / 4, 1 / 2, 0, 0])
    assert [classes[name]["recall"] for name in classes] == pytest.approx([2 / 4, 2 / 3, 1 / 2, 0, 0])
    assert [classes[name]["f1"] for name in classes] == pytest.approx([4 / 7, 4 / 7, 1 / 2, 0, 0])
    assert score["accuracy"] == score["micro_f1"] == 0.5
    assert score["macro_f1"] == pytest.approx((4 / 7 + 4 / 7 + 1 / 2) / 5)
    assert score["macro_precision"] == pytest.approx((2 / 3 + 1) / 5)
    assert score["macro_recall"] == pytest.approx((1 / 2 + 2 / 3 + 1 / 2) / 5)
    assert [(c["gold"], c["found"], c["correct"]) for c in classes.values()] == [
        (4, 3, 2),
        (3, 4, 2),
        (2, 2, 1),
        (1, 0, 0),
        (0, 1, 0),
    ]
    confusion = {"a": {"a": 2, "b": 1, "c": 1}, "b": {"a": 1, "b": 2}, "c": {"b": 1, "c": 1}, "d": {"e": 1}}
    assert score["confusion"] == confusion
    assert counted().headline() == 0.5 and ClassCounts.headline_name == "accuracy"


def test_parts_add_up_and_records_come_back() -> None:
    total = METRICS["classes"]()
    for begin, end in ((0, 3), (3, 3), (3, 10)):
        part = counted(GOLD[begin:end], GUESS[begin:end])
        total.add(ClassCounts.from_record(part.to_record()))
    assert total.to_record() == counted().to_record() and total.report() == counted().report()


def test_asking_for_the_score_changes_nothing() -> None:
    counts = counted()
    before = counts.to_record()
    counts.score()
    counts.report()
    assert counts.to_record() == before


def test_the_report_shows_classes_and_the_matrix() -> None:
    lines = counted().report().splitlines()
    assert "macro F1         32.86%" in lines and "micro F1         50.00%" in lines
    assert "a         66.67%   50.00%   57.14%          4          3" in lines
    assert lines[-6:] == [
        "   a  b  c  d  e",
        "a  2  1  1  0  0",
        "b  1  2  0  0  0",
        "c  0  1  1  0  0",
        "d  0  0  0  0  1",
        "e  0  0  0  0  0",
    ]


def test_of_many_classes_the_report_lists_confusions() -> None:
    letters = "abcdefghijklmnopq"
    text = counted(letters + "aa", letters + "bb").report()
    assert "a → b  2" in text and "confusion (gold" not in text


def test_nothing_counted_is_zero() -> None:
    assert ClassCounts().score()["macro_f1"] == ClassCounts().headline() == 0
    assert "instances             0" in ClassCounts().report()
