"""The compiled kernels under one name: the data plane and the learning core.

A structure's finder is an extension in the folder of the structure.
"""

from perceptron_core.kernels.data import (
    KeyTable,
    add_averages,
    add_step,
    compose_keys,
    escape_line_ends,
    hash_strings,
    pool_keys,
    replace_weights,
    restore_line_ends,
    unite_two,
)
from perceptron_core.kernels.learning import Bank, KeyedBank, Trainer

__all__ = [
    "Bank",
    "KeyTable",
    "KeyedBank",
    "Trainer",
    "add_averages",
    "add_step",
    "compose_keys",
    "escape_line_ends",
    "hash_strings",
    "pool_keys",
    "replace_weights",
    "restore_line_ends",
    "unite_two",
]
