"""Accuracy, F1 of all classes and of each, and the confusion matrix: the metric for classification.

    precision of a class = right guesses of it / guesses of it         recall = right guesses of it / instances of it
    F1 = 2 · precision · recall / (precision + recall)                 0 where nothing of the class is right
    macro F1 = the mean of the classes' F1     micro F1 = F1 of all guesses together: with one label each, the accuracy

Classes are those that occur, as gold or as guess. The table of counts is: gold label → predicted label → how often.
"""

from collections.abc import Sequence
from typing import Any

from perceptron_core.evaluation.metrics.accuracy import confusion_lines
from perceptron_core.evaluation.metrics.counts import LabelCounts, ratio

_CLASSES_IN_MATRIX = 12  # with more, the most frequent confusions are easier to read


class ClassCounts(LabelCounts):
    """How often each gold class was predicted as which class."""

    headline_name = "accuracy"

    def _count_wrong_labels(self, gold: Sequence[str], guess: Sequence[str]) -> int:
        wrong = 0
        for gold_label, guessed_label in zip(gold, guess):
            self.table[gold_label][guessed_label] += 1
            wrong += gold_label != guessed_label
        return wrong

    def headline(self) -> float:
        return ratio(self.correct_tokens, self.tokens)

    def _by_class(self) -> dict[str, dict[str, Any]]:
        names = sorted({*self.table, *(guess for guesses in self.table.values() for guess in guesses)})
        gold = {name: sum(self.table[name].values()) if name in self.table else 0 for name in names}
        found = dict.fromkeys(names, 0)
        for guesses in self.table.values():
            for guess, count in guesses.items():
                found[guess] += count
        classes = {}
        for name in names:
            correct = self.table[name][name] if name in self.table else 0
            scores = {
                "precision": ratio(correct, found[name]),
                "recall": ratio(correct, gold[name]),
                "f1": ratio(2 * correct, gold[name] + found[name]),
            }
            classes[name] = {**scores, "gold": gold[name], "found": found[name], "correct": correct}
        return classes

    def score(self) -> dict[str, Any]:
        classes = self._by_class()
        means = {f"macro_{name}": _mean(classes, name) for name in ("precision", "recall", "f1")}
        confusion = self.to_record()["table"]
        return {**super().score(), "micro_f1": self.headline(), **means, "classes": classes, "confusion": confusion}

    def report(self) -> str:
        classes = self._by_class()
        lines = [
            f"instances  {self.tokens:>12,}",
            f"correct    {self.correct_tokens:>12,}",
            f"accuracy   {100 * self.headline():>11.2f}%",
            f"micro F1   {100 * self.headline():>11.2f}%",
            f"macro F1   {100 * _mean(classes, 'f1'):>11.2f}%",
        ]
        if classes:
            width = max(5, *map(len, classes))
            lines += ["", f"{'class':<{width}}  precision   recall       F1       gold      found"]
        for name, of_class in classes.items():
            precision, recall, f1 = (100 * of_class[score] for score in ("precision", "recall", "f1"))
            lines.append(
                f"{name:<{width}}  {precision:>8.2f}% {recall:>7.2f}% {f1:>7.2f}% "
                f"{of_class['gold']:>10,} {of_class['found']:>10,}"
            )
        lines += self._matrix(list(classes)) if len(classes) <= _CLASSES_IN_MATRIX else confusion_lines(self.table)
        return "".join(line + "\n" for line in lines)

    def _matrix(self, names: Sequence[str]) -> list[str]:
        """One line per gold label, one column per guess."""
        if not names:
            return []
        counts = [[f"{self.table[gold][guess] if gold in self.table else 0:,}" for guess in names] for gold in names]
        widths = [max(len(name), *(len(row[i]) for row in counts)) for i, name in enumerate(names)]
        width = max(map(len, names))

        def line(first: str, cells: Sequence[str]) -> str:
            return "  ".join([f"{first:<{width}}", *(f"{cell:>{w}}" for cell, w in zip(cells, widths))])

        return ["", "confusion (gold down, guess across)", line("", names), *map(line, names, counts)]


def _mean(classes: dict[str, dict[str, Any]], score: str) -> float:
    return sum(of_class[score] for of_class in classes.values()) / len(classes) if classes else 0.0
