"""`perceptron inspect`, `export` and `import`: weights by the names of their features, written and read back."""

import re
import shutil
from pathlib import Path

import pytest

TEMPLATE = "U00:%x[-1,0]\nU01:%x[0,0]/%x[0,1]\nU02:%x[-2,1]%x[1,1]\nU03\nB\nB01:%x[0,1]\n"
EXTRACTOR = 'def extract(sentence, i):\n    return ["w=" + sentence[i][0], "a & \\\\ b\\t中", "p=" + sentence[i][1]]\n'
COLUMNS = "columns: [word, pos, chunk]\npredict: chunk\nencoding: iob2\nmetric: spans\n"
TASKS = {
    "names": "features: ['word[-1..1]', 'word[-1] & word[0]', 'suffix2[0]', 'pos[-2..2]']\n",
    "crf++": "crfpp: template\n",
    "label bigrams": "features: ['word[0]', 'label[-1] & pos[0]', 'label[-1] & pos[-1] & word[0]']\n",
    "extractor": "features: ['shape[0]']\npython: mine.py\nextractor: extract\n",
    "no structure": "features: ['word[0]']\ntransitions: false\nstart_stop: false\nbias: false\n",
    "greedy": "features: ['word[0]']\noptions: {decoder: greedy}\n",
}


@pytest.fixture
def folder(corpus, tmp_path, monkeypatch) -> Path:
    """A folder with the corpus (and words that look like the syntax of names) to work in."""
    odd = "a&b NN B-NP\n\\t VB B-VP\nx=y NN B-NP\nU01:/ NN I-NP\n% NN B-NP\n# # O\n\n"
    for name in ("train.txt", "dev.txt"):
        (tmp_path / name).write_text(odd + (corpus / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "template").write_text(TEMPLATE)
    (tmp_path / "mine.py").write_text(EXTRACTOR, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("which", ["averaged", "last"])
@pytest.mark.parametrize("task", TASKS)
def test_export_and_import_tag_the_same(task, which, folder, must):
    Path("task.yaml").write_text(COLUMNS + TASKS[task], encoding="utf-8")
    must("train", "task.yaml", "--train", "train.txt", "--run-dir", "run", "--epochs", 3, "--shards", 2)
    python = ("--python", "mine.py")  # needed by one of the tasks
    must("export", "run", "--output", "weights.tsv", "--weights", which, *python)
    must("import", "weights.tsv", "--task", "task.yaml", "--output", "model")
    for text in ("dev.txt", "train.txt"):
        tagged = must("predict", "run", text, "--weights", which, *python)
        assert must("predict", "model", text, *python) == tagged
    # a model that was imported knows its names, and is the same again
    must("export", "model", "--output", "again.tsv")
    assert Path("again.tsv").read_text(encoding="utf-8") == Path("weights.tsv").read_text(encoding="utf-8")


def test_every_line_is_feature_label_weight(trained, must):
    lines = must("export", trained, "--output", "-").splitlines()
    names, labels, weights = zip(*(line.split("\t") for line in lines))
    assert len(lines) > 200 and len(set(zip(names, labels))) == len(lines)
    assert set(labels) <= {"O", "B-NP", "I-NP", "B-VP", "B-名", "I-名"}
    assert all(float(weight) for weight in weights)
    assert {"bias", "<start>", "<stop>", "label[-1]=B-NP", "word[0]=кот", "word[-1]=<-1>", "shape[0]=cc"} <= set(names)


def test_weights_of_another_system(must, tmp_path):
    (tmp_path / "task.yaml").write_text("columns: [word, tag]\npredict: tag\nfeatures: ['word[0]', 'suffix2[0]']\n")
    weights = "# by hand\n\nword[0]=猫\tN\t2\nsuffix2[0]=ит\tV\t1.5\nlabel[-1]=N\tV\t1\nbias\tO\t1e-3\n"
    (tmp_path / "w.tsv").write_text(weights, encoding="utf-8")
    must("import", tmp_path / "w.tsv", "--task", tmp_path / "task.yaml", "--output", tmp_path / "m")
    assert must("predict", tmp_path / "m", "-", stdin="猫\nсидит\n\nx\n") == "猫 N\nсидит V\n\nx O\n"
    assert must("inspect", tmp_path / "m", "--top", 1).split() == ["2.0000", "N", "word[0]=猫"]


# ---------------------------------------------------------------- inspect


@pytest.fixture(scope="module")
def planted(must, tmp_path_factory) -> Path:
    """A run in which `-ит` means V and 猫 means N, and the other first letters and endings mean nothing."""
    folder = tmp_path_factory.mktemp("planted")
    lines = [f"{i} A\n猫 N\n{i}ит V\n" for i in range(40)]
    (folder / "train.txt").write_text("\n".join(lines), encoding="utf-8")
    task = "columns: [word, tag]\npredict: tag\nfeatures: ['prefix1[0]', 'suffix2[0]']\ntransitions: false\n"
    (folder / "task.yaml").write_text(task + "start_stop: false\nbias: false\n", encoding="utf-8")
    must("train", folder / "task.yaml", "--train", folder / "train.txt", "--run-dir", folder / "run")
    return folder / "run"


def shown(text: str) -> list[tuple[float, str, str]]:
    lines = (re.fullmatch(r" *(-?[\d.]+)  (\S+) +(.+)", line) for line in text.splitlines())
    return [(float(match[1]), match[2], match[3]) for match in lines]


def test_inspect_shows_the_planted_evidence(planted, must):
    weights = shown(must("inspect", planted, "--label", "V"))
    assert max(weights)[2] == "suffix2[0]=ит"
    assert {label for _, label, _ in weights} == {"V"}
    assert max(shown(must("inspect", planted, "--label", "N")))[2] == "prefix1[0]=猫"


def test_inspect_shows_the_strongest_first_and_no_more_than_asked(planted, must):
    weights = [abs(weight) for weight, _, _ in shown(must("inspect", planted, "--top", 5))]
    assert weights == sorted(weights, reverse=True) and len(weights) == 5
    assert len(shown(must("inspect", planted, "--top", 1000))) > 5


def test_inspect_finds_features_by_text(planted, must):
    found = shown(must("inspect", planted, "--feature", "猫"))
    assert found and all("猫" in name for _, _, name in found)
    assert must("inspect", planted, "--feature", "собака") == "no weight matches\n"


def test_inspect_knows_last_from_averaged(trained, must):
    assert must("inspect", trained, "--weights", "last") != must("inspect", trained) != ""


def test_inspect_a_model_of_a_corpus_prepared_elsewhere(must, perceptron, corpus, tmp_path):
    task = corpus / "task.yaml"
    must("prepare", task, "--train", corpus / "train.txt", "--output", tmp_path / "p")
    must("train", task, "--prepared", tmp_path / "p", "--run-dir", tmp_path / "run", "--epochs", 1)
    expected = must("inspect", tmp_path / "run")
    shutil.copy(tmp_path / "run" / "model", tmp_path / "m")
    assert must("inspect", tmp_path / "m", "--prepared", tmp_path / "p") == expected
    alone = perceptron("inspect", tmp_path / "m")
    assert alone.code == 2 and "--prepared DIR" in alone.err and str(tmp_path / "m") in alone.err


def test_the_wrong_prepared_corpus(trained, must, perceptron, corpus, tmp_path):
    (tmp_path / "one.txt").write_text("x X O\n")
    must("prepare", corpus / "task.yaml", "--train", tmp_path / "one.txt", "--output", tmp_path / "p")
    shutil.copy(trained / "model", tmp_path / "m")
    refused = perceptron("inspect", tmp_path / "m", "--prepared", tmp_path / "p")
    assert refused.code == 2 and "are not in the prepared corpus" in refused.err


def test_inspect_refuses_an_unknown_label(trained, perceptron):
    refused = perceptron("inspect", trained, "--label", "B-XP")
    assert refused.code == 2 and "no label B-XP" in refused.err and "B-NP, B-VP, B-名" in refused.err


# ---------------------------------------------------------------- mistakes in weights as text

BAD = {
    "fields": ("bias\tO\n", ":1: has 2 fields"),
    "no number": ("bias\tO\t1\n\nbias\tN\tmuch\n", ":3: 'much' is not a weight"),
    "infinite": ("bias\tO\tinf\n", ":1: 'inf' is not a weight"),
    "twice": ("bias\tO\t1\nbias\tO\t2\n", ":2: the weight of 'bias' with O stands here a second time"),
    "unknown feature": (
        "bias\tO\t1\nwort[0]=猫\tN\t2\n",
        ":2: The feature `wort[0]=猫` does not match any of the templates",
    ),
    "nothing": ("# nothing\n", ": holds no weight"),
}


@pytest.mark.parametrize("mistake", BAD)
def test_bad_lines_are_named(mistake, perceptron, contents, tmp_path):
    text, named = BAD[mistake]
    (tmp_path / "task.yaml").write_text("columns: [word, tag]\npredict: tag\nfeatures: ['word[0]']\n")
    (tmp_path / "w.tsv").write_text(text, encoding="utf-8")
    before = contents(tmp_path)
    refused = perceptron("import", tmp_path / "w.tsv", "--task", tmp_path / "task.yaml", "--output", tmp_path / "m")
    assert refused.code == 2 and f"w.tsv{named}" in refused.err
    assert contents(tmp_path) == before


def test_import_files_that_cannot_be_read(perceptron, tmp_path):
    (tmp_path / "task.yaml").write_text("columns: [word, tag]\npredict: tag\nfeatures: ['word[0]']\n")
    (tmp_path / "broken.tsv").write_bytes(b"bias\tO\t1\nword[0]=\xff\tO\t1\n")
    for name, named in (("broken.tsv", "not UTF-8"), ("none.tsv", "No such file")):
        options = ("--task", tmp_path / "task.yaml", "--output", tmp_path / "m")
        refused = perceptron("import", tmp_path / name, *options)
        assert refused.code == 2 and name in refused.err and named in refused.err
        assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "label, told",
    [("", "weights.tsv:2: the label '' is empty"), ("N\0", "weights.tsv:2: the label"), ("N O", "contains a space")],
)
def test_labels_that_could_not_be_written_are_not_imported(tmp_path, monkeypatch, perceptron, label, told):
    monkeypatch.chdir(tmp_path)
    Path("task.yaml").write_text("columns: [word, tag]\npredict: tag\nfeatures: ['word[0]']\n")
    Path("weights.tsv").write_text(f"word[0]=a\tD\t1\nword[0]=b\t{label}\t1\n")
    done = perceptron("import", "weights.tsv", "--task", "task.yaml", "--output", "model")
    assert done.code == 2 and told in done.err and not Path("model").exists()


def test_labels_that_another_format_cannot_write(tmp_path, monkeypatch, must, perceptron):
    monkeypatch.chdir(tmp_path)
    Path("task.yaml").write_text("columns: [word, tag]\npredict: tag\nfeatures: ['word[0]']\n")
    Path("weights.tsv").write_text("word[0]=a\tD_1\t1\n")
    Path("text").write_text("a D_1\n")
    must("import", "weights.tsv", "--task", "task.yaml", "--output", "model")
    assert must("predict", "model", "text") == "a D_1 D_1\n"
    done = perceptron("predict", "model", "text", "--format", "raw")
    assert done.code == 2 and "the label 'D_1' contains the separator '_'" in done.err
