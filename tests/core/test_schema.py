"""Schemas: what is refused, with which place; and JSON that cannot be read."""

import json

import pytest

from perceptron_core.errors import InputError, UserError, shown
from perceptron_core.schema import (
    check,
    dict_of,
    fault,
    flag,
    list_of,
    number,
    one_of,
    or_nothing,
    read_json,
    record,
    row_of,
    text,
    whole,
)
from perceptron_core.task_record import word_classes

LOOKUPS = dict_of(word_classes)
NESTED = record({"a": list_of(record({"b": whole(1, 3)}))}, may={"c": or_nothing(text())})


@pytest.mark.parametrize(
    "schema, good, bad",
    [
        (whole(1, 3), [1, 3], [0, 4, 1.0, True, "1", None]),
        (number(0, 1), [0, 0.5, 1], [-0.1, 1.1, float("nan"), float("inf"), True, "0"]),
        (text(), ["", "имя", "a\nb"], [1, None, b"a", "\ud800"]),
        (text("[a-c]+"), ["abc"], ["", "abd", "abc\n"]),
        (one_of("a", 1), ["a", 1], ["b", True, 1.0, ["a"]]),
        (flag, [True, False], [0, 1, None]),
        (or_nothing(flag), [None, True], [0]),
        (list_of(whole(), 1, 2), [[1], [1, 2]], [[], [1, 2, 3], ["a"], (1,), {}]),
        (list_of(whole(), distinct=True), [[1, 2]], [[1, 1]]),
        (row_of(whole(), text()), [[1, "a"]], [[1], ["a", 1], [1, "a", 2]]),
        (dict_of(whole()), [{}, {"a": 1}], [{"a": "b"}, {1: 1}, {"\ud800": 1}, []]),
        (NESTED, [{"a": []}, {"a": [{"b": 1}], "c": None}], [{}, {"a": [], "d": 1}, {"a": [{}]}, {"a": [], "c": 1}]),
    ],
)
def test_what_fits_and_what_does_not(schema, good, bad):
    assert [fault(value, schema) for value in good] == [None] * len(good)
    assert all(fault(value, schema) for value in bad)


def test_the_place_is_named():
    with pytest.raises(
        InputError, match=r"^x.json: is damaged: `a\[1\].b` is 9, but must be .* from 1 to 3; remove it"
    ):
        check({"a": [{"b": 1}, {"b": 9}]}, NESTED, "x.json", "remove it")


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b"[" * 20_000, b"[NaN]", b"[Infinity]", b'["\\ud800"]', b"[" + b"1" * 5_000 + b"]"],
    ids=["empty", "cut", "not UTF-8", "deep", "NaN", "infinite", "half a pair", "5,000 digits"],
)
def test_json_that_is_none_of_ours(data):
    with pytest.raises(InputError, match="^x.json: is damaged: .*; remove it$"):
        read_json(data, list_of(text()), "x.json", "remove it")


def test_json_that_is():
    assert read_json(json.dumps(["имя"]), list_of(text()), "x.json", "") == ["имя"]


@pytest.mark.parametrize(
    "value", ["a" * 10**6, "a b" * 10**6, [["x" * 999] * 99] * 9, dict.fromkeys(range(999), "y" * 99)]
)
def test_no_message_is_long(value):
    assert len(shown(value)) < 500
    assert len(str(UserError(f"found {value}; remove it"))) < 2_100
    problem = InputError(f"found {value}; remove it", "file", 7)
    assert str(problem).startswith("file:7: found ") and str(problem).endswith("remove it")
    assert len(problem.problem) < 2_100


def test_a_message_cannot_control_the_terminal():
    assert str(UserError("a\x1b[2Jb\rc\nd")) == "a\\x1b[2Jb\\x0dc\nd"


@pytest.mark.parametrize("lookup", [{"a": 1}, {1: "a"}, {"a": "\ud800"}, {"\ud800": "a"}, ["a"], None])
def test_a_lookup_that_is_none(lookup):
    assert "`lookups['x']" in str(fault({"lookups": {"x": lookup}}, record({"lookups": LOOKUPS})))
    assert fault({"lookups": {"x": {"кот": "животное"}, "y": {}}}, record({"lookups": LOOKUPS})) is None
