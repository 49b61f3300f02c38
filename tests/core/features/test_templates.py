"""The template language, and feature names that can be read back."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.attributes import AttributeSet
from perceptron_core.features.crfpp import parse_crfpp
from perceptron_core.features.templates import (
    Part,
    Template,
    boundary_value,
    feature_name,
    parse_feature_name,
    parse_templates,
)

COLUMNS = ["form", "pos", "фраза"]
ATTRIBUTES = AttributeSet({"cities": {}}, {})


def parse(*texts, columns=COLUMNS):
    return parse_templates(texts, columns, ATTRIBUTES, "task.yaml")


@pytest.mark.parametrize(
    "text, normal, parts",
    [
        ("form[0]", "form[0]", [Part("form", "identity", 0)]),
        ("word[+1]", "form[1]", [Part("form", "identity", 1)]),
        ("identity[-0]", "form[0]", [Part("form", "identity", 0)]),
        ("pos[-2]", "pos[-2]", [Part("pos", "identity", -2)]),
        ("identity(pos)[-2]", "pos[-2]", [Part("pos", "identity", -2)]),
        ("suffix3 [ 0 ]", "suffix3[0]", [Part("form", "suffix3", 0)]),
        ("suffix3(word)[0]", "suffix3[0]", [Part("form", "suffix3", 0)]),
        ("prefix1 ( pos ) [-1]", "prefix1(pos)[-1]", [Part("pos", "prefix1", -1)]),
        ("cities[0]", "cities[0]", [Part("form", "cities", 0)]),
        ("suffix3 ( lower ) [1]", "suffix3(lower)[1]", [Part("form", "suffix3(lower)", 1)]),
        (
            " word[-1]&фраза[0] ",
            "form[-1] & фраза[0]",
            [Part("form", "identity", -1), Part("фраза", "identity", 0)],
        ),
        ("bias", "bias", []),
    ],
)
def test_a_template_and_its_normal_text(text, normal, parts):
    assert parse(text) == [Template(normal, tuple(parts), False, "names")]


@pytest.mark.parametrize("text", ["label[-1] & word[0]", "word[0] & label [ -1 ]"])
def test_a_label_bigram_template(text):
    assert parse(text) == [Template("label[-1] & form[0]", (Part("form", "identity", 0),), True, "names")]


@pytest.mark.parametrize(
    "offset", ["101", "-101", "99999999999", "-1000000000..1000000000", "1" * 5_000, "0.." + "9" * 99]
)
@pytest.mark.parametrize("name", ["word", "suffix3", "label"])
def test_offsets_have_a_limit(name, offset):
    with pytest.raises(InputError, match="An offset must be from -100 to 100"):
        parse(f"{name}[{offset}]")


def test_the_farthest_offsets():
    assert len(parse("word[-100..100]")) == 201


def test_there_may_not_be_too_many_templates():
    many = [f"{name}({column})[-50..49]" for name in ATTRIBUTES.names()[1:8] for column in COLUMNS]
    with pytest.raises(InputError, match="task.yaml: There are 2,100 templates with 2,100 parts; 2,000 templates"):
        parse(*many)
    with pytest.raises(InputError, match="10,000 parts are the limit"):
        parse(*(f"{' & '.join(f'{name}[{i}..{i + 100}]' for i in range(-100, 0))}" for name in ("word", "pos")))


@pytest.mark.parametrize(
    "text", ["(" * 20_000, "word" + "[" * 20_000, "suffix3" + "(" * 20_000, "word[0]" + " & word[0]" * 20_000]
)
def test_a_long_template_has_a_short_message(text):
    with pytest.raises(InputError, match="In the template") as caught:
        parse(text)
    assert len(str(caught.value)) < 2_200


@pytest.mark.parametrize("line", ["U:%x[101,0]", f"U:%x[-{'1' * 5_000},0]", f"U:%x[0,{'1' * 5_000}]"])
def test_macros_of_crfpp_have_the_same_limits(line):
    with pytest.raises(InputError, match="^template:1: .*(from -100 to 100|are numbered 0 to 2)"):
        parse_crfpp(line, "template", COLUMNS)


def test_no_templates():
    assert parse() == []


@pytest.mark.parametrize(
    "text, expected",
    [
        ("word[-1..1]", ["form[-1]", "form[0]", "form[1]"]),
        ("word[ 0 .. +1 ]", ["form[0]", "form[1]"]),
        ("word[2..2]", ["form[2]"]),
        ("pos[0] & word[-1..0]", ["pos[0] & form[-1]", "pos[0] & form[0]"]),
        (
            "word[-2..1] & word[-1..2]",
            ["form[-2] & form[-1]", "form[-1] & form[0]", "form[0] & form[1]", "form[1] & form[2]"],
        ),
        ("label[-1] & shape[0..1]", ["label[-1] & shape[0]", "label[-1] & shape[1]"]),
    ],
)
def test_ranges_expand(text, expected):
    assert [template.text for template in parse(text)] == expected


def test_a_column_wins_over_an_attribute_of_its_name():
    columns = ["form", "shape", "word"]
    by_column, by_attribute, word = parse("shape[0]", "shape(form)[0]", "word[0]", columns=columns)
    assert (by_column.text, by_column.parts[0]) == ("shape[0]", Part("shape", "identity", 0))
    assert (by_attribute.text, by_attribute.parts[0]) == ("shape(form)[0]", Part("form", "shape", 0))
    assert (word.text, word.parts[0]) == ("word[0]", Part("word", "identity", 0))


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "`` is not a part"),
        ("word", "`word` is not a part.*`word\\[0\\]`"),
        ("word[0] &", "`` is not a part"),
        ("word[x]", "is not a part"),
        ("word[0", "is not a part"),
        ("word[0][1]", "is not a part"),
        ("bias & word[0]", "`bias` is not a part.*must be a template by itself"),
        ("word[1..-1]", "smaller offset first"),
        ("word[-1..1] & pos[0..1]", r"the same length, but they have \[2, 3\]"),
        ("word[0] & form[0]", "twice"),
        ("label[-1] & label[-1] & word[0]", "2 times"),
        ("label[0] & word[0]", "Only the labels before a token"),
        ("label[-2..0]", "Only the labels before a token"),
        ("label[-2] & label[-2] & word[0]", "twice"),
        ("sufix3[0]", "no column and no attribute `sufix3`.*Did you mean `suffix3`.*form, pos, .*cities"),
        ("sufix3(pos)[0]", "no attribute `sufix3`.*Did you mean `suffix3`"),
        ("suffix3(poss)[0]", "no column and no attribute `poss`.*Did you mean `pos`"),
        ("prefix1(label)[-1]", "no column and no attribute `label`"),
    ],
)
def test_refused_templates(text, message):
    with pytest.raises(InputError, match=message) as caught:
        parse("pos[0]", text)
    assert str(caught.value).startswith(f"task.yaml: In the template `{text}`: ")


@pytest.mark.parametrize(
    "texts",
    [
        ("word[0]", "form[ 0 ]"),
        ("word[-1..1]", "word[0]"),
        ("suffix3[0]", "suffix3(form)[0]"),
        ("word[0] & pos[0]", "pos[0] & word[0]"),
        ("bias", "bias"),
    ],
)
def test_doubled_templates_are_refused(texts):
    with pytest.raises(InputError, match="repeats"):
        parse(*texts)


@pytest.mark.parametrize(
    "text, expanded",
    [
        ("label[-1]", ["label[-1]"]),
        ("label[-2..-1]", ["label[-2]", "label[-1]"]),
        ("label[-2] & label[-1] & suffix3[0..1]", [f"label[-2] & label[-1] & suffix3[{i}]" for i in (0, 1)]),
    ],
)
def test_history(text, expanded):
    """Labels are then ordinary values, even where they are joined only with the previous one."""
    *found, joined = parse(text, "word[0] & label[-1]")
    assert [template.text for template in found] == expanded
    assert joined == Template(
        "form[0] & label[-1]", (Part("form", "identity", 0), Part("label", "identity", -1)), False, "names"
    )
    assert not any(template.bigram for template in found)


def test_the_same_parts_with_and_without_the_label_are_two_templates():
    assert len(parse("word[0]", "label[-1] & word[0]")) == 2


@pytest.mark.parametrize("column", ["label", "a b", "a[0]", "a=b", ""])
def test_a_column_that_templates_cannot_name_is_refused(column):
    with pytest.raises(InputError, match="must have another name"):
        parse("word[0]", columns=["form", column])


@settings(deadline=None)
@given(
    parts=st.lists(
        st.tuples(
            st.sampled_from(["word", "pos", "фраза", "shape", "suffix2(pos)", "lower(word)"]),
            st.integers(-9, 9),
        ),
        min_size=1,
        unique=True,
    ),
    bigram=st.booleans(),
)
def test_the_normal_text_is_its_own_normal_text(parts, bigram):
    text = " & ".join(["label[-1]"] * bigram + [f"{name}[{offset}]" for name, offset in parts])
    templates = parse(text)
    assert parse(templates[0].text) == templates


@pytest.mark.parametrize(
    "style, distance, value",
    [("names", -1, "<-1>"), ("names", 2, "<+2>"), ("crf++", -2, "_B-2"), ("crf++", 1, "_B+1")],
)
def test_boundary_value(style, distance, value):
    assert boundary_value(style, distance) == value


def test_a_position_inside_has_no_boundary_value():
    with pytest.raises(ValueError):
        boundary_value("names", 0)


@pytest.mark.parametrize(
    "text, values, name",
    [
        ("word[-1] & word[0]", ["of", "the"], "form[-1]=of & form[0]=the"),
        ("word[0]", ["中国"], "form[0]=中国"),
        ("word[0]", [""], "form[0]="),
        ("word[0]", ["a=b/c[0]"], "form[0]=a=b/c[0]"),
        ("word[0]", ["AT&T"], r"form[0]=AT\&T"),
        ("word[0]", ["a\tb\nc\rd\\e\u2028"], r"form[0]=a\tb\nc\rd\\e\u{2028}"),
        ("label[-1] & suffix3(pos)[0]", ["NNP"], "label[-1] & suffix3(pos)[0]=NNP"),
        ("bias", [], "bias"),
    ],
)
def test_feature_name(text, values, name):
    (template,) = parse(text)
    assert feature_name(template, values) == name
    assert parse_feature_name(name, [template]) == (template, tuple(values))


@pytest.mark.parametrize(
    "line, values, name",
    [
        ("U05:%x[-1,0]/%x[0,0]", ["of", "the"], "U05:of/the"),
        ("U05:%x[-1,0]/%x[0,0]", ["1/2", "3/4"], r"U05:1\/2/3/4"),
        ("U00:%x[0,0]", ["1/2"], "U00:1/2"),
        ("U00:%x[0,0]", ["AT&T=x"], "U00:AT&T=x"),
        ("U00:%x[0,0]", ["1\\/2"], r"U00:1\\/2"),
        ("U00:w=<%x[0,0]>", ["<中>"], r"U00:w=<<中\u{3e}>"),
        ("U00:%x[0,0]to%x[1,0]", ["ten", "t"], r"U00:\u{74}entot"),
        ("U00:%x[0,0]%x[1,0]", ["a", "b"], r"U00:a\|b"),
        ("U00:%x[0,0]\\%x[1,0]\\", ["\\", "b"], r"U00:\\\|\b\|" + "\\"),
        ("B01:%x[0,1]", ["NN"], "B01:NN"),
        ("U99", [], "U99"),
    ],
)
def test_feature_name_in_crfpp_style(line, values, name):
    ((template,), _) = parse_crfpp(line, "template", COLUMNS)
    assert feature_name(template, values) == name
    assert parse_feature_name(name, [template]) == (template, tuple(values))


MANY = parse(
    "bias",
    "word[-1..1]",
    "word[-1] & word[0]",
    "word[-1] & word[0] & word[1]",
    "word[0] & pos[0]",
    "label[-1] & word[0]",
    "label[-1] & word[0] & suffix3[0]",
    "prefix1(pos)[0]",
)
MANY_CRFPP, _ = parse_crfpp(
    "U\nU00:%x[0,0]\nU01:%x[-1,0]/%x[0,0]\nU02:%x[-1,0]%x[0,0]%x[1,0]\n"
    "U03:%x[0,0]|%x[1,0]\\%x[2,0]t%x[3,0]\\\nU04:(%x[0,1], %x[1,1]).\nU05]%x[0,0]^%x[0,1]-%x[0,2]]\n"
    "U06:%x[0,0]😀%x[0,1]u{%x[0,2]\nB01:%x[0,0]//%x[0,1]/\n",
    "template",
    COLUMNS,
)
# Everything that has a meaning somewhere is likelier here than among all characters.
VALUES = st.one_of(
    st.text(),
    st.text(alphabet="\\/&=[]{}|^-. <\t\n\r\x85\u2028tnru2fU0:🙂😀中ж"),
    st.just("<-1>"),
    st.just("_B+1"),
)


@pytest.mark.parametrize("template", MANY + MANY_CRFPP, ids=lambda template: template.text)
@settings(deadline=None)
@given(data=st.data())
def test_names_are_read_back_whatever_the_values(template, data):
    size = len(template.parts)
    values = data.draw(st.lists(VALUES, min_size=size, max_size=size))
    name = feature_name(template, values)
    assert "\t" not in name and len(name.splitlines()) == 1
    assert parse_feature_name(name, MANY + MANY_CRFPP) == (template, tuple(values))


@settings(deadline=None)
@given(values=st.lists(VALUES, min_size=2, max_size=2), others=st.lists(VALUES, min_size=2, max_size=2))
@example(values=["a/", "b"], others=["a", "/b"])
@example(values=["a & form[0]=b", "c"], others=["a", "b & form[0]=c"])
def test_different_values_have_different_names(values, others):
    for template in (*parse("word[-1] & word[0]"), MANY_CRFPP[2]):
        assert (feature_name(template, values) == feature_name(template, others)) == (values == others)


@pytest.mark.parametrize("name", ["", "form[7]=x", "form[0]", "form[0]=a & b", "form[0]=a\\q", "bias=", "U77:x"])
def test_a_name_that_fits_no_template_is_refused(name):
    with pytest.raises(UserError, match="does not match any of the templates: `bias`"):
        parse_feature_name(name, MANY + MANY_CRFPP[1:])


def test_the_number_of_values_must_fit():
    with pytest.raises(ValueError):
        feature_name(parse("word[0]")[0], ["a", "b"])
