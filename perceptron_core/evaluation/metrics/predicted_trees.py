"""Reading two CoNLL-U files with the same words: gold trees, and those that any parser has found."""

from collections.abc import Iterator
from itertools import zip_longest

from perceptron_core.corpus import Opener, Sentence, open_local, read_sentences
from perceptron_core.corpus.conllu_tree import HEAD, ConlluTreeFormat
from perceptron_core.corpus.sentence import Targets
from perceptron_core.errors import InputError


class AnyTrees(ConlluTreeFormat):
    """Trees of any parser: with several roots, and without relations, which then count as wrong."""

    needs_relations = False

    def __init__(self) -> None:
        super().__init__(["form"], HEAD, roots="any")


def read_predicted_trees(gold: str, predicted: str, opener: Opener = open_local) -> Iterator[tuple[Targets, Targets]]:
    """The gold and the predicted targets of every sentence; words that are not the same are refused."""
    lines = 1, 1
    for expected, found in zip_longest(_sentences(gold, opener), _sentences(predicted, opener)):
        if found is None:
            raise _ends(predicted, lines[1], f"{gold}:{expected.line}")
        if expected is None:
            raise _ends(gold, lines[0], f"{predicted}:{found.line}")
        if expected.columns != found.columns:
            raise _other_words(expected, found, gold, predicted)
        assert expected.targets and found.targets, "the reader requires them"
        yield expected.targets, found.targets
        lines = expected.line, found.line


def _sentences(path: str, opener: Opener) -> Iterator[Sentence]:
    """With their text, since a sentence's `token_lines` tell the line of each word."""
    found = read_sentences(path, AnyTrees(), keep_text=True, opener=opener)
    return (sentence for sentence in found if sentence.token_lines)


def _ends(path: str, line: int, other: str) -> InputError:
    return InputError(
        f"this sentence is the last, but there is another one at {other}; both files must have the same words",
        path,
        line,
    )


def _other_words(expected: Sentence, found: Sentence, gold: str, predicted: str) -> InputError:
    words, others = found.columns[0], expected.columns[0]
    at = next((i for i, pair in enumerate(zip(words, others)) if pair[0] != pair[1]), min(len(words), len(others)))
    here, there = (
        f"word {at + 1} is {side[at]!r}" if at < len(side) else "the sentence ends" for side in (words, others)
    )
    return InputError(
        f"{here}, but {there} at {gold}:{_line(expected, at)}; both files must have the same words",
        predicted,
        _line(found, at),
    )


def _line(sentence: Sentence, word: int) -> int:
    """The line of a word; of the last one, where a sentence ends before it."""
    places = sentence.token_lines
    return sentence.line + places[min(word, len(places) - 1)] - places[0]
