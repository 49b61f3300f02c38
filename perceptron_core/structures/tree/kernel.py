"""The finder of trees: the compiled one if it was built, otherwise the reference."""

import importlib
from typing import Any

from perceptron_core.kernels import COMPILED
from perceptron_core.structures.tree import listing, reference

TreeFinder: Any = reference.TreeFinder
TreeFeatures: Any = listing.TreeFeatures
if COMPILED:
    _native = importlib.import_module("perceptron_core.structures.tree.native")
    TreeFinder, TreeFeatures = _native.TreeFinder, _native.TreeFeatures
