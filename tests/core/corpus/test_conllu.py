"""CoNLL-U: words among comments, multiword tokens and empty nodes."""

import pytest

from perceptron_core.corpus import make_format
from perceptron_core.errors import InputError


def row(number, form, upos="_", **fields):
    names = ("lemma", "xpos", "feats", "head", "deprel", "deps", "misc")
    lemma, *rest = [fields.get(name, "_") for name in names]
    return "\t".join([str(number), form, lemma, upos, *rest])


TEXT = "\n".join(
    [
        "# newdoc",
        "# text = Мама vámonos",
        row(1, "Мама", "NOUN", xpos="N"),
        row("2-3", "vámonos"),
        row(2, "vamos", "VERB", xpos="V"),
        row(3, "nos", "PRON", xpos="P", misc="SpaceAfter=No"),
        row("3.1", "go", "VERB"),
        "",
        "# a comment alone",
        "",
        row(1, "世 界", "NOUN") + "\r",
        "# late comment",
        row(2, "#", "SYM"),
        "",
    ]
)


@pytest.fixture
def fmt():
    return make_format("conllu", ["form", "xpos"], "upos")


def read(fmt, text=TEXT, **options):
    return list(fmt.read(text.split("\n"), "x.conllu", **options))


def error_of(fmt, text):
    with pytest.raises(InputError) as caught:
        read(fmt, text)
    return caught.value


def test_only_words_are_tokens(fmt):
    first, second = read(fmt)
    assert first.columns == (("Мама", "vamos", "nos"), ("N", "V", "P"))
    assert (first.labels, first.line, first.text) == (("NOUN", "VERB", "PRON"), 3, ())
    assert (second.columns[0], second.labels, second.line) == (("世 界", "#"), ("NOUN", "SYM"), 11)


def test_columns_come_in_the_order_asked_for_without_the_predicted_one():
    (sentence, _) = read(make_format("conllu", ["xpos", "upos", "misc", "form"], "upos"))
    assert [column[-1] for column in sentence.columns] == ["P", "SpaceAfter=No", "nos"]


def test_guesses_replace_the_predicted_field_and_nothing_else(fmt):
    sentences = read(fmt, keep_text=True)
    assert [list(sentence.token_lines) for sentence in sentences] == [[2, 4, 5], [3, 5], []]
    assert "".join(fmt.write(sentence, sentence.labels) for sentence in sentences) == TEXT + "\n"
    guessed = fmt.write(sentences[1], ["X", "Y"])
    assert guessed == "\n# a comment alone\n\n" + "".join(
        [row(1, "世 界", "X") + "\r\n", "# late comment\n", row(2, "#", "Y") + "\n"]
    )


def test_guesses_in_the_last_field_stand_before_the_carriage_return():
    fmt = make_format("conllu", ["form"], "misc")
    (sentence,) = read(fmt, row(1, "a") + "\r", keep_text=True)
    assert sentence.labels == ("_",)
    assert fmt.write(sentence, ["X"]) == row(1, "a", misc="X") + "\r\n"


def test_a_sentence_of_underscores_has_no_labels_if_they_are_optional(fmt):
    text = "\n".join([row(1, "a"), row(2, "b"), "", row(1, "c", "X"), row(2, "d")])
    assert [sentence.labels for sentence in read(fmt, text)] == [("_", "_"), ("X", "_")]
    assert [sentence.labels for sentence in read(fmt, text, labels="optional")] == [None, ("X", "_")]


def test_a_sentence_without_words_is_only_text(fmt):
    (rest,) = read(fmt, row("1-2", "zum") + "\n", keep_text=True)
    assert (rest.columns, rest.labels, rest.line) == (((), ()), (), 1)


@pytest.mark.parametrize(
    ("bad", "found"),
    [("1\ta", "2 tab-separated fields"), (row(4, "a") + "\t", "11"), ("4 a b", "1 tab-separated field,")],
)
def test_a_wrong_number_of_fields_is_refused_with_its_line(fmt, bad, found):
    error = error_of(fmt, TEXT + "\n" + row(1, "x") + "\n# hm\n" + bad)
    assert error.line == len(TEXT.split("\n")) + 3
    assert f"found {found}" in str(error)
    assert "expected 10 (id, form, lemma, upos," in str(error)


@pytest.mark.parametrize("bad", ["", "x", "1-", ".1", "1.2.3", "²", "٣"])
def test_an_id_that_is_none_is_refused_with_its_line(fmt, bad):
    error = error_of(fmt, "# c\n" + row(1, "a") + "\n" + row("1-2", "a") + "\n" + row(bad, "b"))
    assert (error.line, "the id" in str(error)) == (4, True)
