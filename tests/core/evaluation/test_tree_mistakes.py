"""The worst trees: the short sentences with the most mistakes, in order."""

import json

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
