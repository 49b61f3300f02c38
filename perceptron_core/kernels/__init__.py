"""The inner loops, in two forms with the same results: compiled (native.py), and NumPy and Python (reference/).

    data.pyx      keys of features, merging of sorted weights, bytes that fit in a line
    learning.pyx  banks of weights, Δ, constraints, the learners' rules, threads, the trainer

A finder searches for the best guess. Each structure has its own finder in its folder, in both forms. The compiled forms
are used if all of them were built; `PERCEPTRON_KERNEL=reference` chooses the others.
"""

import importlib
import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType
from typing import Any

from perceptron_core.kernels import reference


def _all_built() -> bool:
    """Whether every extension of the package was built: they work only together."""
    sources = Path(__file__).parent.parent.rglob("*.pyx")
    return all(any(source.with_suffix(suffix).exists() for suffix in EXTENSION_SUFFIXES) for source in sources)


native: Any = None
if _all_built():
    try:
        native = importlib.import_module("perceptron_core.kernels.native")
    except ImportError:  # built for another Python, or run from an archive
        native = None

DENSE_LABELS = 64  # with at most this number, every row is an array; with more, only rows with many labels are


def _choose() -> Any:
    wanted = os.environ.get("PERCEPTRON_KERNEL", "")
    if wanted not in ("", "native", "reference"):
        raise ImportError(f"PERCEPTRON_KERNEL is {wanted!r}, but must be native or reference")
    if wanted == "native" and native is None:
        raise ImportError(
            "PERCEPTRON_KERNEL is native, but the compiled kernel was not built; install with a C compiler, or unset it"
        )
    return reference if native is None or wanted == "reference" else native


kernel: ModuleType = _choose()
COMPILED = kernel is not reference
ALL_ONE = reference.ALL_ONE
hash_strings = kernel.hash_strings
compose_keys = kernel.compose_keys
pool_keys = kernel.pool_keys
KeyTable = kernel.KeyTable
Bank = kernel.Bank
KeyedBank = kernel.KeyedBank
Trainer = kernel.Trainer
unite_two = kernel.unite_two
add_step = kernel.add_step
replace_weights = kernel.replace_weights
add_averages = kernel.add_averages
escape_line_ends = kernel.escape_line_ends
restore_line_ends = kernel.restore_line_ends
