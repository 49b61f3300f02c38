"""CoNLL columns: fields, boundaries, comments, optional labels, guesses, and the errors' lines."""

import pytest

from perceptron_core.corpus import Sentence, make_format
from perceptron_core.errors import InputError


def chunking(**options):
    return make_format("columns", ["word", "pos", "chunk"], "chunk", **options)


def read(fmt, text, **options):
    return list(fmt.read(text.split("\n"), "corpus.txt", **options))


def rewrite(fmt, text, guess="G"):
    sentences = fmt.read(text.split("\n"), "corpus.txt", keep_text=True, labels="optional")
    return "".join(fmt.write(sentence, [guess] * len(sentence.columns[0])) for sentence in sentences)


def error_of(fmt, text, **options):
    with pytest.raises(InputError) as caught:
        read(fmt, text, **options)
    assert caught.value.source == "corpus.txt"
    return caught.value


def test_sentences_are_columns_and_labels():
    sentences = read(chunking(), "Мама NN B-NP\nмыла VB B-VP\n\n\n世界 NN O\n")
    assert sentences == [
        Sentence((("Мама", "мыла"), ("NN", "VB")), ("B-NP", "B-VP"), 1, (), ()),
        Sentence((("世界",), ("NN",)), ("O",), 5, (), ()),
    ]


def test_the_predicted_column_may_stand_anywhere():
    fmt = make_format("columns", ["pos", "word", "chunk"], "pos")
    (sentence,) = read(fmt, "NN a O\nVB b B")
    assert (sentence.columns, sentence.labels) == ((("a", "b"), ("O", "B")), ("NN", "VB"))
    (sentence,) = read(fmt, "a O\nb B", labels="optional")
    assert (sentence.columns, sentence.labels) == ((("a", "b"), ("O", "B")), None)
    assert fmt.inputs == ("word", "chunk")


def test_fields_are_cut_at_runs_of_spaces_and_tabs_only():
    (sentence,) = read(chunking(), "  a \t NN   O \n\u00a0\u3000b\u2028c\x85\tVB\x0c B\x1c")
    assert sentence.columns == (("a", "\u00a0\u3000b\u2028c\x85"), ("NN", "VB\x0c"))
    assert sentence.labels == ("O", "B\x1c")


def test_lines_of_spaces_and_tabs_are_blank_but_other_white_space_is_a_token():
    fmt = make_format("columns", ["word", "pos"], "pos")
    sentences = read(fmt, " \t\na X\n\t\nb Y\n \r\n\u00a0 Z\n  c X\n- Y\n\t\t")
    assert [sentence.columns[0] for sentence in sentences] == [("a",), ("b",), ("\u00a0", "c", "-")]
    assert [sentence.line for sentence in sentences] == [2, 4, 6]


def test_tab_separated_fields_may_hold_spaces_or_nothing():
    fmt = chunking(separator="tab")
    (sentence,) = read(fmt, "New York\t\tB NP\n\tNN\t\n \tVB\tO")
    assert sentence.columns == (("New York", "", " "), ("", "NN", "VB"))
    assert sentence.labels == ("B NP", "", "O")
    assert error_of(fmt, "a NN O").line == 1
    assert len(read(fmt, "a\tb\tc\n \t\t\na\tb\tc")) == 2


def test_a_document_start_is_no_token_and_ends_a_sentence():
    text = "-DOCSTART- -X- O\n\na NN O\n-DOCSTART-\r\nb NN O\n \t-DOCSTART- -X- O\n-DOCSTART-x NN O"
    sentences = read(chunking(), text)
    assert [sentence.columns[0] for sentence in sentences] == [("a",), ("b",), ("-DOCSTART-x",)]
    assert [sentence.line for sentence in sentences] == [3, 5, 7]


def test_a_document_start_is_a_token_if_so_said():
    (sentence,) = read(chunking(docstart=False), "-DOCSTART- -X- O\na NN O")
    assert sentence.columns[0] == ("-DOCSTART-", "a")


def test_comments_come_before_the_first_token():
    fmt = make_format("columns", ["word", "pos"], "pos", comment="# ")
    text = "# one\n# two\na X\n# Y\n\n# no sentence\n\n-DOCSTART-\n# three\n#four X\n"
    sentences = read(fmt, text, keep_text=True)
    assert [sentence.columns[0] for sentence in sentences] == [("a", "#"), ("#four",), ()]
    assert [sentence.line for sentence in sentences] == [3, 10, 11]
    assert [list(sentence.token_lines) for sentence in sentences] == [[2, 3], [5], []]
    assert "".join(fmt.write(s, s.labels) for s in sentences) == (
        "# one\n# two\na X X\n# Y Y\n\n# no sentence\n\n-DOCSTART-\n# three\n#four X X\n\n"
    )


def test_without_the_option_there_are_no_comments():
    assert error_of(chunking(), "a NN O\n\n# a long comment").line == 3


def test_text_is_kept_with_what_precedes_a_sentence():
    first, second, rest = read(chunking(), "a NN O\nb NN O\n\n-DOCSTART-\n\nc NN O\r\n", keep_text=True)
    assert (first.text, first.token_lines) == (["a NN O", "b NN O"], [0, 1])
    assert (second.text, second.token_lines) == (["", "-DOCSTART-", "", "c NN O\r"], [3])
    assert (rest.text, rest.token_lines, rest.line) == ([""], (), 7)


def test_guesses_become_the_last_column_and_other_lines_stay():
    text = "-DOCSTART- -X- O\n\n a\tNN\tO\nb  NN O\r\n \t\r\nc NN\n"
    assert rewrite(chunking(), text) == ("-DOCSTART- -X- O\n\n a\tNN\tO\tG\nb  NN O G\r\n \t\r\nc NN G\n\n")


def test_guesses_are_separated_by_a_tab_where_only_tabs_separate():
    fmt = make_format("columns", ["word", "pos"], "pos", separator="tab")
    assert rewrite(fmt, "New York") == "New York\tG\n"


def test_labels_are_optional_for_a_whole_sentence_at_a_time():
    with_labels, without = read(chunking(), "a NN O\n\nb VB\nc VB", labels="optional")
    assert with_labels.labels == ("O",)
    assert (without.columns, without.labels) == ((("b", "c"), ("VB", "VB")), None)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a NN\nb NN O", 2), ("a NN O\nb NN O\n\nc NN O\nd NN", 5), ("\na NN\nb NN\nc NN O", 4)],
)
def test_labels_for_some_tokens_of_a_sentence_are_refused(text, line):
    error = error_of(chunking(), text, labels="optional")
    assert error.line == line
    assert "its sentence began with" in str(error)


@pytest.mark.parametrize("labels", ["required", "optional"])
@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("a", 1, "1 column,"),
        ("a NN O\nb NN O x\nc", 2, "4 columns,"),
        ("\n\n-DOCSTART-\n\na NN O\n\t\nb NN O\r\nc a b c d e\r\n", 8, "6 columns,"),
    ],
)
def test_a_wrong_number_of_columns_is_refused_with_its_line(labels, text, line, found):
    error = error_of(chunking(comment="%"), text, labels=labels)
    assert error.line == line
    assert f"found {found} expected 3 (word, pos, chunk)" in str(error)
    assert ("or 2 without chunk" in str(error)) == (labels == "optional")


def test_required_labels_are_required():
    error = error_of(chunking(comment="%"), "% hm\na NN O\nb NN\nc NN")
    assert error.line == 3
    assert "found 2 columns, expected 3 (word, pos, chunk);" in str(error)


@pytest.mark.parametrize("size", [1, 10_000])
def test_sentences_of_any_size(size):
    fmt = chunking()
    (sentence,) = read(fmt, "\n".join(f"w{i} NN B-{i}" for i in range(size)), keep_text=True)
    assert sentence.columns[0][-1] == f"w{size - 1}"
    assert fmt.write(sentence, sentence.labels).endswith(f"w{size - 1} NN B-{size - 1} B-{size - 1}\n")
    assert fmt.write(sentence, sentence.labels).count("\n") == size


def test_guesses_must_match_the_tokens_and_the_text_must_be_there():
    fmt = chunking()
    (with_text,) = read(fmt, "a NN O\nb NN O", keep_text=True)
    (without,) = read(fmt, "a NN O\nb NN O")
    for sentence, guesses in [
        (with_text, ["O"]),
        (with_text, ["O"] * 3),
        (without, ["O", "O"]),
        (without, []),
    ]:
        with pytest.raises(ValueError, match="guesses for a sentence of 2 tokens"):
            fmt.write(sentence, guesses)
    fmt.write(with_text, ["O", "O"])
    assert with_text.text == ["a NN O", "b NN O"]
