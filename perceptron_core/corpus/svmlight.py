"""The format of SVMlight and LIBSVM: `label index:value index:value … # comment`, one per line.

An index may be any name without a colon, and indices may come in any order. A label is a string: `+1` and `1` are
different. `qid:…`, a query's number, is ignored. A line that begins with `index:value` has no label, but can be
predicted. The guess replaces the label, so the result is again such a file.

Reference: T. Joachims, Making large-scale SVM learning practical, 1999 (SVMlight).
"""

from collections.abc import Sequence
from itertools import repeat
from operator import contains
from typing import Optional

from perceptron_core.corpus.format import Labels, split_fields
from perceptron_core.corpus.instances import NUMBER, Instance, LineInstanceFormat, fits_float32
from perceptron_core.errors import InputError, UserError

QUERY = "qid:"


class SvmlightFormat(LineInstanceFormat):
    COLUMNS = (NUMBER,)
    NOT_IN_LABELS = LineInstanceFormat.NOT_IN_LABELS + " :#"

    def __init__(self, columns: Sequence[str], predict: str) -> None:
        if tuple(columns) != self.COLUMNS:
            raise UserError("The format svmlight has no columns to name; leave out `columns`.")
        self.inputs = self.COLUMNS

    def _instance(self, line: str, source: str, number: int, labels: Labels) -> Optional[Instance]:
        fields = split_fields(line.partition("#")[0])
        if not fields:
            return None
        label = None if ":" in fields[0] else fields[0]
        if label is None and labels == "required":
            raise InputError(
                f"begins with {fields[0]!r}, which is not a label; write label index:value …", source, number
            )
        features = fields if label is None else fields[1:]
        if features and features[0].startswith(QUERY):
            del features[0]
        # All at once: a loop over the features would take most of the reading time.
        parts = ":".join(features).split(":") if features else []
        paired = len(parts) == 2 * len(features) and all(map(contains, features, repeat(":")))
        names = parts[::2]
        try:
            values = list(map(float, parts[1::2])) if paired else []
        except ValueError:
            paired = False
        if not paired or "" in names or not fits_float32(values):
            raise self._bad_feature(features, source, number)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"has the index {twice} more than once; give it one value.", source, number)
        return Instance((names,), label, values)

    @staticmethod
    def _bad_feature(features: Sequence[str], source: str, number: int) -> InputError:
        """The error for the first wrong feature."""
        for feature in features:
            name, colon, value = feature.partition(":")
            try:
                good = bool(name and colon) and fits_float32([float(value)])
            except ValueError:
                good = False
            if not good:
                break
        return InputError(f"{feature!r} is not index:value with a finite number as value; fix it.", source, number)

    def _with_guess(self, line: str, guess: str) -> str:
        start = len(line) - len(line.lstrip(" \t"))
        first = split_fields(line.partition("#")[0])[0]
        rest = " " + line[start:] if ":" in first else line[start + len(first) :]
        return line[:start] + guess + rest
