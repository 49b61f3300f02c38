"""Column files: reading them as a rival's user would, taking parts, and growing Brown as real text grows.

Standard library only, since rivals read with it.
"""

import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Union

RARE = 20  # words that occur at most this often get a new form in each replica
Sentence = list[list[str]]  # columns of tokens


def read(path: Union[str, Path]) -> Iterator[Sentence]:
    """The sentences of a column file, plain or .gz, as lists of columns."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        tokens: list[list[str]] = []
        for line in file:
            fields = line.split()
            if fields:
                tokens.append(fields)
            elif tokens:
                yield list(map(list, zip(*tokens)))
                tokens = []
        if tokens:
            yield list(map(list, zip(*tokens)))


def write(path: Union[str, Path], sentences: Iterator[Sentence]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for sentence in sentences:
            file.write("".join(" ".join(token) + "\n" for token in zip(*sentence)) + "\n")


def every(path: Union[str, Path], step: int) -> Iterator[Sentence]:
    """Every step-th sentence: a part that is a sample of the whole corpus."""
    return islice(read(path), 0, None, step)


def grown(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """The sentences again and again. In each replica the rare words have a suffix of its own, so that new types keep
    appearing, while the frequent words, and with them most tokens, stay the same."""
    counts = Counter(word for sentence in sentences for word in sentence[0])
    replica = 0
    while True:
        for words, *rest in sentences:
            renamed = words if not replica else [w if counts[w] > RARE else f"{w}{suffix(replica)}" for w in words]
            yield [renamed, *rest]
        replica += 1


def suffix(replica: int) -> str:
    """A suffix of letters, so that a word's shape changes in nothing but its length: a, b, …, z, ba, bb …"""
    letters = ""
    while True:
        replica, letter = divmod(replica, 26)
        letters = chr(ord("a") + letter) + letters
        if not replica:
            return letters
