"""The sequence kernel, compiled where it was built."""

from typing import Any

from perceptron_core.kernels import COMPILED, native
from perceptron_core.structures.sequence import reference

SequenceKernel: Any = native.SequenceKernel if COMPILED else reference.SequenceKernel
