# The features of sentences without any weights: those of the gold trees, to be counted, and where a feature occurs, to
# name it (in plain Python: listing.py).

cdef enum:  # in the order of PLACES
    PLACE_HEADS, PLACE_CHILDREN, PLACE_PAIRS, PLACE_ORDERED, PLACE_BETWEEN, PLACE_MARKED, PLACE_SIBLINGS, PLACE_TRIPLES
    PLACE_RELATIONS


cdef class TreeFeatures:
    """Lists the features of sentences."""

    cdef Sides sides
    cdef ArcScores arcs
    cdef SiblingScores siblings
    cdef Group relations
    cdef RelationScores neighbours
    cdef KeyIndex wanted
    cdef uint8_t *done  # by the number of a wanted key
    cdef int64_t *found
    cdef Py_ssize_t count, room
    cdef int64_t sentence

    def __cinit__(self, *_):
        open_index(&self.wanted)

    def __init__(self, program):
        self.sides = Sides(program)
        self.arcs = ArcScores(self.sides, program)
        self.siblings = SiblingScores(self.arcs, program)
        self.neighbours = RelationScores(self.arcs, program, KeyedBank(1, 0))
        self.relations = self.neighbours.templates

    def __dealloc__(self):
        close_index(&self.wanted)
        free(self.done)
        free(self.found)

    cdef int begin(self, Trees trees, Py_ssize_t i, int32_t[::1] heads) except -1:
        """Make the keys of a sentence; `heads` gets its gold tree, by position."""
        cdef Py_ssize_t n = trees.sizes[i], begin = trees.begins[i], d
        self.sides.make(trees, begin, n)
        self.arcs.make_room(n)
        self.arcs.make_keys()
        self.siblings.n, self.siblings.stride = n, n + 1
        self.siblings.pairs.make(self.sides, 0, 1)
        for d in range(self.siblings.triple_count):
            (<Triples>self.siblings.triple_at[d]).make()
        heads[0] = -1
        for d in range(1, n + 1):
            heads[d] = trees.heads[begin + d - 1]
        self.neighbours.look(&heads[0], n)
        return 0

    def of_gold(self, block):
        """(starts, keys): word w has the keys of its arc, of its place among the siblings and of its relation."""
        cdef Trees trees = Trees(block)
        cdef Py_ssize_t i, d, n, size
        cdef int32_t[::1] heads
        cdef uint64_t[::1] keys
        sizes, parts = [0], [np.zeros(0, np.uint64)]
        for i in range(trees.count):
            n = trees.sizes[i]
            heads = np.empty(n + 2, np.int32)
            self.begin(trees, i, heads)
            most = self.arcs.most_features() + self.siblings.most_features() + self.relations.count
            keys_array = np.empty(most + 1, np.uint64)
            keys = keys_array
            for d in range(1, n + 1):
                size = self.word_keys(&heads[0], d, &keys[0])
                there = keys_array[:size][keys_array[:size] != 0]
                parts.append(there)
                sizes.append(len(there))
        return np.cumsum(sizes, dtype=np.int32), np.concatenate(parts)

    cdef Py_ssize_t word_keys(self, const int32_t *heads, Py_ssize_t d, uint64_t *keys) noexcept nogil:
        """The keys of a word in a tree."""
        cdef Py_ssize_t h = heads[d], s = sibling_of(heads, d, self.arcs.n), t, k
        k = self.arcs.features(h, d, keys)
        k += self.siblings.pair_keys(s, d, keys + k)
        k += self.siblings.triple_keys(h, s, d, keys + k)
        for t in range(self.relations.count):
            keys[k + t] = self.neighbours.key(t, d)
        return k + self.relations.count

    # ------------------------------------------------------------ where features occur

    def find(self, block, const uint64_t[::1] wanted):
        """One line for each of these keys that occurs at an arc, or a relation of a gold tree, of the block: (the key's
        number, the number of the place in PLACES, the template's number in it, the sentence, three positions)."""
        cdef Trees trees = Trees(block)
        cdef Py_ssize_t i
        cdef int32_t[::1] heads
        for i in range(wanted.shape[0]):
            number_key(&self.wanted, wanted[i])
        self.done = <uint8_t *>grown(self.done, wanted.shape[0])
        if wanted.shape[0]:
            memset(self.done, 0, wanted.shape[0])
        self.count = 0
        for i in range(trees.count):
            heads = np.empty(trees.sizes[i] + 2, np.int32)
            self.begin(trees, i, heads)
            self.sentence = i
            self.find_in_sentence()
        found_array = np.empty((self.count, 7), np.int64)
        cdef int64_t[:, ::1] found = found_array
        if self.count:
            memcpy(&found[0, 0], self.found, self.count * 7 * sizeof(int64_t))
        close_index(&self.wanted)
        open_index(&self.wanted)
        return found_array

    cdef int find_in_sentence(self) except -1:
        cdef Py_ssize_t h, d, n = self.arcs.n, i, j, s
        for h in range(n + 1):
            self.note_row(PLACE_HEADS, self.arcs.heads, h)
            if h:
                self.note_row(PLACE_CHILDREN, self.arcs.children, h)
                self.note_relation(h)
            for d in range(1, n + 1):
                if d != h:
                    self.note_pair(PLACE_PAIRS, self.arcs.pairs, h, d)
                    self.note_marked(h, d)
                    self.note_triple(h, 0, d)
                    for s in range(min(h, d) + 1, max(h, d)):
                        self.note_triple(h, s, d)
        for i in range(n):
            memset(self.arcs.seen_counts, 0, (self.arcs.between.count + 1) * sizeof(Py_ssize_t))
            for j in range(i + 1, n + 1):
                self.note_pair(PLACE_ORDERED, self.arcs.ordered, i, j)
                self.note_between(i, j)
        for d in range(1, n + 1):
            self.note_pair(PLACE_SIBLINGS, self.siblings.pairs, d, n + 1)
            for s in range(1, n + 1):
                if s != d:
                    self.note_pair(PLACE_SIBLINGS, self.siblings.pairs, d, s)
        return 0

    cdef int note(self, uint64_t key, int place, Py_ssize_t template, Py_ssize_t a, Py_ssize_t b, Py_ssize_t c) except -1:
        """Write down where a key is, if it is wanted and was not found before."""
        cdef int32_t number = find_key(&self.wanted, key) if key else -1
        cdef int64_t *line
        if number < 0 or self.done[number]:
            return 0
        self.done[number] = 1
        if self.count == self.room:
            self.room = 2 * self.room + 64
            self.found = <int64_t *>grown(self.found, self.room * 7 * sizeof(int64_t))
        line = self.found + 7 * self.count
        line[0], line[1], line[2], line[3], line[4], line[5], line[6] = number, place, template, self.sentence, a, b, c
        self.count += 1
        return 0

    cdef int note_row(self, int place, Group group, Py_ssize_t p) except -1:
        cdef Py_ssize_t t
        for t in range(group.count):
            self.note(group.first[p * group.count + t], place, t, p, 0, 0)
        return 0

    cdef int note_pair(self, int place, Group group, Py_ssize_t a, Py_ssize_t b) except -1:
        cdef Py_ssize_t t, each = group.count
        for t in range(each):
            self.note(joined(group.first[a * each + t], group.last[b * each + t]), place, t, a, b, 0)
        return 0

    cdef int note_marked(self, Py_ssize_t h, Py_ssize_t d) except -1:
        cdef Py_ssize_t t
        for t in range(self.arcs.marked.count):
            self.note(self.arcs.marked_key(t, h, d), PLACE_MARKED, t, h, d, 0)
        return 0

    cdef int note_between(self, Py_ssize_t i, Py_ssize_t j) except -1:
        cdef Py_ssize_t t, p, each = self.arcs.between.count
        cdef uint64_t key, value
        for t in range(each):
            key = joined(self.arcs.between.first[i * each + t], self.arcs.between.last[j * each + t])
            for p in range(i + 1, j):
                value = self.sides.side(self.arcs.between.sides[t, 2])[p]
                self.note(joined(key, value), PLACE_BETWEEN, t, i, j, p)
        return 0

    cdef int note_triple(self, Py_ssize_t h, Py_ssize_t s, Py_ssize_t d) except -1:
        cdef Py_ssize_t i, t
        cdef Triples triples
        cdef Py_ssize_t at = s if s else self.arcs.n + 1
        for i in range(self.siblings.triple_count):
            triples = <Triples>self.siblings.triple_at[i]
            for t in range(triples.count):
                self.note(
                    triples.key(
                        t, triples.classes[h], triples.classes[triples.room + d],
                        triples.classes[2 * triples.room + at], self.arcs.directions[d < h],
                    ),
                    PLACE_TRIPLES, triples.numbers[t], h, d, at,
                )
        return 0

    cdef int note_relation(self, Py_ssize_t d) except -1:
        cdef Py_ssize_t t
        for t in range(self.relations.count):
            self.note(self.neighbours.key(t, d), PLACE_RELATIONS, t, d, 0, 0)
        return 0
