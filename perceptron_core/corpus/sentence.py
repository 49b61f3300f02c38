"""What every reader yields and every writer takes: one sentence, as columns of strings.

In classification it is one instance: its columns hold the words of a text, it has one label, and the guess goes into
one line of its text. Where one column has a word, the others have None.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

Targets = tuple[Sequence[str], ...]
"""What is predicted, as columns of strings: the labels; of a tree, the heads and the relations."""


class Sentence(NamedTuple):
    """One sentence; `text` and `token_lines` are filled only on request, to write it back.

    A sentence without tokens carries the text after the last real sentence.
    """

    columns: tuple[Sequence[Any], ...]
    """The input columns in the task's order, without the predicted ones; each has one entry per token."""
    targets: Optional[Targets]
    """The predicted columns, or None where the input has none."""
    line: int
    """The line number (from 1) of its first token."""
    text: Sequence[str] = ()
    """The lines since the previous sentence, and its own, as in the file without the "\\n"; a "\\r" stays."""
    token_lines: Sequence[int] = ()
    """The index in `text` of each token's line."""
    values: Sequence[float] = ()
    """In classification, one value per word; empty where all are 1."""

    @property
    def labels(self) -> Optional[Sequence[str]]:
        """The first predicted column, which is the only one unless trees are predicted."""
        return None if self.targets is None else self.targets[0]
