"""Task files as users write them: every key, every format, files they name, options in them, mistakes in them."""

import json
import shutil

import pytest

from perceptron_core.corpus.label_encodings import legal_transitions
from perceptron_core.errors import UserError
from perceptron_core.task_file import read_task
from perceptron_jobs.training.whole import open_model

COLUMNS = "columns: [word, pos, chunk]\npredict: chunk\n"
PLAIN = COLUMNS + "features: ['word[0]']\n"


# ---------------------------------------------------------------- options


def test_options_in_the_task_file_and_the_command_line_wins(try_task, folder):
    options = "options: {epochs: 2, shards: 3, local-epochs: 2, average: false, learner: pa1, stop_threshold: 0}\n"
    assert "stopped: 2 epochs are done" in try_task(PLAIN + options).out
    config = json.loads((folder / "run" / "config.json").read_text())
    assert config["shards"] == 3
    named = {"local_epochs": 2, "average": False, "learner": "pa1"}
    assert {name: config["settings"][name] for name in named} == named
    shutil.rmtree(folder / "run")
    assert "stopped: 1 epochs" in try_task(PLAIN + options, "--epochs", 1, "--average", "--learner", "perceptron").out
    config = json.loads((folder / "run" / "config.json").read_text())
    assert config["settings"]["average"] is True and config["settings"]["learner"] == "perceptron"


def test_even_the_files_may_stand_in_the_task_file(folder, must):
    task = PLAIN + f"options: {{train: ['{folder}/train.txt'], run_dir: '{folder}/run', epochs: 1, quiet: true}}\n"
    (folder / "task.yaml").write_text(task, encoding="utf-8")
    assert must("train", folder / "task.yaml") == ""
    assert (folder / "run" / "model").exists()


def test_options_are_not_part_of_what_decides_the_weights(try_task, folder):
    assert try_task(PLAIN + "options: {epochs: 1}\n").code == 0
    going_on = try_task(PLAIN + "options: {epochs: 2, quiet: false}\n")
    assert going_on.code == 0 and "continuing after epoch 1" in going_on.out


# ---------------------------------------------------------------- features


def test_lookups_and_python_attributes(train_task, folder, must, features_of):
    (folder / "animals.txt").write_text("кот\nсобака\nflies\tinsect\n", encoding="utf-8")
    (folder / "mine.py").write_text("def vowels(word):\n    return ''.join(c for c in word if c in 'aeiou') or None\n")
    task = (
        COLUMNS + "lookups: {animal: animals.txt}\npython: mine.py\nfeatures: ['animal[-1..0]', 'vowels[0] & pos[0]']\n"
    )
    run = train_task(task)
    python = ("--python", folder / "mine.py")
    names = features_of(run, *python)
    assert {"animal[0]=insect", "animal[0]=yes", "animal[-1]=yes"} <= names
    assert "vowels[0]=ie & pos[0]=NN" in names and not any(name.startswith("vowels[0]= ") for name in names)
    (folder / "animals.txt").unlink()  # the model carries the lookup, but never code
    tagged = must("predict", run / "model", folder / "dev.txt", *python)
    assert len(tagged) > len((folder / "dev.txt").read_text(encoding="utf-8"))


EXTRACTOR = """\
def extract(sentence, i):
    word, pos = sentence[i]
    return [f"w={word}", f"len={len(sentence) > 5}", *([f"p={sentence[i - 1][1]}&{pos}"] if i else [])]
"""


def test_a_free_form_extractor(train_task, folder, must, monkeypatch, features_of):
    (folder / "mine.py").write_text(EXTRACTOR)
    task = COLUMNS + "python: mine.py\nextractor: extract\nfeatures: ['suffix2[0]']\n"
    run = train_task(task, "--shards", 2)
    monkeypatch.chdir(folder)
    python = ("--python", "mine.py")
    assert {"extracted=w=кот", "extracted=p=DT\\&NN", "suffix2[0]=от"} <= features_of(run, *python)
    tagged = must("predict", "run", "dev.txt", *python)
    local = ("train", "task.yaml", "--train", "train.txt", "--shards", 2, "--epochs", 3, "-r", "local")
    must(*local, "--run-dir", "local")
    assert (folder / "local" / "model").read_bytes() == (run / "model").read_bytes()
    assert must("predict", "local", "dev.txt", "-r", "local", *python) == tagged


def test_crfpp_templates_with_label_bigrams(train_task, folder, must, features_of):
    (folder / "template").write_text("# unigrams\nU00:%x[-1,0]\nU01:%x[0,0]/%x[0,1]\n\nB\nB01:%x[0,1]\n")
    run = train_task(COLUMNS + "crfpp: template\n")
    names = features_of(run)
    assert {"U00:_B-1", "U01:кот/NN", "label[-1]=B-NP & B01:NN", "label[-1]=B-NP"} <= names
    assert "bias" not in names
    assert json.loads(must("evaluate", run, folder / "dev.txt", "--json"))["accuracy"] > 0.7


def test_crfpp_without_b_has_no_transitions(train_task, folder, must, features_of):
    (folder / "template").write_text("U01:%x[0,0]\n")
    names = features_of(train_task(COLUMNS + "crfpp: template\nstart_stop: false\n"))
    assert all(name.startswith("U01:") for name in names)


def test_structure_can_be_switched_off(train_task, folder, must, features_of):
    everything = features_of(train_task(PLAIN))
    assert {"<start>", "<stop>", "bias", "label[-1]=B-NP"} <= everything
    shutil.rmtree(folder / "run")
    without = features_of(train_task(PLAIN + "transitions: false\nstart_stop: false\nbias: false\n"))
    assert without <= {name for name in everything if name.startswith("word[0]=")}


# ---------------------------------------------------------------- labels


def test_labels_in_a_fixed_order_decide_ties(folder, must):
    (folder / "train.txt").write_text("x A\n\ny B\n", encoding="utf-8")
    for order in ("[A, B, C]", "[C, B, A]"):
        task = f"columns: [word, tag]\npredict: tag\nfeatures: ['word[0]']\nbias: false\nlabels: {order}\n"
        (folder / "task.yaml").write_text(task + "transitions: false\nstart_stop: false\n", encoding="utf-8")
        run = folder / order[1]
        must("train", folder / "task.yaml", "--train", folder / "train.txt", "--run-dir", run)
        assert open_model(str(run)).labels == [label for label in order if label.isalpha()]
        # an unknown word has no weight with any label
        assert must("predict", run, "-", stdin="неизвестно\n") == f"неизвестно {order[1]}\n"


def test_a_label_that_the_list_lacks(try_task, folder, contents):
    before = set(contents(folder)) | {"task.yaml"}
    refused = try_task(PLAIN + "labels: [O, B-NP, I-NP, B-VP]\n")
    assert refused.code == 2 and "labels that the task does not list: B-名, I-名" in refused.err
    assert set(contents(folder)) == before


@pytest.mark.parametrize("decoder", ["viterbi", "beam", "greedy"])
def test_legal_transitions_make_every_prediction_legal(decoder, train_task, folder, must):
    """On words it never saw, with weights of one epoch, an unconstrained model guesses illegal labels."""
    nonsense = "\n".join("\n".join(f"w{i}{j} NN" if j % 3 else f"{j} VB" for j in range(i)) + "\n" for i in range(1, 9))
    constraint = "encoding: iob2\nlegal_transitions: true\ntransitions: false\n"
    run = train_task(PLAIN + constraint, "--epochs", 1, "--decoder", decoder)
    labels = open_model(str(run)).labels
    start, pair, _ = legal_transitions(labels, "iob2")
    for text in (nonsense, (folder / "dev.txt").read_text(encoding="utf-8")):
        before = None
        for line in must("predict", run, "-", stdin=text).split("\n"):
            label = labels.index(line.split()[-1]) if line else None
            if label is not None:
                assert start[label] if before is None else pair[before, label], line
            before = label


def test_without_the_constraint_predictions_are_not_always_legal(train_task, folder, must):
    run = train_task(PLAIN + "encoding: iob2\ntransitions: false\n", "--epochs", 1)
    tagged = must("predict", run, folder / "train.txt").split("\n")
    followed = {(a.split()[-1], b.split()[-1]) for a, b in zip(tagged, tagged[1:]) if a and b}
    assert any(b[0] == "I" and a[1:] != b[1:] for a, b in followed)


@pytest.mark.parametrize(
    "encoding, trained, written",
    [
        ("{input: iob1, train: iob2}", "BI", ["B-X", "I-X", "B-X", "O", "B-Y"]),
        ("{input: iob1, train: iobes}", "BESI", ["B-X", "E-X", "S-X", "O", "S-Y"]),
        ("{input: iob1, train: iobes, output: iob1}", "BESI", ["I-X", "I-X", "B-X", "O", "I-Y"]),
        ("{input: iob1, train: iobes, output: iob2}", "BESI", ["B-X", "I-X", "B-X", "O", "B-Y"]),
        ("iob1", "BI", ["I-X", "I-X", "B-X", "O", "I-Y"]),
    ],
)
def test_encodings(encoding, trained, written, folder, must):
    words = ["кот", "two", "三", "and", "five"]
    iob1 = ["I-X", "I-X", "B-X", "O", "I-Y"]
    text = "".join(f"{word} {label}\n" for word, label in zip(words, iob1))
    (folder / "train.txt").write_text(text, encoding="utf-8")
    task = f"columns: [word, chunk]\npredict: chunk\nencoding: {encoding}\nmetric: spans\nfeatures: ['word[-1..1]']\n"
    (folder / "task.yaml").write_text(task, encoding="utf-8")
    run = folder / "run"
    must("train", folder / "task.yaml", "--train", folder / "train.txt", "--run-dir", run)
    assert {label[0] for label in open_model(str(run)).labels} <= {*trained, "O"}
    tagged = must("predict", run, folder / "train.txt")
    assert [line.split()[-1] for line in tagged.splitlines()] == written
    assert json.loads(must("evaluate", run, folder / "train.txt", "--json"))["f1"] == 1.0


# ---------------------------------------------------------------- mistakes

MISTAKES = {
    "misspelt key": (PLAIN + "featurs: []\n", ["unknown key `featurs`", "`features`"]),
    "misspelt option": (PLAIN + "options: {epocs: 3}\n", ["unknown option `epocs`", "epochs"]),
    "option of a wrong kind": (PLAIN + "options: {epochs: ten}\n", ["--epochs", "ten"]),
    "option out of range": (PLAIN + "options: {shards: 0}\n", ["--shards", "1 or more"]),
    "unknown choice": (PLAIN + "options: {mixing: best}\n", ["--mixing", "uniform"]),
    "bad YAML": (PLAIN + "labels: [A, B\n", [":5:", "not YAML"]),
    "not a mapping": ("- word\n", ["`key: value` lines"]),
    "no columns": ("predict: chunk\nfeatures: ['word[0]']\n", ["`columns` is missing"]),
    "no features": (COLUMNS + "bias: false\n", ["there are no features"]),
    "unknown attribute": (COLUMNS + "features: ['sufix2[0]']\n", ["`sufix2`", "Did you mean `suffix2`?", "shape"]),
    "unknown format": (PLAIN + "format: conll\n", ["'conll'", "columns, conllu, word_tag, raw"]),
    "unknown format option": (
        PLAIN + "format_options: {comments: x}\n",
        ["'comments'", "separator, docstart, comment"],
    ),
    "unknown metric": (PLAIN + "metric: f1\n", ["'f1'", "spans"]),
    "metric of another kind": (PLAIN + "metric: attachment\n", ["'attachment' of the kind sequence", "spans"]),
    "unknown encoding": (PLAIN + "encoding: bio\n", ["'bio'", "iob2"]),
    "predicted column is not there": ("columns: [word]\npredict: tag\nfeatures: ['word[0]']\n", ["tag", "word"]),
    "value of a wrong kind": (PLAIN + "bias: maybe\n", ["`bias`", "bool"]),
    "label that YAML takes for a number": (PLAIN + "labels: [O, 1]\n", ["`labels` holds 1", "quotes"]),
    "lookup that is no name": (PLAIN + "lookups: {a: 3}\n", ["`lookups` holds 3", "quotes"]),
    "lookup that is not there": (PLAIN + "lookups: {a: none.txt}\n", ["none.txt", "No such file"]),
    "python that is not there": (PLAIN + "python: none.py\n", ["none.py"]),
    "extractor without python": (PLAIN + "extractor: extract\n", ["`extractor`", "`python`"]),
    "template file that is not there": (COLUMNS + "crfpp: none\n", ["none", "No such file"]),
    "repeated template": (COLUMNS + "features: ['word[0]', 'word[-1..1]']\n", ["repeats `word[0]`"]),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake, try_task, folder, contents):
    text, named = MISTAKES[mistake]
    before = set(contents(folder)) | {"task.yaml"}
    refused = try_task(text)
    assert refused.code == 2 and refused.out == "" and "Traceback" not in refused.err
    assert all(name in refused.err for name in named), refused.err
    assert str(folder / "task.yaml") in refused.err or "error: argument --" in refused.err or "none.py" in refused.err
    assert set(contents(folder)) == before


def test_a_task_extends_another(must, folder):
    other = "columns: [word, tag]\npredict: tag\nfeatures: ['word[0]']\nbias: false\noptions: {epochs: 1, seed: 3}\n"
    (folder / "first.yaml").write_text(other, encoding="utf-8")
    (folder / "train.txt").write_text("кот N\nспит V\n", encoding="utf-8")
    (folder / "task.yaml").write_text("extends: first.yaml\nfeatures: ['word[-1]']\noptions: {epochs: 2}\n")
    task = read_task(str(folder / "task.yaml"))
    assert [template.text for template in task.features.templates] == ["word[0]", "word[-1]"]
    assert task.record["options"] == {"epochs": 2, "seed": 3} and task.record["bias"] is False
    must("train", folder / "task.yaml", "--train", folder / "train.txt", "--run-dir", folder / "run")
    assert json.loads((folder / "run" / "config.json").read_text())["seed"] == 3


EXTENSIONS = {
    "no name": ("extends: 3\n", "`extends` is 3, but must name a task file in the same folder"),
    "another folder": ("extends: ../first.yaml\n", "must name a task file in the same folder"),
    "not there": ("extends: none.yaml\n", "none.yaml"),
    "two steps": ("extends: second.yaml\n", "names second.yaml, which extends another file; name that file instead"),
    "a mistake in the other": ("extends: misspelt.yaml\n", "misspelt.yaml: unknown key `colums`"),
}


@pytest.mark.parametrize("mistake", EXTENSIONS)
def test_mistakes_in_extending_are_named(mistake, folder):
    text, problem = EXTENSIONS[mistake]
    (folder / "first.yaml").write_text(PLAIN)
    (folder / "second.yaml").write_text("extends: first.yaml\n")
    (folder / "misspelt.yaml").write_text("colums: [word]\n")
    (folder / "task.yaml").write_text(text)
    with pytest.raises(UserError) as refused:
        read_task(str(folder / "task.yaml"))
    assert problem in str(refused.value)


def test_a_task_that_is_not_there(perceptron, tmp_path):
    refused = perceptron("train", tmp_path / "nothing.yaml", "--train", "x", "--run-dir", tmp_path / "run")
    assert refused.code == 2 and "nothing.yaml: cannot be read" in refused.err
