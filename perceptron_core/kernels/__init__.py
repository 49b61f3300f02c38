"""The hot loops, in two forms with the same results: compiled (native.pyx) and NumPy/Python (reference/).

The compiled one is used where it was built; `PERCEPTRON_KERNEL=reference` chooses the other.
"""

import importlib
import os
from types import ModuleType
from typing import Any

from perceptron_core.kernels import reference

native: Any
try:
    native = importlib.import_module("perceptron_core.kernels.native")
except ImportError:  # no compiler when the package was installed
    native = None

DENSE_LABELS = 64  # up to here a feature's row is a plain array at once; beyond, when it has met many of the labels


def _choose() -> Any:
    wanted = os.environ.get("PERCEPTRON_KERNEL", "")
    if wanted not in ("", "native", "reference"):
        raise ImportError(f"PERCEPTRON_KERNEL={wanted!r}: choose native or reference")
    if wanted == "native" and native is None:
        raise ImportError("PERCEPTRON_KERNEL=native, but the compiled kernel was not built")
    return reference if native is None or wanted == "reference" else native


kernel: ModuleType = _choose()
COMPILED = kernel is not reference
ALL_ONE = reference.ALL_ONE
hash_strings = kernel.hash_strings
compose_keys = kernel.compose_keys
pool_keys = kernel.pool_keys
KeyTable = kernel.KeyTable
WeightRows = kernel.WeightRows
unite_two = kernel.unite_two
add_step = kernel.add_step
replace_weights = kernel.replace_weights
add_averages = kernel.add_averages
escape_line_ends = kernel.escape_line_ends
restore_line_ends = kernel.restore_line_ends
