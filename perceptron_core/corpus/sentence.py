"""What every reader yields and every writer takes: one sentence, as columns of strings.

In classification it is one instance: its columns hold the words of a text, it has one label, and one line of its text
takes the guess. A word of one column leaves None in the others.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

Targets = tuple[Sequence[str], ...]
"""What is predicted, as columns of strings: the labels; of a tree, the heads and the relations."""


class Sentence(NamedTuple):
    """One sentence; `text` and `token_lines` are filled only on request, for whoever writes it back.

    A sentence without tokens carries the text that trails after the last real one.
    """

    columns: tuple[Sequence[Any], ...]
    """The input columns in the task's order, without the predicted ones; each has one entry per token."""
    targets: Optional[Targets]
    """The predicted columns, or None where the input has none."""
    line: int
    """The line number (from 1) of its first token."""
    text: Sequence[str] = ()
    """The lines since the sentence before, and its own, as in the file but for the "\\n"; a "\\r" stays."""
    token_lines: Sequence[int] = ()
    """For each token the index of its line in `text`."""
    values: Sequence[float] = ()
    """Of classification: a value for each word; empty where all are 1."""

    @property
    def labels(self) -> Optional[Sequence[str]]:
        """The only predicted column, where there is one."""
        return None if self.targets is None else self.targets[0]
