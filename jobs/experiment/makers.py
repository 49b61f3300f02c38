"""Corpora that are made from others: a file of one kind → the lines of another.

`genres` makes a corpus for text classification from a treebank whose sentences are numbered within their genre, like
those of the English Web Treebank (`# sent_id = weblog-…`): the genre of every sentence, TAB, its text.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Callable

from perceptron_core.corpus.files import read_lines
from perceptron_core.errors import InputError
from perceptron_jobs.storage import open_file

IDENTITY, TEXT = "# sent_id = ", "# text = "

Maker = Callable[[str], Iterator[str]]


def _genres(path: str) -> Iterator[str]:
    genre = ""
    for number, line in enumerate(chain.from_iterable(read_lines(path, open_file)), start=1):
        if line.startswith(IDENTITY):
            genre = line[len(IDENTITY) :].partition("-")[0]
        elif line.startswith(TEXT):
            if not genre:
                raise InputError(
                    "the text has no `# sent_id = GENRE-…` before it; give a treebank with genres", path, number
                )
            yield f"{genre}\t{' '.join(line[len(TEXT) :].split())}\n"
            genre = ""


MAKERS: dict[str, Maker] = {"genres": _genres}
