# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The finders of sequences, compiled: Viterbi and beam search, the k best, and Δ between the gold and a guess.

`reference.py` and `second_order.py` are the same in NumPy and Python, and give the same numbers bit for bit: float32
scores, added in the order of the features; ties to the lowest label.
"""

from libc.math cimport INFINITY, nextafterf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from perceptron_core.kernels.learning cimport Bank, Examples, Finder, KeyedBank, Part
from perceptron_core.kernels.memory cimport extend_key, grown

import numpy as np

cdef float NEVER = -INFINITY

cdef enum:
    MOST_DENSE = 64  # labels; with more, the rows of emissions are sparse

cdef enum:  # the numbers of the banks
    EMISSIONS, PAIRS, TRANSITIONS, TRIPLES

include "sentences.pxi"
include "loops.pxi"
include "k_best.pxi"
include "first_order.pxi"
include "triples.pxi"
include "beam.pxi"
include "pair_search.pxi"
include "second_order.pxi"
