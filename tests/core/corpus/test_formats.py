"""The registry of corpus formats: what is refused, and what holds for every format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.corpus import FORMATS, make_format, read_sentences
from perceptron_core.corpus.conllu import FIELDS
from perceptron_core.corpus.format import split_fields
from perceptron_core.errors import UserError

COLUMNS = {"columns": ["form", "upos"], "svmlight": ["number"]}  # of the other formats, ["form"]
NAMING_COLUMNS = [name for name in FORMATS if name != "svmlight"]
PREDICT = {**dict.fromkeys(FORMATS, "upos"), "conllu_tree": "head"}


def test_the_formats_and_which_may_be_split():
    formats = {name: make_format(name, COLUMNS.get(name, ["form"]), PREDICT[name]) for name in FORMATS}
    assert [name for name, fmt in formats.items() if fmt.splittable] == ["word_tag", "raw", "label_text", "svmlight"]
    assert [name for name, fmt in formats.items() if fmt.whole] == ["csv", "tsv"]


@pytest.mark.parametrize("name", NAMING_COLUMNS)
def test_inputs_are_the_columns_without_the_predicted_one(name):
    fmt = make_format(name, ["form", PREDICT[name]], PREDICT[name])
    assert isinstance(fmt, FORMATS[name])
    assert fmt.inputs == ("form",)


def refusal(name, columns, predict, **options):
    with pytest.raises(UserError) as caught:
        make_format(name, columns, predict, **options)
    return str(caught.value)


def test_an_unknown_format_is_refused_with_the_known_ones():
    known = "columns, conllu, word_tag, raw, conllu_tree, label_text, csv, tsv, svmlight"
    assert refusal("conll", ["a"], "b") == f"Unknown corpus format 'conll'; use one of: {known}."


@pytest.mark.parametrize("name", FORMATS)
def test_an_unknown_option_is_refused_with_the_known_ones(name):
    message = refusal(name, COLUMNS.get(name, ["form"]), PREDICT[name], colour="red")
    assert "Unknown option 'colour'" in message
    assert all(option in message for option in FORMATS[name].OPTIONS)


@pytest.mark.parametrize("name", NAMING_COLUMNS)
def test_there_must_be_something_to_predict_from(name):
    assert f"{PREDICT[name]}, is the only one" in refusal(name, [PREDICT[name]], PREDICT[name])


@pytest.mark.parametrize("name", NAMING_COLUMNS)
def test_a_column_named_twice_is_refused(name):
    assert "form more than once" in refusal(name, ["form", PREDICT[name], "form"], PREDICT[name])


@pytest.mark.parametrize(
    ("name", "columns", "predict", "options", "part"),
    [
        ("columns", ["word", "pos"], "chunk", {}, "chunk is not among the columns: word, pos"),
        ("columns", ["word", "pos"], "pos", {"separator": ","}, "use one of: blanks, tab"),
        ("columns", ["word", "pos"], "pos", {"docstart": "no"}, "true or false, not 'no'"),
        ("columns", ["word", "pos"], "pos", {"comment": ""}, "begin with, not ''"),
        ("columns", ["word", "pos"], "pos", {"comment": True}, "begin with, not True"),
        (
            "conllu",
            ["word"],
            "upos",
            {},
            "Unknown column 'word' of CoNLL-U; use one of: id, form, lemma, upos",
        ),
        ("conllu", ["form"], "pos", {}, "Unknown column 'pos' of CoNLL-U"),
        ("word_tag", ["word", "pos"], "chunk", {}, "one input column, not 2 (word, pos)"),
        ("raw", ["word", "pos", "chunk"], "chunk", {}, "one input column, not 2 (word, pos)"),
        ("word_tag", ["word"], "tag", {"separator": ""}, "not ''"),
        ("raw", ["word"], "tag", {"separator": "_ "}, "not '_ '"),
        ("raw", ["word"], "tag", {"separator": 1}, "not 1"),
    ],
)
def test_what_makes_no_sense_is_refused(name, columns, predict, options, part):
    assert part in refusal(name, columns, predict, **options)


# Whatever is not a separator of lines or fields may be in a token; "\ufeff" is left out because it is a byte
# order mark at the start of a file.
token = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n\ufeff"), min_size=1)
label = token.filter(lambda text: "_" not in text)
corpora = st.lists(st.lists(st.tuples(token, label), min_size=1), min_size=1)
line_ends = st.sampled_from(["\n", "\r\n"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all examples of a test: each overwrites the previous one's file."""
    return tmp_path_factory.mktemp("corpus")


def round_trip(folder, fmt, text, corpus, expected):
    """Read `text` from a file: it must be `corpus`, and with the gold labels as guesses give `expected`."""
    path = folder / "corpus"
    path.write_bytes(text.encode())
    sentences = list(read_sentences(path, fmt))
    assert [list(zip(sentence.columns[0], sentence.labels)) for sentence in sentences] == corpus
    with_text = list(read_sentences(path, fmt, keep_text=True))
    assert [sentence.line for sentence in with_text][: len(sentences)] == [sentence.line for sentence in sentences]
    assert "".join(fmt.write(sentence, sentence.labels) for sentence in with_text) == expected
    lines = text.split("\n")
    assert [line for sentence in with_text for line in sentence.text] == lines[: len(lines) - (lines[-1] == "")]


@given(corpora, line_ends, st.sampled_from([" ", "\t"]), st.integers(1, 3), st.booleans())
def test_columns_come_back_with_the_gold_as_guess(folder, corpus, end, gap, blank_lines, finished):
    fmt = make_format("columns", ["word", "tag"], "tag", docstart=False)

    def render(extra):
        rows = [[gap.join([word, tag] + [tag] * extra) + end for word, tag in pairs] for pairs in corpus]
        return (end * blank_lines).join("".join(sentence) for sentence in rows)

    text, expected = render(extra=0), render(extra=1)
    if not finished and end == "\n":
        text = text[:-1]
    round_trip(folder, fmt, text, corpus, expected)


@given(corpora, line_ends, st.booleans())
def test_conllu_comes_back_with_the_gold_as_guess(folder, corpus, end, comments):
    fmt = make_format("conllu", ["form"], "deprel")
    text = ""
    for pairs in corpus:
        text += f"# comment{end}1-2{'	_' * 9}{end}" * comments
        for number, (word, tag) in enumerate(pairs, 1):
            fields = {**dict.fromkeys(FIELDS, "_"), "id": str(number), "form": word, "deprel": tag}
            text += "\t".join(fields.values()) + end
        text += end
    round_trip(folder, fmt, text, corpus, text)


@given(corpora, line_ends, st.integers(1, 3))
def test_tagged_words_come_back_with_the_gold_as_guess(folder, corpus, end, line_ends_between):
    fmt = make_format("word_tag", ["word"], "tag")
    text = "".join(" ".join(f"{word}_{tag}" for word, tag in pairs) + end * line_ends_between for pairs in corpus)
    round_trip(folder, fmt, text, corpus, text)


@given(st.text(st.sampled_from(" \tab\u00a0\u3000\x0b\x0c\x1c\u2028é世"), max_size=30))
def test_fields_are_what_is_between_spaces_and_tabs(line):
    fields, field = [], ""
    for character in line + " ":
        if character not in " \t":
            field += character
        elif field:
            fields.append(field)
            field = ""
    assert split_fields(line) == fields


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("file", "fmt", "sentences", "tokens"),
    [
        ("conll2000/train.txt.gz", make_format("columns", ["word", "pos", "chunk"], "chunk"), 8936, 211727),
        (
            "conll2003/eng.train.gz",
            make_format("columns", ["word", "pos", "chunk", "ner"], "ner"),
            14041,
            203621,
        ),
        ("ewt/train.conllu.gz", make_format("conllu", ["form"], "upos"), 12544, 204577),
        ("brown/dev.txt.gz", make_format("columns", ["word", "tag"], "tag"), 5734, None),
    ],
)
def test_real_corpora(data, file, fmt, sentences, tokens):
    path = data / file
    corpus = list(read_sentences(path, fmt))
    assert len(corpus) == sentences
    assert tokens in (None, sum(len(sentence.labels) for sentence in corpus))
    assert all({len(column) for column in s.columns} == {len(s.labels)} for s in corpus)
