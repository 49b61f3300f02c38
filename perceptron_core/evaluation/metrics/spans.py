"""Precision, recall and F1 of chunks, counted and reported as the conlleval script of the CoNLL tasks does.

The report is that script's output, character for character, and tags are read as it reads them: IOB1, IOB2,
IOE1, IOE2, the brackets `[` and `]`, ill-formed sequences. There are three differences, where it has no
sensible answer: `S-`, which it does not know, is a chunk of one token; the end of a sentence closes every chunk, even
one that ends in `.-NP`; a type named `0` keeps its name.

`E-` is read as the script reads it: no chunk ends between an `E-NP` and a `B-NP`. IOBES labels with chunks of
one type side by side must therefore be converted (`label_encodings.convert`) before they are counted.

The table of counts is: chunk type → gold | found | correct → how often.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from perceptron_core.evaluation.metrics.counts import LabelCounts, ratio

# Prefixes of two neighbouring tags between which a chunk ends or starts, whatever their types.
_ENDS = {tuple(pair) for pair in ("BB", "BO", "IB", "IO", "EE", "EI", "EO", "BS", "IS", "ES")}
_STARTS = {tuple(pair) for pair in ("BB", "IB", "OB", "OI", "EE", "EI", "OE", "SB", "SI", "SE")}
_OUTSIDE = ("O", ".")
_CHUNKS_OF_ONE_TOKEN = ("[", "]", "S")


class _Chunks(NamedTuple):
    """How many chunks are gold, found (predicted) and correct."""

    gold: int
    found: int
    correct: int

    @classmethod
    def of(cls, columns: Counter[str]) -> "_Chunks":
        return cls(columns["gold"], columns["found"], columns["correct"])

    def precision_recall_f1(self, scale: int = 1) -> tuple[float, float, float]:
        """With scale 100, percentages computed in the script's order of operations, to round as it does."""
        precision = ratio(scale * self.correct, self.found)
        recall = ratio(scale * self.correct, self.gold)
        f1 = 2 * precision * recall / (precision + recall) if self.correct else 0.0
        return precision, recall, f1

    def score(self) -> dict[str, Any]:
        precision, recall, f1 = self.precision_recall_f1()
        return {"precision": precision, "recall": recall, "f1": f1, **self._asdict()}

    def percentages(self) -> str:
        precision, recall, f1 = self.precision_recall_f1(scale=100)
        return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


class _Boundaries(dict[tuple[str, str], tuple[bool, bool, str]]):
    """(previous tag, tag) → does a chunk end between them, does one start, and the type of the tag.

    A corpus has few distinct pairs, so each is worked out once.
    """

    def __missing__(self, pair: tuple[str, str]) -> tuple[bool, bool, str]:
        previous_prefix, _, previous_type = pair[0].partition("-")
        prefix, _, chunk_type = pair[1].partition("-")
        prefixes = (previous_prefix, prefix)
        type_changes = previous_type != chunk_type
        ends = (
            prefixes in _ENDS
            or previous_prefix in _CHUNKS_OF_ONE_TOKEN
            or (type_changes and previous_prefix not in _OUTSIDE)
        )
        starts = prefixes in _STARTS or prefix in _CHUNKS_OF_ONE_TOKEN or (type_changes and prefix not in _OUTSIDE)
        self[pair] = boundary = (ends, starts, chunk_type)
        return boundary


class SpanCounts(LabelCounts):
    """How many chunks are in the gold labels, in the predicted ones, and in both."""

    headline_name = "F1"

    def __init__(self) -> None:
        super().__init__()
        self._boundaries = _Boundaries()

    def _count_wrong_labels(self, gold: Sequence[str], guess: Sequence[str]) -> int:
        boundaries, table = self._boundaries, self.table
        wrong = 0
        last_gold = last_guess = "O"
        matching_type = ""
        matching = False  # the gold and the predicted chunk we are in began together and agree so far
        for gold_tag, guess_tag in zip(gold, guess):
            if gold_tag == guess_tag:
                if gold_tag == "O" == last_gold == last_guess:
                    continue
            else:
                wrong += 1
            gold_ends, gold_starts, gold_type = boundaries[last_gold, gold_tag]
            guess_ends, guess_starts, guess_type = boundaries[last_guess, guess_tag]
            if matching:
                if gold_ends and guess_ends:
                    table[matching_type]["correct"] += 1
                    matching = False
                elif gold_ends or guess_ends or gold_type != guess_type:
                    matching = False
            if gold_starts:
                table[gold_type]["gold"] += 1
                if guess_starts and gold_type == guess_type:
                    matching, matching_type = True, gold_type
            if guess_starts:
                table[guess_type]["found"] += 1
            last_gold, last_guess = gold_tag, guess_tag
        if matching:
            table[matching_type]["correct"] += 1
        return wrong

    def headline(self) -> float:
        return self._totals().precision_recall_f1()[2]

    def score(self) -> dict[str, Any]:
        types = {chunk_type: _Chunks.of(columns).score() for chunk_type, columns in sorted(self.table.items())}
        return {**super().score(), **self._totals().score(), "types": types}

    def report(self) -> str:
        totals = self._totals()
        lines = [
            f"processed {self.tokens} tokens with {totals.gold} phrases; "
            f"found: {totals.found} phrases; correct: {totals.correct}."
        ]
        if self.tokens:
            accuracy = 100 * self.correct_tokens / self.tokens
            lines.append(f"accuracy: {accuracy:6.2f}%; {totals.percentages()}")
        for chunk_type, columns in sorted(self.table.items()):
            chunks = _Chunks.of(columns)
            # The script sees bytes, not characters, and pads the name of a type accordingly.
            name = chunk_type.rjust(17 - len(chunk_type.encode()) + len(chunk_type))
            line = f"{name}: {chunks.percentages()}  {chunks.found}"
            # Untyped chunks on both sides are listed twice: the script's test for repetition needs a name.
            lines += [line, line] if not chunk_type and chunks.gold and chunks.found else [line]
        return "".join(line + "\n" for line in lines)

    def _totals(self) -> _Chunks:
        return _Chunks.of(sum(self.table.values(), Counter()))
