# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The finder of trees, compiled: scores of arcs and siblings, the searches, the relations, and Δ between two trees.

`reference.py` is the same in NumPy and Python, and gives the same numbers bit for bit: float32 scores, added in the
order of the templates; ties as each search says.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from perceptron_core.kernels.learning cimport Bank, Examples, Finder, KeyedBank
from perceptron_core.kernels.memory cimport (
    KeyIndex, close_index, extend_key, find_key, grown, number_key, open_index
)

import numpy as np

cdef float NEVER = -INFINITY
cdef float LOSS = <float>0.99  # scoring.py says why it is not 1

cdef enum:  # the numbers of the banks
    ARCS, RELATIONS

cdef enum:
    WIDTH = 16  # floats of an arc's row
    DISTANCES = 7
    CHUNK = 16  # pairs of words whose keys are made, looked up and added together
    NO_SIDE = -1

include "vectors.pxi"
include "sides.pxi"
include "arcs.pxi"
include "siblings.pxi"
include "relations.pxi"
include "eisner.pxi"
include "eisner2.pxi"
include "k_best.pxi"
include "mst.pxi"
include "climb.pxi"
include "finder.pxi"
include "listing.pxi"
