"""Which labels a model confuses: the most frequent confusions, each with a few examples."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

CONFUSIONS = 10
EXAMPLES = 3  # of each confusion, from different sentences
CONTEXT = 14  # words on either side, because a mistake is hard to see in a sentence of a thousand words

Tagged = tuple[Sequence[str], Sequence[str], Sequence[str]]  # words, gold labels, guessed labels


def find_mistakes(sentences: Iterable[Tagged]) -> dict[str, Any]:
    """Counts and confusions as plain values for JSON; examples come in the order of the sentences."""
    tokens, wrong = 0, []
    for words, gold, guess in sentences:
        tokens += len(gold)
        if gold != guess:  # most sentences are right and need not be kept
            wrong.append((words, gold, guess))
    counts = Counter(pair for _, gold, guess in wrong for pair in zip(gold, guess) if pair[0] != pair[1])
    frequent = sorted(counts, key=lambda pair: (-counts[pair], pair))[:CONFUSIONS]
    examples: dict[tuple[str, str], list[dict[str, Any]]] = {pair: [] for pair in frequent}
    for words, gold, guess in wrong:
        pairs = list(zip(gold, guess))
        for pair in dict.fromkeys(pairs):
            if pair in examples and len(examples[pair]) < EXAMPLES:
                examples[pair].append(_excerpt(words, gold, guess, pairs.index(pair)))
    return {
        "tokens": tokens,
        "wrong_tokens": sum(counts.values()),
        "confusions": [
            {"gold": gold, "guess": guess, "count": counts[gold, guess], "examples": examples[gold, guess]}
            for gold, guess in frequent
        ],
    }


def _excerpt(words: Sequence[str], gold: Sequence[str], guess: Sequence[str], at: int) -> dict[str, Any]:
    """The words around position `at`, and whether the sentence has more words before and after them."""
    begin, end = max(0, at - CONTEXT), at + CONTEXT + 1
    return {
        "words": list(words[begin:end]),
        "gold": list(gold[begin:end]),
        "guess": list(guess[begin:end]),
        "at": at - begin,
        "cut": [begin > 0, end < len(words)],
    }
