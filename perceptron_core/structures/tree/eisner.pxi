# The best projective tree, first order (in plain Python, with pseudo-code: eisner.py).

cdef enum:  # what spans are; the root is that of a whole tree
    COMPLETE_RIGHT, COMPLETE_LEFT, INCOMPLETE_RIGHT, INCOMPLETE_LEFT, SIBLINGS, ROOT


cdef struct Span:
    int item
    int32_t begin, end


cdef class Chart:
    """The scores of all spans. Where a loop looks for a split, it reads two contiguous lines: so some tables are kept
    in both orders, `..._by_end` with the end of the span first."""

    cdef Py_ssize_t n, stride, low, room
    cdef float *complete_right
    cdef float *complete_right_by_end
    cdef float *complete_left
    cdef float *complete_left_by_end
    cdef float *incomplete_right
    cdef float *incomplete_left_by_end
    cdef float *siblings
    cdef float *siblings_by_end
    cdef Span *stack

    def __dealloc__(self):
        free(self.complete_right)
        free(self.stack)

    cdef int begin(self, Py_ssize_t n, bint one_root) except -1 nogil:
        """An empty chart. With one child of the root it has the words only; otherwise the root is its first position."""
        cdef Py_ssize_t size = (n + 2) * (n + 2), p
        self.n, self.stride, self.low = n, n + 2, 1 if one_root else 0
        if size > self.room:
            self.room = 2 * size
            self.complete_right = <float *>grown(self.complete_right, 8 * self.room * sizeof(float))
            self.complete_right_by_end = self.complete_right + self.room
            self.complete_left = self.complete_right + 2 * self.room
            self.complete_left_by_end = self.complete_right + 3 * self.room
            self.incomplete_right = self.complete_right + 4 * self.room
            self.incomplete_left_by_end = self.complete_right + 5 * self.room
            self.siblings = self.complete_right + 6 * self.room
            self.siblings_by_end = self.complete_right + 7 * self.room
            self.stack = <Span *>grown(self.stack, 4 * self.room * sizeof(Span))
        for p in range(n + 1):
            self.set_complete(p, p, 0, 0)
        return 0

    cdef inline Py_ssize_t at(self, Py_ssize_t first, Py_ssize_t second) noexcept nogil:
        return first * self.stride + second

    cdef inline void set_complete(self, Py_ssize_t s, Py_ssize_t t, float right, float left) noexcept nogil:
        self.complete_right[self.at(s, t)] = self.complete_right_by_end[self.at(t, s)] = right
        self.complete_left[self.at(s, t)] = self.complete_left_by_end[self.at(t, s)] = left

    cdef inline float join(self, Py_ssize_t s, Py_ssize_t t) noexcept nogil:
        """max over q of complete_right[s, q] + complete_left[q + 1, t]"""
        return largest_sum(
            self.complete_right + self.at(s, s), self.complete_left_by_end + self.at(t, s + 1), t - s
        )

    cdef inline Py_ssize_t split(self, Py_ssize_t s, Py_ssize_t t, float score) noexcept nogil:
        """The first q with this score."""
        return s + where_sum(
            self.complete_right + self.at(s, s), self.complete_left_by_end + self.at(t, s + 1), t - s, score
        )

    cdef inline void complete(self, Py_ssize_t s, Py_ssize_t t) noexcept nogil:
        """The complete spans, from the incomplete ones."""
        cdef float right = largest_sum(
            self.incomplete_right + self.at(s, s + 1), self.complete_right_by_end + self.at(t, s + 1), t - s
        )
        cdef float left = largest_sum(
            self.complete_left + self.at(s, s), self.incomplete_left_by_end + self.at(t, s), t - s
        )
        self.set_complete(s, t, right, left)

    cdef inline void fill(self, ArcScores scores) noexcept nogil:
        cdef Py_ssize_t s, t, width
        cdef float joined
        for width in range(1, self.n - self.low + 1):
            for s in range(self.low, self.n - width + 1):
                t = s + width
                joined = self.join(s, t)
                self.incomplete_right[self.at(s, t)] = joined + scores.arc[s * scores.stride + t]
                self.incomplete_left_by_end[self.at(t, s)] = (
                    joined + scores.arc[t * scores.stride + s] if s else NEVER
                )
                self.complete(s, t)

    cdef Py_ssize_t best_root(self, ArcScores scores, SiblingScores siblings) noexcept nogil:
        """The only child of the root: the first of the best."""
        cdef Py_ssize_t r, found = 1
        cdef float score, best = NEVER
        for r in range(1, self.n + 1):
            score = self.root_score(r, scores, siblings)
            if score > best:
                best, found = score, r
        return found

    cdef inline float root_score(self, Py_ssize_t r, ArcScores scores, SiblingScores siblings) noexcept nogil:
        cdef float score = self.complete_left[self.at(1, r)] + self.complete_right[self.at(r, self.n)]
        score += scores.arc[r]
        return score if siblings is None else score + siblings.first_child(0, r)

    cdef void read(self, int32_t *heads, ArcScores scores, SiblingScores siblings) noexcept nogil:
        """The best tree. Of several, the one with the first root, and in every span with the first split."""
        cdef Py_ssize_t size = 0, r
        heads[0] = -1
        if self.low:
            r = self.best_root(scores, siblings)
            heads[r] = 0
            size = self.push(size, COMPLETE_LEFT, 1, r)
            size = self.push(size, COMPLETE_RIGHT, r, self.n)
        else:
            size = self.push(size, COMPLETE_RIGHT, 0, self.n)
        while size:
            size = self.follow(size - 1, self.stack[size - 1], heads, scores, siblings)

    cdef inline Py_ssize_t push(self, Py_ssize_t size, int item, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        if end == begin:
            return size
        self.stack[size].item, self.stack[size].begin, self.stack[size].end = item, <int32_t>begin, <int32_t>end
        return size + 1

    cdef Py_ssize_t follow(
        self, Py_ssize_t size, Span span, int32_t *heads, ArcScores scores, SiblingScores siblings
    ) noexcept nogil:
        """Take a span apart; returns the size of the stack."""
        cdef Py_ssize_t s = span.begin, t = span.end, q
        if span.item == COMPLETE_RIGHT:
            q = s + 1 + where_sum(
                self.incomplete_right + self.at(s, s + 1), self.complete_right_by_end + self.at(t, s + 1), t - s,
                self.complete_right[self.at(s, t)]
            )
            size = self.push(size, INCOMPLETE_RIGHT, s, q)
            return self.push(size, COMPLETE_RIGHT, q, t)
        if span.item == COMPLETE_LEFT:
            q = s + where_sum(
                self.complete_left + self.at(s, s), self.incomplete_left_by_end + self.at(t, s), t - s,
                self.complete_left[self.at(s, t)]
            )
            size = self.push(size, COMPLETE_LEFT, s, q)
            return self.push(size, INCOMPLETE_LEFT, q, t)
        if span.item == INCOMPLETE_RIGHT:
            heads[t] = <int32_t>s
            if siblings is not None:
                return self.follow_right(size, s, t, siblings)
        elif span.item == INCOMPLETE_LEFT:
            heads[s] = <int32_t>t
            if siblings is not None:
                return self.follow_left(size, s, t, siblings)
        q = self.split(s, t, self.join(s, t))
        size = self.push(size, COMPLETE_RIGHT, s, q)
        return self.push(size, COMPLETE_LEFT, q + 1, t)

    # ------------------------------------------------------------ second order: eisner2.pxi

    cdef Py_ssize_t follow_right(self, Py_ssize_t size, Py_ssize_t s, Py_ssize_t t, SiblingScores siblings) noexcept nogil:
        """An arc s → t: its sibling is none, or the first r that is as good as the best."""
        cdef const float *scores = siblings.between(s, t)
        cdef Py_ssize_t r
        cdef float best, none = self.complete_left[self.at(s + 1, t)] + siblings.first_child(s, t)
        best = self.best_right(s, t, scores)
        if none >= best:
            return self.push(size, COMPLETE_LEFT, s + 1, t)
        for r in range(s + 1, t):
            if self.incomplete_right[self.at(s, r)] + self.siblings_by_end[self.at(t, r)] + scores[r] == best:
                break
        size = self.push(size, INCOMPLETE_RIGHT, s, r)
        return self.push(size, SIBLINGS, r, t)

    cdef Py_ssize_t follow_left(self, Py_ssize_t size, Py_ssize_t s, Py_ssize_t t, SiblingScores siblings) noexcept nogil:
        cdef const float *scores = siblings.between(t, s)
        cdef Py_ssize_t r
        cdef float best, none = self.complete_right[self.at(s, t - 1)] + siblings.first_child(t, s)
        best = self.best_left(s, t, scores)
        if none >= best:
            return self.push(size, COMPLETE_RIGHT, s, t - 1)
        for r in range(s + 1, t):
            if self.siblings[self.at(s, r)] + self.incomplete_left_by_end[self.at(t, r)] + scores[r] == best:
                break
        size = self.push(size, SIBLINGS, s, r)
        return self.push(size, INCOMPLETE_LEFT, r, t)

    cdef inline float best_right(self, Py_ssize_t s, Py_ssize_t t, const float *scores) noexcept nogil:
        """max over r of incomplete_right[s, r] + siblings[r, t] + sibling(s, r, t)"""
        return largest_sum3(
            self.incomplete_right + self.at(s, s + 1), self.siblings_by_end + self.at(t, s + 1), scores + s + 1,
            t - s - 1
        )

    cdef inline float best_left(self, Py_ssize_t s, Py_ssize_t t, const float *scores) noexcept nogil:
        """max over r of siblings[s, r] + incomplete_left[r, t] + sibling(t, r, s)"""
        return largest_sum3(
            self.siblings + self.at(s, s + 1), self.incomplete_left_by_end + self.at(t, s + 1), scores + s + 1,
            t - s - 1
        )
