"""The demo corpus: the same bytes each time, and hard enough that context helps, but does not decide everything."""

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from repository import ROOT

SCRIPT = ROOT / "scripts" / "make_demo_corpus.py"
PARTS = {"train": 2400, "dev": 400, "test": 400}

Sentence = list[tuple[str, str]]


def make_corpus(directory: Path) -> str:
    run = subprocess.run(
        [sys.executable, str(SCRIPT), str(directory)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    return run.stdout


def read(path: Path) -> list[Sentence]:
    blocks = path.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    return [[tuple(line.split(" ")) for line in block.split("\n")] for block in blocks]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    directory = tmp_path_factory.mktemp("corpus") / "not" / "there"
    return directory, make_corpus(directory)


@pytest.fixture(scope="module")
def corpus(made: tuple[Path, str]) -> dict[str, list[Sentence]]:
    return {part: read(made[0] / f"{part}.txt") for part in PARTS}


def test_two_runs_write_the_same_bytes(made: tuple[Path, str], tmp_path: Path) -> None:
    make_corpus(tmp_path)
    for part in PARTS:
        assert (tmp_path / f"{part}.txt").read_bytes() == (made[0] / f"{part}.txt").read_bytes()


def test_sizes_and_shape(corpus: dict[str, list[Sentence]]) -> None:
    assert {part: len(sentences) for part, sentences in corpus.items()} == PARTS
    tokens = [token for sentences in corpus.values() for sentence in sentences for token in sentence]
    assert all(len(token) == 2 for token in tokens)
    assert 10 <= len(tokens) / sum(PARTS.values()) <= 14
    assert 20 <= len({tag for _, tag in tokens}) <= 25


def test_no_sentence_occurs_twice(corpus: dict[str, list[Sentence]]) -> None:
    texts = Counter(" ".join(word for word, _ in s) for sentences in corpus.values() for s in sentences)
    assert texts.most_common(1)[0][1] == 1


def test_the_test_part_has_unseen_words_and_ambiguous_ones(corpus: dict[str, list[Sentence]]) -> None:
    tags_of: dict[str, Counter] = defaultdict(Counter)
    for sentence in corpus["train"]:
        for word, tag in sentence:
            tags_of[word][tag] += 1
    unseen = [word not in tags_of for sentence in corpus["test"] for word, _ in sentence]
    assert 0.02 < sum(unseen) / len(unseen) < 0.10
    for word, tags in {
        "that": {"DT", "IN", "WH"},
        "her": {"PRP", "PRP$"},
        "to": {"TO", "IN"},
        "light": {"NN", "JJ", "VB"},
        "watches": {"NNS", "VBZ"},
        "'s": {"POS", "VBZ"},
    }.items():
        assert all(tags_of[word][tag] >= 5 for tag in tags), (word, tags_of[word])


# A plain greedy averaged perceptron, after M. Collins (2002), "Discriminative training methods for hidden
# Markov models".


def features(words: list[str], i: int, previous: str) -> Iterator[str]:
    padded = ["<2", "<1", *words, ">1", ">2"]
    yield "bias"
    yield f"t-1={previous}"
    for offset in range(-2, 3):
        yield f"w{offset}={padded[i + 2 + offset]}"
    for length in (1, 2, 3):
        yield f"prefix={words[i][:length]}"
        yield f"suffix={words[i][-length:]}"


class Tagger:
    def __init__(self) -> None:
        self.weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.steps = 0

    def predict(self, active: list[str]) -> str:
        scores: dict[str, float] = {"NN": 0.0}
        for feature in active:
            for tag, weight in self.weights.get(feature, {}).items():
                scores[tag] = scores.get(tag, 0.0) + weight
        return max(scores, key=lambda tag: (scores[tag], tag))

    def train(self, sentences: list[Sentence], epochs: int) -> None:
        order = Random(1)
        for _ in range(epochs):
            for sentence in order.sample(sentences, len(sentences)):
                self._train_on(sentence)
        for feature, row in self.weights.items():
            for tag in row:
                row[tag] -= self.sums[feature][tag] / self.steps

    def _train_on(self, sentence: Sentence) -> None:
        words, previous = [word for word, _ in sentence], "<"
        for i, (_, gold) in enumerate(sentence):
            active = list(features(words, i, previous))
            previous = self.predict(active)
            if previous != gold:
                for feature in active:
                    for tag, step in ((gold, 1.0), (previous, -1.0)):
                        self.weights[feature][tag] += step
                        self.sums[feature][tag] += step * self.steps
            self.steps += 1

    def accuracy(self, sentences: list[Sentence]) -> float:
        right = total = 0
        for sentence in sentences:
            words, previous = [word for word, _ in sentence], "<"
            for i, (_, gold) in enumerate(sentence):
                previous = self.predict(list(features(words, i, previous)))
                right += previous == gold
                total += 1
        return right / total


def most_frequent_tag_accuracy(train: list[Sentence], test: list[Sentence]) -> float:
    tags_of: dict[str, Counter] = defaultdict(Counter)
    for sentence in train:
        for word, tag in sentence:
            tags_of[word][tag] += 1
    overall = sum(tags_of.values(), Counter())
    tokens = [token for sentence in test for token in sentence]
    right = sum((tags_of.get(word) or overall).most_common(1)[0][0] == tag for word, tag in tokens)
    return right / len(tokens)


def test_a_tagger_gains_by_context_yet_is_not_perfect(
    made: tuple[Path, str], corpus: dict[str, list[Sentence]]
) -> None:
    tagger = Tagger()
    tagger.train(corpus["train"], epochs=4)
    tagged = tagger.accuracy(corpus["test"])
    baseline = most_frequent_tag_accuracy(corpus["train"], corpus["test"])
    print(f"tagger {100 * tagged:.2f}, most frequent tag {100 * baseline:.2f}")
    assert 0.85 < tagged < 0.98
    assert tagged - baseline > 0.10
    assert f"{100 * baseline:.2f} %" in made[1]
