"""A parser through the commands: train, predict, evaluate, inspect, export, import; the same bytes on every runner."""

import json
from pathlib import Path
from typing import Any, Callable

import pytest

from perceptron_core.registry import TREE_DECODERS
from runs import deciding
from treebank import treebank

TASK = """\
kind: tree
columns: [form, lemma, upos, xpos, feats]
features:
  - head.form & child.form
  - head.upos & child.upos
  - child.form & child.upos
  - left.upos & between.upos & right.upos
  - head.upos & child.upos & child.Case(feats)
  - child.upos & distance & direction
  - sibling.upos & child.upos
  - head.upos & sibling.upos & child.upos
relations:
  - head.upos & child.upos & direction
  - child.form & grand.upos
  - child.Case(feats) & head.lemma & next.upos
"""
FIRST_ORDER = TASK.replace("  - sibling.upos & child.upos\n  - head.upos & sibling.upos & child.upos\n", "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("trees")
    (made / "task.yaml").write_text(TASK, encoding="utf-8")
    (made / "first.yaml").write_text(FIRST_ORDER, encoding="utf-8")
    (made / "train.conllu").write_text(treebank(1, 60), encoding="utf-8")
    (made / "dev.conllu").write_text(treebank(2, 20), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def trained(folder: Path, must: Callable[..., str]) -> Path:
    files = ("--train", folder / "train.conllu", "--dev", folder / "dev.conllu")
    printed = must("train", folder / "task.yaml", *files, "--run-dir", folder / "run", "--epochs", 5)
    assert "dev LAS" in printed
    return folder / "run"


def options_of(folder: Path, decoder: str) -> tuple[Any, ...]:
    task = "task.yaml" if decoder in ("eisner2", "climb") else "first.yaml"
    return (folder / task, "--train", folder / "train.conllu", "--decoder", decoder, "--epochs", 2, "--shards", 3)


@pytest.mark.parametrize("decoder", TREE_DECODERS)
def test_inline_and_local_give_the_same_bytes(
    decoder: str, folder: Path, tmp_path: Path, must: Callable[..., str], contents: Any
) -> None:
    options = (*options_of(folder, decoder), "--learner", "mira", "--k-best", 2)
    must("train", *options, "--run-dir", tmp_path / "inline")
    must("train", *options, "--run-dir", tmp_path / "local", "-r", "local", "--reducers", 2)
    assert deciding(contents(tmp_path / "inline")) == deciding(contents(tmp_path / "local"))


def test_a_run_that_goes_on_ends_with_the_same_bytes(
    folder: Path, tmp_path: Path, must: Callable[..., str], contents: Any
) -> None:
    options = options_of(folder, "eisner2")
    must("train", *options[:-3], 1, *options[-2:], "--run-dir", tmp_path / "parts")
    must("train", *options, "--run-dir", tmp_path / "parts")
    must("train", *options, "--run-dir", tmp_path / "whole")
    assert deciding(contents(tmp_path / "parts")) == deciding(contents(tmp_path / "whole"))


def test_predict_replaces_head_and_relation_and_keeps_the_rest(
    trained: Path, folder: Path, must: Callable[..., str]
) -> None:
    gold = (folder / "dev.conllu").read_text(encoding="utf-8")
    blank = "\n".join(_without_tree(line) for line in gold.split("\n"))
    (folder / "blank.conllu").write_text(blank, encoding="utf-8")
    parsed = must("predict", trained, folder / "blank.conllu")
    assert parsed == must("predict", trained, folder / "dev.conllu")  # what was in the fields does not matter
    changed = 0
    for before, after in zip(blank.split("\n"), parsed.split("\n")):
        if before.split("\t")[0].isdigit():
            fields, found = before.split("\t"), after.split("\t")
            assert found[:6] + found[8:] == fields[:6] + fields[8:]
            assert found[6].isdigit() and found[7] != "_"
            changed += 1
        else:
            assert before == after
    assert changed > 20


def _without_tree(line: str) -> str:
    fields = line.split("\t")
    return "\t".join([*fields[:6], "_", "_", *fields[8:]]) if fields[0].isdigit() else line


def test_evaluate_scores_a_model_as_it_scores_its_output(
    trained: Path, folder: Path, tmp_path: Path, must: Callable[..., str]
) -> None:
    must("predict", trained, folder / "dev.conllu", "--output", tmp_path / "parsed.conllu")
    by_model = must("evaluate", trained, folder / "dev.conllu")
    assert must("evaluate", folder / "dev.conllu", tmp_path / "parsed.conllu") == by_model
    assert "UAS" in by_model and "LAS" in by_model


def test_the_model_learned_something(trained: Path, folder: Path, must: Callable[..., str]) -> None:
    entries = [json.loads(line) for line in (trained / "history.jsonl").read_text(encoding="utf-8").splitlines()]
    assert entries[-1]["dev"]["score"] > 0.6
    assert entries[-1]["errors"] < entries[0]["errors"]


def test_the_report_draws_trees(trained: Path) -> None:
    page = (trained / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page and "UAS" in page and "nsubj" in page


def test_names_go_out_and_come_in_again(trained: Path, folder: Path, tmp_path: Path, must: Callable[..., str]) -> None:
    must("export", trained, "--output", tmp_path / "weights.txt")
    lines = (tmp_path / "weights.txt").read_text(encoding="utf-8").splitlines()
    names = {line.split("\t")[0] for line in lines}
    assert any(name.startswith("left.upos[0]=") and " & between.upos[0]=" in name for name in names)
    assert any("sibling.upos[0]=<none>" in name for name in names)
    assert any("head.upos[0]=<root>" in name for name in names)
    assert any(name.startswith("relation: ") and "grand.upos[0]=<none>" in name for name in names)
    assert any("Case(feats)[0]=Acc" in name for name in names)
    assert {"any", "right 1", "left 2", "root", "nsubj"} <= {line.split("\t")[1] for line in lines}
    must("import", tmp_path / "weights.txt", "--task", folder / "task.yaml", "--output", tmp_path / "model")
    assert must("predict", tmp_path / "model", folder / "dev.conllu") == must("predict", trained, folder / "dev.conllu")
    assert "root" in must("inspect", trained, "--label", "root", "--top", 3)


def test_without_relations_only_heads_are_written(folder: Path, tmp_path: Path, must: Callable[..., str]) -> None:
    text = TASK.split("relations:")[0] + "labelled: false\n"
    (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
    must(
        "train",
        tmp_path / "task.yaml",
        "--train",
        folder / "train.conllu",
        "--run-dir",
        tmp_path / "run",
        "--epochs",
        2,
    )
    parsed = must("predict", tmp_path / "run", folder / "dev.conllu")
    gold = (folder / "dev.conllu").read_text(encoding="utf-8")
    for before, after in zip(gold.split("\n"), parsed.split("\n")):
        assert before.split("\t")[7:] == after.split("\t")[7:]
    assert parsed != gold


@pytest.mark.parametrize("decoder", TREE_DECODERS)
def test_a_sentence_of_a_thousand_words_is_parsed(
    decoder: str, folder: Path, tmp_path: Path, must: Callable[..., str]
) -> None:
    must("train", *options_of(folder, decoder), "--run-dir", tmp_path / "run")
    lines = [f"{i}\tкот\tкот\tNOUN\t_\t_\t_\t_\t_\t_" for i in range(1, 1001)]
    (tmp_path / "long.conllu").write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    parsed = must("predict", tmp_path / "run", tmp_path / "long.conllu")
    heads = [int(line.split("\t")[6]) for line in parsed.split("\n") if line]
    assert len(heads) == 1000 and heads.count(0) == 1


# ---------------------------------------------------------------- bad input

LINE = "1\tкот\tкот\tNOUN\t_\t_\t{}\t{}\t_\t_\n"
TWO = "1\ta\ta\tNOUN\t_\t_\t{}\tx\t_\t_\n2\tb\tb\tVERB\t_\t_\t{}\tx\t_\t_\n\n"
TREEBANKS = {
    "a head out of range": (LINE.format(7, "root") + "\n", ":1: word 1 (кот) has the head '7'"),
    "a cycle": (TWO.format(2, 1), "root"),
    "two roots": (TWO.format(0, 0), ":2: word 2 (b) is a second root"),
    "no relation": (LINE.format(0, "_") + "\n", ":1: word 1 (кот) has no relation"),
    "no tag": (LINE.format(0, "root").replace("NOUN", "_") + "\n", ":1: word 1 (кот) has no upos"),
}


@pytest.mark.parametrize("name", TREEBANKS)
def test_a_bad_tree_is_refused(name: str, folder: Path, tmp_path: Path, perceptron: Any) -> None:
    text, sentence = TREEBANKS[name]
    (tmp_path / "bad.conllu").write_text(text, encoding="utf-8")
    refused = perceptron(
        "train", folder / "task.yaml", "--train", tmp_path / "bad.conllu", "--run-dir", tmp_path / "run"
    )
    assert refused.code == 2 and sentence in refused.err and refused.err.count("\n") == 1, refused
    assert not list(tmp_path.glob("run/epoch*"))


REFUSED = {
    "--decoder viterbi": "viterbi does not work for tree; choose one of eisner2",
    "--decoder eisner": "looks at a sibling, which eisner does not score; choose --decoder eisner2 or climb",
    "--learner naive-bayes": "naive-bayes counts labels, and a tree has none",
    "--mixing scaled": "scaled counts the features of every shard",
    "--update early": "update: early does not work for tree",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_a_tree_cannot_do_is_refused(options: str, folder: Path, tmp_path: Path, perceptron: Any) -> None:
    files = ("--train", folder / "train.conllu", "--run-dir", tmp_path / "run")
    refused = perceptron("train", folder / "task.yaml", *files, *options.split())
    assert refused.code == 2 and REFUSED[options] in refused.err, refused
    assert not (tmp_path / "run").exists()


TASK_FILES = {
    "head.form & left.upos": "use the ones or the others",
    "word[0]": "does not say where to look",
    "hed.form": "Did you mean `head`?",
    "left.upos & right.upos & distance": "direction and distance go with head and child",
    "left.upos": "name both left and right",
    "sibling.upos": "name the child",
    "grand.upos": "does not say where to look",
}


@pytest.mark.parametrize("template", TASK_FILES)
def test_a_template_that_makes_no_sense_is_refused(
    template: str, folder: Path, tmp_path: Path, perceptron: Any
) -> None:
    (tmp_path / "task.yaml").write_text(TASK.replace("head.form & child.form", template), encoding="utf-8")
    files = ("--train", folder / "train.conllu", "--run-dir", tmp_path / "run")
    refused = perceptron("train", tmp_path / "task.yaml", *files)
    assert refused.code == 2 and TASK_FILES[template] in refused.err, refused


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("encoding: iob2", "is for sequences of labels"),
        ("metric: accuracy", "metric"),
        ("roots: two", "must be one or any"),
        ("labelled: maybe", "must be true or false"),
        ("kind: sequence", "is for the kind tree"),
    ],
)
def test_a_key_that_makes_no_sense_is_refused(
    key: str, sentence: str, folder: Path, tmp_path: Path, perceptron: Any
) -> None:
    text = TASK.replace("kind: tree", key) if key.startswith("kind") else TASK + key + "\n"
    (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
    refused = perceptron(
        "train", tmp_path / "task.yaml", "--train", folder / "train.conllu", "--run-dir", tmp_path / "r"
    )
    assert refused.code == 2 and sentence in refused.err, refused
