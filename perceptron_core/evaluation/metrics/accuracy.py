"""Token and sentence accuracy, with the most frequent confusions: the metric for taggers.

The table of counts has only the wrong pairs: gold label → predicted label → how often.
"""

from collections.abc import Mapping, Sequence

from perceptron_core.evaluation.metrics.counts import LabelCounts, ratio

_CONFUSIONS_IN_REPORT = 10


class AccuracyCounts(LabelCounts):
    """How many tokens and whole sentences are right, and what the wrong ones were taken for."""

    headline_name = "accuracy"

    def _count_wrong_labels(self, gold: Sequence[str], guess: Sequence[str]) -> int:
        if gold == guess:  # true for most sentences of a trained model, and faster than a loop
            return 0
        wrong = [pair for pair in zip(gold, guess) if pair[0] != pair[1]]
        for gold_label, guessed_label in wrong:
            self.table[gold_label][guessed_label] += 1
        return len(wrong)

    def headline(self) -> float:
        return ratio(self.correct_tokens, self.tokens)

    def report(self) -> str:
        percent_tokens = 100 * ratio(self.correct_tokens, self.tokens)
        percent_sentences = 100 * ratio(self.correct_sentences, self.sentences)
        lines = [
            f"tokens             {self.tokens:>12,}",
            f"correct            {self.correct_tokens:>12,}",
            f"accuracy           {percent_tokens:>11.2f}%",
            f"sentences          {self.sentences:>12,}",
            f"sentences right    {self.correct_sentences:>12,}",
            f"sentence accuracy  {percent_sentences:>11.2f}%",
            *confusion_lines(self.table),
        ]
        return "".join(line + "\n" for line in lines)


def confusion_lines(table: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The most frequent of a table's wrong pairs, gold label → predicted label → how often."""
    pairs = [(count, gold, guess) for gold, guesses in table.items() for guess, count in guesses.items()]
    # Ties in the order of the labels, so that the same counts always give the same report.
    confusions = sorted((-count, gold, guess) for count, gold, guess in pairs if gold != guess)
    shown = [(-count, gold, guess) for count, gold, guess in confusions[:_CONFUSIONS_IN_REPORT]]
    if not shown:
        return []
    gold_width = max(len(gold) for _, gold, _ in shown)
    guess_width = max(len(guess) for _, _, guess in shown)
    count_width = max(len(f"{count:,}") for count, _, _ in shown)
    return ["", "most frequent confusions (gold → guess)"] + [
        f"{gold:>{gold_width}} → {guess:<{guess_width}}  {count:>{count_width},}" for count, gold, guess in shown
    ]
