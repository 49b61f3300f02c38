"""CRF++ template files."""

import pytest

from perceptron_core.errors import InputError
from perceptron_core.features.crfpp import parse_crfpp
from perceptron_core.features.feature_set import template_key
from perceptron_core.features.templates import Part, Template, boundary_value, feature_name

COLUMNS = ["слово", "pos"]


def parse(text):
    return parse_crfpp(text, "chunk.template", COLUMNS)


def test_a_file():
    text = "# Unigram\nU00:%x[-2,0]\r\n\nU05:%x[-1,0]/%x[0,1]  \n   \nU10:词=%x[0,0]\n"
    text += "U99:constant\n\n# Bigram\nB01:%x[0,1]\nB\n"
    assert parse(text) == (
        [
            Template("U00:%x[-2,0]", (Part("слово", "identity", -2),), False, "crf++"),
            Template(
                "U05:%x[-1,0]/%x[0,1]",
                (Part("слово", "identity", -1), Part("pos", "identity", 0)),
                False,
                "crf++",
            ),
            Template("U10:词=%x[0,0]", (Part("слово", "identity", 0),), False, "crf++"),
            Template("U99:constant", (), False, "crf++"),
            Template("B01:%x[0,1]", (Part("pos", "identity", 0),), True, "crf++"),
        ],
        True,
    )


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_an_empty_file(text):
    assert parse(text) == ([], False)


@pytest.mark.parametrize(
    "text, expected", [("U00:%x[0,0]\n", False), ("B01:%x[0,0]", False), ("B", True), ("B01\n", True)]
)
def test_a_b_line_without_macros_asks_for_transitions(text, expected):
    assert parse(text)[1] is expected


def test_the_text_is_normalised():
    assert parse("U00:%x[-01,00]/%x[-0,1]")[0][0].text == "U00:%x[-1,0]/%x[0,1]"


def test_equal_macros_under_different_ids_are_different_features():
    templates, _ = parse("U00:%x[0,0]\nU01:%x[0,0]\nB00:%x[0,0]\n")
    names = [feature_name(template, ["of"]) for template in templates]
    assert names == ["U00:of", "U01:of", "B00:of"]


def expand_as_crfpp_does(line, tokens, position):
    """CRF++'s own substitution, character by character, as the specification of names and boundaries."""
    name, rest = "", line
    while rest:
        if not rest.startswith("%x["):
            name, rest = name + rest[0], rest[1:]
            continue
        macro, rest = rest[3:].split("]", 1)
        row, column = map(int, macro.split(","))
        place = position + row
        if place < 0:
            name += f"_B-{-place}"
        elif place >= len(tokens):
            name += f"_B+{place - len(tokens) + 1}"
        else:
            name += tokens[place][column]
    return name


@pytest.mark.parametrize(
    "line", ["U00:%x[-2,0]", "U05:%x[-1,0]/%x[0,1]/%x[1,0]", "U06:x%x[2,1]=y", "B02:%x[0,0]|%x[1,1]", "U07:"]
)
def test_names_and_boundaries_are_those_of_crfpp(line):
    tokens = [("Он", "PRP"), ("visited", "VBD"), ("中国", "NNP")]
    ((template,), _) = parse(line)
    for position in range(len(tokens)):
        values = []
        for part in template.parts:
            place = position + part.offset
            if 0 <= place < len(tokens):
                values.append(tokens[place][COLUMNS.index(part.column)])
            else:
                distance = place if place < 0 else place - len(tokens) + 1
                values.append(boundary_value("crf++", distance))
        assert feature_name(template, values) == expand_as_crfpp_does(line, tokens, position)


@pytest.mark.parametrize(
    "text, line, message",
    [
        ("U00:%x[0,0]\nX01:%x[0,0]", 2, "begin with `U`, `B`"),
        ("\n U00:%x[0,0]", 2, "begin with `U`, `B`"),
        ("U00:%x[0,2]", 1, "column 2, but the input columns are numbered 0 to 1: слово, pos"),
        ("U00:%x[0,-1]", 1, "not part of a macro"),
        ("U00:%x[0]", 1, "not part of a macro"),
        ("U00:%x[+1,0]", 1, "not part of a macro"),
        ("U00:%y[0,0]", 1, "not part of a macro"),
        ("U00:100%", 1, "not part of a macro"),
        ("U00:%x[0,0]\t# the word", 1, "TAB"),
        ("B\n\nB", 3, "a second time"),
        ("B\nB01", 2, "a second time"),
    ],
)
def test_refused_with_file_and_line(text, line, message):
    with pytest.raises(InputError, match=f"^chunk.template:{line}: .*{message}") as caught:
        parse(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "first, second",
    [
        ("U00:%x[0,0]", "U00:%x[0,0]"),
        ("U00:%x[0,0]", "U00:%x[0,0]/%x[1,0]"),
        ("U1%x[0,0]", "U10%x[0,0]"),
        ("U10%x[0,0]", "U1%x[0,0]"),
        ("U00:%x[0,0]", "U00:constant"),
        ("U00:constant", "U00:%x[0,0]"),
        ("U00", "U00"),
        ("U00:", "U00:%x[0,0]"),
    ],
)
def test_lines_whose_features_could_be_confused_are_refused(first, second):
    with pytest.raises(InputError, match="^chunk.template:3: .*begins like line 1"):
        parse(f"{first}\nU99:%x[0,0]\n{second}\n")


@pytest.mark.parametrize(
    "first, second",
    [
        ("U", "U00:%x[0,0]"),
        ("U00", "U00:%x[0,0]"),
        ("U00:a%x[0,0]", "U00:b%x[0,0]"),
        ("U1:%x[0,0]", "U10:%x[0,0]"),
    ],
)
def test_lines_whose_features_always_differ_are_accepted(first, second):
    assert len(parse(f"{first}\n{second}\n")[0]) == 2


def test_lines_that_differ_in_their_offsets_alone_make_a_bag_of_words():
    templates, _ = parse("U:%x[-1,0]\nU:%x[1,0]\nU05:%x[1,0]\n")
    before, after, other = (template_key(template, ["the"]) for template in templates)
    assert before == after != other
