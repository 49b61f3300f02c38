# The best tree, projective or not, first order (in plain Python, with pseudo-code: mst.py).

cdef class Arborescence:
    """Chu, Liu & Edmonds: every word takes its best head; a cycle becomes one node, until there is none."""

    cdef Py_ssize_t n, stride, room
    cdef double *weight  # weight[h, d]; changed as cycles are contracted
    cdef int32_t *head  # of every node that is left
    cdef int32_t *colour
    cdef uint8_t *active
    cdef int32_t *entered  # per contraction, by node: where in the cycle an arc from it ends
    cdef int32_t *left  # … and where in the cycle an arc to it begins
    cdef int32_t *cycles  # per contraction: the nodes of the cycle, and
    cdef int32_t *cycle_heads  # their heads in it
    cdef int32_t *sizes
    cdef int32_t *contracted  # by node: in which contraction it went into another
    cdef Py_ssize_t contractions

    def __dealloc__(self):
        free(self.weight)
        free(self.head)
        free(self.colour)
        free(self.active)
        free(self.entered)
        free(self.left)
        free(self.cycles)
        free(self.cycle_heads)
        free(self.sizes)
        free(self.contracted)

    cdef int search(self, ArcScores scores, bint one_root, int32_t *heads) except -1 nogil:
        cdef Py_ssize_t h, d, n = scores.n, size = (n + 1) * (n + 1)
        cdef float low = INFINITY, high = -INFINITY, score
        cdef double penalty = 0
        self.n, self.stride = n, n + 1
        if size > self.room:
            self.room = 2 * size
            self.weight = <double *>grown(self.weight, self.room * sizeof(double))
            self.entered = <int32_t *>grown(self.entered, self.room * sizeof(int32_t))
            self.left = <int32_t *>grown(self.left, self.room * sizeof(int32_t))
            self.cycles = <int32_t *>grown(self.cycles, self.room * sizeof(int32_t))
            self.cycle_heads = <int32_t *>grown(self.cycle_heads, self.room * sizeof(int32_t))
            self.head = <int32_t *>grown(self.head, self.room * sizeof(int32_t))
            self.colour = <int32_t *>grown(self.colour, self.room * sizeof(int32_t))
            self.sizes = <int32_t *>grown(self.sizes, self.room * sizeof(int32_t))
            self.contracted = <int32_t *>grown(self.contracted, self.room * sizeof(int32_t))
            self.active = <uint8_t *>grown(self.active, self.room)
        for h in range(n + 1):
            for d in range(1, n + 1):
                if h != d:
                    score = scores.arc[h * scores.stride + d]
                    self.weight[h * self.stride + d] = score
                    low, high = min(low, score), max(high, score)
        if one_root:
            penalty = (n + 1) * (<double>high - <double>low) + 1
            for d in range(1, n + 1):
                self.weight[d] -= penalty
        self.contract_cycles()
        self.expand_cycles()
        heads[0] = -1
        for d in range(1, n + 1):
            heads[d] = self.head[d]
        return 0

    cdef void choose_head(self, Py_ssize_t d) noexcept nogil:
        """The first of the best heads."""
        cdef Py_ssize_t h
        cdef double best = -INFINITY
        for h in range(self.n + 1):
            if h != d and self.active[h] and self.weight[h * self.stride + d] > best:
                best = self.weight[h * self.stride + d]
                self.head[d] = <int32_t>h

    cdef void contract_cycles(self) noexcept nogil:
        cdef Py_ssize_t d, node
        cdef int32_t number = 0
        self.contractions = 0
        memset(self.active, 1, self.n + 1)
        memset(self.colour, 0, (self.n + 1) * sizeof(int32_t))
        self.head[0] = -1
        for d in range(1, self.n + 1):
            self.contracted[d] = <int32_t>self.n
            self.choose_head(d)
        for d in range(1, self.n + 1):
            if not self.active[d] or self.colour[d]:
                continue
            number += 1
            node = d
            while node > 0 and self.colour[node] == 0:
                self.colour[node] = number
                node = self.head[node]
            while node > 0 and self.colour[node] == number:  # a cycle: contract it, and go on from its new node
                node = self.contract(node)
                self.choose_head(node)
                self.colour[node] = number
                node = self.head[node]
                while node > 0 and self.colour[node] == 0:
                    self.colour[node] = number
                    node = self.head[node]

    cdef Py_ssize_t contract(self, Py_ssize_t start) noexcept nogil:
        """Make one node of the cycle that `start` is in: the lowest stands for it."""
        cdef Py_ssize_t k = self.contractions, v, size = 0, low = start, i
        cdef int32_t *cycle = self.cycles + k * self.stride
        cdef int32_t *cycle_heads = self.cycle_heads + k * self.stride
        cdef int32_t *entered = self.entered + k * self.stride
        cdef int32_t *left = self.left + k * self.stride
        cdef double value, best
        self.contractions += 1
        v = start
        while True:
            low = min(low, v)
            v = self.head[v]
            if v == start:
                break
        v = low  # the order of the cycle does not depend on where it was found
        while True:
            cycle[size], cycle_heads[size] = <int32_t>v, self.head[v]
            size += 1
            self.active[v] = 0
            v = self.head[v]
            if v == low:
                break
        self.sizes[k] = <int32_t>size
        for v in range(self.n + 1):
            if not self.active[v]:
                continue
            if v and not self.active[self.head[v]]:
                self.head[v] = <int32_t>low
            best = -INFINITY
            for i in range(size):
                value = self.weight[v * self.stride + cycle[i]] - self.weight[cycle_heads[i] * self.stride + cycle[i]]
                if value > best:
                    best, entered[v] = value, cycle[i]
            self.weight[v * self.stride + low] = best
            if v:
                best = -INFINITY
                for i in range(size):
                    value = self.weight[cycle[i] * self.stride + v]
                    if value > best:
                        best, left[v] = value, cycle[i]
                self.weight[low * self.stride + v] = best
        self.active[low] = 1
        for i in range(1, size):
            self.contracted[cycle[i]] = <int32_t>k
        return low

    cdef void expand_cycles(self) noexcept nogil:
        """From the last contraction to the first: an arc into the cycle opens it, an arc out of it gets its beginning."""
        cdef Py_ssize_t k, v, i, low
        cdef int32_t outside, into
        for k in range(self.contractions - 1, -1, -1):
            low = self.cycles[k * self.stride]
            for v in range(1, self.n + 1):
                if self.contracted[v] > k and v != low and self.head[v] == low:
                    self.head[v] = self.left[k * self.stride + v]
            outside = self.head[low]
            into = self.entered[k * self.stride + outside]
            for i in range(self.sizes[k]):
                self.head[self.cycles[k * self.stride + i]] = self.cycle_heads[k * self.stride + i]
            self.head[into] = outside
