"""Formats with one sentence per line: tagged words (`word_TAG word_TAG`) and raw words.

Both write tagged words with one space between them, whatever was there before.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Optional

from perceptron_core.corpus.format import (
    Format,
    Labels,
    check_guesses,
    input_columns,
    split_carriage_return,
    split_fields,
)
from perceptron_core.corpus.sentence import Sentence
from perceptron_core.errors import InputError, UserError


class OneLineFormat(Format):
    """A line is a sentence unless it is blank; the one input column is the word."""

    OPTIONS = ("separator",)
    NOT_IN_LABELS = Format.NOT_IN_LABELS + " "
    splittable = True

    def __init__(self, columns: Sequence[str], predict: str, separator: str = "_") -> None:
        if not isinstance(separator, str) or not separator or set(separator) & set(" \t\r\n"):
            raise UserError(f"The separator of word and tag must be a string without blanks, not {separator!r}.")
        self.inputs = input_columns(columns, predict)
        if len(self.inputs) > 1:
            raise UserError(
                f"This format has one input column, not {len(self.inputs)} ({', '.join(self.inputs)}); "
                "use the format columns or conllu."
            )
        self.separator = separator

    def fault_of(self, label: str) -> str:
        return super().fault_of(label) or (
            f"contains the separator {self.separator!r}" if self.separator in label else ""
        )

    @abstractmethod
    def _words_and_labels(
        self, tokens: list[str], source: str, line: int, labels: Labels
    ) -> tuple[Sequence[str], Optional[Sequence[str]]]:
        """Split the tokens of a line into words and labels."""

    def read(
        self, lines: Iterable[str], source: str, keep_text: bool = False, labels: Labels = "required"
    ) -> Iterator[Sentence]:
        text: list[str] = []
        number = 0
        for number, line in enumerate(lines, 1):
            if keep_text:
                text.append(line)
            tokens = split_fields(line[:-1] if line[-1:] == "\r" else line)
            if not tokens:
                continue
            words, gold = self._words_and_labels(tokens, source, number, labels)
            targets = None if gold is None else (gold,)
            if keep_text:
                yield Sentence((words,), targets, number, text, [len(text) - 1] * len(words))
                text = []
            else:
                yield Sentence((words,), targets, number)
        if text:
            yield self.leftover(text, number + 1 - len(text))

    def write(self, sentence: Sentence, *columns: Sequence[str]) -> str:
        (guesses,) = columns
        check_guesses(sentence, guesses)
        lines = list(sentence.text)
        words = sentence.columns[0]
        if words:
            _, carriage_return = split_carriage_return(lines[-1])
            pairs = [word + self.separator + guess for word, guess in zip(words, guesses)]
            lines[-1] = " ".join(pairs) + carriage_return
        return "".join([line + "\n" for line in lines])


class WordTagFormat(OneLineFormat):
    """`word_TAG word_TAG`; the last separator of a token counts, so words may contain it, but tags may not."""

    def _words_and_labels(
        self, tokens: list[str], source: str, line: int, labels: Labels
    ) -> tuple[Sequence[str], Optional[Sequence[str]]]:
        words, _, tags = zip(*[token.rpartition(self.separator) for token in tokens])
        # Without a separator, rpartition leaves the word empty, too.
        if "" not in words and "" not in tags:
            return words, tags
        if labels == "optional":
            # Words may contain the separator, so a line is tagged only if each of its tokens can be a pair.
            return tokens, None
        at_fault = next(token for token, word, tag in zip(tokens, words, tags) if not (word and tag))
        raise InputError(
            f"the token {at_fault!r} is not a word and a tag joined by {self.separator!r}; "
            "fix it, or name the separator of this file.",
            source,
            line,
        )


class RawFormat(OneLineFormat):
    """Words without tags: there are never labels, even where they are required."""

    def _words_and_labels(
        self, tokens: list[str], source: str, line: int, labels: Labels
    ) -> tuple[Sequence[str], Optional[Sequence[str]]]:
        return tokens, None

    def leftover(self, text: list[str], line: int) -> Sentence:
        return super().leftover(text, line)._replace(targets=None)
