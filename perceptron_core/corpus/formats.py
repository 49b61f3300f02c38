"""The corpus formats by name, as a task file gives them."""

from collections.abc import Sequence
from typing import Any

from perceptron_core.corpus.columns import ColumnsFormat
from perceptron_core.corpus.conllu import ConlluFormat
from perceptron_core.corpus.conllu_tree import ConlluTreeFormat
from perceptron_core.corpus.format import Format
from perceptron_core.corpus.label_text import LabelTextFormat
from perceptron_core.corpus.one_line import RawFormat, WordTagFormat
from perceptron_core.corpus.svmlight import SvmlightFormat
from perceptron_core.corpus.table import CsvFormat, TsvFormat
from perceptron_core.errors import UserError

FORMATS: dict[str, type[Format]] = {
    "columns": ColumnsFormat,
    "conllu": ConlluFormat,
    "word_tag": WordTagFormat,
    "raw": RawFormat,
    "conllu_tree": ConlluTreeFormat,
    "label_text": LabelTextFormat,
    "csv": CsvFormat,
    "tsv": TsvFormat,
    "svmlight": SvmlightFormat,
}


def make_format(name: str, columns: Sequence[str], predict: str, **options: Any) -> Format:
    """Return the format of this name.

    The format `columns` needs the names of all columns of the file, in order. `conllu` and `conllu_tree` need those to
    predict from, the word first; `word_tag` and `raw` have only one, the word. These four and the formats of
    classification drop the predicted columns from the list.
    """
    if name not in FORMATS:
        raise UserError(f"Unknown corpus format {name!r}; use one of: {', '.join(FORMATS)}.")
    known = FORMATS[name].OPTIONS
    unknown = [option for option in options if option not in known]
    if unknown:
        raise UserError(
            f"Unknown option {unknown[0]!r} of the corpus format {name}; "
            + (f"it has: {', '.join(known)}." if known else "it has none.")
        )
    make: Any = FORMATS[name]  # the signatures differ by options, which have just been checked
    return make(columns, predict, **options)
