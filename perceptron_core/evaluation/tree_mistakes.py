"""Which trees a parser gets most wrong: short sentences, with both trees, to be drawn."""

from collections.abc import Iterable, Sequence
from typing import Any

from perceptron_core.corpus.sentence import Targets

TREES = 8
LONGEST = 25  # words; larger drawings are hard to read

Parsed = tuple[Sequence[str], Targets, Targets]  # words, gold and guessed columns


def worst_trees(sentences: Iterable[Parsed]) -> list[dict[str, Any]]:
    """The sentences with the most wrong heads, then relations, as plain values for JSON; of equals the first."""
    ranked = []
    for number, (words, gold, guess) in enumerate(sentences):
        if len(words) <= LONGEST:
            heads, relations = (sum(a != b for a, b in zip(*pair)) for pair in zip(gold, guess))
            if heads or relations:
                ranked.append(((-heads, -relations, number), words, gold, guess))
    ranked.sort(key=lambda entry: entry[0])
    return [
        {"words": list(words), "gold": _tree(gold), "guess": _tree(guess)} for _, words, gold, guess in ranked[:TREES]
    ]


def _tree(targets: Targets) -> dict[str, Any]:
    heads, relations = targets
    return {"heads": list(map(int, heads)), "relations": list(relations)}
