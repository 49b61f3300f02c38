# Δ = Φ(x, gold) − Φ(x, guess): the direction in which an update moves the weights.

@cython.final
cdef class Delta:
    """Counts by (bank, feature, label), in the order in which they were first added: a list of parts, and a table."""

    def __dealloc__(self):
        free(self.parts)
        free(self.slots)

    cdef int32_t add(self, int32_t bank, uint64_t feature, int32_t label, double count) except -1 nogil:
        """Δ[bank, feature, label] += count; returns the part's place. Parts stay in the order in which they were added."""
        cdef size_t at
        if 2 * (self.count + 1) > self.room:
            self.grow()
        at = self.slot_for(bank, feature, label)
        if self.slots[at] < 0:
            self.slots[at] = <int32_t>self.count
            self.parts[self.count].slot = at
            self.parts[self.count].bank = bank
            self.parts[self.count].feature = feature
            self.parts[self.count].label = label
            self.parts[self.count].count = self.parts[self.count].origin = 0
            self.count += 1
        self.parts[self.slots[at]].count += count
        return self.slots[at]

    cdef size_t slot_for(self, int32_t bank, uint64_t feature, int32_t label) noexcept nogil:
        cdef size_t mask = self.room - 1
        cdef size_t at = scramble((feature << 18) + ((<uint64_t>label) << 2) + <uint64_t>bank + (feature >> 46)) & mask
        cdef const Part *part
        while self.slots[at] >= 0:
            part = &self.parts[self.slots[at]]
            if part.feature == feature and part.label == label and part.bank == bank:
                break
            at = (at + 1) & mask
        return at

    cdef int grow(self) except -1 nogil:
        cdef Py_ssize_t i
        self.room = 2 * self.room if self.room else 1024
        self.slots = <int32_t *>grown(self.slots, self.room * sizeof(int32_t))
        self.parts = <Part *>grown(self.parts, self.room // 2 * sizeof(Part))
        memset(self.slots, 0xFF, self.room * sizeof(int32_t))
        for i in range(self.count):
            self.parts[i].slot = self.slot_for(self.parts[i].bank, self.parts[i].feature, self.parts[i].label)
            self.slots[self.parts[i].slot] = <int32_t>i
        return 0

    cdef void clear(self) noexcept nogil:
        """Clear only the slots in use: one long sentence makes the table large, and clearing all of it is slow."""
        cdef Py_ssize_t i
        for i in range(self.count):
            self.slots[self.parts[i].slot] = -1
        self.count = 0
