"""Texts with a label before them: `label TAB text`, one per line.

The first TAB of a line ends the label, so the text may contain more of them. A line without a TAB is a text without a
label, which can be predicted. The guess is written after the text and a TAB.
"""

from collections.abc import Sequence

from perceptron_core.corpus.format import Labels
from perceptron_core.corpus.instances import Instance, LineInstanceFormat, named_columns, splitter
from perceptron_core.errors import InputError, UserError


class LabelTextFormat(LineInstanceFormat):
    OPTIONS = ("units",)
    COLUMNS = ("text",)

    def __init__(self, columns: Sequence[str], predict: str, units: str = "words") -> None:
        self.inputs = named_columns(columns, predict)
        if len(self.inputs) > 1:
            raise UserError(
                f"The format label_text has one input column, not {len(self.inputs)} ({', '.join(self.inputs)}); "
                "use the format csv or tsv."
            )
        self.split = splitter(units)

    def _instance(self, line: str, source: str, number: int, labels: Labels) -> Instance:
        label, tab, text = line.partition("\t")
        label = label.strip(" ")
        if tab and label:
            return Instance((self.split(text),), label)
        if labels == "optional":
            return Instance((self.split(text if tab else line),), None)
        problem = "has an empty label" if tab else "has no TAB, so it has no label"
        raise InputError(f"{problem}; write label TAB text.", source, number)

    def _with_guess(self, line: str, guess: str) -> str:
        return f"{line}\t{guess}"
