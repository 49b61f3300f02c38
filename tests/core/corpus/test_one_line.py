"""One sentence per line: tagged and raw words."""

import pytest

from perceptron_core.corpus import Sentence, make_format
from perceptron_core.errors import InputError


def tagged(**options):
    return make_format("word_tag", ["word"], "tag", **options)


def raw(**options):
    return make_format("raw", ["word"], "tag", **options)


def read(fmt, text, **options):
    return list(fmt.read(text.split("\n"), "corpus.txt", **options))


def rewrite(fmt, text, labels="optional"):
    sentences = read(fmt, text, keep_text=True, labels=labels)
    return "".join(fmt.write(sentence, ["G"] * len(sentence.columns[0])) for sentence in sentences)


def test_words_and_tags():
    assert read(tagged(), "\nМама_NN мыла_VB\n \t\r\n世界_NN\r") == [
        Sentence((("Мама", "мыла"),), (("NN", "VB"),), 2),
        Sentence((("世界",),), (("NN",),), 4),
    ]


def test_the_last_separator_counts():
    (sentence,) = read(tagged(), "snake_case_NN __SYM _a_X")
    assert sentence.columns == (("snake_case", "_", "_a"),)
    assert sentence.labels == ("NN", "SYM", "X")
    (sentence,) = read(tagged(separator="/"), "1/2/CD and/or/CC _/_")
    assert (sentence.columns[0], sentence.labels) == (("1/2", "and/or", "_"), ("CD", "CC", "_"))
    (sentence,) = read(tagged(separator="||"), "a|b||X")
    assert (sentence.columns[0], sentence.labels) == (("a|b",), ("X",))


def test_tokens_are_cut_at_spaces_and_tabs_only():
    (sentence,) = read(tagged(), "  a\u00a0b_X\t\tc\u3000_Y\u2028 ")
    assert (sentence.columns[0], sentence.labels) == (("a\u00a0b", "c\u3000"), ("X", "Y\u2028"))


@pytest.mark.parametrize("bad", ["b", "_X", "b_", "_", "b/X"])
def test_a_token_that_is_no_pair_is_refused_with_its_line(bad):
    with pytest.raises(InputError) as caught:
        read(tagged(), f"a_X\n\na_X {bad} c_Y d\n")
    assert caught.value.line == 3
    assert repr(bad) in str(caught.value)


@pytest.mark.parametrize("line", ["a b", "foo_bar b", "_X a_X", "a_ b_X", "_"])
def test_a_line_with_a_token_that_is_no_pair_is_raw_if_labels_are_optional(line):
    first, second = read(tagged(), f"{line}\na_X b_Y", labels="optional")
    assert (list(first.columns[0]), first.labels) == (line.split(" "), None)
    assert (second.columns[0], second.labels) == (("a", "b"), ("X", "Y"))


def test_guesses_replace_the_tags():
    assert rewrite(tagged(), "\na_X\tb_Y \r\n \nfoo_bar b\n\n") == "\na_G b_G\r\n \nfoo_bar_G b_G\n\n\n"
    assert rewrite(tagged(separator="/"), "a/X") == "a/G\n"


def test_raw_words_have_no_labels():
    for labels in ("required", "optional"):
        (sentence,) = read(raw(), "Мама_NN  世界\u00a0\r\n", labels=labels)
        assert (list(sentence.columns[0]), sentence.labels) == (["Мама_NN", "世界\u00a0"], None)


def test_raw_words_are_written_with_guesses():
    assert rewrite(raw(), "\n a  b\r\n\nc") == "\na_G b_G\r\n\nc_G\n"
    assert rewrite(raw(separator="/"), "a b") == "a/G b/G\n"


@pytest.mark.parametrize(("fmt", "targets"), [(tagged(), ((),)), (raw(), None)])
def test_text_is_kept(fmt, targets):
    first, rest = read(fmt, "\n \na_X b_Y\n\n", keep_text=True)
    assert (first.text, first.token_lines, first.line) == (["", " ", "a_X b_Y"], [2, 2], 3)
    assert rest == Sentence(((),), targets, 4, ["", ""], ())
    assert fmt.write(rest, []) == "\n\n"


@pytest.mark.parametrize("size", [1, 10_000])
def test_sentences_of_any_size(size):
    line = " ".join(f"w{i}_T{i}" for i in range(size))
    (sentence,) = read(tagged(), line, keep_text=True)
    assert tagged().write(sentence, sentence.labels) == line + "\n"


def test_guesses_must_match_the_tokens_and_the_text_must_be_there():
    for options, guesses in [({"keep_text": True}, ["X"]), ({}, ["X", "Y"])]:
        (sentence,) = read(tagged(), "a_X b_Y", **options)
        with pytest.raises(ValueError, match="keep_text"):
            tagged().write(sentence, guesses)
