"""Trees in the report: how arcs are drawn, and what the page tells of a parser."""

import json
import random
import shutil
from xml.etree import ElementTree

import pytest

from perceptron_core.evaluation.metrics import AttachmentCounts
from perceptron_core.evaluation.mistakes import find_mistakes
from perceptron_core.evaluation.tree_mistakes import worst_trees
from perceptron_jobs.charts.tree import Tree, described, tree_svg

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert('кот')</script>"
WORDS = ["Мы", "его", "不", EVIL, "."]
GOLD = Tree([4, 4, 4, 0, 4], ["nsubj", "obj", "advmod:neg", "root", "punct"])
GUESS = Tree([4, 1, 4, 0, 3], ["nsubj", "obj", "advmod", "root", "punct"])


class Picture:
    def __init__(self, svg):
        self.root = ElementTree.fromstring(svg)
        self.width, self.height = float(self.root.get("width")), float(self.root.get("height"))

    def of(self, *styles):
        """The elements with exactly these classes."""
        return [part for part in self.root.iter() if (part.get("class") or "").split() == list(styles)]

    def texts(self, *styles):
        return [part.text for part in self.of(*styles)]

    def heights(self, *styles):
        return [float(part.get("y")) for part in self.of(*styles)]


def test_mistakes_are_told_by_place_and_form_not_by_colour_alone():
    picture = Picture(tree_svg(WORDS, GUESS, GOLD))
    assert [len(picture.of("arc", *style)) for style in ([], ["wrong"], ["misnamed"], ["missed"])] == [2, 2, 1, 3]
    assert picture.texts("relation") == ["nsubj", "root"]
    assert picture.texts("relation", "wrong") == ["× obj", "× punct"]
    assert picture.texts("relation", "misnamed") == ["× advmod"]
    assert picture.texts("relation", "missed") == ["obj", "advmod:neg", "punct"]
    (row,) = set(picture.heights("word") + picture.heights("word", "wrong"))
    assert max(picture.heights("relation", "wrong")) < row < min(picture.heights("relation", "missed"))
    assert picture.texts("word") == ["Мы", EVIL[:23] + "…"]  # a long word is cut
    assert picture.texts("word", "wrong") == ["его", "不", "."]
    assert not list(picture.root.iter(f"{SVG}script"))


def test_whoever_does_not_see_the_picture_hears_the_mistakes():
    words = ["Мы", "его", "не", "видели", "."]
    title = Picture(tree_svg(words, GUESS, GOLD)).root.find(f"{SVG}title").text
    assert title == described(words, GUESS, GOLD)
    assert title == (
        "Мы его не видели .; его: obj of Мы, right: obj of видели; не: advmod of видели, right: advmod:neg of видели; "
        ".: punct of не, right: punct of видели"
    )
    unlabelled = described(["a", "b"], Tree([0, 1], ["_", "_"]), Tree([2, 0], ["_", "_"]))
    assert unlabelled == "a b; a: at the root, right: of b; b: of a, right: at the root"


def test_a_tree_by_itself_has_nothing_below_its_words():
    alone, right = Picture(tree_svg(WORDS, GUESS)), Picture(tree_svg(WORDS, GOLD, GOLD))
    for picture in (alone, right):
        assert len(picture.of("arc")) == 5 and not picture.of("arc", "missed") and not picture.of("word", "wrong")
    unlabelled = Picture(tree_svg(["a", "b"], Tree([0, 1], ["_", "_"]), Tree([2, 0], ["_", "_"])))
    assert unlabelled.texts("relation", "wrong") == ["×", "×"] and unlabelled.texts("relation", "missed") == []


def random_tree(chance, words):
    order = [0, *chance.sample(range(1, words + 1), words)]
    heads = {order[i]: order[chance.randrange(i)] for i in range(1, words + 1)}
    names = ["nsubj:pass", "_", "x", "修饰语", "acl:relcl:и:очень:длинно"]
    return Tree([heads[word] for word in range(1, words + 1)], [chance.choice(names) for _ in range(words)])


@pytest.mark.parametrize("words", [1, 2, 9, 40])
def test_any_tree_stays_within_its_picture_and_words_stay_in_order(words):
    chance = random.Random(words)
    for _ in range(30):
        forms = [chance.choice(["a", "слово", "世界", "w" * 90]) for _ in range(words)]
        picture = Picture(tree_svg(forms, random_tree(chance, words), random_tree(chance, words)))
        row = picture.of("word") + picture.of("word", "wrong")
        places = sorted(float(word.get("x")) for word in row)
        assert len(row) == words and all(b - a > 16 for a, b in zip(places, places[1:]))
        for text in picture.root.iter(f"{SVG}text"):
            assert 0 < float(text.get("x")) < picture.width and 8 < float(text.get("y")) < picture.height - 3


def test_an_arc_goes_above_those_that_it_passes_over():
    words = ["w"] * 6
    picture = Picture(tree_svg(words, Tree([2, 0, 4, 2, 6, 4], ["a", "root", "b", "c", "d", "e"])))
    heights = dict(zip(picture.texts("relation"), picture.heights("relation")))
    assert heights["root"] < heights["c"] < heights["b"] == heights["a"] and heights["e"] < heights["d"]


# ---------------------------------------------------------------- the page


def mistakes_of(labelled=True):
    """What a training writes down of a parser."""
    chance = random.Random(1)
    parsed = []
    for words in (5, 12, 25, 40) * 3:
        gold, guess = ((list(map(str, tree.heads)), tree.relations) for tree in (random_tree(chance, words),) * 2)
        guess = (guess[0], ["nmod" if chance.random() < 0.2 else name for name in gold[1]])
        if chance.random() < 0.5:
            guess = ([str(head) for head in random_tree(chance, words).heads], guess[1])
        columns = [(heads, names if labelled else ["_"] * words) for heads, names in (gold, guess)]
        parsed.append(([EVIL, *["кот"] * (words - 1)], *columns))
    counts = AttachmentCounts()
    for _, gold, guess in parsed:
        counts.add_targets(gold, guess)
    found = find_mistakes((words, gold[-1], guess[-1]) for words, gold, guess in parsed)
    return {**found, "epoch": 3, "weights": "averaged", "attachment": counts.score(), "trees": worst_trees(parsed)}


@pytest.fixture(params=[True, False], ids=["labelled", "unlabelled"])
def page(request, trained, must, tmp_path):
    """The page of a run, as if its model were a parser; and the mistakes that it tells of."""
    found = mistakes_of(request.param)
    run = shutil.copytree(trained, tmp_path / "run")
    (run / "mistakes.json").write_text(json.dumps(found), encoding="utf-8")
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))
    config["task"]["format"] = "conllu_tree"
    (run / "config.json").write_text(json.dumps(config), encoding="utf-8")
    must("report", run, "--output", tmp_path / "report.html")
    return (tmp_path / "report.html").read_text(encoding="utf-8"), found, request.param


def test_the_page_tells_how_a_parser_fares(page):
    text, found, labelled = page
    assert "Predicts dependency trees (" in text
    score = found["attachment"]
    for name, value in (("UAS", score["uas"]), ("exact trees", score["sentence_accuracy"])):
        assert f"<dt>{name}</dt><dd>{100 * value:.2f}</dd>" in text
    assert (f"<dt>LAS</dt><dd>{100 * score['las']:.2f}</dd>" in text) == labelled
    assert ("relations of the dev set are wrong" in text) == labelled
    assert ("head and relation" in text) == labelled
    assert "head at a distance of" in text and "the root" in text
    assert text.count('class="tree"') == len(found["trees"]) > 2
    assert "<script" not in text and "&lt;script&gt;" in text
