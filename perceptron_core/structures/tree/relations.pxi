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
    cdef uint64_t *keys  # of one arc, by template
    cdef int32_t *numbers

    def __init__(self, ArcScores arcs, program, KeyedBank bank):
        self.arcs, self.templates, self.bank = arcs, Group(program.groups["relations"]), bank
        self.count, self.width = bank.bank.labels, bank.bank.width
        self.scores = <float *>grown(NULL, (self.width + 1) * sizeof(float))
        self.keys = <uint64_t *>grown(NULL, (self.templates.count + 1) * sizeof(uint64_t))
        self.numbers = <int32_t *>grown(NULL, (self.templates.count + 1) * sizeof(int32_t))

    def __dealloc__(self):
        free(self.places)
        free(self.newest)
        free(self.scores)
        free(self.keys)
        free(self.numbers)

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

    cdef int32_t best(self, Py_ssize_t d, int32_t gold) noexcept nogil:
        """The first of the best relations of word d's arc; if the gold one is given (not -1), with the loss."""
        cdef Py_ssize_t t, r, count = self.templates.count
        cdef int32_t found = 0
        memset(self.scores, 0, self.width * sizeof(float))
        for t in range(count):
            self.keys[t] = self.key(t, d)
            prefetch(&self.bank.index.slots[self.keys[t] & self.bank.index.mask])
        for t in range(count):
            self.numbers[t] = self.bank.find(self.keys[t]) if self.keys[t] else -1
            if self.numbers[t] >= 0:
                prefetch(&self.bank.bank.shown[self.numbers[t]])
        for t in range(count):
            if self.numbers[t] >= 0:
                self.bank.bank.add_scores(self.numbers[t], self.scores)
        if gold >= 0:
            for r in range(self.count):
                if r != gold:
                    self.scores[r] += LOSS
        for r in range(1, self.count):
            if self.scores[r] > self.scores[found]:
                found = <int32_t>r
        return found
