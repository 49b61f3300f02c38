"""Labels that a format could not write, so that they come back, are refused by it."""

import pytest

from perceptron_core.corpus import FORMATS, make_format
from perceptron_core.errors import InputError, UserError
from perceptron_core.task_file import read_task

INPUTS = {
    "conllu_tree": ["form", "upos"],
    "svmlight": ["number"],
    "label_text": ["text"],
    "csv": ["text"],
    "tsv": ["text"],
    "conllu": ["form", "upos"],
}


def of(name, **options):
    predict = {"conllu": "upos", "conllu_tree": "head"}.get(name, "tag")
    columns = INPUTS.get(name, ["word", "tag"])
    return make_format(name, columns, predict, **options)


@pytest.mark.parametrize("label", ["", "a\0b", "a\tb", "a\nb", "a\rb"])
@pytest.mark.parametrize("name", FORMATS)
def test_no_format_writes_these(name, label):
    with pytest.raises(UserError, match="the label .* cannot write it; give it another name"):
        of(name).check_labels(["good", label])


@pytest.mark.parametrize(
    "name, options, label",
    [
        ("columns", {}, "a b"),
        ("word_tag", {}, "a_b"),
        ("word_tag", {"separator": "/"}, "a/b"),
        ("raw", {}, "a b"),
        ("svmlight", {}, "a:b"),
        ("svmlight", {}, "#a"),
        ("label_text", {}, " a"),
        ("csv", {}, "a "),
    ],
)
def test_what_would_not_come_back(name, options, label):
    with pytest.raises(UserError, match="the label"):
        of(name, **options).check_labels([label])


@pytest.mark.parametrize(
    "name, options, label",
    [("columns", {"separator": "tab"}, "a b"), ("word_tag", {"separator": "/"}, "a_b"), ("csv", {}, 'a "b", c')],
)
def test_what_would(name, options, label):
    of(name, **options).check_labels([label, "B-名", "\u2028"])


TASK = "columns: [word, tag]\npredict: tag\nfeatures: ['word[0]']\nformat_options: {separator: tab}\n"


@pytest.mark.parametrize(
    "text, line, told",
    [
        ("a\tA\n\nb\t\n", 3, "'' is empty"),
        ("a\tA\n\n\nb\tB\nc\tC\0\n", 4, "contains NUL"),
        ("a\tA\rB\n", 1, "a line break"),
    ],
)
def test_a_corpus_with_such_labels_is_refused_with_its_line(tmp_path, text, line, told):
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "x").write_text(text, newline="")
    with pytest.raises(InputError, match=told) as caught:
        list(read_task(str(tmp_path / "task.yaml")).read(str(tmp_path / "x"), "required"))
    assert caught.value.line == line


def test_too_many_labels(tmp_path):
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "x").write_text("".join(f"w\tL{i}\n\n" for i in range(5_001)))
    task = read_task(str(tmp_path / "task.yaml"))
    with pytest.raises(
        InputError, match="more than 5,000 different labels; is tag the column to predict.*labels=N"
    ) as e:
        list(task.read(str(tmp_path / "x"), "required"))
    assert e.value.line == 10_001
    with pytest.raises(UserError, match="more than 5,000 different labels"):
        task.labels([f"L{i}" for i in range(70_000)])
