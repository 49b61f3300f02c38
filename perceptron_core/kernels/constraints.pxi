# The violated constraints of a minibatch, and one step out of several.

cdef enum:
    MOST_PASSES = 1000  # see learners/mira.py

cdef double TOLERANCE = 1e-9


cdef struct Constraint:
    double loss, margin, norm
    Py_ssize_t begin, end  # its parts of Δ


cdef class Constraints:
    """Constraints in the order in which they were found, the parts of their Δ in one pool."""

    cdef Constraint *items
    cdef Py_ssize_t count, room
    cdef DeltaPart *parts
    cdef Py_ssize_t part_count, part_room

    def __dealloc__(self):
        free(self.items)
        free(self.parts)

    cdef int add(
        self, const DeltaPart *parts, Py_ssize_t size, double loss, double margin, double norm
    ) except -1 nogil:
        if self.count == self.room:
            self.room = 2 * self.room + 16
            self.items = <Constraint *>grown(self.items, self.room * sizeof(Constraint))
        if self.part_count + size > self.part_room:
            self.part_room = 2 * self.part_room + size
            self.parts = <DeltaPart *>grown(self.parts, self.part_room * sizeof(DeltaPart))
        memcpy(self.parts + self.part_count, parts, size * sizeof(DeltaPart))
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


cdef class Combination(Delta):
    """Σ α_c Δ_c over several constraints: a Δ that has all their parts, in the order in which they first came up."""

    cdef double *alpha  # a multiplier a constraint
    cdef double *corrected
    cdef double *gram
    cdef Py_ssize_t constraint_room
    cdef double *dense  # one constraint's counts, by the places of all parts
    cdef Py_ssize_t dense_room

    def __dealloc__(self):
        free(self.alpha)
        free(self.corrected)
        free(self.gram)
        free(self.dense)

    cdef int unite(self, Constraints found) except -1:
        """Give every part of every constraint its place here, which it then has for its `slot`; all counts are 0."""
        cdef Py_ssize_t i, size = found.count
        cdef DeltaPart *part
        self.clear()
        for i in range(found.part_count):
            part = &found.parts[i]
            part.slot = self.add(part.kind, part.feature, part.label, 0)
        if size > self.constraint_room:
            self.constraint_room = 2 * size
            self.alpha = <double *>grown(self.alpha, 2 * size * sizeof(double))
            self.corrected = <double *>grown(self.corrected, 2 * size * sizeof(double))
            self.gram = <double *>grown(self.gram, 4 * size * size * sizeof(double))
        if self.count > self.dense_room:
            self.dense_room = 2 * self.count
            self.dense = <double *>grown(self.dense, self.dense_room * sizeof(double))
        return 0

    cdef void take_mean(self, Constraints found) noexcept nogil:
        """The perceptron's multipliers: together one step."""
        cdef Py_ssize_t c
        for c in range(found.count):
            self.alpha[c] = 1.0 / found.count

    cdef void solve(self, Constraints found, double cap) noexcept nogil:
        """MIRA's multipliers, by Hildreth's algorithm (learners/mira.py)."""
        cdef Py_ssize_t c, j, size = found.count, passes
        cdef double lacking, norm, wanted, change
        cdef bint moved
        self.multiply_all(found)
        for c in range(size):
            self.alpha[c] = self.corrected[c] = 0
        for passes in range(MOST_PASSES):
            moved = False
            for c in range(size):
                lacking = found.items[c].loss - found.items[c].margin
                norm = self.gram[c * size + c]
                wanted = min(cap, max(0.0, self.alpha[c] + (lacking - self.corrected[c]) / norm))
                change = wanted - self.alpha[c]
                if fabs(change) > TOLERANCE * min(cap, max(1.0, fabs(lacking)) / norm):
                    self.alpha[c] = wanted
                    for j in range(size):
                        self.corrected[j] += change * self.gram[c * size + j]
                    moved = True
            if not moved:
                break

    cdef void multiply_all(self, Constraints found) noexcept nogil:
        """gram[i][j] = Δ_i · Δ_j"""
        cdef Py_ssize_t i, j, p, size = found.count
        cdef double product
        memset(self.dense, 0, self.count * sizeof(double))
        for i in range(size):
            for p in range(found.items[i].begin, found.items[i].end):
                self.dense[found.parts[p].slot] = found.parts[p].count
            for j in range(i + 1):
                product = 0
                for p in range(found.items[j].begin, found.items[j].end):
                    product += self.dense[found.parts[p].slot] * found.parts[p].count
                self.gram[i * size + j] = self.gram[j * size + i] = product
            for p in range(found.items[i].begin, found.items[i].end):
                self.dense[found.parts[p].slot] = 0

    cdef void combine(self, Constraints found) noexcept nogil:
        """Add up the parts, each constraint's times its multiplier."""
        cdef Py_ssize_t c, p
        for c in range(found.count):
            for p in range(found.items[c].begin, found.items[c].end):
                self.parts[found.parts[p].slot].count += self.alpha[c] * found.parts[p].count
