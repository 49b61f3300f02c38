"""Attachment scores of dependency trees: the metric for parsers.

    UAS = words with the right head / words        LAS = words with the right head and the right relation / words

LAS is counted with full relations (`nsubj:pass`) and with universal ones (`nsubj`, before the colon). UAS and universal
LAS are the scores of the same names of the CoNLL 2018 shared task, for the same words. All is counted with and without
punctuation, which is what has the gold relation `punct`. Where all relations are "_", as in a task with
`labelled: false`, LAS is UAS.

A tree is exact if all its words are right. An arc is not projective if a word between head and child does not descend
from the head. Of these arcs in the gold trees, recall is the share whose head is guessed; of those in the guessed
trees, precision is the share whose head is right.

The table of counts has three rows:

    arcs             gold relation TAB guessed one TAB gold distance TAB guessed one TAB head right or wrong → how often
    trees            what is right in all words → how often
    non-projective   gold, recalled, found, right → how often
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from perceptron_core.corpus.sentence import Targets
from perceptron_core.corpus.trees import non_projective_arcs
from perceptron_core.evaluation.metrics.counts import Counts, ratio

ARCS, TREES, NON_PROJECTIVE = "arcs", "trees", "non-projective"
ROOT, FAR = "root", ">10"
DISTANCES = {1: "1", 2: "2", **dict.fromkeys(range(3, 7), "3-6"), **dict.fromkeys(range(7, 11), "7-10")}
BUCKETS = ("1", "2", "3-6", "7-10", FAR, ROOT)
RIGHT, WRONG = "right", "wrong"
NO_RELATION = "_"
PUNCTUATION = "punct"
SCORES = ("uas", "las", "universal_las")  # each also of whole trees
_WITHOUT = "without punctuation: "


class Arc(NamedTuple):
    """What is known of a word: its gold and guessed relations and distances, and whether its head is right."""

    gold: str
    guess: str
    gold_distance: str
    guessed_distance: str
    head: str

    def right(self) -> tuple[bool, bool, bool]:
        """By each of SCORES."""
        head = self.head == RIGHT
        return head, head and self.gold == self.guess, head and universal(self.gold) == universal(self.guess)

    def is_punctuation(self) -> bool:
        return universal(self.gold) == PUNCTUATION


def universal(relation: str) -> str:
    return relation.partition(":")[0]


def _distances(heads: Sequence[int]) -> list[str]:
    return [DISTANCES.get(abs(head - word), FAR) if head else ROOT for word, head in enumerate(heads, 1)]


class AttachmentCounts(Counts):
    """How many words have the right head and relation; a right word, in all counts, has both."""

    headline_name = "LAS"

    def _count_wrong_tokens(self, gold: Targets, guess: Targets) -> int:
        gold_heads, guessed_heads = list(map(int, gold[0])), list(map(int, guess[0]))
        heads = [RIGHT if a == b else WRONG for a, b in zip(gold_heads, guessed_heads)]
        arcs = list(zip(gold[1], guess[1], _distances(gold_heads), _distances(guessed_heads), heads))
        self.table[ARCS].update(map("\t".join, arcs))
        wrong = [Arc(*arc) for arc in arcs if arc[0] != arc[1] or arc[4] == WRONG]
        self._count_trees(wrong)
        self._count_non_projective(gold_heads, guessed_heads)
        return len(wrong)

    def _count_trees(self, wrong: Sequence[Arc]) -> None:
        for prefix, words in (("", wrong), (_WITHOUT, [arc for arc in wrong if not arc.is_punctuation()])):
            rights = zip(*[arc.right() for arc in words]) if words else [()] * len(SCORES)
            for score, right in zip(SCORES, rights):
                self.table[TREES][prefix + score] += all(right)

    def _count_non_projective(self, gold_heads: Sequence[int], guessed_heads: Sequence[int]) -> None:
        gold = non_projective_arcs(gold_heads)
        found = gold if gold_heads == guessed_heads else non_projective_arcs(guessed_heads)
        if gold or found:
            row = self.table[NON_PROJECTIVE]
            for words, name, right in ((gold, "gold", "recalled"), (found, "found", "right")):
                row[name] += len(words)
                row[right] += sum(gold_heads[word - 1] == guessed_heads[word - 1] for word in words)

    # ------------------------------------------------------------ scores

    def headline(self) -> float:
        return ratio(self.correct_tokens, self.tokens)

    def labelled(self) -> bool:
        """Whether the gold trees have relations."""
        return any(arc.gold != NO_RELATION for arc, _ in self._arcs())

    def score(self) -> dict[str, Any]:
        return {
            **super().score(),
            **self._shares("", self._arcs()),
            "without_punctuation": self._shares(_WITHOUT, [arc for arc in self._arcs() if not arc[0].is_punctuation()]),
            "root_accuracy": self._by_distance()[ROOT]["recall"],
            "non_projective": self._non_projective(),
            "distances": self._by_distance(),
            "relations": self._by_relation(),
        }

    def _arcs(self) -> Iterator[tuple[Arc, int]]:
        return ((Arc(*key.split("\t")), count) for key, count in self.table.get(ARCS, {}).items())

    def _shares(self, prefix: str, arcs: Iterable[tuple[Arc, int]]) -> dict[str, Any]:
        """The scores of words and of whole trees."""
        words, right = 0, [0] * len(SCORES)
        for arc, count in arcs:
            words += count
            right = [total + count * is_right for total, is_right in zip(right, arc.right())]
        trees = self.table.get(TREES, Counter())
        return {
            "words": words,
            **{score: ratio(count, words) for score, count in zip(SCORES, right)},
            **{f"trees_{score}": ratio(trees[prefix + score], self.sentences) for score in SCORES},
        }

    def _non_projective(self) -> dict[str, Any]:
        row = self.table.get(NON_PROJECTIVE, Counter())
        precision, recall = ratio(row["right"], row["found"]), ratio(row["recalled"], row["gold"])
        return {"gold": row["gold"], "found": row["found"], "precision": precision, "recall": recall}

    def _by_relation(self) -> dict[str, dict[str, Any]]:
        """Of the words of each relation, those whose head and relation are right."""
        found = {name: Counter[str]() for arc, _ in self._arcs() for name in (arc.gold, arc.guess)}
        for arc, count in self._arcs():
            found[arc.gold]["gold"] += count
            found[arc.guess]["found"] += count
            found[arc.gold]["correct"] += count * arc.right()[1]
        return {name: _precision_recall(found[name]) for name in sorted(found)} if self.labelled() else {}

    def _by_distance(self) -> dict[str, dict[str, Any]]:
        """Of the words at each distance from their head, those whose head is right."""
        found = {name: Counter[str]() for name in BUCKETS}
        for arc, count in self._arcs():
            found[arc.gold_distance]["gold"] += count
            found[arc.guessed_distance]["found"] += count
            found[arc.gold_distance]["correct"] += count * arc.right()[0]
        return {name: _precision_recall(counts) for name, counts in found.items()}

    def report(self) -> str:
        score, labelled = self.score(), self.labelled()
        other = score["without_punctuation"]
        names = {"uas": "UAS", "las": "LAS", "universal_las": "universal LAS"}
        shown = {name: text for name, text in names.items() if labelled or name == "uas"}
        lines = [f"{'':<28}  all words  without punctuation", _row("words", score["words"], other["words"])]
        lines += [_row(text, score[name], other[name]) for name, text in shown.items()]
        lines += [_row(f"exact trees, {text}", score[f"trees_{n}"], other[f"trees_{n}"]) for n, text in shown.items()]
        lines += [_row("root accuracy", score["root_accuracy"])]
        arcs = score["non_projective"]
        lines += [
            f"non-projective arcs: {arcs['gold']:,} gold, {arcs['found']:,} found; "
            f"precision {100 * arcs['precision']:.2f}%, recall {100 * arcs['recall']:.2f}%"
        ]
        lines += ["", *_table("heads by distance", score["distances"])]
        if score["relations"]:
            lines += ["", *_table("relation", score["relations"])]
        return "".join(line + "\n" for line in lines)


def _precision_recall(counts: Counter[str]) -> dict[str, Any]:
    gold, found, correct = counts["gold"], counts["found"], counts["correct"]
    return {
        "precision": ratio(correct, found),
        "recall": ratio(correct, gold),
        "f1": ratio(2 * correct, gold + found),
        "gold": gold,
        "found": found,
        "correct": correct,
    }


def _row(name: str, *values: float) -> str:
    cells = [f"{value:,} " if isinstance(value, int) else f"{100 * value:.2f}%" for value in values]
    return f"{name:<28}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, (11, 21))).rstrip()


def _table(title: str, rows: dict[str, dict[str, Any]]) -> list[str]:
    width = max(len(title), *map(len, rows))
    lines = [f"{title:<{width}}  precision   recall       F1       gold      found"]
    for name, of in rows.items():
        precision, recall, f1 = (100 * of[score] for score in ("precision", "recall", "f1"))
        lines.append(
            f"{name:<{width}}  {precision:>8.2f}% {recall:>7.2f}% {f1:>7.2f}% {of['gold']:>10,} {of['found']:>10,}"
        )
    return lines
