"""The confusions of a model: counted, in order, with examples; and what a training records of them."""

import json

from perceptron_core.evaluation.mistakes import CONFUSIONS, CONTEXT, EXAMPLES, find_mistakes


def test_confusions_are_counted_and_ordered() -> None:
    sentences = [
        (["кот", "спит"], ["N", "V"], ["V", "V"]),
        (["时间", "flies"], ["N", "V"], ["V", "N"]),
        (["right"], ["N"], ["N"]),
        (["a", "b"], ["X", "N"], ["N", "V"]),
    ]
    found = find_mistakes(sentences)
    assert (found["tokens"], found["wrong_tokens"]) == (7, 5)
    assert [(c["gold"], c["guess"], c["count"]) for c in found["confusions"]] == [
        ("N", "V", 3),
        ("V", "N", 1),  # of equals the first in the order of the labels
        ("X", "N", 1),
    ]
    assert [example["words"][example["at"]] for example in found["confusions"][0]["examples"]] == ["кот", "时间", "b"]
    assert found["confusions"][0]["examples"][0] == {
        "words": ["кот", "спит"],
        "gold": ["N", "V"],
        "guess": ["V", "V"],
        "at": 0,
        "cut": [False, False],
    }


def test_examples_come_from_different_sentences_and_are_few() -> None:
    sentences = [(["w"] * 3, ["A"] * 3, ["B"] * 3)] * 5
    (confusion,) = find_mistakes(sentences)["confusions"]
    assert confusion["count"] == 15 and len(confusion["examples"]) == EXAMPLES
    many = [(["w"], ["A"], [f"B{i:02}"]) for i in range(30)]
    assert len(find_mistakes(many)["confusions"]) == CONFUSIONS


def test_a_long_sentence_is_cut_around_its_mistake() -> None:
    words = [str(i) for i in range(1000)]
    gold = ["A"] * 1000
    for at in (0, 5, 500, 999):
        guess = [*gold[:at], "B", *gold[at + 1 :]]
        ((example,),) = [c["examples"] for c in find_mistakes([(words, gold, guess)])["confusions"]]
        assert example["words"][example["at"]] == str(at) and len(example["words"]) <= 2 * CONTEXT + 1
        assert example["cut"] == [at > CONTEXT, at < 999 - CONTEXT]
        assert len(example["words"]) == len(example["gold"]) == len(example["guess"])


def test_nothing_is_wrong() -> None:
    assert find_mistakes([(["w"], ["A"], ["A"])]) == {"tokens": 1, "wrong_tokens": 0, "confusions": []}


def test_a_run_keeps_the_mistakes_of_its_model(trained, corpus, must) -> None:
    kept = json.loads((trained / "mistakes.json").read_text(encoding="utf-8"))
    score = json.loads(must("evaluate", trained, corpus / "dev.txt", "--json"))
    assert kept["weights"] == "averaged" and f"epoch {kept['epoch']}".replace(" ", "-000") in {
        path.name for path in trained.iterdir()
    }
    assert (kept["tokens"], kept["wrong_tokens"]) == (score["tokens"], score["tokens"] - score["correct_tokens"])
    tagged = [line.split() for line in must("predict", trained, corpus / "dev.txt").splitlines() if line]
    pairs = [(gold, guess) for *_, gold, guess in tagged if gold != guess]
    assert {(c["gold"], c["guess"]): c["count"] for c in kept["confusions"]} == {
        pair: pairs.count(pair) for pair in pairs
    }


def test_without_a_dev_set_there_are_none(train, tmp_path) -> None:
    train(tmp_path / "run", "--epochs", 1)
    assert not (tmp_path / "run" / "mistakes.json").exists()
