# The scores of all arcs, and the features of one arc (in plain Python: scoring.py).
#
#     arc(h, d) = Σ over the templates f of the arc:  w[f, any] + w[f, direction × distance]
#
# Features of one word are added up once per word. For the others the keys of some pairs are made, then looked up, then
# their rows are added: meanwhile the next ones come from memory.

cdef float[WIDTH] NOTHING
memset(NOTHING, 0, sizeof(NOTHING))
cdef const float *NOTHING_LINE = NOTHING


cdef struct Lines:  # what a search needs of the bank of arcs
    const KeyIndex *index
    const float *weights
    const int32_t *shown  # NULL if every row is shown: then a row has the number of its key


cdef inline const float *line_of(const Lines *lines, uint64_t key) noexcept nogil:
    """The row of a key; zeros if it has none."""
    cdef int32_t number
    if key == 0:
        return NOTHING_LINE
    number = find_key(lines.index, key)
    if number >= 0 and lines.shown != NULL:
        number = lines.shown[number]
    if number < 0:
        return NOTHING_LINE
    return lines.weights + <Py_ssize_t>number * WIDTH


cdef inline void find_lines(const Lines *lines, const uint64_t *keys, Py_ssize_t count, const float **rows) noexcept nogil:
    """The rows of many keys. Most have none, which a byte per key tells; the others come from memory meanwhile."""
    cdef Py_ssize_t i
    cdef size_t mask = lines.index.mask
    cdef const uint8_t *tags = lines.index.tags
    for i in range(count):
        prefetch(&tags[keys[i] & mask])
    for i in range(count):
        if tags[keys[i] & mask]:
            prefetch(&lines.index.slots[keys[i] & mask])
    for i in range(count):
        rows[i] = line_of(lines, keys[i]) if tags[keys[i] & mask] else NOTHING_LINE
        prefetch(rows[i])


cdef class ArcScores:
    """arc[h, d] for a sentence."""

    cdef Sides sides
    cdef Group heads, children, pairs, ordered, between, marked
    cdef uint64_t[2] directions
    cdef uint64_t[DISTANCES] distances
    cdef Lines lines
    cdef Py_ssize_t n, stride
    cdef float *arc  # (n + 1) × (n + 1)
    cdef Py_ssize_t room
    cdef float *alone  # of every position: Σ of the rows of `heads`, then of `children`
    cdef uint64_t *seen  # the different values between two words, per template of `between`
    cdef Py_ssize_t *seen_counts
    cdef uint64_t *keys  # of a chunk
    cdef const float **rows
    cdef Py_ssize_t chunk_room, seen_room, alone_room

    def __init__(self, Sides sides, program):
        cdef Py_ssize_t i
        self.sides = sides
        groups = program.groups
        self.heads, self.children, self.pairs = Group(groups["heads"]), Group(groups["children"]), Group(groups["pairs"])
        self.ordered, self.between = Group(groups["ordered"]), Group(groups["between"])
        self.marked = Group(groups["marked"])
        for i in range(2):
            self.directions[i] = program.directions[i]
        for i in range(DISTANCES):
            self.distances[i] = program.distances[i]

    def __dealloc__(self):
        free(self.arc)
        free(self.alone)
        free(self.seen)
        free(self.seen_counts)
        free(self.keys)
        free(self.rows)

    cdef int use(self, KeyedBank bank) except -1 nogil:
        """Look at the bank again: its memory may have moved."""
        self.lines.index = &bank.index
        self.lines.weights = bank.bank.weights
        self.lines.shown = bank.bank.shown if bank.bank.min_updates > 1 else NULL
        return 0

    cdef int make_room(self, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t positions = n + 2, pairs = 2 * self.pairs.count + self.ordered.count
        cdef Py_ssize_t chunk = CHUNK * (pairs + self.between.count * positions)
        self.n, self.stride = n, n + 1
        if self.stride * self.stride > self.room:
            self.room = 2 * self.stride * self.stride
            self.arc = <float *>grown(self.arc, self.room * sizeof(float))
        if positions > self.alone_room:
            self.alone_room = 2 * positions
            self.alone = <float *>grown(self.alone, 2 * self.alone_room * WIDTH * sizeof(float))
            self.seen = <uint64_t *>grown(self.seen, self.between.count * self.alone_room * sizeof(uint64_t))
            self.seen_counts = <Py_ssize_t *>grown(self.seen_counts, (self.between.count + 1) * sizeof(Py_ssize_t))
        if chunk > self.chunk_room:
            self.grow_chunk(2 * chunk)
        return 0

    cdef int grow_chunk(self, Py_ssize_t keys) except -1 nogil:
        self.chunk_room = keys
        self.keys = <uint64_t *>grown(self.keys, keys * sizeof(uint64_t))
        self.rows = <const float **>grown(self.rows, keys * sizeof(float *))
        return 0

    cdef int make(self, Py_ssize_t n) except -1 nogil:
        """Score all arcs of a sentence whose sides are made."""
        self.make_room(n)
        self.make_keys()
        self.add_alone(self.heads, self.alone)
        self.add_alone(self.children, self.alone + (n + 2) * WIDTH)
        self.add_pairs()
        if self.marked.count:
            self.add_marked()
        return 0

    cdef int make_keys(self) except -1 nogil:
        self.heads.make(self.sides, 0, NO_SIDE)
        self.children.make(self.sides, 0, NO_SIDE)
        self.pairs.make(self.sides, 0, 1)
        self.ordered.make(self.sides, 0, 1)
        self.between.make(self.sides, 0, 1)
        return 0

    cdef void add_alone(self, Group group, float *sums) noexcept nogil:
        cdef Py_ssize_t p, t, i
        cdef const float *row
        memset(sums, 0, (self.n + 2) * WIDTH * sizeof(float))
        for p in range(self.n + 1):
            for t in range(group.count):
                row = line_of(&self.lines, group.first[p * group.count + t])
                for i in range(WIDTH):
                    sums[p * WIDTH + i] += row[i]

    # ------------------------------------------------------------ pairs of words

    cdef void add_pairs(self) noexcept nogil:
        cdef Py_ssize_t i, j, end
        for i in range(self.n):
            memset(self.seen_counts, 0, (self.between.count + 1) * sizeof(Py_ssize_t))
            j = i + 1
            while j <= self.n:
                end = min(j + CHUNK, self.n + 1)
                self.add_chunk(i, j, end)
                j = end

    cdef void add_chunk(self, Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Score the arcs between word i and the words begin … end-1, which are to its right."""
        cdef Py_ssize_t j, t, k = 0, size, b, pairs = self.pairs.count, each
        cdef Py_ssize_t[CHUNK + 1] ends
        cdef const uint64_t *first
        cdef const uint64_t *last
        cdef uint64_t *keys = self.keys
        for j in range(begin, end):
            self.note_between(i, j)
            first, last = self.pairs.first + i * pairs, self.pairs.last + j * pairs
            for t in range(pairs):
                keys[k + t] = joined(first[t], last[t])
            k += pairs
            if i:
                first, last = self.pairs.first + j * pairs, self.pairs.last + i * pairs
                for t in range(pairs):
                    keys[k + t] = joined(first[t], last[t])
                k += pairs
            each = self.ordered.count
            first, last = self.ordered.first + i * each, self.ordered.last + j * each
            for t in range(each):
                keys[k + t] = joined(first[t], last[t])
            k += each
            k += self.between_keys(i, j, keys + k)
            ends[j - begin + 1] = k
        find_lines(&self.lines, keys, k, self.rows)
        ends[0] = 0
        for j in range(begin, end):
            self.add_rows(i, j, self.rows + ends[j - begin], ends[j - begin + 1] - ends[j - begin])

    cdef void add_rows(self, Py_ssize_t i, Py_ssize_t j, const float **rows, Py_ssize_t size) noexcept nogil:
        """Add the rows of the pair i < j to the arcs i → j and j → i."""
        cdef Py_ssize_t t, pairs = self.pairs.count, right = arc_label(i, j), left = arc_label(j, i)
        cdef float score = self.start(i, j), back
        for t in range(pairs):
            score += rows[t][0] + rows[t][right]
        if i == 0:
            for t in range(pairs, size):
                score += rows[t][0] + rows[t][right]
        else:
            back = self.start(j, i)
            for t in range(pairs, 2 * pairs):
                back += rows[t][0] + rows[t][left]
            for t in range(2 * pairs, size):
                score += rows[t][0] + rows[t][right]
                back += rows[t][0] + rows[t][left]
            self.arc[j * self.stride + i] = back
        self.arc[i * self.stride + j] = score

    cdef inline float start(self, Py_ssize_t h, Py_ssize_t d) noexcept nogil:
        """What the features of the head alone and of the child alone add to an arc."""
        cdef Py_ssize_t label = arc_label(h, d)
        cdef const float *head = self.alone + h * WIDTH
        cdef const float *child = self.alone + (self.n + 2 + d) * WIDTH
        return (head[0] + head[label]) + (child[0] + child[label])

    cdef inline void note_between(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Word j - 1 is now between i and j: keep its values, if they are new."""
        cdef Py_ssize_t t, k
        cdef uint64_t value
        cdef uint64_t *seen
        if j == i + 1:
            return
        for t in range(self.between.count):
            value = self.sides.side(self.between.sides[t, 2])[j - 1]
            seen = self.seen + t * self.alone_room
            for k in range(self.seen_counts[t]):
                if seen[k] == value:
                    break
            else:
                if value:
                    seen[self.seen_counts[t]] = value
                    self.seen_counts[t] += 1

    cdef inline Py_ssize_t between_keys(self, Py_ssize_t i, Py_ssize_t j, uint64_t *keys) noexcept nogil:
        """The keys of the different values between i and j, which were noted; returns their number."""
        cdef Py_ssize_t t, k, count = 0, each = self.between.count
        cdef uint64_t key
        for t in range(each):
            key = joined(self.between.first[i * each + t], self.between.last[j * each + t])
            if key:
                for k in range(self.seen_counts[t]):
                    keys[count] = extend_key(key, self.seen[t * self.alone_room + k])
                    count += 1
        return count

    # ------------------------------------------------------------ templates that name direction or distance

    cdef uint64_t marked_key(self, Py_ssize_t t, Py_ssize_t h, Py_ssize_t d) noexcept nogil:
        cdef uint64_t key = self.marked.seeds[t]
        if self.marked.sides[t, 0] >= 0:
            key = joined(key, self.sides.side(self.marked.sides[t, 0])[h])
        if self.marked.sides[t, 1] >= 0:
            key = joined(key, self.sides.side(self.marked.sides[t, 1])[d])
        return self.with_values(key, self.marked.values[t], h, d)

    cdef inline uint64_t with_values(self, uint64_t key, int values, Py_ssize_t h, Py_ssize_t d) noexcept nogil:
        """The key joined with direction and distance, as the template says."""
        if values & 1:
            key = joined(key, self.directions[d < h])
        if values & 2:
            key = joined(key, self.distances[distance_of(d - h if d > h else h - d)])
        return key

    cdef void add_marked(self) noexcept nogil:
        cdef Py_ssize_t h, d, t
        for h in range(self.n + 1):
            for d in range(1, self.n + 1):
                if h != d:
                    for t in range(self.marked.count):
                        self.arc[h * self.stride + d] += line_of(&self.lines, self.marked_key(t, h, d))[0]

    cdef void add_loss(self, const int32_t *gold) noexcept nogil:
        """Every arc that is not gold scores LOSS more."""
        cdef Py_ssize_t h, d
        for h in range(self.n + 1):
            for d in range(1, self.n + 1):
                if h != gold[d]:
                    self.arc[h * self.stride + d] += LOSS

    # ------------------------------------------------------------ the features of one arc

    cdef Py_ssize_t features(self, Py_ssize_t h, Py_ssize_t d, uint64_t *keys) noexcept nogil:
        """The keys of an arc in the order of its score; those of marked templates, which have one weight, are last."""
        cdef Py_ssize_t t, j, k = 0, i = min(h, d), end = max(h, d), each
        for t in range(self.heads.count):
            keys[k + t] = self.heads.first[h * self.heads.count + t]
        k += self.heads.count
        for t in range(self.children.count):
            keys[k + t] = self.children.first[d * self.children.count + t]
        k += self.children.count
        each = self.pairs.count
        for t in range(each):
            keys[k + t] = joined(self.pairs.first[h * each + t], self.pairs.last[d * each + t])
        k += each
        each = self.ordered.count
        for t in range(each):
            keys[k + t] = joined(self.ordered.first[i * each + t], self.ordered.last[end * each + t])
        k += each
        memset(self.seen_counts, 0, (self.between.count + 1) * sizeof(Py_ssize_t))
        for j in range(i + 2, end + 1):
            self.note_between(i, j)
        k += self.between_keys(i, end, keys + k)
        for t in range(self.marked.count):
            keys[k + t] = self.marked_key(t, h, d)
        return k + self.marked.count

    cdef Py_ssize_t most_features(self) noexcept nogil:
        return (
            self.heads.count + self.children.count + self.pairs.count + self.ordered.count + self.marked.count
            + self.between.count * (self.n + 1)
        )
