# The violated constraints of a minibatch.

@cython.final
cdef class Constraints:
    """Constraints in the order in which they were found; the parts of all their Δ are in one pool."""

    def __dealloc__(self):
        free(self.items)
        free(self.parts)

    cdef int add(self, const Part *parts, Py_ssize_t size, double loss, double margin, double norm) except -1 nogil:
        if self.count == self.room:
            self.room = 2 * self.room + 16
            self.items = <Constraint *>grown(self.items, self.room * sizeof(Constraint))
        if self.part_count + size > self.part_room:
            self.part_room = 2 * self.part_room + size
            self.parts = <Part *>grown(self.parts, self.part_room * sizeof(Part))
        memcpy(self.parts + self.part_count, parts, size * sizeof(Part))
        self.items[self.count].loss = loss
        self.items[self.count].margin = margin
        self.items[self.count].norm = norm
        self.items[self.count].begin = self.part_count
        self.items[self.count].end = self.part_count + size
        self.count += 1
        self.part_count += size
        return 0

    cdef int add_from(self, Constraints other, Py_ssize_t i) except -1:
        cdef const Constraint *item = &other.items[i]
        return self.add(other.parts + item.begin, item.end - item.begin, item.loss, item.margin, item.norm)

    cdef void clear(self) noexcept nogil:
        self.count = self.part_count = 0
