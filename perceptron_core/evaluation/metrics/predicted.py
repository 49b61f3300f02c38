"""Reading a file whose last two columns are gold and guess, as conlleval takes it."""

from collections.abc import Iterator, Sequence
from itertools import chain

from perceptron_core.corpus import Opener, make_format, open_local, read_lines
from perceptron_core.corpus.format import split_fields
from perceptron_core.errors import InputError


def read_predicted(path: str, opener: Opener = open_local) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """(gold, guess) of every sentence; the line of the first token decides the number of columns."""
    lines = chain.from_iterable(read_lines(path, lambda name: opener(name, 0)))
    before: list[str] = []
    width = 0
    for line in lines:
        before.append(line)
        fields = split_fields(line.rstrip("\r"))
        if fields and fields[0] != "-DOCSTART-":
            width = len(fields)
            break
    if not width:
        raise InputError("contains no sentence; there is nothing to score", path)
    if width < 2:
        raise InputError("needs at least two columns, gold and guess; is this the predicted file?", path, len(before))
    names = [f"column {number}" for number in range(1, width - 1)] + ["gold", "guess"]
    for sentence in make_format("columns", names, "guess").read(chain(before, lines), path):
        yield sentence.columns[-1], sentence.labels or ()
