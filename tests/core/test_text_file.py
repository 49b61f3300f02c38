"""YAML and text files of users: mistakes have their line, and bombs are refused."""

import os

import pytest

from perceptron_core.errors import InputError
from perceptron_core.text_file import parse_yaml, read_text

BOMB = "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n"


@pytest.mark.parametrize(
    "text, told",
    [
        (BOMB, "x.yaml:2: this is not YAML: \\*a repeats a value"),
        ("a: [", "x.yaml:1: this is not YAML"),
        ("a: " + "[" * 5_000, "nested too deeply"),
        ("a: " + "1" * 5_000, "x.yaml: .*a value cannot be read"),
        ("a: 2001-99-99", "month must be"),
        ("a: !!int ''", "a value cannot be read"),
        ("a: !!bool x", "a value cannot be read"),
        ("a: !!timestamp x", "a value cannot be read"),
        ("a: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
        ("<<: [1, 2]", "x.yaml:1: this is not YAML"),
    ],
)
def test_what_is_refused(text, told):
    with pytest.raises(InputError, match=told) as caught:
        parse_yaml(text, "x.yaml")
    assert len(str(caught.value)) < 400


def test_plain_values_are_read():
    assert parse_yaml("a: [1, x, 2.5, true, ~]\nb: {имя: 'é'}", "x") == {
        "a": [1, "x", 2.5, True, None],
        "b": {"имя": "é"},
    }


def test_devices_and_pipes(tmp_path):
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    for path, named_in in (("/dev/zero", None), ("/dev/zero", "task.yaml"), (pipe, "task.yaml")):
        with pytest.raises(InputError, match=f"^{path}: is a device or a pipe"):
            read_text(path, named_in)
    (tmp_path / "file").write_bytes(b"\xff")
    for path, told in (
        (tmp_path / "none", "No such file"),
        (tmp_path / "file", "is not UTF-8"),
        ("a\0b", "is not the name"),
    ):
        with pytest.raises(InputError, match=told):
            read_text(str(path), "task.yaml")
