# The finder of trees: the search, the guess against the gold tree, the next best trees, and Δ.

cdef enum Decoder:
    EISNER, EISNER2, MST, CLIMB

DECODERS = {"eisner": EISNER, "eisner2": EISNER2, "mst": MST, "climb": CLIMB}


cdef class TreeFinder(Finder):
    """Finds the constraints of a sentence: its tree first, then the relations of the tree's arcs.

    In training the relations are those of the gold tree's arcs, so that both are learned from the same sentence.
    A learner that wants a margin gets the tree with the highest score + loss, which violates it most: every arc and
    every relation that is not gold scores LOSS more. Where the search may miss the gold tree (climb; a projective search
    of a tree that is not), the arcs are updated only if the guess does not score below the gold tree.
    """

    cdef object program
    cdef KeyedBank arc_bank, relation_bank
    cdef int decoder
    cdef bint one_root, labelled
    cdef Sides sides
    cdef ArcScores arcs
    cdef SiblingScores siblings  # None if the decoder scores no siblings
    cdef RelationScores relations
    cdef Chart chart
    cdef KBest k_best
    cdef Arborescence arborescence
    cdef Changes changes
    cdef KeyIndex kept  # the features that are not too rare
    cdef bint all_kept
    # of the sentence that is searched now
    cdef Py_ssize_t n, room, key_room
    cdef bint has_gold
    cdef int32_t *heads  # the guess, by position; the root has -1
    cdef int32_t *best  # the best guess, when next_best has changed `heads`
    cdef int32_t *gold
    cdef const int32_t *gold_relations
    cdef int32_t *guessed_relations
    cdef uint64_t *keys

    def __cinit__(self, *_, **__):
        open_index(&self.kept)

    def __init__(self, program, KeyedBank arcs not None, KeyedBank relations not None, settings, bint one_root, kept):
        cdef uint64_t key
        self.program, self.settings = program, settings
        self.arc_bank, self.relation_bank = arcs, relations
        self.use_banks((arcs, relations))
        self.decoder = DECODERS[settings.decoder]
        self.one_root, self.labelled = one_root, relations.labels > 1
        self.sides = Sides(program)
        self.arcs = ArcScores(self.sides, program)
        self.siblings = SiblingScores(self.arcs, program) if self.decoder in (EISNER2, CLIMB) else None
        self.relations = RelationScores(self.arcs, program, relations)
        self.chart, self.arborescence, self.changes = Chart(), Arborescence(), Changes()
        self.k_best = KBest(self.chart, self.arcs, self.siblings, settings.k_best)
        self.all_kept = kept is None
        for key in () if kept is None else kept.tolist():
            number_key(&self.kept, key)

    def __dealloc__(self):
        close_index(&self.kept)
        free(self.heads)
        free(self.best)
        free(self.gold)
        free(self.guessed_relations)
        free(self.keys)

    cdef Finder clone(self):
        kept = None
        if not self.all_kept:
            kept = np.array([self.kept.known[i] for i in range(self.kept.count)], np.uint64)
        return TreeFinder(self.program, self.arc_bank, self.relation_bank, self.settings, self.one_root, kept)

    cdef Examples examples_of(self, object block):
        return Trees(block)

    # ------------------------------------------------------------ the search

    cdef int guess(self, Examples examples, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t begin = examples.begins[i], n = examples.sizes[i], d
        self.n, self.steps, self.has_gold = n, n, (<Trees>examples).heads.shape[0] > 0
        if n + 2 > self.room:
            self.room = 2 * (n + 2)
            self.heads = <int32_t *>grown(self.heads, self.room * sizeof(int32_t))
            self.best = <int32_t *>grown(self.best, self.room * sizeof(int32_t))
            self.gold = <int32_t *>grown(self.gold, self.room * sizeof(int32_t))
            self.guessed_relations = <int32_t *>grown(self.guessed_relations, self.room * sizeof(int32_t))
        self.arcs.use(self.arc_bank)
        self.sides.make(<Trees>examples, begin, n)
        self.arcs.make(n)
        if self.siblings is not None:
            self.siblings.make(n)
        if self.has_gold:
            self.gold[0] = -1
            for d in range(1, n + 1):
                self.gold[d] = (<Trees>examples).heads[begin + d - 1]
            self.gold_relations = &(<Trees>examples).relations[begin] - 1  # by position, like all others
            if self.needs_margin:
                self.arcs.add_loss(self.gold)
        self.search()
        self.guess_relations(self.gold if self.has_gold else self.heads)
        return 0

    cdef int search(self) except -1 nogil:
        if self.decoder == MST:
            return self.arborescence.search(self.arcs, self.one_root, self.heads)
        self.chart.begin(self.n, self.one_root)
        if self.siblings is None:
            self.chart.fill(self.arcs)
        else:
            fill_second_order(self.chart, self.arcs, self.siblings)
        self.chart.read(self.heads, self.arcs, self.siblings)
        if self.decoder == CLIMB:
            self.changes.begin(self.n, self.one_root)
            self.changes.climb(self.heads, self.arcs, self.siblings)
        return 0

    cdef int guess_relations(self, const int32_t *heads) except -1 nogil:
        cdef Py_ssize_t d
        if not self.labelled:
            memset(self.guessed_relations, 0, (self.n + 1) * sizeof(int32_t))
            return 0
        self.relations.look(heads, self.n)
        for d in range(1, self.n + 1):
            self.guessed_relations[d] = self.relations.best(
                d, self.gold_relations[d] if self.has_gold and self.needs_margin else -1
            )
        return 0

    cdef void write_guess(self, int32_t *to) noexcept nogil:
        cdef Py_ssize_t d
        for d in range(1, self.n + 1):
            to[2 * (d - 1)], to[2 * (d - 1) + 1] = self.heads[d], self.guessed_relations[d]

    # ------------------------------------------------------------ the gold tree

    cdef Py_ssize_t wrong(self) noexcept nogil:
        cdef Py_ssize_t d, wrong = 0
        for d in range(1, self.n + 1):
            wrong += self.heads[d] != self.gold[d] or self.guessed_relations[d] != self.gold_relations[d]
        return wrong

    cdef double loss(self, Py_ssize_t prefix) noexcept nogil:
        """Wrong heads, and wrong relations of the gold tree's arcs."""
        cdef Py_ssize_t d, wrong = 0
        for d in range(1, self.n + 1):
            wrong += (self.heads[d] != self.gold[d]) + (self.guessed_relations[d] != self.gold_relations[d])
        return wrong

    cdef float tree_score(self, const int32_t *heads) noexcept nogil:
        """The score of a tree's arcs and siblings, added up in the order of the words."""
        cdef Py_ssize_t d
        cdef float score = 0
        for d in range(1, self.n + 1):
            score += self.arcs.arc[heads[d] * self.arcs.stride + d]
            if self.siblings is not None:
                score += self.siblings.score(heads[d], sibling_of(heads, d, self.n), d)
        return score

    cdef float gold_score(self, Py_ssize_t prefix) noexcept nogil:
        return self.tree_score(self.gold)

    # ------------------------------------------------------------ the next best trees

    cdef int begin_next_best(self, Py_ssize_t prefix) except -1 nogil:
        if self.decoder == EISNER or self.decoder == EISNER2:
            return self.k_best.begin()
        memcpy(self.best, self.heads, (self.n + 1) * sizeof(int32_t))
        self.changes.begin(self.n, self.one_root)
        self.changes.find(self.best, self.arcs, self.siblings)
        return 0

    cdef bint next_best(self, Py_ssize_t prefix, float *score) noexcept nogil:
        if self.decoder == EISNER or self.decoder == EISNER2:
            if not self.k_best.next(self.heads):
                return False
        else:
            memcpy(self.heads, self.best, (self.n + 1) * sizeof(int32_t))
            if not self.changes.take_best(self.heads):
                return False
        score[0] = self.tree_score(self.heads)
        return True

    cdef bint may_miss_gold(self) noexcept nogil:
        """Whether the search may not have seen the gold tree."""
        return self.decoder == CLIMB or (self.decoder != MST and not is_projective(self.gold, self.n))

    # ------------------------------------------------------------ Δ

    cdef int collect(self, Py_ssize_t prefix) except -1 nogil:
        cdef Py_ssize_t d, most = self.arcs.most_features()
        if self.siblings is not None:
            most += self.siblings.most_features()
        if max(most, self.relations.templates.count) > self.key_room:
            self.key_room = 2 * max(most, self.relations.templates.count)
            self.keys = <uint64_t *>grown(self.keys, self.key_room * sizeof(uint64_t))
        if not self.may_miss_gold() or self.tree_score(self.heads) >= self.tree_score(self.gold):
            for d in range(1, self.n + 1):
                self.collect_word(d)
        if self.labelled:
            for d in range(1, self.n + 1):
                if self.guessed_relations[d] != self.gold_relations[d]:
                    self.collect_relation(d)
        return 0

    cdef int collect_word(self, Py_ssize_t d) except -1 nogil:
        cdef Py_ssize_t right, wrong
        if self.gold[d] != self.heads[d]:
            self.collect_arc(self.gold[d], d, 1)
            self.collect_arc(self.heads[d], d, -1)
        if self.siblings is not None:
            right, wrong = sibling_of(self.gold, d, self.n), sibling_of(self.heads, d, self.n)
            if right != wrong or self.gold[d] != self.heads[d]:
                self.collect_sibling(self.gold[d], right, d, 1)
                self.collect_sibling(self.heads[d], wrong, d, -1)
        return 0

    cdef int collect_arc(self, Py_ssize_t h, Py_ssize_t d, double count) except -1 nogil:
        cdef Py_ssize_t i, size = self.arcs.features(h, d, self.keys), marked = size - self.arcs.marked.count
        for i in range(size):
            self.put(ARCS, self.keys[i], 0, count)
            if i < marked:
                self.put(ARCS, self.keys[i], <int32_t>arc_label(h, d), count)
        return 0

    cdef int collect_sibling(self, Py_ssize_t h, Py_ssize_t s, Py_ssize_t d, double count) except -1 nogil:
        cdef Py_ssize_t i, size = self.siblings.pair_keys(s, d, self.keys)
        for i in range(size):
            self.put(ARCS, self.keys[i], 0, count)
            self.put(ARCS, self.keys[i], <int32_t>arc_label(s if s else h, d), count)
        size = self.siblings.triple_keys(h, s, d, self.keys)
        for i in range(size):
            self.put(ARCS, self.keys[i], 0, count)
        return 0

    cdef int collect_relation(self, Py_ssize_t d) except -1 nogil:
        cdef Py_ssize_t t
        cdef uint64_t key
        for t in range(self.relations.templates.count):
            key = self.relations.key(t, d)
            self.put(RELATIONS, key, self.gold_relations[d], 1)
            self.put(RELATIONS, key, self.guessed_relations[d], -1)
        return 0

    cdef inline int put(self, int32_t bank, uint64_t key, int32_t label, double count) except -1 nogil:
        if key and (self.all_kept or find_key(&self.kept, key) >= 0):
            self.delta.add(bank, key, label, count)
        return 0


cdef inline Py_ssize_t sibling_of(const int32_t *heads, Py_ssize_t d, Py_ssize_t n) noexcept nogil:
    """The child of the same head next to d, on the side of the head; 0 if d is the first."""
    cdef Py_ssize_t h = heads[d], s
    if d > h:
        for s in range(d - 1, h, -1):
            if heads[s] == h:
                return s
    else:
        for s in range(d + 1, h):
            if heads[s] == h:
                return s
    return 0


cdef bint is_projective(const int32_t *heads, Py_ssize_t n) noexcept nogil:
    """Whether no two arcs cross."""
    cdef Py_ssize_t d, e, begin, end, low, high
    for d in range(1, n + 1):
        begin, end = min(d, <Py_ssize_t>heads[d]), max(d, <Py_ssize_t>heads[d])
        for e in range(begin + 1, end):
            low, high = min(e, <Py_ssize_t>heads[e]), max(e, <Py_ssize_t>heads[e])
            if low < begin or high > end:
                return False
    return True
