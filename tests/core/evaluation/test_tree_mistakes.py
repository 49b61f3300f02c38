"""The worst trees: the short sentences with the most mistakes, in order."""

import json

from perceptron_core.evaluation.held_out import HeldOut
from perceptron_core.evaluation.metrics import AttachmentCounts
from perceptron_core.evaluation.tree_mistakes import LONGEST, TREES, worst_trees


def parsed(words, heads, guessed_heads, guessed_relations=None):
    relations = ["x"] * len(words)
    return words, (heads, relations), (guessed_heads, guessed_relations or relations)


def test_the_most_wrong_heads_come_first_then_relations() -> None:
    sentences = [
        parsed(["right"], ["0"], ["0"]),
        parsed(["кот", "спит"], ["2", "0"], ["2", "0"], ["x", "y"]),
        parsed(["时", "间"], ["2", "0"], ["0", "1"]),
        parsed(["a", "b"], ["2", "0"], ["0", "1"], ["y", "x"]),
        parsed(["c", "d"], ["2", "0"], ["0", "1"]),
    ]
    worst = worst_trees(sentences)
    assert [entry["words"] for entry in worst] == [["a", "b"], ["时", "间"], ["c", "d"], ["кот", "спит"]]
    assert worst[0] == {
        "words": ["a", "b"],
        "gold": {"heads": [2, 0], "relations": ["x", "x"]},
        "guess": {"heads": [0, 1], "relations": ["y", "x"]},
    }
    assert json.loads(json.dumps(worst)) == worst


def test_they_are_short_and_few() -> None:
    def wrong(words):
        return parsed(["w"] * words, ["0"] * words, ["1"] * words)

    assert [len(entry["words"]) for entry in worst_trees([wrong(LONGEST + 1), wrong(LONGEST), wrong(3)])] == [
        LONGEST,
        3,
    ]
    assert len(worst_trees([wrong(2)] * 100)) == TREES
    assert worst_trees([]) == []


def test_a_held_out_treebank_tells_scores_confusions_and_trees(monkeypatch) -> None:
    """Whatever parser guesses: of its columns the first are the heads, the last the relations."""
    sentences = [
        parsed(["кот", "спит"], ["2", "0"], ["2", "0"], ["y", "x"]),
        parsed(["时", "间", "流"], ["2", "0", "1"], ["2", "0", "2"]),
    ]
    held_out = HeldOut.__new__(HeldOut)
    held_out.metric = AttachmentCounts
    held_out.shown, held_out.gold, guesses = map(list, zip(*sentences))
    monkeypatch.setattr(HeldOut, "_guesses", lambda self, *_: iter(guesses))
    score = held_out.score([], None, None)
    assert (score.headline_name, score.headline(), score.score()["uas"]) == ("LAS", 3 / 5, 4 / 5)
    found = held_out.mistakes([], None, None)
    assert (found["tokens"], found["wrong_tokens"]) == (5, 1)
    assert [(c["gold"], c["guess"], c["examples"][0]["words"]) for c in found["confusions"]] == [
        ("x", "y", ["кот", "спит"])
    ]
    assert found["attachment"] == score.score()
    assert [tree["words"] for tree in found["trees"]] == [["时", "间", "流"], ["кот", "спит"]]
