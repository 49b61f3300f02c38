# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The hot loops, compiled: keys, weight rows, Viterbi, beam and k best, updates with lazy averaging.

`reference/` says the same in NumPy and Python, and gives the same numbers bit for bit: float32 weights and
scores, added in the order of the features; float64 for steps, margins and averages; ties to the lowest label.
"""

from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.math cimport INFINITY, fabs, nextafterf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memmove, memset

from threading import Thread

import numpy as np

cdef uint64_t FNV_OFFSET = 0xCBF29CE484222325ULL
cdef uint64_t FNV_PRIME = 0x100000001B3ULL
cdef uint64_t GOLDEN = 0x9E3779B97F4A7C15ULL
cdef float NEVER = -INFINITY

cdef enum:
    MOST_DENSE = 64  # labels; beyond, rows are sparse


cdef void *grown(void *memory, size_t size) except NULL nogil:
    """realloc that raises."""
    cdef void *larger = realloc(memory, size if size else 1)
    if larger == NULL:
        with gil:
            raise MemoryError()
    return larger


include "keys.pxi"
include "weights.pxi"
include "search.pxi"
include "k_best.pxi"
include "delta.pxi"
include "constraints.pxi"
include "sentences.pxi"
include "threads.pxi"
include "sequence.pxi"
include "merge.pxi"
include "lines.pxi"
