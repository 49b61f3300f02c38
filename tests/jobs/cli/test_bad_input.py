"""Mistakes of every kind: exit code 2, a sentence that names the file, the line and a remedy, nothing half-written."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from perceptron_core.weights.model_file import MAGIC
from perceptron_jobs.cli.options import COMMANDS

GOOD = "the DT B-NP\nкот NN I-NP\n\n喜欢 VB B-VP\n"


@pytest.fixture
def refuse(perceptron, contents, tmp_path):
    """Runs a command that must be refused, and must change nothing below the test's folder; its sentence."""

    def run(*arguments: object, stdin: str = "") -> str:
        before = contents(tmp_path)
        refused = perceptron(*arguments, stdin=stdin)
        assert refused.code == 2 and refused.out == "", refused
        assert refused.err.count("\n") == 1 and "Traceback" not in refused.err
        assert contents(tmp_path) == before
        return refused.err

    return run


# ---------------------------------------------------------------- corpora

TRUNCATED = gzip.compress((GOOD * 500).encode(), mtime=0)[:-30]
CORPORA = {
    "too few columns": (GOOD.replace("кот NN I-NP", "кот I-NP").encode(), ":2: found 2 columns, expected 3"),
    "too many columns": (GOOD.replace("кот", "кот кот").encode(), ":2: found 4 columns, expected 3"),
    "broken UTF-8": (GOOD.encode().replace("喜".encode(), b"\xe5\x96"), ":4: is not UTF-8"),
    "empty": (b"", ": contains no sentence"),
    "blank lines": (b"\n\n \n", ": contains no sentence"),
    "truncated .gz": (TRUNCATED, "the gzip data is truncated"),
    "label of another encoding": (GOOD.replace("I-NP", "E-NP").encode(), ":1: The label 'E-NP' does not belong"),
}
REMEDIES = ("fix", "convert the file", "name a file that has one", "fetch or pack the file again", "Name the encoding")


@pytest.fixture
def task(corpus, tmp_path) -> Path:
    text = (
        (corpus / "task.yaml")
        .read_text(encoding="utf-8")
        .replace("encoding: iob2", "encoding: {input: iob1, train: iob2}")
    )
    (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "good.txt").write_text(GOOD, encoding="utf-8")
    return tmp_path / "task.yaml"


@pytest.fixture
def model(task, must, tmp_path) -> Path:
    must("train", task, "--train", tmp_path / "good.txt", "--run-dir", tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("kind", CORPORA)
def test_corpora_with_mistakes(kind, task, model, refuse, tmp_path):
    data, named = CORPORA[kind]
    bad = tmp_path / "bad.txt"
    bad.write_bytes(data)
    given = ("--train", tmp_path / "good.txt", bad)
    run = ("--run-dir", tmp_path / "run")
    sentences = [
        refuse("prepare", task, *given, "--output", tmp_path / "p"),
        refuse("train", task, *given, *run),
        refuse("train", task, *given[:-1], "--dev", bad, *run),
        refuse("evaluate", model, bad),
    ]
    for sentence in sentences:
        assert f"{bad}" in sentence and named in sentence
        assert any(remedy in sentence for remedy in REMEDIES), sentence


@pytest.mark.parametrize("kind", [kind for kind in CORPORA if not kind.startswith("label")])
def test_files_to_tag_with_mistakes(kind, task, model, refuse, tmp_path):
    data, named = CORPORA[kind]
    (tmp_path / "bad.txt").write_bytes(data)
    sentence = refuse("predict", model, tmp_path / "bad.txt", "--output", tmp_path / "out.txt")
    assert f"{tmp_path / 'bad.txt'}" in sentence and named.partition(",")[0] in sentence


def test_gold_labels_do_not_matter_when_tagging(task, model, must, tmp_path):
    (tmp_path / "odd.txt").write_bytes(CORPORA["label of another encoding"][0])
    assert must("predict", model, tmp_path / "odd.txt").startswith("the DT B-NP B-NP\nкот NN E-NP ")


def test_the_same_mistakes_found_by_processes_of_their_own(task, model, refuse, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_bytes(CORPORA["too many columns"][0])
    local = ("-r", "local")
    assert refuse("train", task, "--train", bad, "--run-dir", tmp_path / "r", *local) == refuse(
        "train", task, "--train", bad, "--run-dir", tmp_path / "r"
    )
    assert refuse("predict", model, bad, "--output", tmp_path / "o", *local) == refuse(
        "predict", model, bad, "--output", tmp_path / "o"
    )
    bad.write_bytes(CORPORA["truncated .gz"][0])
    assert refuse("evaluate", model, bad, *local) == refuse("evaluate", model, bad)


def test_of_several_mistakes_the_first_is_named(task, refuse, tmp_path):
    for name, line in (("one", "x\n"), ("two", "x y\n")):
        (tmp_path / name).write_text(line)
    given = ("--train", tmp_path / "good.txt", tmp_path / "two", tmp_path / "one", "--run-dir", tmp_path / "run")
    assert f"{tmp_path / 'two'}:1: found 2 columns" in refuse("train", task, *given)


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_files_that_are_not_there(kind, task, model, refuse, tmp_path):
    path = tmp_path / "away.txt"
    if kind == "folder":
        path.mkdir()
    good, run = tmp_path / "good.txt", ("--run-dir", tmp_path / "run")
    for command in (
        ("train", task, "--train", good, path, *run),
        ("train", task, "--train", good, "--dev", path, *run),
        ("train", task, "--train", path, "--run-dir", model),
        ("prepare", task, "--train", path, "--output", tmp_path / "p"),
        ("predict", model, good, path),
        ("evaluate", model, path),
        ("evaluate", "--predicted", path),
        ("import", path, "--task", task, "--output", tmp_path / "m"),
        ("train", path, "--train", good, *run),
    ):
        sentence = refuse(*command)
        assert str(path) in sentence
        assert (
            ("directory" in sentence or "folder" in sentence)
            if kind == "folder"
            else "no such file" in sentence.lower()
        )
    assert "no such file" in refuse("train", task, "--prepared", tmp_path / "away", *run).lower()


def test_standard_input_is_called_by_its_name(model, refuse):
    sentence = refuse("predict", model, "-", stdin="a b c d\n")
    assert "standard input:1: found 4 columns" in sentence


def test_predicted_files_with_mistakes(refuse, tmp_path):
    for text, named in (
        ("x\n", ":1: needs at least two columns"),
        ("\n", "no sentence"),
        ("a B B\na B\n", ":2: found 2"),
    ):
        (tmp_path / "p.txt").write_text(text)
        assert f"{tmp_path / 'p.txt'}" in (sentence := refuse("evaluate", "--predicted", tmp_path / "p.txt"))
        assert named in sentence


# ---------------------------------------------------------------- what is unusual but right


def test_a_label_in_dev_that_training_never_saw(task, must, tmp_path):
    (tmp_path / "dev.txt").write_text("кот NN I-名\n\nthe DT I-NP\nкот NN I-NP\n", encoding="utf-8")
    dev = ("--dev", tmp_path / "dev.txt")
    said = must("train", task, "--train", tmp_path / "good.txt", "--run-dir", tmp_path / "run", *dev)
    assert "dev has labels that training never saw: B-名; they count as wrong" in said
    assert json.loads(must("evaluate", tmp_path / "run", tmp_path / "dev.txt", "--json"))["correct_tokens"] == 2


def test_one_token_and_ten_thousand_token_sentences(task, must, tmp_path):
    words = "".join(f"w{i % 977} {'NN' if i % 3 else 'VB'} {'I-NP' if i % 3 else 'O'}\n" for i in range(10_000))
    (tmp_path / "long.txt").write_text("猫 NN I-NP\n\n" + words + "\n. . O\n", encoding="utf-8")
    command = ("train", task, "--train", tmp_path / "long.txt", "--run-dir", tmp_path / "run", "--shards", 2)
    must(*command, "--epochs", 3)
    tagged = must("predict", tmp_path / "run", tmp_path / "long.txt")
    assert tagged.count("\n") == 10_004
    assert json.loads(must("evaluate", tmp_path / "run", tmp_path / "long.txt", "--json"))["accuracy"] > 0.9


# ---------------------------------------------------------------- models


def damaged_models(good: bytes) -> dict[str, tuple[bytes, str]]:
    middle = len(good) // 2
    flipped = good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]
    header = good[:40] + bytes([good[40] ^ 1]) + good[41:]
    return {
        "altered": (flipped, "is damaged"),
        "altered header": (header, "is damaged"),
        "cut": (good[:-64], "is damaged"),
        "cut in the header": (good[:50], "is damaged"),
        "cut in the magic": (good[:7], "is damaged"),
        "grown": (good + bytes(64), "is damaged"),
        "empty": (b"", "not a model file"),
        "foreign": (b"PK\x03\x04" + good, "not a model file"),
        "text": ("модель\n".encode(), "not a model file"),
        "other version": (MAGIC[:7] + b"\x02" + good[8:], "has version 2, this program reads 1; train it again"),
    }


@pytest.mark.parametrize("kind", damaged_models(bytes(200)))
def test_models_that_are_none(kind, trained, corpus, refuse, tmp_path):
    data, named = damaged_models((trained / "model").read_bytes())[kind]
    bad, gold = tmp_path / "bad.model", corpus / "dev.txt"
    bad.write_bytes(data)
    for command in (
        ("predict", bad, gold, "--output", tmp_path / "out"),
        ("evaluate", bad, gold),
        ("inspect", bad),
        ("export", bad, "--output", tmp_path / "w.tsv"),
        ("train", corpus / "task.yaml", "--train", gold, "--init-model", bad, "--run-dir", tmp_path / "run"),
    ):
        sentence = refuse(*command)
        assert f"{bad}: " in sentence and named in sentence


def test_other_files_that_are_no_models(trained, corpus, refuse, tmp_path):
    gold = corpus / "dev.txt"
    assert "there is no such model" in refuse("predict", tmp_path / "none", gold)
    assert "is not a run directory" in refuse("predict", tmp_path, gold)
    assert "give the run directory" in refuse("predict", trained / "epoch-0003" / "average", gold)
    run = shutil.copytree(trained, tmp_path / "run")
    for epoch in run.glob("epoch-*"):
        shutil.rmtree(epoch)
    (run / "model").unlink()
    assert "has no finished epoch yet" in refuse("predict", run, gold)
    assert "is not a run directory" in refuse("report", corpus)


def test_a_model_of_other_templates_to_start_from(trained, corpus, refuse, tmp_path):
    text = (corpus / "task.yaml").read_text(encoding="utf-8") + "  - lower[0]\n"
    (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
    given = ("--train", corpus / "train.txt", "--init-model", trained, "--run-dir", tmp_path / "run")
    sentence = refuse("train", tmp_path / "task.yaml", *given)
    assert str(trained) in sentence and "has other features than the task" in sentence


# ---------------------------------------------------------------- outputs


def test_outputs_that_cannot_be_written(trained, corpus, refuse, tmp_path):
    task, text = corpus / "task.yaml", corpus / "train.txt"
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    (tmp_path / "weights.tsv").write_text("bias\tO\t1\n")
    for out in (tmp_path / "file" / "out", tmp_path / "missing" / "out"):
        for command in (
            ("predict", trained, text, "--output", out),
            ("export", trained, "--output", out),
            ("import", tmp_path / "weights.tsv", "--task", task, "--output", out),
            ("report", trained, "--svg", out),
        ):
            sentence = refuse(*command)
            assert f"cannot write {out}" in sentence and "check the folder" in sentence
    assert "cannot write" in refuse("predict", trained, text, "--output", tmp_path / "folder")
    below = tmp_path / "file" / "run"
    assert f"the folder {below}" in refuse("train", task, "--train", text, "--run-dir", below)
    assert f"the folder {tmp_path / 'file'}" in refuse("train", task, "--train", text, "--run-dir", tmp_path / "file")
    assert f"the folder {tmp_path / 'file'}" in refuse("prepare", task, "--train", text, "--output", below)


def test_prepare_does_not_write_over_anything(corpus, refuse, must, tmp_path):
    given = ("prepare", corpus / "task.yaml", "--train", corpus / "train.txt", "--output", tmp_path / "p")
    must(*given)
    assert f"{tmp_path / 'p'} exists already; choose another --output" in refuse(*given)


@pytest.mark.parametrize("damage", ["altered", "cut", "deleted", "manifest"])
def test_a_prepared_corpus_that_was_damaged(damage, corpus, refuse, must, tmp_path):
    task, folder = corpus / "task.yaml", tmp_path / "p"
    must("prepare", task, "--train", corpus / "train.txt", "--output", folder, "--shards", 2)
    path = folder / ("prepared.json" if damage == "manifest" else "shard-00001-of-00002.gz")
    data = path.read_bytes()
    path.write_bytes(data[:-20] if damage in ("cut", "manifest") else data[:30] + b"x" + data[31:])
    if damage == "deleted":
        path.unlink()
    sentence = refuse("train", task, "--prepared", folder, "--run-dir", tmp_path / "run")
    assert str(path) in sentence and "prepare the corpus again" in sentence


# ---------------------------------------------------------------- the command line itself


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["--shards", "0"], "--shards: 0 must be 1 or more"),
        (["--epochs", "-1"], "--epochs: -1 must be 1 or more"),
        (["--epochs", "many"], "--epochs: invalid"),
        (["--mixing", "best"], "invalid choice: 'best'"),
        (["--learner", "svm"], "invalid choice: 'svm'"),
        (["-r", "spark"], "invalid choice: 'spark'"),
        (["--aggressiveness", "0"], "aggressiveness: 0.0 must be a finite number greater than 0"),
        (["--patience", "3"], "give --dev"),
        (["--minibatch", "0"], "--minibatch: 0 must be 1 or more"),
        (["--minibatch", "8", "--learner", "pa1"], "minibatch: the learner pa1 takes one sentence at a time"),
        (["--threads", "2"], "give --minibatch M as well"),
        (["--k-best", "3"], "k-best: the learner perceptron uses only the best label sequence; choose mira"),
        (["--k-best", "3", "--learner", "mira", "--decoder", "greedy"], "choose viterbi or beam"),
        (["--prepared", "p"], "either by --train FILE... or by --prepared DIR"),
        (["-c", "none.conf"], "none.conf"),
        (["--no-such-option"], "unrecognized arguments: --no-such-option"),
    ],
)
def test_options_with_mistakes(arguments, named, corpus, perceptron, contents, tmp_path):
    given = ("--train", corpus / "train.txt", "--run-dir", tmp_path / "run")
    refused = perceptron("train", corpus / "task.yaml", *given, *arguments)
    assert refused.code == 2 and refused.out == "" and named in refused.err
    assert contents(tmp_path) == {}


def test_what_is_missing_is_named(corpus, refuse, tmp_path):
    task, text = corpus / "task.yaml", corpus / "train.txt"
    assert "--run-dir is missing" in refuse("train", task, "--train", text)
    assert "--output is missing" in refuse("prepare", task, "--train", text)
    assert "--train" in refuse("train", task, "--run-dir", tmp_path / "run")


def test_a_file_that_is_not_a_configuration_of_mrjob(corpus, refuse, tmp_path):
    (tmp_path / "mrjob.conf").write_text("runners: {inline: [\n")
    given = ("--train", corpus / "train.txt", "--run-dir", tmp_path / "run", "-c", tmp_path / "mrjob.conf")
    assert f"{tmp_path / 'mrjob.conf'}: is not an mrjob configuration" in refuse("train", corpus / "task.yaml", *given)


@pytest.mark.parametrize("arguments", [[], ["fit"]])
def test_no_command_or_an_unknown_one(arguments, perceptron):
    refused = perceptron(*arguments)
    assert refused.code == 2 and "usage: perceptron" in refused.err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_with_an_example(command, perceptron):
    shown = perceptron(command, "--help")
    assert shown.code == 0 and shown.err == ""
    assert f"example:\n  perceptron {command} " in shown.out
    assert command in perceptron("--help").out


def test_version(perceptron):
    shown = perceptron("--version")
    assert shown.code == 0 and shown.out.startswith("perceptron 0.")
