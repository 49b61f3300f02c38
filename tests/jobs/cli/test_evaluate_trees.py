"""`perceptron evaluate GOLD.conllu PREDICTED.conllu`: trees of any parser, scored as the CoNLL 2018 script does."""

import gzip
import json

import pytest


def treebank(*sentences):
    """Words `form/head/relation`; where the form has a `+`, it is a multiword token or an empty node."""
    text = ""
    for sentence in sentences:
        text += "# text\n"
        number = 0
        for word in sentence.split():
            form, head, relation = word.split("/")
            number += "+" not in form
            name = form.rpartition("+")[0] or str(number)
            text += "\t".join([name, form.rpartition("+")[2], "_", "X", "_", "_", head, relation, "_", "_"]) + "\n"
        text += "\n"
    return text


GOLD = treebank(
    "Мы/4/nsubj его/4/obj не/4/advmod:neg видели/0/root ./4/punct",
    "我/2/nsubj:pass 看/0/root 书/2/obj",
    "1-2+vámonos/_/_ vamos/0/root nos/1/obj 2.1+x/_/_ !/1/punct",
)
PREDICTED = treebank(
    "Мы/4/nsubj его/1/obj не/4/advmod видели/0/root ./3/punct",
    "我/2/nsubj:x 看/3/root 书/0/obj",
    "1-2+vámonos/_/_ vamos/0/root nos/1/iobj 2.1+x/_/_ !/1/punct",
)


@pytest.fixture
def files(tmp_path):
    def write(gold=GOLD, predicted=PREDICTED):
        (tmp_path / "gold.conllu").write_text(gold, encoding="utf-8")
        (tmp_path / "predicted.conllu").write_text(predicted, encoding="utf-8")
        return tmp_path / "gold.conllu", tmp_path / "predicted.conllu"

    return write


def correct(score, name):
    return round(score[name] * score["words"])


def test_a_small_case_recorded_from_the_script(files, must):
    score = json.loads(must("evaluate", *files(), "--json"))
    assert (score["words"], correct(score, "uas"), correct(score, "universal_las")) == (11, 7, 6)
    assert correct(score, "las") == 4  # the script knows no subtypes
    report = must("evaluate", *files())
    assert "UAS                              63.64%" in report and "universal LAS                    54.55%" in report


def right_branching(text):
    """Every word hangs on the one before it; words with odd numbers keep their universal relations."""
    lines = []
    for line in text.split("\n"):
        fields = line.split("\t")
        if len(fields) == 10 and fields[0].isdigit():
            number = int(fields[0])
            fields[6:8] = str(number - 1), fields[7].split(":")[0] if number % 2 else "dep"
        lines.append("\t".join(fields))
    return "\n".join(lines)


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "words", "uas", "las"), [("ewt", 25147, 2527, 1415), ("eu-bdt", 24095, 5275, 2556)])
def test_treebanks_recorded_from_the_script(name, words, uas, las, data, tmp_path, must):
    gold = data / name / "dev.conllu.gz"
    text = gzip.decompress(gold.read_bytes()).decode()
    (tmp_path / "predicted.conllu").write_text(right_branching(text), encoding="utf-8")
    score = json.loads(must("evaluate", gold, tmp_path / "predicted.conllu", "--json"))
    assert (score["words"], correct(score, "uas"), correct(score, "universal_las")) == (words, uas, las)


def test_missing_relations_are_wrong_and_several_roots_are_right(files, must):
    gold, predicted = treebank("a/0/root b/1/x", "c/0/root"), treebank("a/0/_ b/0/x", "c/0/_")
    score = json.loads(must("evaluate", *files(gold, predicted), "--json"))
    assert (correct(score, "uas"), correct(score, "las")) == (2, 0)


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (GOLD.replace("看", "см"), "predicted.conllu:10: word 2 is 'см', but word 2 is '看' at GOLD:10;"),
        (GOLD.replace("!", "?"), "predicted.conllu:18: word 3 is '?', but word 3 is '!' at GOLD:18;"),
        (
            treebank("Мы/4/nsubj его/4/obj не/4/x видели/0/root"),
            "predicted.conllu:5: the sentence ends, but word 5 is '.' at GOLD:6;",
        ),
        (
            GOLD[: GOLD.index("# text\n1-2")],
            "predicted.conllu:9: this sentence is the last, but there is another one at",
        ),
        (GOLD + treebank("x/0/root"), "gold.conllu:15: this sentence is the last, but there is another one at"),
        (GOLD.replace("\t2\tobj", "\t9\tobj"), "predicted.conllu:11: word 3 (书) has the head '9'"),
        ("", "predicted.conllu: contains no sentence"),
    ],
    ids=["word", "word behind a multiword token", "shorter", "fewer", "more", "no tree", "empty"],
)
def test_other_words_are_refused_with_file_and_line(files, perceptron, predicted, message):
    gold, guess = files(GOLD, predicted)
    refused = perceptron("evaluate", gold, guess)
    assert refused.code == 2 and refused.out == ""
    assert message.replace("GOLD", str(gold)) in refused.err


def test_two_files_are_needed(files, perceptron, tmp_path):
    gold, predicted = files()
    for given in ([gold], [gold, predicted, predicted]):
        refused = perceptron("evaluate", *given)
        assert refused.code == 2 and "GOLD.conllu PREDICTED.conllu" in refused.err
    assert "there is no such file" in perceptron("evaluate", gold, tmp_path / "none.conllu").err
