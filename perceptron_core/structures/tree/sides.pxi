# The sentence that is searched, and the sides of its features: the values of one anchor, joined (features.py).

cdef class Trees(Examples):
    """The sentences of a block that are not empty."""

    cdef const uint64_t[:, ::1] values  # words × attributes
    cdef const int32_t[::1] heads, relations  # the gold tree; empty in a block that is only decoded

    def __cinit__(self, block):
        self.values, self.heads, self.relations = block.values, block.heads, block.relations
        self.columns = 2
        self.take(block.lengths)


cdef class Sides:
    """side(s, p): the joined values of side s at position p. Position 0 is the root, n + 1 is nowhere."""

    cdef const int32_t[::1] starts, attributes, offsets
    cdef const uint64_t[::1] before, after
    cdef uint64_t root, none
    cdef Py_ssize_t count, stride, room
    cdef uint64_t *keys

    def __init__(self, program):
        self.starts, self.attributes, self.offsets = program.side_starts, program.part_attributes, program.part_offsets
        self.before, self.after = program.before, program.after
        self.root, self.none = program.root, program.none
        self.count = self.starts.shape[0] - 1

    def __dealloc__(self):
        free(self.keys)

    cdef inline const uint64_t *side(self, Py_ssize_t s) noexcept nogil:
        return self.keys + s * self.stride

    cdef int make(self, Trees trees, Py_ssize_t begin, Py_ssize_t n) except -1 nogil:
        """The sides of the n words that begin at word `begin` of the block."""
        cdef Py_ssize_t s, p
        self.stride = n + 2
        if self.count * self.stride > self.room:
            self.room = 2 * self.count * self.stride
            self.keys = <uint64_t *>grown(self.keys, self.room * sizeof(uint64_t))
        for s in range(self.count):
            for p in range(n + 1):
                self.keys[s * self.stride + p] = self.joined(trees, begin, n, s, p)
            self.keys[s * self.stride + n + 1] = self.nowhere(s)
        return 0

    cdef inline uint64_t joined(
        self, Trees trees, Py_ssize_t begin, Py_ssize_t n, Py_ssize_t s, Py_ssize_t p
    ) noexcept nogil:
        cdef Py_ssize_t i, at
        cdef uint64_t key = 0, value
        for i in range(self.starts[s], self.starts[s + 1]):
            at = p + self.offsets[i]
            if at < 0:
                value = self.before[-at - 1]
            elif at == 0:
                value = self.root
            elif at <= n:
                value = trees.values[begin + at - 1, self.attributes[i]]
            else:
                value = self.after[at - n - 1]
            if value == 0:
                return 0
            key = extend_key(key, value)
        return key

    cdef inline uint64_t nowhere(self, Py_ssize_t s) noexcept nogil:
        cdef Py_ssize_t i
        cdef uint64_t key = 0
        for i in range(self.starts[s], self.starts[s + 1]):
            key = extend_key(key, self.none)
        return key


cdef inline uint64_t joined(uint64_t key, uint64_t side) noexcept nogil:
    """The key with one more side; 0 if a value is missing."""
    return extend_key(key, side) if key and side else 0


cdef inline Py_ssize_t distance_of(Py_ssize_t apart) noexcept nogil:
    if apart <= 5:
        return apart - 1
    return 5 if apart <= 10 else 6


cdef inline Py_ssize_t arc_label(Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The weight of a row, besides the first, that belongs to an arc: its direction × distance."""
    if end > begin:
        return 1 + distance_of(end - begin)
    return 1 + DISTANCES + distance_of(begin - end)


cdef class Group:
    """The templates of one place; `first` and `last` hold, per position, their keys up to the first side and the last
    side, with all templates of a position next to each other."""

    cdef const uint64_t[::1] seeds
    cdef const int32_t[:, ::1] sides
    cdef const uint8_t[::1] values
    cdef Py_ssize_t count, room
    cdef uint64_t *first
    cdef uint64_t *last

    def __init__(self, group):
        self.seeds, self.sides, self.values = group.seeds, group.sides, group.values
        self.count = self.seeds.shape[0]

    def __dealloc__(self):
        free(self.first)
        free(self.last)

    cdef int make(self, Sides sides, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
        """Make the keys of every position: with the side in column `first`, and the side in column `last`, if any."""
        cdef Py_ssize_t t, p, positions = sides.stride
        cdef const uint64_t *keys
        if self.count * positions > self.room:
            self.room = 2 * self.count * positions
            self.first = <uint64_t *>grown(self.first, self.room * sizeof(uint64_t))
            self.last = <uint64_t *>grown(self.last, self.room * sizeof(uint64_t))
        for t in range(self.count):
            keys = sides.side(self.sides[t, first])
            for p in range(positions):
                self.first[p * self.count + t] = joined(self.seeds[t], keys[p])
            if last >= 0:
                keys = sides.side(self.sides[t, last])
                for p in range(positions):
                    self.last[p * self.count + t] = keys[p]
        return 0
