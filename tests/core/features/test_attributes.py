"""Attributes of a word type, lookups, and the set that knows them by name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.attributes import BUILT_IN, AttributeSet, read_lookup


@pytest.mark.parametrize(
    "name, word, expected",
    [
        ("identity", "Слово", "Слово"),
        ("lower", "СЛОВО", "слово"),
        ("prefix1", "中国", "中"),
        ("prefix3", "the", "the"),
        ("prefix4", "the", None),
        ("prefix1", "", None),
        ("suffix2", "Москва", "ва"),
        ("suffix9", "perceptron", "erceptron"),
        ("suffix3", "of", None),
        ("shape", "McDonald's-42", "XxXxxxxx'x-dd"),
        ("shape", "Ёж", "Xx"),
        ("shape", "中国A", "ccX"),
        ("shape", "٣²", "d²"),
        ("shape", "", ""),
        ("short_shape", "Obama", "Xx"),
        ("short_shape", "1,234.50...", "d,d.d."),
        ("short_shape", "中国", "c"),
        ("digits", "B-52 ٣ m²", "B-00 0 m²"),
        ("has_digit", "B-52", "yes"),
        ("has_digit", "二", None),
        ("has_hyphen", "B-52", "yes"),
        ("has_hyphen", "B52", None),
        ("has_upper", "iPhone", "yes"),
        ("has_upper", "中国", None),
        ("is_title", "Москва", "yes"),
        ("is_title", "NATO", None),
        ("is_upper", "U.S.", "yes"),
        ("is_upper", "1984", None),
        ("length", "", "0"),
        ("length", "ninechars", "9"),
        ("length", "perceptron", "10+"),
        ("length", "perceptrons", "10+"),
    ],
)
def test_built_in(name, word, expected):
    assert AttributeSet({}, {}).get(name)(word) == expected


def test_affixes_go_from_1_to_9():
    assert [name for name in BUILT_IN if name.startswith("prefix")] == [f"prefix{n}" for n in range(1, 10)]
    assert [name for name in BUILT_IN if name.startswith("suffix")] == [f"suffix{n}" for n in range(1, 10)]


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_has_one_line_of_help_of_its_own(name):
    text = BUILT_IN[name].__doc__
    assert text and "\n" not in text and text.endswith(".")
    assert [other for other in BUILT_IN if BUILT_IN[other].__doc__ == text] == [name]


@settings(deadline=None)
@given(word=st.text())
def test_every_built_in_gives_text_or_none_for_any_word(word):
    for attribute in BUILT_IN.values():
        assert isinstance(attribute(word), (str, type(None)))


@settings(deadline=None)
@given(word=st.text())
def test_short_shape_has_no_runs_and_keeps_the_order_of_the_shape(word):
    shape, short = BUILT_IN["shape"](word), BUILT_IN["short_shape"](word)
    assert all(left != right for left, right in zip(short, short[1:]))
    position = 0
    for character in shape:
        if short[position] != character:
            position += 1
        assert short[position] == character
    assert position == max(len(short) - 1, 0)


def test_a_lookup_gives_the_class_or_none():
    cluster = AttributeSet({"cluster": {"Париж": "0110"}}, {}).get("cluster")
    assert (cluster("Париж"), cluster("Paris")) == ("0110", None)


def test_a_function_of_the_user_is_known_by_its_name():
    attributes = AttributeSet({}, {"reversed": lambda word: word[::-1]})
    assert attributes.get("reversed")("abc") == "cba"
    assert "reversed" in attributes and "revered" not in attributes


def test_names_lists_built_ins_lookups_and_functions():
    assert AttributeSet({"cities": {}}, {"mine": str.upper}).names() == [*BUILT_IN, "cities", "mine"]


def test_an_unknown_name_is_refused_with_a_proposal_and_the_known_ones():
    with pytest.raises(UserError, match=r"no attribute `sufix3`.*Did you mean `suffix3`.*identity, .*cities\."):
        AttributeSet({"cities": {}}, {}).get("sufix3")
    with pytest.raises(UserError) as caught:
        AttributeSet({}, {}).get("qqqqq")
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize("name", ["shape", "prefix9", "word", "label", "bias"])
def test_a_built_in_name_cannot_be_hidden(name):
    with pytest.raises(UserError, match=f"`{name}` would hide"):
        AttributeSet({name: {}}, {})
    with pytest.raises(UserError, match=f"`{name}` would hide"):
        AttributeSet({}, {name: str.upper})


def test_a_lookup_and_a_function_of_one_name_are_refused():
    with pytest.raises(UserError, match="`mine` is both"):
        AttributeSet({"mine": {}}, {"mine": str.upper})


def test_read_lookup():
    text = "# clusters\nParis\t0110\r\n\n  \nМосква\t0111\n中国\n"
    text += "#\tPUNCT\n#hashtag\nParis\t0110\n Oslo \t c d \n"
    assert read_lookup(text, "clusters.tsv") == {
        "Paris": "0110",
        "Москва": "0111",
        "中国": "yes",
        "#": "PUNCT",
        "#hashtag": "yes",
        "Oslo": "c d",
    }


def test_read_lookup_of_nothing():
    assert read_lookup("", "empty.tsv") == {}


@pytest.mark.parametrize(
    "text, line, message",
    [
        ("a\tX\n\na\tY\n", 3, "`a` is of class `Y` here but `X` above"),
        ("a\na\tX\n", 2, "`X` here but `yes` above"),
        ("a\tb\tc\n", 1, "3 fields"),
        ("ok\n\tX\n", 2, "A field is empty"),
        ("ok\na\t\n", 2, "A field is empty"),
    ],
)
def test_read_lookup_refuses_with_the_line(text, line, message):
    with pytest.raises(InputError, match=f"^places.tsv:{line}: .*{message}") as caught:
        read_lookup(text, "places.tsv")
    assert (caught.value.source, caught.value.line) == ("places.tsv", line)


def test_an_attribute_of_an_attribute() -> None:
    attributes = AttributeSet({"size": {"great": "large"}}, {})
    assert attributes.get("suffix3(lower)")("SHOUTING") == "ing"
    assert attributes.get("suffix3(lower)")("NO") == attributes.get("suffix3")("no")
    assert attributes.get("prefix2(size)")("great") == "la" and attributes.get("prefix2(size)")("small") is None
    with pytest.raises(UserError, match="no attribute `loud`"):
        attributes.get("suffix3(loud)")
