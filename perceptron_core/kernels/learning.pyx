# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The learning core, compiled: banks of weights, Δ, constraints, the learners' rules, threads, and the trainer.

It does not depend on a structure. A structure has a finder (a subclass of Finder, in its own extension), which searches
an example and finds the features by which the gold differs from the guess; the trainer updates the banks by that.
learning.pxd is the interface. `reference/` is the same in NumPy and Python, and gives the same numbers bit for bit:
float32 weights and scores, added in the order of the features; float64 for steps, margins and averages.
"""

cimport cython
from cpython.pythread cimport (
    PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock, PyThread_type_lock,
    WAIT_LOCK
)
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove, memset

from perceptron_core.kernels.memory cimport KeyIndex, close_index, find_key, grown, number_key, open_index, scramble

from threading import Thread

import numpy as np

include "bank.pxi"
include "keyed_bank.pxi"
include "delta.pxi"
include "constraints.pxi"
include "rules.pxi"
include "threads.pxi"
include "finder.pxi"
include "trainer.pxi"
