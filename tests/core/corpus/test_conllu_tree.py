"""CoNLL-U as trees: heads and relations, what is refused, and what is written."""

import pytest

from perceptron_core.corpus import TREE, make_format, read_sentences
from perceptron_core.errors import InputError, UserError


def row(number, form, head="_", deprel="_", upos="NOUN", **fields):
    names = ("xpos", "feats", "deps", "misc")
    xpos, feats, deps, misc = (fields.get(name, "_") for name in names)
    return "\t".join([str(number), form, form.lower(), upos, xpos, feats, str(head), deprel, deps, misc])


TEXT = "\n".join(
    [
        "# text = Мама vámonos",
        row(1, "Мама", 2, "nsubj", "NOUN"),
        row("2-3", "vámonos"),
        row(2, "vamos", 0, "root", "VERB", deps="0:root"),
        row(3, "nos", 2, "obj:x", "PRON", misc="SpaceAfter=No"),
        row("3.1", "go", "_", "_", "VERB"),
        "",
        row(1, "世 界", 0, "root", "NOUN") + "\r",
        "# late comment",
        row(2, "#", 1, "punct", "SYM"),
        "",
        "# the end",
    ]
)


def tree_format(columns=("form", "upos"), **options):
    return make_format("conllu_tree", columns, "head", **options)


def read(text=TEXT, fmt=None, **options):
    return list((fmt or tree_format()).read(text.split("\n"), "x.conllu", **options))


def sentence_of(*heads, relation="dep"):
    return "\n".join(
        row(number, f"слово{number}", head, "root" if head == 0 else relation) for number, head in enumerate(heads, 1)
    )


def refusal(text, fmt=None, **options):
    with pytest.raises(InputError) as caught:
        read(text, fmt, **options)
    return caught.value


def test_heads_and_relations_are_the_targets():
    first, second = read()
    assert tree_format().kind == TREE
    assert first.columns == (("Мама", "vamos", "nos"), ("NOUN", "VERB", "PRON"))
    assert first.targets == (("2", "0", "2"), ("nsubj", "root", "obj:x"))
    assert (first.line, second.line) == (2, 8)
    assert second.targets == (("0", "1"), ("root", "punct"))


def test_without_relations_deprel_is_neither_read_nor_written():
    fmt = tree_format(labelled=False)
    first, *_ = read(TEXT.replace("nsubj", "_"), fmt, keep_text=True)
    assert first.targets == (("2", "0", "2"), ("_", "_", "_"))
    written = fmt.write(first, ["3", "3", "0"], ["a", "b", "c"])
    assert [line.split("\t")[6:8] for line in written.split("\n")[1:-2] if line[1] == "\t"] == [
        ["3", "_"],
        ["3", "root"],
        ["0", "obj:x"],
    ]


def test_a_sentence_that_is_too_long_for_a_tree_is_refused():
    rows = [row(number, "слово", number - 1, "dep") for number in range(1, 2002)]
    assert len(read("\n".join(rows[:-1]))) == 1
    with pytest.raises(InputError, match="x.conllu:1: a sentence has 2,001 words, but a tree has at most 2,000"):
        read("\n".join(rows))


def test_gold_trees_come_back_byte_for_byte():
    fmt = tree_format()
    sentences = read(keep_text=True)
    assert [len(sentence.targets) for sentence in sentences] == [2, 2, 2]
    assert "".join(fmt.write(sentence, *sentence.targets) for sentence in sentences) == TEXT + "\n"


def test_guesses_replace_both_fields_and_nothing_else():
    fmt = tree_format()
    first, second, _ = read(keep_text=True)
    changed = {(1, 6): "3", (1, 7): "a", (3, 6): "3", (3, 7): "b", (4, 6): "0", (4, 7): "c"}
    expected = [line.split("\t") for line in TEXT.split("\n")[:6]]
    for (line, field), value in changed.items():
        expected[line][field] = value
    assert fmt.write(first, "330", "abc") == "".join("\t".join(fields) + "\n" for fields in expected)
    assert fmt.write(second, "20", "xy").split("\n")[1] == row(1, "世 界", 2, "x", "NOUN") + "\r"
    with pytest.raises(ValueError, match="2 guesses"):
        fmt.write(first, "330", "ab")


@pytest.mark.parametrize("missing", ["all", "one head", "one relation", "no number", "out of range"])
def test_what_has_no_whole_tree_has_no_gold_if_it_is_optional(missing):
    lines = sentence_of(2, 0, 2).split("\n")
    if missing == "all":
        lines = [row(number, "词") for number in (1, 2, 3)]
    else:
        head, relation = {
            "one head": ("_", "dep"),
            "one relation": (2, "_"),
            "no number": ("x", "dep"),
            "out of range": (4, "dep"),
        }[missing]
        lines[2] = row(3, "词", head, relation)
    assert [sentence.targets for sentence in read("\n".join(lines), labels="optional")] == [None]
    refusal("\n".join(lines))


def test_optional_gold_need_not_be_a_tree():
    (sentence,) = read(sentence_of(2, 1), labels="optional")
    assert sentence.targets == (("2", "1"), ("dep", "dep"))


@pytest.mark.parametrize("head", ["4", "-1", "x", "", "01", "+1", "1.5", "²", "٢", "1_0", "_", " 1"])
def test_a_head_that_is_no_word_is_refused(head):
    text = "# c\n" + "\n".join([row(1, "猫", 0, "root"), row("2-3", "мы"), row(2, "b", 1, "x"), row(3, "ж", head, "x")])
    error = refusal(text)
    assert error.line == 5
    assert str(error).endswith(f"word 3 (ж) has the head {head!r}, which is not a number from 0 to 3; fix its head.")


@pytest.mark.parametrize(
    ("heads", "line", "message"),
    [
        ((2, 2), 2, "word 2 (слово2) is its own head"),
        ((0, 2), 2, "word 2 (слово2) is its own head"),
        ((2, 1), 1, "word 1 (слово1) begins a sentence without a root"),
        ((2, 0, 0, 0), 3, "word 3 (слово3) is a second root, besides word 2 (слово2)"),
        ((0, 4, 2, 3), 2, "word 2 (слово2) is in a circle of heads: 2 (слово2) → 4 (слово4) → 3 (слово3) → 2;"),
        ((3, 0, 4, 3), 3, "word 3 (слово3) is in a circle of heads: 3 (слово3) → 4 (слово4) → 3;"),
    ],
)
def test_what_is_no_tree_is_refused_with_the_line_of_the_word(heads, line, message):
    error = refusal(sentence_of(*heads))
    assert error.line == line and message in str(error)
    error = refusal("\r\n".join(["# c", sentence_of(0).replace("\n", "\r\n"), "", sentence_of(*heads)]))
    assert error.line == line + 3


def test_several_roots_are_an_option():
    text = sentence_of(0, 1, 0)
    assert "option `roots: any`" in str(refusal(text))
    (sentence,) = read(text, tree_format(roots="any"))
    assert sentence.targets[0] == ("0", "1", "0")
    assert "without a root" in str(refusal(sentence_of(2, 1), tree_format(roots="any")))


@pytest.mark.parametrize("relation", ["", "_"])
def test_a_missing_relation_is_refused(relation):
    error = refusal(sentence_of(0) + "\n\n" + sentence_of(0, 1, relation=relation))
    assert error.line == 4 and "word 2 (слово2) has no relation (deprel)" in str(error)


@pytest.mark.parametrize("labels", ["required", "optional"])
@pytest.mark.parametrize(("ids", "line", "message"), [((1, 3), 2, "the id 3, not 2"), ((2, 3), 1, "the id 2, not 1")])
def test_words_are_numbered_without_gaps(labels, ids, line, message):
    error = refusal("\n".join(row(number, "a", 0, "root") for number in ids), labels=labels)
    assert error.line == line and message in str(error)


def test_a_long_circle_is_named_in_part():
    words = 1500
    error = refusal(sentence_of(0, *range(3, words + 1), 2))
    assert "2 (слово2) → 3 (слово3)" in str(error) and "→ …;" in str(error) and len(str(error)) < 400


@pytest.mark.parametrize(
    ("columns", "predict", "options", "message"),
    [
        (["word"], "head", {}, "Unknown column 'word' of CoNLL-U"),
        (["form"], "upos", {}, "write `predict: head`"),
        (["head", "deprel"], "head", {}, "head, is the only one"),
        (["form"], "head", {"labelled": "no"}, "true or false, not 'no'"),
        (["form"], "head", {"roots": "two"}, "use one of: one, any"),
    ],
)
def test_what_makes_no_sense_is_refused(columns, predict, options, message):
    with pytest.raises(UserError, match=".*") as caught:
        make_format("conllu_tree", columns, predict, **options)
    assert message in str(caught.value)


def test_the_predicted_columns_are_no_inputs():
    assert tree_format(["form", "deprel", "lemma", "head", "feats"]).inputs == ("form", "lemma", "feats")


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("file", "sentences", "tokens"),
    [("ewt/train", 12544, 204577), ("ewt/dev", 2001, None), ("eu-bdt/train", 5396, None), ("eu-bdt/dev", 1798, None)],
)
def test_real_treebanks(data, file, sentences, tokens):
    fmt = tree_format(["form", "lemma", "upos", "xpos", "feats"])
    corpus = list(read_sentences(data / f"{file}.conllu.gz", fmt))
    assert len(corpus) == sentences
    assert tokens in (None, sum(len(sentence.targets[0]) for sentence in corpus))
    assert all(sentence.targets[0].count("0") == 1 for sentence in corpus)
