"""Functions from a user's Python file."""

import functools
import os
import sys

import pytest

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.user_code import checked_attribute, checked_extractor, load_functions

SENTENCE = [("Он", "PRP"), ("", "X"), ("中国", "NNP")]


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="mine.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write_file


def test_the_public_functions_of_the_file(write):
    path = write(
        "from __future__ import annotations\n"
        "import functools\n"
        "from dataclasses import dataclass\n"
        "from os.path import join\n"
        "def ending(word):\n    return word[-2:]\n"
        "@functools.lru_cache(maxsize=None)\ndef cached(word):\n    return _hidden(word)\n"
        "def _hidden(word):\n    return '中' + word\n"
        "short = lambda word: word[:1]\n"
        "number = 3\n"
        "@dataclass\nclass Thing:\n    size: int\n"
    )
    functions = load_functions(path)
    assert list(functions) == ["ending", "cached", "short"]
    assert functions["ending"]("слово") == "во"
    assert functions["cached"]("国") == "中国"


def test_an_empty_file_has_none(write):
    assert load_functions(write("")) == {}


def test_nothing_public_is_left_behind(write, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    modules, search_path = set(sys.modules), list(sys.path)
    load_functions(write("def f(word): return word"))
    assert all(name.startswith("_perceptron_user_code_") for name in set(sys.modules) - modules)
    assert "mine" not in sys.modules
    assert sys.path == search_path
    assert os.listdir(tmp_path) == ["mine.py"]


def test_a_file_that_fails_leaves_no_module(write):
    modules = set(sys.modules)
    with pytest.raises(UserError):
        load_functions(write("1 / 0"))
    assert set(sys.modules) == modules


def test_files_of_one_name_do_not_meet(write, tmp_path):
    (tmp_path / "other").mkdir()
    first = load_functions(write("def f(word): return 'first'"))
    second = load_functions(write("def f(word): return 'second'", "other/mine.py"))
    assert (first["f"](""), second["f"]("")) == ("first", "second")


def test_a_changed_file_is_read_again(write, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    # Of equal size and within one second, so that cached bytecode would look fresh.
    assert load_functions(write("def f(word): return 1"))["f"]("") == 1
    assert load_functions(write("def f(word): return 2"))["f"]("") == 2


def test_a_relative_path(write, tmp_path, monkeypatch):
    write("def f(word):\n    return word\n1 / 0\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="^mine.py:3: "):
        load_functions("mine.py")


@pytest.mark.parametrize("name", ["missing.py", "."])
def test_a_missing_file(tmp_path, name):
    with pytest.raises(UserError, match=r"missing.py|not a Python file"):
        load_functions(str(tmp_path / name))


def test_a_directory_is_no_file(tmp_path):
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(UserError, match="There is no file"):
        load_functions(str(tmp_path / "folder.py"))


def test_not_a_python_file(write):
    with pytest.raises(UserError, match=r"ends in `\.py`"):
        load_functions(write("def f(word): return word", "mine.txt"))


@pytest.mark.parametrize(
    "text, line, message",
    [
        ("x = 1\n1 / 0\n", 2, "ZeroDivisionError: division by zero"),
        ("def f(:\n", 1, "SyntaxError"),
        ("\nimport no_such_module_of_anybody\n", 2, "ModuleNotFoundError: .*no_such_module_of_anybody"),
        ("import os\n\nos.stat('no such file')\n", 3, "FileNotFoundError"),
        ("import sys\nsys.exit('bye')\n", 2, "SystemExit: bye"),
        ("def g():\n    raise KeyError('ключ')\ng()\n", 2, "KeyError: 'ключ'"),
    ],
)
def test_an_exception_on_import_is_the_users_with_its_line(write, text, line, message):
    path = write(text)
    with pytest.raises(InputError, match=message) as caught:
        load_functions(path)
    assert (caught.value.source, caught.value.line) == (path, line)
    assert "The file could not be imported" in str(caught.value)


def test_a_good_attribute_is_unchanged():
    attribute = checked_attribute("half", lambda word: word[: len(word) // 2] or None, "mine.py")
    assert (attribute("слово"), attribute("")) == ("сл", None)


def test_an_attribute_that_raises(write):
    path = write("def bad(word):\n    return word[7]\n")
    attribute = checked_attribute("bad", load_functions(path)["bad"], path)
    assert attribute("12345678") == "8"
    with pytest.raises(InputError, match=r"`bad` failed on the word '中国': IndexError") as caught:
        attribute("中国")
    assert (caught.value.source, caught.value.line) == (path, 2)


@pytest.mark.parametrize("value", [3, b"x", ["x"], True])
def test_an_attribute_that_returns_something_else(value):
    attribute = checked_attribute("bad", lambda word: value, "mine.py")
    with pytest.raises(UserError, match=r"^mine.py: .*`bad` returned .* for the word 'Он'; .*string, or None"):
        attribute("Он")


def test_an_attribute_with_other_arguments_has_no_line():
    with pytest.raises(InputError, match="^mine.py: .*TypeError") as caught:
        checked_attribute("bad", lambda: "x", "mine.py")("Он")
    assert caught.value.line is None


def test_a_good_extractor_is_unchanged():
    extractor = checked_extractor("pair", lambda sentence, i: [sentence[i][0], "pos=" + sentence[i][1]], "mine.py")
    assert [extractor(SENTENCE, position) for position in range(3)] == [
        ["Он", "pos=PRP"],
        ["", "pos=X"],
        ["中国", "pos=NNP"],
    ]
    assert checked_extractor("none", lambda sentence, i: [], "mine.py")(SENTENCE, 0) == []


def test_an_extractor_that_raises(write):
    path = write("def bad(sentence, i):\n    return [\n        sentence[i + 1][0],\n    ]\n")
    extractor = checked_extractor("bad", load_functions(path)["bad"], path)
    assert extractor(SENTENCE, 1) == ["中国"]
    with pytest.raises(InputError, match=r"`bad` failed on the word '中国' \(position 2\): IndexError") as caught:
        extractor(SENTENCE, 2)
    assert (caught.value.source, caught.value.line) == (path, 3)


@pytest.mark.parametrize("value", [None, "abc", ("a", "b"), [1], ["a", None], iter(["a"])])
def test_an_extractor_that_returns_something_else(value):
    extractor = checked_extractor("bad", functools.partial(lambda value, sentence, i: value, value), "mine.py")
    with pytest.raises(UserError, match=r"`bad` returned .* the word 'Он' \(position 0\); .*list of strings"):
        extractor(SENTENCE, 0)
