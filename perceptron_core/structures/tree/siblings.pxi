# The scores of siblings: an arc (h, d) and s, the child of h next to d on the side of h, or none for a first child.
#
#     sibling(h, s, d) = pair(s, d) + Σ over the groups of triples:  triple(h, s, d)
#
# pair(s, d) has no head: n² sums of rows. Triples are n³, but their values are few: for every group (its templates look
# at the same sides) the sums are kept by the numbers of the different values, and computed when they are first needed.

cdef class Triples:
    """Σ of the weights of a group's templates, by (direction, value of head, of child, of sibling)."""

    cdef Sides sides
    cdef const uint64_t[::1] seeds
    cdef const uint8_t[::1] values
    cdef list numbers  # of the templates in their place
    cdef Py_ssize_t[3] side  # head, child, sibling
    cdef Py_ssize_t count
    cdef Py_ssize_t *classes  # 3 × positions: the number of the position's value
    cdef uint64_t *distinct  # 3 × positions: the values by number
    cdef Py_ssize_t[3] sizes
    cdef float *table
    cdef uint8_t *filled  # by direction × head × child
    cdef Py_ssize_t room, table_room, filled_room
    cdef uint64_t *keys_made  # of all siblings
    cdef const float **rows

    def __init__(self, Sides sides, seeds, values, group_sides, numbers):
        cdef Py_ssize_t i
        self.sides, self.seeds, self.values, self.numbers = sides, seeds, values, numbers
        self.count = self.seeds.shape[0]
        for i in range(3):
            self.side[i] = group_sides[i]

    def __dealloc__(self):
        free(self.classes)
        free(self.distinct)
        free(self.table)
        free(self.filled)
        free(self.keys_made)
        free(self.rows)

    cdef int make(self) except -1 nogil:
        """Number the values of a sentence whose sides are made."""
        cdef Py_ssize_t a, p, k, positions = self.sides.stride, size
        cdef const uint64_t *keys
        cdef uint64_t *distinct
        if positions > self.room:
            self.room = 2 * positions
            self.classes = <Py_ssize_t *>grown(self.classes, 3 * self.room * sizeof(Py_ssize_t))
            self.distinct = <uint64_t *>grown(self.distinct, 3 * self.room * sizeof(uint64_t))
            self.keys_made = <uint64_t *>grown(self.keys_made, self.room * sizeof(uint64_t))
            self.rows = <const float **>grown(self.rows, self.room * sizeof(float *))
        for a in range(3):
            keys, distinct, size = self.sides.side(self.side[a]), self.distinct + a * self.room, 0
            for p in range(positions):
                for k in range(size):
                    if distinct[k] == keys[p]:
                        break
                else:
                    k = size
                    distinct[size] = keys[p]
                    size += 1
                self.classes[a * self.room + p] = k
            self.sizes[a] = size
        size = 2 * self.sizes[0] * self.sizes[1]
        if size > self.filled_room:
            self.filled_room = 2 * size
            self.filled = <uint8_t *>grown(self.filled, self.filled_room)
        memset(self.filled, 0, size)
        if size * self.sizes[2] > self.table_room:
            self.table_room = 2 * size * self.sizes[2]
            self.table = <float *>grown(self.table, self.table_room * sizeof(float))
        return 0

    cdef const float *by_sibling(self, const Lines *lines, const uint64_t *directions, Py_ssize_t h, Py_ssize_t d) noexcept nogil:
        """The sums for an arc, by the number of the sibling's value."""
        cdef Py_ssize_t left = d < h, head = self.classes[h], child = self.classes[self.room + d], s, t
        cdef Py_ssize_t at = (left * self.sizes[0] + head) * self.sizes[1] + child
        cdef float *sums = self.table + at * self.sizes[2]
        if not self.filled[at]:
            self.filled[at] = 1
            self.fill(lines, directions[left], head, child, sums)
        return sums

    cdef void fill(
        self, const Lines *lines, uint64_t direction, Py_ssize_t head, Py_ssize_t child, float *sums
    ) noexcept nogil:
        """The sums of one head and child, all siblings at once."""
        cdef Py_ssize_t s, t, size = self.sizes[2]
        cdef uint64_t key
        cdef const uint64_t *siblings = self.distinct + 2 * self.room
        memset(sums, 0, size * sizeof(float))
        for t in range(self.count):
            key = joined(joined(self.seeds[t], self.distinct[head]), self.distinct[self.room + child])
            for s in range(size):
                self.keys_made[s] = joined(key, siblings[s])
                if self.values[t] & 1:
                    self.keys_made[s] = joined(self.keys_made[s], direction)
            find_lines(lines, self.keys_made, size, self.rows)
            for s in range(size):
                sums[s] += self.rows[s][0]

    cdef inline float score(
        self, const Lines *lines, const uint64_t *directions, Py_ssize_t h, Py_ssize_t s, Py_ssize_t d
    ) noexcept nogil:
        return self.by_sibling(lines, directions, h, d)[self.classes[2 * self.room + s]]

    cdef inline void add_between(
        self, const Lines *lines, const uint64_t *directions, Py_ssize_t h, Py_ssize_t d, float *scores
    ) noexcept nogil:
        """Add the sums of all siblings between h and d, by sibling."""
        cdef const float *sums = self.by_sibling(lines, directions, h, d)
        cdef const Py_ssize_t *classes = self.classes + 2 * self.room
        cdef Py_ssize_t s
        for s in range(min(h, d) + 1, max(h, d)):
            scores[s] += sums[classes[s]]

    cdef Py_ssize_t keys(
        self, Py_ssize_t h, Py_ssize_t s, Py_ssize_t d, const uint64_t *directions, uint64_t *keys
    ) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(self.count):
            keys[t] = self.key(
                t, self.classes[h], self.classes[self.room + d], self.classes[2 * self.room + s], directions[d < h]
            )
        return self.count

    cdef inline uint64_t key(
        self, Py_ssize_t t, Py_ssize_t head, Py_ssize_t child, Py_ssize_t sibling, uint64_t direction
    ) noexcept nogil:
        """The key of a template, from the numbers of the values."""
        cdef uint64_t key = joined(self.seeds[t], self.distinct[head])
        key = joined(joined(key, self.distinct[self.room + child]), self.distinct[2 * self.room + sibling])
        return joined(key, direction) if self.values[t] & 1 else key


cdef class SiblingScores:
    cdef ArcScores arcs
    cdef Group pairs
    cdef list triples
    cdef void **triple_at
    cdef Py_ssize_t triple_count
    cdef Py_ssize_t n, stride, room, none_room
    cdef float *pair  # pair[d, s], so that a search that looks for s reads one line
    cdef float *none  # of a first child: Σ of the rows, by position
    cdef float *scores  # of one arc, by sibling

    def __init__(self, ArcScores arcs, program):
        cdef Py_ssize_t i
        self.arcs, self.pairs = arcs, Group(program.groups["siblings"])
        triples = program.groups["triples"]
        grouped = {}
        for t, sides in enumerate(triples.sides.tolist()):
            grouped.setdefault(tuple(sides), []).append(t)
        self.triples = [
            Triples(arcs.sides, triples.seeds[of], triples.values[of], sides, of) for sides, of in grouped.items()
        ]
        self.triple_count = len(self.triples)
        self.triple_at = <void **>grown(NULL, (self.triple_count + 1) * sizeof(void *))
        for i in range(self.triple_count):
            self.triple_at[i] = <void *>self.triples[i]

    def __dealloc__(self):
        free(self.triple_at)
        free(self.pair)
        free(self.none)
        free(self.scores)

    cdef int make(self, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t i, s, d, t, each = self.pairs.count, label
        cdef const float *row
        cdef float score
        cdef float *none
        self.n, self.stride = n, n + 1
        if self.stride * self.stride > self.room:
            self.room = 2 * self.stride * self.stride
            self.pair = <float *>grown(self.pair, self.room * sizeof(float))
        if n + 2 > self.none_room:
            self.none_room = 2 * (n + 2)
            self.none = <float *>grown(self.none, self.none_room * WIDTH * sizeof(float))
            self.scores = <float *>grown(self.scores, self.none_room * sizeof(float))
        if CHUNK * each > self.arcs.chunk_room:
            self.arcs.grow_chunk(CHUNK * each)
        self.pairs.make(self.arcs.sides, 0, 1)
        memset(self.none, 0, (n + 1) * WIDTH * sizeof(float))
        for d in range(1, n + 1):
            none = self.none + d * WIDTH
            for t in range(each):
                row = line_of(&self.arcs.lines, joined(self.pairs.first[d * each + t], self.pairs.last[(n + 1) * each + t]))
                for i in range(WIDTH):
                    none[i] += row[i]
            self.add_pairs(d)
        for i in range(self.triple_count):
            (<Triples>self.triple_at[i]).make()
        return 0

    cdef void add_pairs(self, Py_ssize_t d) noexcept nogil:
        """pair[d, s] for all s; in chunks, like the arcs."""
        cdef Py_ssize_t s, t, begin = 1, end, k, b, each = self.pairs.count, label
        cdef uint64_t *keys = self.arcs.keys
        cdef const float **rows = self.arcs.rows
        cdef float score
        cdef const uint64_t *first = self.pairs.first + d * each
        while begin <= self.n:
            end, k = min(begin + CHUNK, self.n + 1), 0
            for s in range(begin, end):
                for t in range(each):
                    keys[k] = joined(first[t], self.pairs.last[s * each + t])
                    k += 1
            find_lines(&self.arcs.lines, keys, k, rows)
            k = 0
            for s in range(begin, end):
                score, label = 0, arc_label(s, d) if s != d else 0
                for t in range(each):
                    score += rows[k][0] + rows[k][label]
                    k += 1
                self.pair[d * self.stride + s] = score
            begin = end

    cdef inline float first_child(self, Py_ssize_t h, Py_ssize_t d) noexcept nogil:
        """sibling(h, –, d)"""
        cdef const float *none = self.none + d * WIDTH
        return self.with_triples(none[0] + none[arc_label(h, d)], h, self.n + 1, d)

    cdef inline float with_triples(self, float score, Py_ssize_t h, Py_ssize_t s, Py_ssize_t d) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.triple_count):
            score += (<Triples>self.triple_at[i]).score(&self.arcs.lines, self.arcs.directions, h, s, d)
        return score

    cdef inline const float *between(self, Py_ssize_t h, Py_ssize_t d) noexcept nogil:
        """sibling(h, s, d) for all s between h and d, by s."""
        cdef Py_ssize_t i, begin = min(h, d) + 1, end = max(h, d)
        if end > begin:
            memcpy(self.scores + begin, self.pair + d * self.stride + begin, (end - begin) * sizeof(float))
        for i in range(self.triple_count):
            (<Triples>self.triple_at[i]).add_between(&self.arcs.lines, self.arcs.directions, h, d, self.scores)
        return self.scores

    cdef float score(self, Py_ssize_t h, Py_ssize_t s, Py_ssize_t d) noexcept nogil:
        """sibling(h, s, d); s = 0 stands for none."""
        return self.first_child(h, d) if s == 0 else self.with_triples(self.pair[d * self.stride + s], h, s, d)

    cdef Py_ssize_t pair_keys(self, Py_ssize_t s, Py_ssize_t d, uint64_t *keys) noexcept nogil:
        """The keys of the pair's features, which have rows of labels; s = 0 stands for none."""
        cdef Py_ssize_t t, each = self.pairs.count, at = s if s else self.n + 1
        for t in range(each):
            keys[t] = joined(self.pairs.first[d * each + t], self.pairs.last[at * each + t])
        return each

    cdef Py_ssize_t triple_keys(self, Py_ssize_t h, Py_ssize_t s, Py_ssize_t d, uint64_t *keys) noexcept nogil:
        """The keys of the triples' features, which have one weight each."""
        cdef Py_ssize_t i, k = 0, at = s if s else self.n + 1
        for i in range(self.triple_count):
            k += (<Triples>self.triple_at[i]).keys(h, at, d, self.arcs.directions, keys + k)
        return k

    cdef Py_ssize_t most_features(self) noexcept nogil:
        cdef Py_ssize_t i, count = self.pairs.count
        for i in range(self.triple_count):
            count += (<Triples>self.triple_at[i]).count
        return count
