"""`perceptron evaluate`: conlleval's numbers, whether it predicts by itself or reads predictions."""

import json
import shutil
import subprocess
import sys

import pytest

from waiting import read_line, started

CASES = ("corner-hyphen", "corner-nogold", "corner-none", "corner-nopred", "iob1", "iob2", "wild")


@pytest.mark.corpus
@pytest.mark.parametrize("case", CASES)
def test_the_report_is_conlleval_s(case, data, must):
    expected = (data / "conlleval" / f"{case}.out").read_text(encoding="utf-8")
    printed = must("evaluate", "--predicted", data / "conlleval" / f"{case}.txt", "--metric", "spans")
    assert printed == expected


@pytest.mark.corpus
@pytest.mark.parametrize("case", [case for case in CASES if case != "corner-hyphen"])
def test_chunk_labels_are_recognised(case, data, must):
    path = data / "conlleval" / f"{case}.txt"
    assert must("evaluate", "--predicted", path) == must("evaluate", "--predicted", path, "--metric", "spans")


@pytest.mark.corpus
def test_every_recorded_case_is_tested(data):
    assert {path.stem for path in (data / "conlleval").glob("*.out")} == set(CASES)


@pytest.mark.parametrize("which", ["averaged", "last"])
def test_predicting_first_is_the_same(which, trained, corpus, must, tmp_path):
    files = [corpus / "train.txt", corpus / "dev.txt"]
    direct = must("evaluate", trained, *files, "--weights", which)
    must("predict", trained, *files, "--weights", which, "--output", tmp_path / "tagged.txt")
    assert must("evaluate", "--predicted", tmp_path / "tagged.txt") == direct
    assert must("evaluate", trained, *files, "--weights", which, "-r", "local") == direct


def test_json_has_the_numbers_of_the_report(trained, corpus, must):
    report = must("evaluate", trained, corpus / "dev.txt")
    score = json.loads(must("evaluate", trained, corpus / "dev.txt", "--json"))
    assert f"processed {score['tokens']} tokens with {score['gold']} phrases" in report
    assert f"found: {score['found']} phrases; correct: {score['correct']}." in report
    assert f"FB1: {100 * score['f1']:6.2f}" in report
    for name, chunks in score["types"].items():
        assert f"{name}: precision: {100 * chunks['precision']:6.2f}%" in report
    assert set(score["types"]) == {"NP", "VP", "名"}
    assert 0 < score["sentence_accuracy"] < score["accuracy"] < 1


def test_tags_are_scored_by_accuracy(must, tmp_path):
    (tmp_path / "a.txt").write_text("the D D\nкот N V\n\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("猫 N N\n", encoding="utf-8")
    score = json.loads(must("evaluate", "--predicted", tmp_path / "a.txt", tmp_path / "b.txt", "--json"))
    assert (score["tokens"], score["correct_tokens"], score["sentences"], score["correct_sentences"]) == (3, 2, 2, 1)
    assert score["accuracy"] == pytest.approx(2 / 3)
    assert "N → V" in must("evaluate", "--predicted", tmp_path / "a.txt")


@pytest.mark.parametrize(
    "arguments",
    [[], ["{model}"], ["{model}", "{gold}", "--predicted", "{gold}"]],
    ids=["nothing", "no gold", "both forms"],
)
def test_the_two_forms_do_not_mix(arguments, trained, corpus, perceptron):
    given = [argument.format(model=trained, gold=corpus / "dev.txt") for argument in arguments]
    refused = perceptron("evaluate", *given)
    assert refused.code == 2 and "MODEL and GOLD" in refused.err


def test_more_than_one_label_encoding_gives_the_same_report(corpus, must, tmp_path):
    """Training on IOBES and writing IOB2 back scores by chunks, not by tags."""
    task = (corpus / "task.yaml").read_text(encoding="utf-8")
    encoding = "encoding: {input: iob2, train: iobes, output: iob2}"
    (tmp_path / "task.yaml").write_text(task.replace("encoding: iob2", encoding), encoding="utf-8")
    run, dev = tmp_path / "run", corpus / "dev.txt"
    must("train", tmp_path / "task.yaml", "--train", corpus / "train.txt", "--run-dir", run, "--epochs", 3)
    direct = must("evaluate", run, dev)
    must("predict", run, dev, "--output", tmp_path / "tagged.txt")
    phrases = [line.split("; ", 1)[1] for line in must("evaluate", "--predicted", tmp_path / "tagged.txt").splitlines()]
    assert [line.split("; ", 1)[1] for line in direct.splitlines()] == phrases


def test_a_closed_pipe_is_no_error(trained, corpus, tmp_path):
    shutil.copy(trained / "model", tmp_path / "model")
    command = [
        sys.executable,
        "-m",
        "perceptron_jobs.cli.main",
        "predict",
        str(tmp_path / "model"),
        *[str(corpus / "train.txt")] * 40,
    ]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        assert read_line("the first prediction", process.stdout)
        process.stdout.close()
        assert process.wait(120) == 0
        assert process.stderr.read() == b""
