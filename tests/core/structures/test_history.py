"""Token classification with history: a textbook in plain Python, trained on gold labels and guessing from its own."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_core.shards.dealing import deal
from runs import deciding

TASK = """\
columns: [word, pos, chunk]
predict: chunk
features: ["word[0]", "pos[1]", "label[-1]", "label[-2]", "label[-2] & label[-1]", "label[-1] & pos[0]"]
bias: false
options: {decoder: greedy}
"""

FOUR = ("--epochs", 4, "--stop-threshold", -1)

Token = tuple[str, str, str]


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("history") / "history.yaml"
    path.write_text(TASK)
    return path


@pytest.fixture(scope="module")
def run(task: Path, corpus: Path, must: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history-run") / "run"
    must("train", task, "--train", corpus / "train.txt", "--run-dir", folder, *FOUR)
    return folder


def read(path: Path) -> list[list[Token]]:
    texts = path.read_text(encoding="utf-8").strip().split("\n\n")
    return [[tuple(line.split()) for line in text.splitlines()] for text in texts]  # type: ignore[misc]


class Textbook:
    """The multiclass averaged perceptron on tokens, with features by their names."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels, self.epoch, self.tokens = sorted(labels), 0, 0
        self.weights: Counter = Counter()
        self.total: Counter = Counter()

    @staticmethod
    def features(tokens: Sequence[Token], before: Sequence[str], t: int) -> list[str]:
        """Of token t, where the labels before it are these."""
        one = before[t - 1] if t >= 1 else "<-1>"
        two = before[t - 2] if t >= 2 else f"<{t - 2}>"
        pos = tokens[t + 1][1] if t + 1 < len(tokens) else "<+1>"
        history = [f"label[-1]={one}", f"label[-2]={two}", f"label[-2]={two} & label[-1]={one}"]
        return [f"word[0]={tokens[t][0]}", f"pos[1]={pos}", *history, f"label[-1]={one} & pos[0]={tokens[t][1]}"]

    def best(self, features: Sequence[str]) -> str:
        return max(self.labels, key=lambda label: sum(self.weights[f, label] for f in features))  # the first of equals

    def train(self, sentences: Sequence[Sequence[Token]]) -> int:
        """An epoch; in the average its weights count as often as its number says."""
        wrong = 0
        self.epoch += 1
        for tokens in sentences:
            gold = [label for _, _, label in tokens]
            for t, label in enumerate(gold):
                features = self.features(tokens, gold, t)
                guess = self.best(features)
                if guess != label:
                    wrong += 1
                    self.weights.update((f, label) for f in features)
                    self.weights.subtract((f, guess) for f in features)
                self.total.update({entry: self.epoch * weight for entry, weight in self.weights.items()})
                self.tokens += self.epoch
        return wrong

    def predict(self, tokens: Sequence[Token]) -> list[str]:
        guesses: list[str] = []
        for t in range(len(tokens)):
            guesses.append(self.best(self.features(tokens, guesses, t)))
        return guesses


@pytest.fixture(scope="module")
def textbook(run: Path, corpus: Path) -> Textbook:
    sentences = read(corpus / "train.txt")
    _, places = deal(1, 0, 0, len(sentences), 1)
    sentences = [sentences[i] for i in np.argsort(places)]  # as the only shard has them
    book = Textbook(list({label for tokens in sentences for _, _, label in tokens}))
    errors = [book.train(sentences) for _ in range(4)]
    history = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    assert [entry["errors"] for entry in history] == errors
    assert all(entry["sentences"] == sum(map(len, sentences)) for entry in history)  # a token is an example
    return book


def exported(text: str) -> dict[tuple[str, str], float]:
    rows = (line.split("\t") for line in text.splitlines())
    return {(name, label): float(weight) for name, label, weight in rows if float(weight)}


def test_training_is_the_textbook_s(run: Path, textbook: Textbook, must: Any) -> None:
    last = exported(must("export", run, "--weights", "last", "--output", "-"))
    assert last == {entry: weight for entry, weight in textbook.weights.items() if weight}
    assert any(name.startswith("label[-2]=") for name, _ in last)
    averaged = exported(must("export", run, "--output", "-"))
    expected = {entry: total / textbook.tokens for entry, total in textbook.total.items() if total}
    assert averaged == pytest.approx(expected, rel=1e-5)


def test_prediction_goes_by_its_own_guesses(run: Path, textbook: Textbook, corpus: Path, must: Any) -> None:
    said = must("predict", run, corpus / "dev.txt", "--weights", "last")
    guesses = [[line.split()[-1] for line in text.splitlines()] for text in said.strip().split("\n\n")]
    expected = [textbook.predict(tokens) for tokens in read(corpus / "dev.txt")]
    assert guesses == expected
    by_gold = [
        [textbook.best(textbook.features(tokens, [y for _, _, y in tokens], t)) for t in range(len(tokens))]
        for tokens in read(corpus / "dev.txt")
    ]
    assert by_gold != expected  # the corpus can tell the difference


def test_the_dev_score_is_that_of_its_guesses(
    task: Path, textbook: Textbook, corpus: Path, must: Any, tmp_path: Path
) -> None:
    files = ("--train", corpus / "train.txt", "--dev", corpus / "dev.txt", "--run-dir", tmp_path)
    must("train", task, *files, *FOUR)
    dev = read(corpus / "dev.txt")
    right = sum(g == y for tokens in dev for g, (_, _, y) in zip(textbook.predict(tokens), tokens))
    last = json.loads((tmp_path / "history.jsonl").read_text().splitlines()[-1])
    assert last["dev"]["last"] == pytest.approx(right / sum(map(len, dev)), abs=1e-6)


def test_weights_as_text_come_back(run: Path, task: Path, corpus: Path, must: Any, tmp_path: Path) -> None:
    must("export", run, "--output", tmp_path / "weights.tsv")
    must("import", tmp_path / "weights.tsv", "--task", task, "--output", tmp_path / "model")
    tagged = [must("predict", model, corpus / "dev.txt") for model in (run, tmp_path / "model")]
    assert tagged[0] == tagged[1]


OPTIONS = ("--shards", 3, "--mixing", "uniform", "--epochs", 3)
SPARSE = [(), ("--min-updates", 3), ("--min-count", 3)]


@pytest.mark.parametrize("sparse", SPARSE, ids=["all", "min-updates", "min-count"])
def test_all_runners_and_going_on(
    sparse: tuple[Any, ...], task: Path, corpus: Path, must: Any, contents: Any, tmp_path: Path
) -> None:
    def train(name: str, *options: object) -> dict[str, bytes]:
        files = ("--train", corpus / "train.txt", "--run-dir", tmp_path / name)
        must("train", task, *files, *OPTIONS, *sparse, *options)
        return deciding(contents(tmp_path / name))

    inline = train("inline")
    train("two", "--epochs", 1)
    assert train("two", "-r", "local", "--reducers", 2) == inline
    assert must("inspect", tmp_path / "inline", "--feature", "label[-1]=").strip() != "no weight matches"


@pytest.mark.parametrize(
    "change",
    [
        "transitions: true\n",
        "encoding: iob2\nlegal_transitions: true\n",
    ],
)
def test_what_has_no_history_is_refused(change: str, corpus: Path, perceptron: Any, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TASK + change)
    files = ("--train", corpus / "train.txt", "--run-dir", tmp_path / "run")
    outcome = perceptron("train", tmp_path / "task.yaml", *files)
    assert outcome.code == 2 and "without transitions" in outcome.err
    assert not (tmp_path / "run").exists()
