"""Classification from files to models, scores and names: the same jobs and guarantees as for sequences."""

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import perceptron_core.shards.builder
import perceptron_jobs.corpora.pieces
from perceptron_core.corpus import Sentence
from perceptron_core.shards.builder import in_chunks
from perceptron_core.shards.dealing import deal
from perceptron_core.task_file import read_task
from perceptron_core.weights.model_file import read_model

LABELS = ("добро", "зло", "新闻")
WORDS = {"добро": ("good", "мир"), "зло": ("bad", "война"), "新闻": ("today", "今天")}
COMMON = ("the", "The", "и", "猫", "...", "9")
SHARDS = ("--shards", 3, "--mixing", "uniform", "--epochs", 2)  # thirds: sums whose order would show


def instances(count: int, seed: int) -> list[tuple[str, str, float]]:
    """(label, text, number): each tells something about the label, not everything."""
    choose = random.Random(seed)
    made = []
    for _ in range(count):
        label = choose.choice(LABELS)
        words = [choose.choice(COMMON) for _ in range(choose.randint(0, 6))]
        words += [choose.choice(WORDS[label if choose.random() < 0.8 else choose.choice(LABELS)])]
        choose.shuffle(words)
        made.append((label, " ".join(words), LABELS.index(label) + choose.choice([-1.25, 0.0, 0.5])))
    return made


def quoted(text: str) -> str:
    return '"' + text.replace(" ", "\n", 1) + '"'


def numbers(text: str, value: float) -> str:
    """Every word an index, its count the value."""
    words = text.split()
    counted = {word: words.count(word) / 4 for word in words}
    return " ".join([f"n:{value}", *(f"{word}:{count}" for word, count in counted.items())])


WRITERS = {
    "label_text": lambda made: "".join(f"{label}\t{text}\n" for label, text, _ in made),
    "svmlight": lambda made: "".join(f"{label} {numbers(text, value)}\n" for label, text, value in made),
    "csv": lambda made: (
        "title,label,value,body\n"
        + "".join(f"{text[:4]},{label},{value or ''},{quoted(text)}\n" for label, text, value in made)
    ),
}
TASKS = {
    "label_text": "kind: classification\nfeatures: ['lower[0]', 'word[0] & word[1]', 'suffix2[0]']\n",
    "svmlight": "kind: classification\nformat: svmlight\n",
    "csv": "kind: classification\nformat: csv\ncolumns: [body, title, value]\nformat_options: {numeric: [value]}\n"
    "features: ['lower[0]', 'body[0] & body[1]', 'prefix1(title)[0]']\n",
}


@pytest.fixture(scope="module", params=list(TASKS))
def data_set(request, tmp_path_factory) -> Path:
    """A folder with train, dev and task.yaml."""
    folder = tmp_path_factory.mktemp(request.param)
    for name, count in (("train", 60), ("dev", 30)):
        (folder / name).write_text(WRITERS[request.param](instances(count, count)), encoding="utf-8")
    (folder / "task.yaml").write_text(TASKS[request.param], encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(data_set, must, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    data = ("--train", data_set / "train", "--dev", data_set / "dev")
    must("train", data_set / "task.yaml", *data, "--run-dir", folder, *SHARDS)
    return folder


# ---------------------------------------------------------------- the same bytes


def test_inline_and_local_give_the_same_bytes(data_set, run, must, tmp_path):
    data = ("--train", data_set / "train", "--dev", data_set / "dev")
    must("train", data_set / "task.yaml", *data, "--run-dir", tmp_path / "run", *SHARDS, "-r", "local", "--reducers", 2)
    assert (tmp_path / "run" / "model").read_bytes() == (run / "model").read_bytes()


def test_neither_pieces_nor_packing_change_the_shards(data_set, must, tmp_path, monkeypatch, contents):
    (tmp_path / "train.gz").write_bytes(gzip.compress((data_set / "train").read_bytes()))

    def prepare(train: Path, output: str) -> None:
        must("prepare", data_set / "task.yaml", "--train", train, "--shards", 3, "--output", tmp_path / output)

    prepare(data_set / "train", "one")
    prepare(tmp_path / "train.gz", "gz")
    monkeypatch.setattr(perceptron_jobs.corpora.pieces, "PIECE_BYTES", 300)
    prepare(data_set / "train", "cut")
    one, packed, cut = (contents(tmp_path / name) for name in ("one", "gz", "cut"))
    assert one == cut
    del one["prepared.json"], packed["prepared.json"]  # the data's checksum
    assert one == packed


def test_a_run_goes_on_to_the_same_bytes(data_set, run, must, tmp_path):
    data = ("--train", data_set / "train", "--dev", data_set / "dev", "--run-dir", tmp_path / "run")
    must("train", data_set / "task.yaml", *data, *SHARDS[:-1], 1)
    must("train", data_set / "task.yaml", *data, *SHARDS)
    assert (tmp_path / "run" / "model").read_bytes() == (run / "model").read_bytes()


# ---------------------------------------------------------------- predict, evaluate, inspect, report


def labels_of(data_set: Path, tagged: str) -> list[str]:
    """The guesses in a predicted file."""
    place = {"svmlight": 0, "label_text": -1, "csv": -1}[data_set.name.rstrip("0123456789")]
    if place == 0:
        return [line.split(" ")[0] for line in tagged.splitlines()]
    if tagged.startswith("title"):
        return [line.rpartition(",")[2] for line in tagged.splitlines()[1:] if line.rpartition(",")[2] in LABELS]
    return [line.rpartition("\t")[2] for line in tagged.splitlines()]


def test_predict_and_evaluate_agree(data_set, run, must):
    guesses = labels_of(data_set, must("predict", run, data_set / "dev"))
    gold = [label for label, _, _ in instances(30, 30)]
    score = json.loads(must("evaluate", run, data_set / "dev", "--json"))
    assert len(guesses) == 30 and set(guesses) <= set(LABELS)
    assert score["accuracy"] == pytest.approx(sum(a == b for a, b in zip(guesses, gold)) / 30)
    assert score["accuracy"] > 0.5 and 0 < score["macro_f1"] < 1
    for right in LABELS:
        assert score["classes"][right]["gold"] == gold.count(right)
        assert score["classes"][right]["found"] == guesses.count(right)
        for taken in LABELS:
            pairs = list(zip(gold, guesses)).count((right, taken))
            assert score["confusion"].get(right, {}).get(taken, 0) == pairs
    assert "confusion (gold down, guess across)" in must("evaluate", run, data_set / "dev")


def test_predict_keeps_the_input_and_needs_no_labels(data_set, run, must, tmp_path, monkeypatch):
    text = (data_set / "dev").read_text(encoding="utf-8")
    whole = must("predict", run, data_set / "dev")
    kind = data_set.name.rstrip("0123456789")
    if kind == "label_text":
        bare = text.replace("\t", " \t").split("\n")
        bare = "\n".join(line.partition("\t")[2] for line in bare)
        assert [line.rpartition("\t")[0] for line in whole.splitlines()] == text.splitlines()
    elif kind == "svmlight":
        bare = "\n".join(line.partition(" ")[2] for line in text.split("\n"))
        assert [line.partition(" ")[2] for line in whole.splitlines()] == bare.splitlines()
    else:
        bare = text
        for label in LABELS:
            bare = bare.replace(f",{label},", ",,")
        assert whole.splitlines()[0] == "title,label,value,body,guess"
    (tmp_path / "bare").write_text(bare, encoding="utf-8")
    assert labels_of(data_set, must("predict", run, tmp_path / "bare")) == labels_of(data_set, whole)
    monkeypatch.setattr(perceptron_jobs.corpora.pieces, "PIECE_BYTES", 200)
    assert must("predict", run, data_set / "dev") == whole


def test_an_instance_without_words_gets_a_label(tmp_path, must):
    (tmp_path / "train").write_text("a\t\na\t \na\tx\nb\ty z\n")
    must("train", "text", "--train", tmp_path / "train", "--run-dir", tmp_path / "run", "--no-average")
    assert must("predict", tmp_path / "run", "-", stdin="a\t\n\n?\t\n") == "a\t\ta\n\n?\t\ta\n"
    assert json.loads(must("evaluate", tmp_path / "run", tmp_path / "train", "--json"))["tokens"] == 4


def test_weights_have_names_and_can_be_exchanged(data_set, run, must, tmp_path):
    must("export", run, "--weights", "last", "--output", tmp_path / "weights.tsv")
    lines = [line.split("\t") for line in (tmp_path / "weights.tsv").read_text(encoding="utf-8").splitlines()]
    model = read_model(str(run / "model"))
    assert len(lines) == np.count_nonzero(model.rows.values["weight"])
    names = {name for name, _, _ in lines}
    expected = {
        "label_text": {"lower[0]=the", "suffix2[0]=ad", "lower[0]=今天"},
        "svmlight": {"number=n", "number=今天", "number=война"},
        "csv": {"lower[0]=the", "number=value"},
    }
    kind = data_set.name.rstrip("0123456789")
    assert expected[kind] <= names
    assert any(" & " in name for name in names) or kind == "svmlight"
    must("import", tmp_path / "weights.tsv", "--task", data_set / "task.yaml", "--output", tmp_path / "model")
    assert must("predict", tmp_path / "model", data_set / "dev") == must(
        "predict", run, data_set / "dev", "--weights", "last"
    )
    assert "number=" in must("inspect", run, "--feature", "number=") or data_set.name.startswith("label_text")


def test_the_report_speaks_of_instances_and_classes(run, must, tmp_path):
    must("report", run, "--output", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "on 60 instances for 2 epochs" in page and "sentences" not in page
    assert "<h2>Classes</h2>" in page and "macro F1" in page and "gold down, guess across" in page
    assert "30 instances of the dev set are wrong" in page


# ---------------------------------------------------------------- what is learnt


def textbook(lines: Sequence[tuple[str, dict[str, float]]], epochs: int) -> dict[tuple[str, str], float]:
    """The multiclass perceptron with dicts: w[gold] += x, w[guess] -= x; ties go to the first label."""
    weights: dict[tuple[str, str], float] = defaultdict(float)
    for _ in range(epochs):
        for gold, x in lines:
            scores = {label: sum(weights[name, label] * value for name, value in x.items()) for label in LABELS}
            guess = max(LABELS, key=lambda label: (scores[label], -LABELS.index(label)))
            for name, value in x.items() if guess != gold else ():
                weights[name, gold] += value
                weights[name, guess] -= value
    return {key: weight for key, weight in weights.items() if weight}


def test_one_shard_is_a_textbook_perceptron_on_values(must, tmp_path):
    """Quarters and their sums are exact, so the weights must be equal, not only close."""
    made = instances(80, 7)
    (tmp_path / "train").write_text(WRITERS["svmlight"](made), encoding="utf-8")
    options = ("--run-dir", tmp_path / "run", "--epochs", 4, "--stop-threshold", -1)
    must("train", "svmlight", "--train", tmp_path / "train", *options)
    _, places = deal(1, 0, 0, len(made), 1)
    lines = []
    for i in np.argsort(places, kind="stable"):
        label, text, value = made[i]
        pairs = [pair.split(":") for pair in numbers(text, value).split()]
        lines.append((label, {**{f"number={name}": float(number) for name, number in pairs}, "bias": 1.0}))
    exported = must("export", tmp_path / "run", "--weights", "last", "--output", "-")
    rows = [row.split("\t") for row in exported.splitlines()]
    learnt = {(name, label): float(weight) for name, label, weight in rows}
    assert {key: weight for key, weight in learnt.items() if weight} == textbook(lines, 4)


def test_long_texts_come_in_small_chunks(monkeypatch):
    monkeypatch.setattr(perceptron_core.shards.builder, "CHUNK_WORDS", 10)
    texts = [Sentence((["word"] * size,), (("x",),), 1) for size in (4, 4, 4, 30, 0, 0, 0, 3)]
    chunks = list(in_chunks(iter(texts), 3))
    assert [len(chunk) for chunk in chunks] == [3, 1, 3, 1] and sum(chunks, []) == texts


def test_a_word_counts_once_and_n_grams_stay_within_the_text(tmp_path):
    (tmp_path / "task.yaml").write_text("kind: classification\nfeatures: ['word[0]', 'word[0] & word[1]']\n")
    (tmp_path / "texts").write_text("x\ta b a b a\nx\tc\nx\t\n")
    task = read_task(str(tmp_path / "task.yaml"))
    encoder = task.encoder()
    encoded = encoder.encode(list(task.read(str(tmp_path / "texts"), "required")))
    keys = task.structure("viterbi").keys(encoded, encoder.type_tables(), np.zeros(0, np.uint64))
    # a, ab, b, ba and the bias; c and the bias; the bias
    assert np.diff(keys.starts).tolist() == [5, 2, 1] and len(keys.values) == 0
    assert len(set(keys.keys.tolist())) == 6 and keys.keys[4] == keys.keys[6] == keys.keys[7]


def test_values_are_kept_only_where_they_are_not_1(tmp_path):
    (tmp_path / "ones").write_text("x 1:1 2:1\ny 3:1\n")
    (tmp_path / "values").write_text("x 1:1 2:1\ny 3:0.5\n")
    (tmp_path / "task.yaml").write_text(TASKS["svmlight"])
    task = read_task(str(tmp_path / "task.yaml"))
    encoder = task.encoder()
    for name, expected in (("ones", []), ("values", [1, 1, 1, 0.5, 1])):
        encoded = encoder.encode(list(task.read(str(tmp_path / name), "required")))
        keys = task.structure("viterbi").keys(encoded, encoder.type_tables(), np.zeros(0, np.uint64))
        assert keys.values.tolist() == expected


# ---------------------------------------------------------------- mistakes

BAD_TASKS = {
    "kind: clustering\n": "unknown kind 'clustering'; choose one of sequence, classification",
    "kind: classification\nformat: columns\ncolumns: [text, label]\nfeatures: ['word[0]']\n": "for the kind sequence",
    "format: csv\ncolumns: [text]\npredict: label\nfeatures: ['word[0]']\n": "write `kind: classification`",
    "kind: classification\nfeatures: ['label[-1] & word[0]']\n": "an instance has no previous label",
    "kind: classification\nformat: csv\nfeatures: ['word[0]']\n": "`columns` is missing",
    "kind: classification\nformat: csv\ncolumns: [a, b]\nfeatures: ['a[0] & b[0]']\n": "joins words of a and b",
    "kind: classification\nformat: svmlight\nfeatures: ['word[0]']\n": "only numbers and no text; leave out `features`",
    "kind: classification\nformat: svmlight\nfeatures: ['word[0]']\nbias: false\n": "only numbers and no text",
    "kind: classification\nbias: false\n": "there are no features",
    "kind: classification\nmetric: spans\nfeatures: ['word[0]']\n": "choose classes or accuracy",
    "kind: classification\ntransitions: true\nfeatures: ['word[0]']\n": "`transitions` is for sequences",
    "kind: classification\nencoding: iob2\nfeatures: ['word[0]']\n": "`encoding` is for sequences",
}


@pytest.mark.parametrize("text", BAD_TASKS)
def test_a_task_that_makes_no_sense_is_refused(text, perceptron, tmp_path):
    (tmp_path / "task.yaml").write_text(text)
    (tmp_path / "train").write_text("a\tb\n")
    refused = perceptron("train", tmp_path / "task.yaml", "--train", tmp_path / "train", "--run-dir", tmp_path / "run")
    assert refused.code == 2 and BAD_TASKS[text] in refused.err and "task.yaml" in refused.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("task", "text", "complaint"),
    [
        ("text", "a\tb\nc\n", "train:2: has no TAB"),
        ("svmlight", "a 1:1\na 1:x\n", "train:2: '1:x' is not index:value"),
        ("text", "\n \n", "train: contains no instance"),
    ],
)
def test_a_corpus_that_makes_no_sense_is_refused(task, text, complaint, perceptron, tmp_path):
    (tmp_path / "train").write_text(text)
    refused = perceptron("train", task, "--train", tmp_path / "train", "--run-dir", tmp_path / "run")
    assert refused.code == 2 and complaint in refused.err and refused.err.count("\n") == 1


def test_formats_of_sequences_are_refused_for_instances(data_set, run, perceptron):
    refused = perceptron("predict", run, data_set / "dev", "--format", "raw")
    assert refused.code == 2 and "--format raw is a format of sequences" in refused.err


def test_labels_that_the_task_does_not_list_are_refused(perceptron, tmp_path):
    (tmp_path / "task.yaml").write_text("kind: classification\nlabels: [a]\nfeatures: ['word[0]']\n")
    (tmp_path / "train").write_text("a\tx\nb\ty\n")
    refused = perceptron("train", tmp_path / "task.yaml", "--train", tmp_path / "train", "--run-dir", tmp_path / "run")
    assert refused.code == 2 and "labels that the task does not list: b" in refused.err
