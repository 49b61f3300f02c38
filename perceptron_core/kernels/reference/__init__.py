"""The kernel in NumPy and plain Python: the specification of the compiled one, and its replacement if it was not built.

It gives the same numbers as the compiled kernel, bit for bit: float32 weights and scores, added in the order of the
features; float64 for steps, margins and averages; ties to the lowest label.
"""

from perceptron_core.kernels.reference.bank import ALL_ONE, Bank, KeyedBank
from perceptron_core.kernels.reference.keys import KeyTable, Sites, compose_keys, compose_sites, hash_strings, pool_keys
from perceptron_core.kernels.reference.lines import escape_line_ends, restore_line_ends
from perceptron_core.kernels.reference.merge import add_averages, add_step, replace_weights, unite_two
from perceptron_core.kernels.reference.trainer import Finder, Trainer

__all__ = [
    "ALL_ONE",
    "Bank",
    "Finder",
    "KeyTable",
    "KeyedBank",
    "Trainer",
    "add_averages",
    "add_step",
    "Sites",
    "compose_keys",
    "compose_sites",
    "escape_line_ends",
    "hash_strings",
    "pool_keys",
    "replace_weights",
    "restore_line_ends",
    "unite_two",
]
