"""The finders of sequences, compiled where they were built."""

import importlib
from typing import Any

from perceptron_core.kernels import COMPILED

_form = importlib.import_module(f"perceptron_core.structures.sequence.{'native' if COMPILED else 'reference'}")

SequenceFinder: Any = _form.SequenceFinder
SecondOrderFinder: Any = getattr(_form, "SecondOrderFinder", None)
