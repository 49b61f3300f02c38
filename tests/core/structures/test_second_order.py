"""Second-order sequences through the commands: against a textbook in plain Python that tries all label sequences."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_core.shards.dealing import deal
from runs import deciding

TASK = """\
columns: [word, tag]
predict: tag
features:
  - word[0]
  - label[-1] & word[0]
  - label[-2] & word[0]
  - label[-2] & label[-1]
  - label[-2] & label[-1] & word[1]
bias: false
start_stop: false
"""
LABELS = ("A", "B", "C")
THREE = ("--epochs", 3, "--stop-threshold", -1)

Sentence = list[tuple[str, str]]


def sentences(seed: int, size: int) -> list[Sentence]:
    """A tag often follows from the two before it, and not always from its word."""
    choose = random.Random(seed)
    made = []
    for _ in range(size):
        tags: list[str] = []
        for t in range(choose.randint(1, 5)):
            tags.append(LABELS[(LABELS.index(tags[t - 2]) + 1) % 3] if t >= 2 else choose.choice(LABELS))
        made.append([(choose.choice(("x", "y", "z")) if choose.random() < 0.6 else tag.lower(), tag) for tag in tags])
    return made


def write(path: Path, texts: Sequence[Sentence]) -> None:
    path.write_text("\n".join("".join(f"{word} {tag}\n" for word, tag in text) for text in texts))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("second-order")
    write(made / "train.txt", sentences(1, 60))
    write(made / "dev.txt", sentences(2, 25))
    (made / "task.yaml").write_text(TASK)
    return made


@pytest.fixture(scope="module")
def run(folder: Path, must: Any) -> Path:
    must("train", folder / "task.yaml", "--train", folder / "train.txt", "--run-dir", folder / "run", *THREE)
    return folder / "run"


def features(words: Sequence[str], tags: Sequence[str]) -> Iterator[tuple[str, str]]:
    """All features of a tagged sentence by their names, each with its label."""
    for t, (word, tag) in enumerate(zip(words, tags)):
        after = words[t + 1] if t + 1 < len(words) else "<+1>"
        names = [f"word[0]={word}"]
        if t >= 1:
            names += [f"label[-1]={tags[t - 1]}", f"label[-1]={tags[t - 1]} & word[0]={word}"]
        if t >= 2:
            both = f"label[-2]={tags[t - 2]} & label[-1]={tags[t - 1]}"
            names += [f"label[-2]={tags[t - 2]} & word[0]={word}", both, f"{both} & word[1]={after}"]
        yield from ((name, tag) for name in names)


class Textbook:
    def __init__(self) -> None:
        self.weights: Counter = Counter()

    def best(self, words: Sequence[str]) -> tuple[str, ...]:
        """The best of all sequences; of equals, the one that is first when they are read backwards, pair by pair."""

        def order(tags: tuple[str, ...]) -> tuple[float, list[tuple[str, ...]]]:
            score = sum(self.weights[feature] for feature in features(words, tags))
            return -score, [tags[max(0, t - 1) : t + 1] for t in range(len(tags) - 1, -1, -1)]

        return min(itertools.product(LABELS, repeat=len(words)), key=order)

    def train(self, texts: Sequence[Sentence]) -> int:
        errors = 0
        for text in texts:
            words, gold = zip(*text)
            guess = self.best(words)
            errors += guess != gold
            self.weights.update(features(words, gold))
            self.weights.subtract(features(words, guess))
        return errors


@pytest.fixture(scope="module")
def textbook(run: Path) -> Textbook:
    texts = sentences(1, 60)
    _, places = deal(1, 0, 0, len(texts), 1)
    book = Textbook()
    errors = [book.train([texts[i] for i in np.argsort(places)]) for _ in range(3)]
    history = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    assert [entry["errors"] for entry in history] == errors and errors[-1] > 0
    return book


def exported(text: str) -> dict[tuple[str, str], float]:
    rows = (line.split("\t") for line in text.splitlines())
    return {(name, label): float(weight) for name, label, weight in rows if float(weight)}


def test_training_is_the_textbook_s(run: Path, textbook: Textbook, must: Any) -> None:
    last = exported(must("export", run, "--weights", "last", "--output", "-"))
    assert last == {entry: weight for entry, weight in textbook.weights.items() if weight}
    assert {name.count("label[") for name, _ in last} == {0, 1, 2}


def test_prediction_is_the_textbook_s(run: Path, textbook: Textbook, folder: Path, must: Any) -> None:
    said = must("predict", run, folder / "dev.txt", "--weights", "last")
    guesses = [tuple(line.split()[-1] for line in text.splitlines()) for text in said.strip().split("\n\n")]
    assert guesses == [textbook.best([word for word, _ in text]) for text in sentences(2, 25)]


def test_it_is_better_than_first_order_where_the_label_before_the_last_decides(
    run: Path, folder: Path, must: Any, tmp_path: Path
) -> None:
    (tmp_path / "first.yaml").write_text("".join(line for line in TASK.splitlines(True) if "label[-2]" not in line))
    must("train", tmp_path / "first.yaml", "--train", folder / "train.txt", "--run-dir", tmp_path / "run", *THREE)
    first, second = (
        json.loads(must("evaluate", model, folder / "dev.txt", "--json"))["accuracy"]
        for model in (tmp_path / "run", run)
    )
    assert second > first + 0.1


def test_weights_as_text_come_back(run: Path, folder: Path, must: Any, tmp_path: Path) -> None:
    must("export", run, "--output", tmp_path / "weights.tsv")
    must("import", tmp_path / "weights.tsv", "--task", folder / "task.yaml", "--output", tmp_path / "model")
    tagged = [must("predict", model, folder / "dev.txt") for model in (run, tmp_path / "model")]
    assert tagged[0] == tagged[1]


def test_inspect_names_triples(run: Path, must: Any) -> None:
    said = must("inspect", run, "--feature", "label[-2]=A & label[-1]=B & word[1]=")
    assert "label[-2]=A & label[-1]=B & word[1]=" in said


BEAM = ("--decoder", "beam", "--beam", 3, "--update", "early")
OPTIONS = [
    ("--mixing", "uniform"),
    (*BEAM, "--learner", "mira", "--mixing", "uniform"),
    ("--min-updates", 2, "--mixing", "errors"),
    ("--min-count", 2, "--learner", "pa1"),
    ("--mixing", "scaled", "--rounds", 2),
    ("--learner", "naive-bayes"),
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(map(str, options)))
def test_all_runners_and_going_on(
    options: tuple[Any, ...], folder: Path, must: Any, contents: Any, tmp_path: Path
) -> None:
    def train(name: str, *more: object) -> dict[str, bytes]:
        files = ("--train", folder / "train.txt", "--run-dir", tmp_path / name)
        must("train", folder / "task.yaml", *files, "--shards", 3, "--epochs", 2, *options, *more)
        return deciding(contents(tmp_path / name))

    inline = train("inline")
    if "naive-bayes" not in options:
        train("two", "--epochs", 1)
    assert train("two", "-r", "local", "--reducers", 2) == inline


def test_another_model_may_be_the_start(run: Path, folder: Path, must: Any, tmp_path: Path) -> None:
    given = ("--train", folder / "train.txt", "--run-dir", tmp_path / "run", "--init-model", run)
    must("train", folder / "task.yaml", *given, "--epochs", 1, "--stop-threshold", -1)
    errors = [json.loads(line)["errors"] for line in (run / "history.jsonl").read_text().splitlines()]
    (went_on,) = (tmp_path / "run" / "history.jsonl").read_text().splitlines()
    assert json.loads(went_on)["errors"] < errors[0]


MANY = "\n".join(f"w{i} T{i}\n" for i in range(65))
REFUSED = {
    "label[-3]": (TASK.replace("label[-2] & word[0]", "label[-3] & word[0]"), "x A\n", "farther back than `label[-2]`"),
    "too many labels": (TASK, MANY, "at most 64 labels, but there are 65; choose --decoder beam"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_cannot_be_searched_is_refused(mistake: str, perceptron: Any, tmp_path: Path) -> None:
    task, train, problem = REFUSED[mistake]
    (tmp_path / "task.yaml").write_text(task)
    (tmp_path / "train.txt").write_text(train)
    given = ("--train", tmp_path / "train.txt", "--run-dir", tmp_path / "run")
    refused = perceptron("train", tmp_path / "task.yaml", *given)
    assert refused.code == 2 and problem in refused.err
    assert not (tmp_path / "run" / "model").exists()


def test_many_labels_are_searched_by_a_beam(must: Any, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "train.txt").write_text(MANY)
    must(
        "train", tmp_path / "task.yaml", "--train", tmp_path / "train.txt", "--run-dir", tmp_path / "run", *BEAM, *THREE
    )
    assert json.loads(must("evaluate", tmp_path / "run", tmp_path / "train.txt", "--json"))["accuracy"] == 1
