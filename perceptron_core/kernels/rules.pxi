# The learners' rules: how far to move along Δ, or along each of several Δ. They do not depend on a structure.

cdef enum Rule:
    PERCEPTRON, PA, PA1, PA2, MIRA

cdef enum:
    MOST_PASSES = 1000  # see learners/mira.py

cdef double TOLERANCE = 1e-9

RULES = {"perceptron": PERCEPTRON, "pa": PA, "pa1": PA1, "pa2": PA2, "mira": MIRA}


cdef double step_along(int rule, double cap, const Constraint *constraint) noexcept nogil:
    """How far to go along the Δ of one constraint (perceptron_core/learners)."""
    cdef double lacking = max(0.0, constraint.loss - constraint.margin), norm = constraint.norm
    if rule == PERCEPTRON:
        return 1.0
    if rule == PA2:
        return lacking / (norm + 1.0 / (2.0 * cap))
    if rule == PA1 or rule == MIRA:
        return min(cap, lacking / norm)
    return lacking / norm


@cython.final
cdef class Combination:
    """Σ α_c Δ_c over several constraints: a Δ with all their parts, in the order in which they were first added."""

    cdef Delta sum
    cdef double *alpha  # one multiplier per constraint
    cdef double *corrected
    cdef double *gram
    cdef Py_ssize_t constraint_room
    cdef double *dense  # one constraint's counts, by the places of all parts
    cdef Py_ssize_t dense_room

    def __cinit__(self):
        self.sum = Delta()

    def __dealloc__(self):
        free(self.alpha)
        free(self.corrected)
        free(self.gram)
        free(self.dense)

    cdef int unite(self, Constraints found) except -1:
        """Give every part of every constraint its place in the sum, and keep that in its `slot`; all counts are 0."""
        cdef Py_ssize_t i, size = found.count
        cdef Part *part
        self.sum.clear()
        for i in range(found.part_count):
            part = &found.parts[i]
            part.slot = self.sum.add(part.bank, part.feature, part.label, 0)
            self.sum.parts[part.slot].origin = part.origin
        if size > self.constraint_room:
            self.constraint_room = 2 * size
            self.alpha = <double *>grown(self.alpha, 2 * size * sizeof(double))
            self.corrected = <double *>grown(self.corrected, 2 * size * sizeof(double))
            self.gram = <double *>grown(self.gram, 4 * size * size * sizeof(double))
        if self.sum.count > self.dense_room:
            self.dense_room = 2 * self.sum.count
            self.dense = <double *>grown(self.dense, self.dense_room * sizeof(double))
        return 0

    cdef void take_mean(self, Constraints found) noexcept nogil:
        """The perceptron's multipliers: equal ones, whose sum is 1."""
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
        memset(self.dense, 0, self.sum.count * sizeof(double))
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
        cdef Part *parts = self.sum.parts
        for c in range(found.count):
            for p in range(found.items[c].begin, found.items[c].end):
                parts[found.parts[p].slot].count += self.alpha[c] * found.parts[p].count
