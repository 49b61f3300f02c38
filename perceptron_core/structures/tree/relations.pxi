# The relations of a tree's arcs: each arc by itself, with its neighbourhood in the tree (in plain Python: relations.py).

cdef enum:  # in the order of RELATION_ANCHORS
    HEAD, CHILD, GRAND, PREVIOUS, NEXT, FIRST, LAST, ANCHORS


cdef class RelationScores:
    cdef ArcScores arcs
    cdef Group templates
    cdef KeyedBank bank
    cdef Py_ssize_t count, width, n, room
    cdef int32_t *places  # positions × anchors
    cdef int32_t *newest  # by head: its last child so far
    cdef float *scores

    def __init__(self, ArcScores arcs, program, KeyedBank bank):
        self.arcs, self.templates, self.bank = arcs, Group(program.groups["relations"]), bank
        self.count, self.width = bank.bank.labels, bank.bank.width
        self.scores = <float *>grown(NULL, (self.width + 1) * sizeof(float))

    def __dealloc__(self):
        free(self.places)
        free(self.newest)
        free(self.scores)

    cdef int look(self, const int32_t *heads, Py_ssize_t n) except -1 nogil:
        """Find the neighbourhood of every arc of a tree. Position n + 1 is nowhere."""
        cdef Py_ssize_t d, h
        cdef int32_t nowhere = <int32_t>(n + 1)
        cdef int32_t *at
        self.n = n
        if n + 2 > self.room:
            self.room = 2 * (n + 2)
            self.places = <int32_t *>grown(self.places, self.room * ANCHORS * sizeof(int32_t))
            self.newest = <int32_t *>grown(self.newest, self.room * sizeof(int32_t))
        for d in range(n + 1):
            at = self.places + d * ANCHORS
            at[CHILD], at[HEAD] = <int32_t>d, heads[d]
            at[GRAND] = heads[heads[d]] if d and heads[d] > 0 else nowhere
            at[PREVIOUS] = at[NEXT] = at[FIRST] = at[LAST] = nowhere
            self.newest[d] = nowhere
        for d in range(1, n + 1):
            h = heads[d]
            if self.newest[h] == nowhere:
                self.places[h * ANCHORS + FIRST] = <int32_t>d
            else:
                self.places[d * ANCHORS + PREVIOUS] = self.newest[h]
                self.places[self.newest[h] * ANCHORS + NEXT] = <int32_t>d
            self.places[h * ANCHORS + LAST] = self.newest[h] = <int32_t>d
        return 0

    cdef uint64_t key(self, Py_ssize_t t, Py_ssize_t d) noexcept nogil:
        """The key of a template at the arc of word d."""
        cdef Py_ssize_t a
        cdef const int32_t *at = self.places + d * ANCHORS
        cdef uint64_t key = self.templates.seeds[t]
        for a in range(ANCHORS):
            if self.templates.sides[t, a] >= 0:
                key = joined(key, self.arcs.sides.side(self.templates.sides[t, a])[at[a]])
                if key == 0:
                    return 0
        return self.arcs.with_values(key, self.templates.values[t], at[HEAD], d)

    cdef int32_t best(self, Py_ssize_t d) noexcept nogil:
        """The first of the best relations of word d's arc."""
        cdef Py_ssize_t t, r
        cdef int32_t number, found = 0
        cdef uint64_t key
        memset(self.scores, 0, self.width * sizeof(float))
        for t in range(self.templates.count):
            key = self.key(t, d)
            if key:
                number = self.bank.find(key)
                if number >= 0:
                    self.bank.bank.add_scores(number, self.scores)
        for r in range(1, self.count):
            if self.scores[r] > self.scores[found]:
                found = <int32_t>r
        return found
