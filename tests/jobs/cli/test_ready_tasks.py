"""The ready tasks, by their names."""

import json
from pathlib import Path

import pytest

from perceptron_jobs.options.names import READY_TASKS
from perceptron_jobs.training.whole import open_model


def conllu(*words: str) -> list[str]:
    pairs = (word.split("/") for word in words)
    return ["\t".join((str(i), form, "_", tag, *"______")) for i, (form, tag) in enumerate(pairs, start=1)]


READY = {
    "pos": ["the D", "старый A", "кот N", "", "猫 N", "спит V"],
    "upos": [*conllu("the/DET", "старый/ADJ", "кот/NOUN"), "", *conllu("猫/NOUN", "спит/VERB")],
    "chunking": ["the DT B-NP", "кот NN I-NP", "", "猫 NN B-NP", "спит VB B-VP"],
    "chunking-tokens": ["the DT B-NP", "кот NN I-NP", "", "猫 NN B-NP", "спит VB B-VP"],
    "ner": ["Пётр NNP I-NP I-PER", "saw VBD I-VP O", "", "中国 NNP I-NP I-LOC"],
    "text": ["кот\tthe cat is asleep", "", "собака\tthe dog barks"],
    "svmlight": ["+1 1:0.5 7:2", "-1 1:0.25 8:1.5 # 猫"],
}
TREES = ("1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\t_", "2\tкот\tкот\tNOUN\tN\tCase=Nom\t3\tnsubj\t_\t_")
READY["parsing"] = [*TREES, "3\tспит\tспать\tVERB\tV\t_\t0\troot\t_\t_", "", "1\t猫\t猫\tNOUN\tN\t_\t0\troot\t_\t_"]
READY["parsing-fast"] = READY["parsing"]
READY.update({f"{name}-second": READY[name] for name in ("pos", "upos", "chunking")})


@pytest.mark.parametrize("name", READY_TASKS)
def test_ready_tasks_work_by_name_from_any_folder(name, must, tmp_path, monkeypatch, features_of):
    monkeypatch.chdir(tmp_path)
    Path("train.txt").write_text("\n".join(READY[name]) + "\n", encoding="utf-8")
    said = must("train", name, "--train", "train.txt", "--run-dir", "run", "--epochs", 50)
    assert "the training set is separated" in said
    score = json.loads(must("evaluate", "run", "train.txt", "--json"))
    assert score["accuracy"] == 1 and ("f1" in score) == (name in ("chunking", "chunking-second", "ner"))
    tagged = must("predict", "run", "train.txt").splitlines()
    last = tagged[-1].split()
    place = {"upos": 3, "upos-second": 3, "svmlight": 0, "parsing": 7, "parsing-fast": 7}.get(name, -1)
    guesses = {"pos": "V", "upos": "VERB", "chunking": "B-VP", "ner": "B-LOC", "text": "собака", "svmlight": "-1"}
    guesses["parsing"] = "root"
    assert last[place] == guesses[name.split("-")[0]]
    assert len(features_of(Path("run"))) > {"text": 9, "svmlight": 2}.get(name, 30)


def test_a_file_in_the_folder_wins_over_a_ready_task(must, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pos").write_text("columns: [tag, word]\npredict: tag\nfeatures: ['word[0]']\n")
    Path("train.txt").write_text("D the\nN кот\n", encoding="utf-8")
    must("train", "pos", "--train", "train.txt", "--run-dir", "run")
    assert set(open_model("run").labels) == {"D", "N"}
