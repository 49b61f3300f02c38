# Δ = Φ(x, gold) − Φ(x, guess): what an update moves the weights along.

cdef enum Kind:  # what a part of Δ is a weight of
    EMISSION, PAIR, TRANSITION, STOP


cdef struct DeltaPart:
    uint64_t code
    size_t slot  # where the table points to it
    int32_t kind, feature, label
    double count  # whole, unless features have values


cdef class Delta:
    """Counts by (kind, feature, label), in the order in which they first came up: a list of parts, and a table."""

    cdef DeltaPart *parts
    cdef int32_t *slots
    cdef Py_ssize_t count, room

    def __dealloc__(self):
        free(self.parts)
        free(self.slots)

    cdef int32_t add(self, int32_t kind, int32_t feature, int32_t label, double count) except -1 nogil:
        """Δ[kind, feature, label] += count: its place; parts stay in the order in which they first came up."""
        cdef uint64_t code = ((<uint64_t>feature) << 18) | ((<uint64_t>label) << 2) | <uint64_t>kind
        cdef size_t at
        if 2 * (self.count + 1) > self.room:
            self.grow()
        at = self.slot_for(code)
        if self.slots[at] < 0:
            self.slots[at] = <int32_t>self.count
            self.parts[self.count].code = code
            self.parts[self.count].slot = at
            self.parts[self.count].kind = kind
            self.parts[self.count].feature = feature
            self.parts[self.count].label = label
            self.parts[self.count].count = 0
            self.count += 1
        self.parts[self.slots[at]].count += count
        return self.slots[at]

    cdef inline size_t slot_for(self, uint64_t code) noexcept nogil:
        cdef size_t mask = self.room - 1, at = scramble(code) & mask
        while self.slots[at] >= 0 and self.parts[self.slots[at]].code != code:
            at = (at + 1) & mask
        return at

    cdef int grow(self) except -1 nogil:
        cdef Py_ssize_t i
        self.room = 2 * self.room if self.room else 1024
        self.slots = <int32_t *>grown(self.slots, self.room * sizeof(int32_t))
        self.parts = <DeltaPart *>grown(self.parts, self.room // 2 * sizeof(DeltaPart))
        memset(self.slots, 0xFF, self.room * sizeof(int32_t))
        for i in range(self.count):
            self.parts[i].slot = self.slot_for(self.parts[i].code)
            self.slots[self.parts[i].slot] = <int32_t>i
        return 0

    cdef void clear(self) noexcept nogil:
        """Only the slots in use: one long sentence must not make every later update pay for its table."""
        cdef Py_ssize_t i
        for i in range(self.count):
            self.slots[self.parts[i].slot] = -1
        self.count = 0
