"""The kernel in NumPy and plain Python: the specification of the compiled one, and what runs where none was built.

Its numbers are the compiled kernel's, bit for bit: float32 weights and scores, added in the order of the features;
float64 for steps, margins and averages; ties to the lowest label.
"""

from perceptron_core.kernels.reference.bank import ALL_ONE, WeightRows
from perceptron_core.kernels.reference.keys import KeyTable, Sites, compose_keys, compose_sites, hash_strings, pool_keys
from perceptron_core.kernels.reference.lines import escape_line_ends, restore_line_ends
from perceptron_core.kernels.reference.merge import add_averages, add_step, replace_weights, unite_two

__all__ = [
    "ALL_ONE",
    "KeyTable",
    "WeightRows",
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
