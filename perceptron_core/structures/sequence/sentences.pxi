# The sentences of a block, as the searches take them.

cdef struct Sentence:
    Py_ssize_t length
    const int32_t *gold
    const int32_t *starts  # token t has the features ids[starts[t]] … ids[starts[t + 1] - 1]
    const int32_t *ids
    const float *values  # of the features; NULL if all are 1
    const int32_t *pair_starts  # NULL if no token has any
    const int32_t *pair_ids
    const int32_t *triple_starts  # of second-order models
    const int32_t *triple_ids
    const int32_t *skip_starts
    const int32_t *skip_ids


cdef inline const int32_t *first_of(const int32_t[::1] numbers) noexcept nogil:
    return &numbers[0] if numbers.shape[0] else NULL


cdef class Sentences(Examples):
    """The sentences of a block that are not empty."""

    cdef const int32_t[::1] gold, starts, ids, pair_starts, pair_ids
    cdef const float[::1] values

    def __cinit__(self, block):
        self.gold, self.starts, self.ids = block.gold, block.starts, block.ids
        self.pair_starts, self.pair_ids = block.pair_starts, block.pair_ids
        self.values = block.values
        self.take(block.lengths)

    cdef inline void select(self, Py_ssize_t i, Sentence *sentence) noexcept nogil:
        """Let `sentence` point to one sentence of the block."""
        cdef Py_ssize_t begin = self.begins[i]
        sentence.length = self.sizes[i]
        sentence.gold = &self.gold[begin] if self.gold.shape[0] else NULL  # a block that is only decoded may have none
        sentence.starts, sentence.ids = &self.starts[begin], first_of(self.ids)
        sentence.values = &self.values[0] if self.values.shape[0] else NULL
        sentence.pair_ids = first_of(self.pair_ids)
        sentence.pair_starts = &self.pair_starts[begin] if sentence.pair_ids != NULL else NULL


cdef class SecondOrderSentences(Sentences):
    """Sentences that also have features joined with the two labels before, or only with the farther one."""

    cdef const int32_t[::1] triple_starts, triple_ids, skip_starts, skip_ids

    def __cinit__(self, block):
        self.triple_starts, self.triple_ids = block.triple_starts, block.triple_ids
        self.skip_starts, self.skip_ids = block.skip_starts, block.skip_ids

    cdef inline void select_all(self, Py_ssize_t i, Sentence *sentence) noexcept nogil:
        """Let `sentence` point to one sentence of the block, with all its features."""
        cdef Py_ssize_t begin = self.begins[i]
        self.select(i, sentence)
        sentence.triple_starts, sentence.triple_ids = &self.triple_starts[begin], first_of(self.triple_ids)
        sentence.skip_starts, sentence.skip_ids = &self.skip_starts[begin], first_of(self.skip_ids)
