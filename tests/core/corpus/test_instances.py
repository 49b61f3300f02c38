"""The formats of classification: label and text, tables, svmlight; each read, refused with its line, written back."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.corpus import Piece, Sentence, make_format, read_sentences, split_file
from perceptron_core.errors import InputError, UserError


def label_text(**options):
    return make_format("label_text", ["text"], "label", **options)


def svmlight():
    return make_format("svmlight", ["number"], "label")


def table(name="csv", columns=("text",), **options):
    return make_format(name, list(columns), "label", **options)


def read(fmt, text, **options):
    return list(fmt.read(text.split("\n"), "corpus.txt", **options))


def rewrite(fmt, text, guess="G"):
    sentences = read(fmt, text, keep_text=True, labels="optional")
    return "".join(fmt.write(sentence, [guess] * len(sentence.token_lines)) for sentence in sentences)


def refused(fmt, text, **options) -> InputError:
    with pytest.raises(InputError) as caught:
        read(fmt, text, **options)
    assert caught.value.source == "corpus.txt"
    return caught.value


# ---------------------------------------------------------------- label TAB text


def test_a_line_is_a_label_and_the_words_of_a_text():
    text = "spam\tBuy 2 now!!! Купи\n\n ham \tit's\tfine\r\nham\t"
    assert read(label_text(), text) == [
        Sentence((["Buy", "2", "now", "!!!", "Купи"],), (("spam",),), 1),
        Sentence((["it", "'", "s", "fine"],), (("ham",),), 3),
        Sentence(([],), (("ham",),), 4),
    ]


def test_texts_may_be_cut_into_characters():
    (sentence,) = read(label_text(units="characters"), "x\t 你好  a ")
    assert sentence.columns == (["你", "好", " ", "a"],)


@pytest.mark.parametrize(("line", "problem"), [("no label here", "has no TAB"), (" \ttext", "has an empty label")])
def test_a_text_without_a_label_is_refused_or_only_predicted(line, problem):
    error = refused(label_text(), f"a\tb\n\n{line}")
    assert error.line == 3 and problem in str(error)
    (_, unlabelled) = read(label_text(), f"a\tb\n\n{line}", labels="optional")
    assert unlabelled.labels is None and unlabelled.columns[0] == re.findall(r"\w+", line)


def test_the_guess_comes_last_and_all_lines_come_back():
    assert rewrite(label_text(), "\na\tb c\r\nno label\n\n") == "\na\tb c\tG\r\nno label\tG\n\n\n"


LINE = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=20)


@given(st.lists(LINE, max_size=6))
def test_every_line_of_label_text_is_written_back(lines):
    fmt, text = label_text(), "\n".join(lines)
    written = rewrite(fmt, text).split("\n")
    assert written.pop() == "" and len(written) == len(lines or [""])
    for before, after in zip(lines, written):
        content, end = (before[:-1], "\r") if before.endswith("\r") else (before, "")
        assert after == (f"{content}\tG{end}" if content.strip(" \t") else before)


# ---------------------------------------------------------------- svmlight


def test_indices_and_values():
    text = "# all\n+1 qid:7 1:0.5  a3:-2e1 # note 9:9\n\n-1\r\n2 7:1\t8:1"
    assert read(svmlight(), text) == [
        Sentence((["1", "a3"],), (("+1",),), 2, values=[0.5, -20.0]),
        Sentence(([],), (("-1",),), 4, values=[]),
        Sentence((["7", "8"],), (("2",),), 5, values=[1.0, 1.0]),
    ]


@pytest.mark.parametrize("bad", ["3", "3:", ":3", "3:x", "3:4:5", "3:nan", "3:inf", "3:1e39", "3:4:5 6"])
def test_a_feature_that_is_no_pair_is_refused_with_its_line(bad):
    error = refused(svmlight(), f"1 1:1\n\n1 1:1 {bad} 9:1")
    assert error.line == 3 and f"'{bad.split(' ')[0]}'" in str(error)


def test_doubled_indices_and_missing_labels_are_refused():
    assert "the index 5 more than once" in str(refused(svmlight(), "a 5:1 6:1 5:2"))
    error = refused(svmlight(), "a 1:1\n1:1 2:1")
    assert error.line == 2 and "'1:1', which is not a label" in str(error)
    assert [sentence.labels for sentence in read(svmlight(), "a 1:1\n1:1", labels="optional")] == [("a",), None]


def test_the_guess_takes_the_place_of_the_label():
    text = "# c\n  +1 1:2 # x\r\n\n3:4\n-1\n"
    assert rewrite(svmlight(), text) == "# c\n  G 1:2 # x\r\n\nG 3:4\nG\n\n"


NAME = st.text(st.characters(exclude_characters=" \t\n\r:#", exclude_categories=["Cs"]), min_size=1, max_size=5)


@given(NAME, st.dictionaries(NAME.filter(lambda name: name != "qid"), st.floats(width=32, allow_nan=False), max_size=5))
def test_what_svmlight_says_is_read(label, pairs):
    pairs = {name: value for name, value in pairs.items() if np.isfinite(value)}
    line = " ".join([label, *(f"{name}:{value!r}" for name, value in pairs.items())])
    (sentence,) = read(svmlight(), line)
    assert sentence.labels == (label,) and sentence.columns == (list(pairs),)
    assert np.array_equal(np.array(sentence.values, np.float32), np.array(list(pairs.values()), np.float32))
    assert read(svmlight(), rewrite(svmlight(), line))[0]._replace(targets=((label,),)) == sentence


# ---------------------------------------------------------------- tables


def test_columns_are_found_by_name_and_numbers_come_with_their_value():
    fmt = table(columns=["price", "title", "body", "year"], numeric=["price", "year"])
    assert fmt.inputs == ("title", "body", "number")
    text = 'id,year,label,body,price,title\n1,1984, yes ,"a ""b"", c",2.5,Т\n2,,no,,-1,\n'
    first, second = read(fmt, text)
    assert first.columns == (
        ["Т", None, None, None, None, None, None, None],
        [None, "a", '"', "b", '",', "c", None, None],
        [None, None, None, None, None, None, "price", "year"],
    )
    assert first.values == [1, 1, 1, 1, 1, 1, 2.5, 1984] and first.labels == ("yes",)
    assert second.columns == ([None], [None], ["price"]) and second.values == [-1.0] and second.line == 3


def test_a_quoted_field_may_go_over_lines():
    text = 'label,text\r\nx,"one\r\n\r\ntwo"\r\ny,three\r'
    first, second = read(table(), text)
    assert (first.columns, first.line) == ((["one", "two"],), 2)
    assert (second.columns, second.line) == ((["three"],), 5)
    assert rewrite(table(), text, 'a,"b') == text.replace("text\r", "text,guess\r").replace(
        'two"\r', 'two","a,""b"\r'
    ).replace("three\r", 'three,"a,""b"\r\n')


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("label,body\nx,y", 1, "the header has no column text, only label, body"),
        ("text,body\nx,y", 1, "the header has no column label"),
        ("label,text,text\nx,y,z", 1, "names text more than once"),
        ("label,text\nx,y\nx,y,z", 3, "found 3 fields, but the header names 2"),
        ("label,text\nx,y\n,z", 3, "the column label is empty"),
        ('label,text\nx,"y\nz\n', 2, "not quoted correctly"),
        ('label,text\nx,y\nx,"y"z\n', 3, "not quoted correctly"),
        ('label,text\n"x\ny",z', 2, "contains a line break"),
    ],
)
def test_a_bad_table_is_refused_with_its_line(text, line, problem):
    error = refused(table(), text)
    assert error.line == line and problem in str(error)


@pytest.mark.parametrize("number", ["x", "nan", "1e99"])
def test_a_bad_number_is_refused(number):
    error = refused(table(columns=["n"], numeric=["n"]), f"label,n\na,1\nb,{number}")
    assert error.line == 3 and f"'{number}' in the numeric column n is not a finite number" in str(error)


def test_a_table_without_labels_can_be_predicted():
    assert rewrite(table(), "text\na b\n\nc\n") == "text,guess\na b,G\n\nc,G\n\n"
    (sentence,) = read(table(), "label,text\n,a", labels="optional")
    assert sentence.labels is None


FIELD = st.text(st.sampled_from('ab,;"\t\n é中'), max_size=8)
RECORDS = st.lists(st.tuples(st.text("xy\"',", min_size=1, max_size=3), FIELD, FIELD), min_size=1, max_size=4)


@pytest.mark.parametrize(("name", "separator"), [("csv", ","), ("tsv", "\t")])
@given(RECORDS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["G", 'a"b', "a,b"]))
def test_what_python_writes_is_read_and_written_back(name, separator, records, end, guess):
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=separator, lineterminator=end).writerows([("label", "a", "b"), *records])
    fmt, text = table(name, ["a", "b"]), buffer.getvalue()
    sentences = read(fmt, text)
    assert [sentence.labels for sentence in sentences] == [(label,) for label, _, _ in records]
    for sentence, (_, *fields) in zip(sentences, records):
        for column, field in zip(sentence.columns, fields):
            assert [word for word in column if word is not None] == re.findall(r"\w+|[^\w\s]+", field)
    written = list(csv.reader(io.StringIO(rewrite(fmt, text, guess), newline=""), delimiter=separator))
    expected = [["label", "a", "b", "guess"], *([*record, guess] for record in records)]
    assert [row for row in written if row] == expected


# ---------------------------------------------------------------- what they share


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: label_text(units="letters"), "Unknown units 'letters'"),
        (lambda: make_format("label_text", ["a", "b"], "label"), "has one input column, not 2"),
        (lambda: make_format("svmlight", ["a"], "label"), "leave out `columns`"),
        (lambda: table(numeric=["other"]), "The option numeric must list input columns (text), not ['other']"),
        (lambda: table(columns=["number"]), "cannot be called `number`"),
        (lambda: make_format("label_text", ["number"], "label"), "cannot be called `number`"),
        (lambda: table(separator=";"), "Unknown option 'separator'"),
    ],
)
def test_options_that_make_no_sense_are_refused(make, problem):
    with pytest.raises(UserError, match=re.escape(problem)):
        make()


@pytest.mark.parametrize("fmt", [label_text(), svmlight(), table()])
def test_guesses_that_do_not_fit_are_a_defect(fmt):
    (sentence,) = read(fmt, "label,text\na,b" if fmt.whole else "a\t1:2", keep_text=True)
    with pytest.raises(ValueError, match="2 guesses for 1"):
        fmt.write(sentence, ["a", "b"])


@pytest.mark.parametrize("pieces", [1, 2, 3, 7])
@pytest.mark.parametrize("fmt", [label_text(), svmlight()])
def test_pieces_of_a_file_have_every_instance_once(fmt, pieces, tmp_path):
    lines = [f"l{i}\t{i}:1 {i + 1}:2" + "\n" * (i % 3) for i in range(20)]
    (tmp_path / "file").write_text("\n".join(lines))
    size = (tmp_path / "file").stat().st_size
    whole = list(read_sentences(tmp_path / "file", fmt))
    cut = split_file(0, str(tmp_path / "file"), size, size / pieces)
    assert len(cut) == pieces and len(whole) == 20
    parts = [[s._replace(line=0) for s in read_sentences(piece, fmt)] for piece in cut]
    assert sum(parts, []) == [sentence._replace(line=0) for sentence in whole]


def test_errors_in_a_piece_have_the_line_of_the_file(tmp_path):
    (tmp_path / "file").write_text("a\tb\n" * 5 + "bad\n")
    with pytest.raises(InputError, match="file:6: has no TAB"):
        list(read_sentences(Piece(0, str(tmp_path / "file"), start=12), label_text()))
