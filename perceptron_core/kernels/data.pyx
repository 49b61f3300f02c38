# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The data plane, compiled: feature keys, the merging of sorted weights, bytes without line ends.

`reference/keys.py`, `merge.py` and `lines.py` are the same in NumPy and Python.
"""

from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from perceptron_core.kernels.memory cimport (
    KeyIndex, close_index, extend_key, find_key, grown, number_key, open_index, scramble
)

import numpy as np

include "keys.pxi"
include "merge.pxi"
include "lines.pxi"
