"""The finders of sequences: the compiled ones if they were built, otherwise the reference."""

import importlib
from typing import Any

from perceptron_core.kernels import COMPILED
from perceptron_core.structures.sequence import reference, second_order

SequenceFinder: Any = reference.SequenceFinder
SecondOrderFinder: Any = second_order.SecondOrderFinder
if COMPILED:
    _native = importlib.import_module("perceptron_core.structures.sequence.native")
    SequenceFinder, SecondOrderFinder = _native.SequenceFinder, _native.SecondOrderFinder
