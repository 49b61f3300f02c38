# Changes of one head: the climb from the best projective tree (in plain Python, with pseudo-code: climb.py), and the
# trees next to the best one, for the learners that want several.

cdef struct Change:
    double gain
    int32_t child, head


cdef class Changes:
    """All trees that differ from a tree by the head of one word."""

    cdef Py_ssize_t n, room
    cdef bint one_root
    cdef int32_t *last  # by head: its last child on one side so far
    cdef int32_t *inner  # by head and child: the neighbour towards the head that the child has, or would have
    cdef int32_t *outer  # … and the one away from it; 0 for none
    cdef uint8_t *below  # by word and head: whether the head is the word itself or below it
    cdef double *loss  # by child: what its arc and its place among the siblings add
    cdef Change *found
    cdef Py_ssize_t count, kept

    def __dealloc__(self):
        free(self.last)
        free(self.inner)
        free(self.outer)
        free(self.below)
        free(self.loss)
        free(self.found)

    cdef int begin(self, Py_ssize_t n, bint one_root) except -1 nogil:
        cdef Py_ssize_t size = (n + 1) * (n + 1)
        self.n, self.one_root = n, one_root
        if size > self.room:
            self.room = 2 * size
            self.last = <int32_t *>grown(self.last, self.room * sizeof(int32_t))
            self.inner = <int32_t *>grown(self.inner, self.room * sizeof(int32_t))
            self.outer = <int32_t *>grown(self.outer, self.room * sizeof(int32_t))
            self.below = <uint8_t *>grown(self.below, self.room)
            self.loss = <double *>grown(self.loss, self.room * sizeof(double))
            self.found = <Change *>grown(self.found, self.room * sizeof(Change))
        return 0

    cdef inline Py_ssize_t at(self, Py_ssize_t head, Py_ssize_t child) noexcept nogil:
        return head * (self.n + 1) + child

    cdef void find_below(self, const int32_t *heads) noexcept nogil:
        """below[d, h]: h is d, or in the subtree of d; that is, d is on the way from h to the root."""
        cdef Py_ssize_t h, up
        memset(self.below, 0, (self.n + 1) * (self.n + 1))
        for h in range(1, self.n + 1):
            up = h
            while up > 0:
                self.below[self.at(up, h)] = 1
                up = heads[up]

    cdef void find_neighbours(self, const int32_t *heads) noexcept nogil:
        """The children of every head next to every place."""
        cdef Py_ssize_t h, d
        cdef int32_t near
        for h in range(self.n + 1):
            near = 0
            for d in range(h + 1, self.n + 1):  # to the right, outwards
                self.inner[self.at(h, d)] = near
                if heads[d] == h:
                    near = <int32_t>d
            near = 0
            for d in range(self.n, h, -1):  # … and inwards
                self.outer[self.at(h, d)] = near
                if heads[d] == h:
                    near = <int32_t>d
            near = 0
            for d in range(h - 1, 0, -1):  # to the left, outwards
                self.inner[self.at(h, d)] = near
                if heads[d] == h:
                    near = <int32_t>d
            near = 0
            for d in range(1, h):
                self.outer[self.at(h, d)] = near
                if heads[d] == h:
                    near = <int32_t>d

    cdef inline double worth(
        self, Py_ssize_t h, Py_ssize_t d, ArcScores arcs, SiblingScores siblings
    ) noexcept nogil:
        """What d as a child of h adds to the score: its arc, and how it changes the chain of siblings."""
        cdef double score = arcs.arc[h * arcs.stride + d]
        cdef Py_ssize_t near, far
        if siblings is not None:
            near, far = self.inner[self.at(h, d)], self.outer[self.at(h, d)]
            score += siblings.score(h, near, d)
            if far:
                score += <double>siblings.score(h, d, far) - <double>siblings.score(h, near, far)
        return score

    cdef void find(self, const int32_t *heads, ArcScores arcs, SiblingScores siblings) noexcept nogil:
        """All changes that leave a tree, in the order of child and head."""
        cdef Py_ssize_t h, d
        self.count = 0
        self.find_below(heads)
        self.find_neighbours(heads)
        for d in range(1, self.n + 1):
            if self.one_root and heads[d] == 0:
                continue
            self.loss[d] = self.worth(heads[d], d, arcs, siblings)
            for h in range(1 if self.one_root else 0, self.n + 1):
                if h != heads[d] and not self.below[self.at(d, h)]:
                    self.found[self.count].gain = self.worth(h, d, arcs, siblings) - self.loss[d]
                    self.found[self.count].child, self.found[self.count].head = <int32_t>d, <int32_t>h
                    self.count += 1

    cdef Py_ssize_t best(self, Py_ssize_t first) noexcept nogil:
        """The first of the best changes from number `first` on; -1 if there are none."""
        cdef Py_ssize_t i, found = -1
        for i in range(first, self.count):
            if self.found[i].gain > (self.found[found].gain if found >= 0 else -INFINITY):
                found = i
        return found

    cdef bint take_best(self, int32_t *heads) noexcept nogil:
        """Change the head of the best change, which is then gone; False if there is none."""
        cdef Py_ssize_t i = self.best(0)
        if i < 0:
            return False
        heads[self.found[i].child] = self.found[i].head
        self.found[i].gain = -INFINITY
        return True

    cdef void climb(self, int32_t *heads, ArcScores arcs, SiblingScores siblings) noexcept nogil:
        """Change one head after the other, each time the best, while that gains."""
        cdef Py_ssize_t rounds, i
        for rounds in range(2 * self.n):
            self.find(heads, arcs, siblings)
            i = self.best(0)
            if i < 0 or self.found[i].gain <= 0:
                break
            heads[self.found[i].child] = self.found[i].head
