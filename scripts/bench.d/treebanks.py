"""Treebanks for parsers of all kinds: one plain file that is CoNLL-U and CoNLL-X at once, with form and tag only.

Everybody gets the same information: the words, without multiword tokens and empty nodes; the universal tag, as both
tags of CoNLL-X; heads and relations.
"""

import gzip
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

Tree = list[list[str]]  # form, tag, head and relation of every word
FORM, TAG, HEAD, RELATION = 1, 3, 6, 7


def read_trees(path: Path) -> Iterator[Tree]:
    """Of CoNLL-U or CoNLL-X, plain or .gz."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        tree: Tree = []
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[0].isdigit():
                tree.append([fields[FORM], fields[TAG], fields[HEAD], fields[RELATION]])
            elif not line.strip() and tree:
                yield tree
                tree = []
        if tree:
            yield tree


def write_trees(path: Path, trees: Iterable[Tree]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for tree in trees:
            for number, (form, tag, head, relation) in enumerate(tree, start=1):
                file.write(f"{number}\t{form}\t_\t{tag}\t{tag}\t_\t{head}\t{relation}\t_\t_\n")
            file.write("\n")


def spread_out(trees: Sequence[Tree], count: int) -> Sequence[Tree]:
    """So many trees, evenly from the whole treebank."""
    return trees[:: max(1, len(trees) // count)][:count]


def blind(trees: Iterable[Tree]) -> Iterator[Tree]:
    """The trees without what is to be found: a chain of one relation, since some programs want to read a tree."""
    for tree in trees:
        yield [[form, tag, str(number), "dep" if number else "root"] for number, (form, tag, *_) in enumerate(tree)]


def with_words(words: Iterable[Tree], trees: Iterable[Tree]) -> Iterator[Tree]:
    """The heads and relations of `trees` for the forms and tags of `words`."""
    for given, tree in zip(words, trees):
        yield [[form, tag, head, relation] for (form, tag, *_), (*_, head, relation) in zip(given, tree)]


def count_words(trees: Iterable[Tree]) -> int:
    return sum(map(len, trees))
