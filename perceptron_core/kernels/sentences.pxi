# The sentences of a block, as the search takes them.

cdef struct Outcome:  # of a sentence
    Py_ssize_t wrong  # tokens
    Py_ssize_t finder, first, last  # who decoded it, and which of its constraints are the sentence's


cdef class Sentences:
    """The sentences of a block that are not empty."""

    cdef const int32_t[::1] gold, starts, ids, pair_starts, pair_ids
    cdef const int32_t *id
    cdef const int32_t *pair_id  # NULL if there are none
    cdef const float[::1] values
    cdef const float *value  # NULL if all are 1
    cdef const int64_t[::1] lengths, begins  # begins: its first token
    cdef Py_ssize_t count
    cdef Outcome *outcomes
    cdef const int64_t[::1] order  # in which threads decode them

    def __cinit__(self, block):
        self.gold, self.starts, self.ids = block.gold, block.starts, block.ids
        self.pair_starts, self.pair_ids = block.pair_starts, block.pair_ids
        self.id = &self.ids[0] if self.ids.shape[0] else NULL
        self.pair_id = &self.pair_ids[0] if self.pair_ids.shape[0] else NULL
        self.values = block.values
        self.value = &self.values[0] if self.values.shape[0] else NULL
        lengths = block.lengths.astype(np.int64)
        self.lengths, self.begins = lengths[lengths > 0], (np.cumsum(lengths) - lengths)[lengths > 0]
        self.count = self.lengths.shape[0]
        self.outcomes = <Outcome *>grown(NULL, self.count * sizeof(Outcome))

    def __dealloc__(self):
        free(self.outcomes)

    def sort_minibatches(self, Py_ssize_t gathered, Py_ssize_t minibatch):
        """Put the longest sentences of each minibatch first, of which `gathered` were in the block before: a long one
        that is begun last would keep all threads waiting."""
        minibatches = (np.arange(self.count) + gathered) // minibatch
        self.order = np.lexsort((-np.asarray(self.lengths), minibatches))

    cdef inline const int32_t *pair_starts_at(self, Py_ssize_t begin) noexcept nogil:
        return &self.pair_starts[begin] if self.pair_id != NULL else NULL
