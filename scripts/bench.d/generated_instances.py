"""Instances that look like texts, made here: Zipfian words with numeric values, several classes, as svmlight files.

    generated_instances.py CLASSES TRAIN HELD_OUT

Every class prefers some of the words, a text mixes the language's words with its class's, and one label in twenty is
wrong, so no training separates them. A word's value is 1 + log(its count). The same numbers come out every time.
"""

import sys
from pathlib import Path

import numpy as np

TRAIN, HELD_OUT = 100_000, 20_000
WORDS = 50_000
LONGEST = 100  # words of a text
PREFERRED = 0.25  # share of a text's words that its class has chosen
WRONG = 0.05
AT_ONCE = 10_000


def write_instances(classes: int, train: Path, held_out: Path) -> None:
    random = np.random.default_rng(classes)
    language = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    # each class is its own language: the same frequencies, the words in another order
    orders = np.stack([random.permutation(WORDS) for _ in range(classes)])
    for path, size in ((train, TRAIN), (held_out, HELD_OUT)):
        with open(path, "w", encoding="ascii") as file:
            for _ in range(0, size, AT_ONCE):
                file.writelines(_lines(random, language, orders))


def _lines(random: np.random.Generator, language: np.ndarray, orders: np.ndarray) -> list[str]:
    classes = random.integers(0, len(orders), AT_ONCE)
    lengths = random.integers(LONGEST // 5, LONGEST + 1, AT_ONCE)
    text = np.repeat(np.arange(AT_ONCE), lengths)
    ranks = np.searchsorted(language, random.random(len(text)) * language[-1])
    preferred = random.random(len(text)) < PREFERRED
    words = np.where(preferred, orders[classes[text], ranks], ranks)
    labels = np.where(random.random(AT_ONCE) < WRONG, random.integers(0, len(orders), AT_ONCE), classes)
    codes, counts = np.unique(text * WORDS + words, return_counts=True)
    values = (1 + np.log(counts)).tolist()
    pairs = [f"{code + 1}:{value:.4g}" for code, value in zip((codes % WORDS).tolist(), values)]
    ends = np.searchsorted(codes // WORDS, np.arange(AT_ONCE), side="right").tolist()
    return [f"{label} {' '.join(pairs[begin:end])}\n" for label, begin, end in zip(labels.tolist(), [0, *ends], ends)]


if __name__ == "__main__":
    write_instances(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
