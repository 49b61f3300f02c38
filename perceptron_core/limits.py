"""Limits on what files from others may hold, far beyond any use: a broken or hostile file ends with a sentence, before
it fills the memory.

Those of corpora can be changed by the environment variable PERCEPTRON_LIMITS, such as `line=1000000000,labels=9000`;
jobs on a cluster get it, too.
"""

import os
from functools import cache
from typing import NamedTuple

from perceptron_core.errors import UserError

VARIABLE = "PERCEPTRON_LIMITS"

# Of templates: a task file cannot change them, since models carry templates.
FARTHEST_OFFSET = 100
MOST_TEMPLATES = 2_000
MOST_PARTS = 10_000  # of all templates together

EXPANDED_FREELY = 64 << 20  # a small file may be packed as tightly as it likes


class Limits(NamedTuple):
    line: int = 64 << 20  # bytes
    token: int = 1 << 20  # characters of a word, or of any other field
    sentence: int = 1_000_000  # tokens; in classification, words of a text
    labels: int = 5_000  # of a task; pairs of them have weights
    expansion: int = 250  # bytes per byte of a gzip file


@cache
def limits() -> Limits:
    """The limits, as the environment changes them."""
    changed = {}
    # By commas, since Hadoop Streaming separates its variables by spaces.
    for setting in filter(None, os.environ.get(VARIABLE, "").split(",")):
        name, _, value = setting.partition("=")
        if name not in Limits._fields or not value.isdecimal() or not 0 < len(value) < 16 or not int(value):
            raise UserError(
                f"{VARIABLE}: `{setting}` is not a limit; write name=number, such as line=1000000; "
                f"the names are {', '.join(Limits._fields)}"
            )
        changed[name] = int(value)
    return Limits()._replace(**changed)


def raise_by(name: str) -> str:
    """The end of an error message: how to raise a limit."""
    return f"if it is meant so, set {VARIABLE}={name}=N"
