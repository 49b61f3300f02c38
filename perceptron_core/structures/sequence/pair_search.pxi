# The searches over pairs of labels: the score of a label depends on the two labels before.
#
# A state of token t is a pair of labels: p at t-1 and c at t. Its number is p · L + c, with p = L at the first token.
# The states of a token are kept in slots, in the order of the states: an exact search has one slot for every state
# (p · width + c), a beam has one for each state that it kept. Slot -1 is state 0, if that is not kept.


cdef inline void step_pairs(
    Py_ssize_t labels, const float *before, const int32_t *marks, int32_t stamp, const float *tensor, const float *into,
    const float *emit, float *now, float *best, Py_ssize_t width
) noexcept nogil:
    """now[p][c] = max over q of (before[q][p] + tensor[p][q][c]) + (into[p][c] + emit[c]); the tensor is 0 where its
    row is not marked."""
    cdef Py_ssize_t p, q, c
    cdef float base, candidate, plain
    cdef const float *row
    for p in range(labels):
        plain = NEVER
        for c in range(width):
            best[c] = NEVER
        for q in range(labels):
            base = before[q * width + p]
            if base == NEVER:
                continue
            if marks[p * labels + q] == stamp:
                row = tensor + (p * labels + q) * width
                for c in range(width):
                    candidate = base + row[c]
                    best[c] = candidate if candidate > best[c] else best[c]
            else:
                plain = base if base > plain else plain
        for c in range(width):
            candidate = best[c] if best[c] > plain else plain
            now[p * width + c] = candidate + (into[p * width + c] + emit[c])


cdef inline void step_pairs_dense(
    Py_ssize_t labels, const float *before, const int32_t *marks, int32_t stamp, const float *tensor, const float *into,
    const float *emit, float *now, Py_ssize_t width
) noexcept nogil:
    cdef float best[MOST_DENSE]
    step_pairs(labels, before, marks, stamp, tensor, into, emit, now, best, width)


cdef class PairSearch(SequenceFinder):
    """Viterbi and beam search over the weights of a second-order model."""

    cdef TripleRows triples
    cdef bint exact
    cdef Py_ssize_t slots  # of a token, at most
    cdef float *scores  # token × slot: alpha
    cdef int32_t *states  # token × slot, of a beam
    cdef int32_t *counts  # by token, of a beam: how many of its slots are in use
    cdef int32_t *slot_path  # by token
    cdef Py_ssize_t pair_room  # tokens
    cdef float *tensor  # triple[t][q, p, c] of an exact search, as [p][q][c]
    cdef int32_t *marks  # … which of its rows are not 0: those marked with the stamp
    cdef int32_t stamp
    cdef float *best  # by label
    cdef float *row  # by label
    cdef float *steps_in  # by predecessor of a state
    cdef int32_t *slots_in
    cdef float *stops  # by slot of the last token
    cdef int32_t *by_label  # the slots of a token, sorted by their last label
    cdef Beam kept

    def __init__(
        self, Py_ssize_t labels, Bank emissions not None, Bank pairs not None, Bank transitions not None,
        KeyedBank triples not None, label_hashes, settings, allowed
    ):
        if settings.decoder == "greedy" or (settings.decoder == "viterbi" and labels > MOST_DENSE):
            raise ValueError(f"second-order models need the decoder beam, or viterbi with at most {MOST_DENSE} labels")
        SequenceFinder.__init__(self, labels, emissions, pairs, transitions, settings, allowed)
        self.exact = settings.decoder == "viterbi" or settings.beam >= labels * labels
        self.kept.width = settings.beam
        self.slots = (labels + 1) * self.width if self.exact else settings.beam
        self.triples = TripleRows(triples, labels, label_hashes, self.exact)
        self.use_banks((emissions, pairs, transitions, triples))
        self.watched = 1 << TRANSITIONS | 1 << TRIPLES
        self.k_best = KBest(self.k, self.slots)
        self.best = <float *>grown(self.best, self.width * sizeof(float))
        self.row = <float *>grown(self.row, self.width * sizeof(float))
        self.steps_in = <float *>grown(self.steps_in, max(self.slots, labels) * sizeof(float))
        self.slots_in = <int32_t *>grown(self.slots_in, max(self.slots, labels) * sizeof(int32_t))
        self.stops = <float *>grown(self.stops, self.slots * sizeof(float))
        if self.exact:
            self.tensor = <float *>grown(self.tensor, labels * labels * self.width * sizeof(float))
            self.marks = <int32_t *>grown(self.marks, labels * labels * sizeof(int32_t))
            memset(self.marks, 0, labels * labels * sizeof(int32_t))
        else:
            self.by_label = <int32_t *>grown(self.by_label, self.slots * sizeof(int32_t))
            self.kept.kept = <Kept *>grown(self.kept.kept, self.slots * sizeof(Kept))
            self.kept.late = <Kept *>grown(self.kept.late, self.slots * sizeof(Kept))

    def __dealloc__(self):
        free(self.scores)
        free(self.states)
        free(self.counts)
        free(self.slot_path)
        free(self.tensor)
        free(self.marks)
        free(self.best)
        free(self.row)
        free(self.steps_in)
        free(self.slots_in)
        free(self.stops)
        free(self.by_label)
        free(self.kept.kept)
        free(self.kept.late)

    def set_triple_keys(self, const uint64_t[::1] keys not None):
        """The base keys of all triple and skip features, by their number; those set before must stay the same."""
        self.triples.set_keys(keys)

    cdef Examples examples_of(self, object block):
        return SecondOrderSentences(block)

    cdef int refresh(self) except -1:
        if self.triples is not None:
            self.triples.refresh()
        return SequenceFinder.refresh(self)

    cdef int moved(self, const Part *part, float weight) except -1:
        if part.bank == TRIPLES:
            return self.triples.row_moved(part)
        return SequenceFinder.moved(self, part, weight)

    # ------------------------------------------------------------ the search

    cdef int guess(self, Examples examples, Py_ssize_t i) except -1 nogil:
        (<SecondOrderSentences>examples).select_all(i, &self.sentence)
        self.steps = self.sentence.length
        self.make_room(self.steps)
        if self.steps > self.pair_room:
            self.pair_room = self.token_room
            self.scores = <float *>grown(self.scores, self.pair_room * self.slots * sizeof(float))
            self.slot_path = <int32_t *>grown(self.slot_path, self.pair_room * sizeof(int32_t))
            if not self.exact:
                self.states = <int32_t *>grown(self.states, self.pair_room * self.slots * sizeof(int32_t))
                self.counts = <int32_t *>grown(self.counts, self.pair_room * sizeof(int32_t))
        score_tokens(self.emissions, &self.sentence, self.emit)
        if self.exact:
            self.forward_exact()
        else:
            self.forward_beam()
        self.guess_prefix(self.steps)
        return 0

    cdef void forward_exact(self) noexcept nogil:
        cdef Py_ssize_t t, p, c, labels = self.labels, width = self.width
        cdef const float *into
        cdef const float *emit
        cdef const float *before
        cdef float *now = self.scores
        for c in range(labels * width):
            now[c] = NEVER
        for c in range(width):
            now[labels * width + c] = self.score[labels, c] + self.emit[c]
        for t in range(1, self.sentence.length):
            before, now = self.scores + (t - 1) * self.slots, self.scores + t * self.slots
            into, emit = self.transitions_at(t), self.emit + t * width
            for c in range(width):
                now[labels * width + c] = NEVER
            if t == 1:
                for p in range(labels):
                    for c in range(width):
                        now[p * width + c] = before[labels * width + p] + (into[p * width + c] + emit[c])
                continue
            self.fill_tensor(t)
            if width == 8:
                step_pairs_dense(labels, before, self.marks, self.stamp, self.tensor, into, emit, now, 8)
            elif width == 16:
                step_pairs_dense(labels, before, self.marks, self.stamp, self.tensor, into, emit, now, 16)
            elif width == 24:
                step_pairs_dense(labels, before, self.marks, self.stamp, self.tensor, into, emit, now, 24)
            elif width == 32:
                step_pairs_dense(labels, before, self.marks, self.stamp, self.tensor, into, emit, now, 32)
            else:
                step_pairs(labels, before, self.marks, self.stamp, self.tensor, into, emit, now, self.best, width)

    cdef void fill_tensor(self, Py_ssize_t t) noexcept nogil:
        """triple[t], from the lists of the rows that exist."""
        cdef const Sentence *own = &self.sentence
        cdef const RowList *rows
        cdef Py_ssize_t j, i, p
        self.stamp += 1
        for j in range(own.triple_starts[t], own.triple_starts[t + 1]):
            rows = &self.triples.lists[2 * own.triple_ids[j] + WITH_BOTH]
            for i in range(rows.count):
                self.add_to_tensor(rows.rows[i].pair, rows.rows[i].number)
        for j in range(own.skip_starts[t], own.skip_starts[t + 1]):
            rows = &self.triples.lists[2 * own.skip_ids[j] + WITH_SECOND]
            for i in range(rows.count):
                for p in range(self.labels):
                    self.add_to_tensor(p * self.labels + rows.rows[i].pair, rows.rows[i].number)

    cdef inline void add_to_tensor(self, Py_ssize_t pair, int32_t number) noexcept nogil:
        cdef float *row = self.tensor + pair * self.width
        if self.marks[pair] != self.stamp:
            self.marks[pair] = self.stamp
            memset(row, 0, self.width * sizeof(float))
        self.triples.bank.bank.add_scores(number, row)

    cdef void forward_beam(self) noexcept nogil:
        cdef Py_ssize_t t, i, j, first, c, n = self.sentence.length, labels = self.labels, width = self.width
        cdef int32_t p, q
        cdef const float *stop = &self.score[labels + 1, 0]
        cdef const float *into
        cdef const float *emit
        cdef float score, base, plain
        self.kept.count = self.kept.late_count = 0
        for c in range(labels):
            score = self.score[labels, c] + self.emit[c]
            enter(&self.kept, <int32_t>(labels * labels + c), score, score + stop[c] if n == 1 else score)
        self.keep(0)
        for t in range(1, n):
            emit = self.emit + t * width
            self.kept.count = self.kept.late_count = 0
            self.sort_by_label(t - 1)
            first = 0
            while first < self.counts[t - 1]:  # for each last label p of what was kept
                p = self.states[(t - 1) * self.slots + self.by_label[first]] % <int32_t>labels
                plain = NEVER
                for c in range(width):
                    self.best[c] = NEVER
                i = first
                while i < self.counts[t - 1]:
                    j = (t - 1) * self.slots + self.by_label[i]
                    q, base = self.states[j] // <int32_t>labels, self.scores[j]
                    if self.states[j] % <int32_t>labels != p:
                        break
                    if t > 1 and base != NEVER and self.triples.add_rows(&self.sentence, t, q, p, self.row):
                        for c in range(width):
                            score = base + self.row[c]
                            self.best[c] = score if score > self.best[c] else self.best[c]
                    else:
                        plain = base if base > plain else plain
                    i += 1
                first = i
                into = self.transitions_from(t, p)
                for c in range(labels):
                    score = self.best[c] if self.best[c] > plain else plain
                    score = score + (into[c] + emit[c])
                    enter(&self.kept, <int32_t>(p * labels + c), score, score + stop[c] if t == n - 1 else score)
            self.keep(t)

    cdef inline const float *transitions_from(self, Py_ssize_t t, int32_t p) noexcept nogil:
        """`transitions_at`, from one label."""
        cdef Py_ssize_t j
        cdef const int32_t *starts = self.sentence.pair_starts
        if starts == NULL or starts[t] == starts[t + 1]:
            return &self.score[p, 0]
        memcpy(self.local, &self.score[p, 0], self.width * sizeof(float))
        for j in range(starts[t], starts[t + 1]):
            self.pairs.add_scores(<int32_t>(self.sentence.pair_ids[j] * self.labels + p), self.local)
        return self.local

    cdef void keep(self, Py_ssize_t t) noexcept nogil:
        """Copy what the beam holds to the slots of token t; there is always one slot."""
        cdef Py_ssize_t i
        close_beam(&self.kept)
        for i in range(self.kept.count):
            self.states[t * self.slots + i] = self.kept.kept[i].state
            self.scores[t * self.slots + i] = self.kept.kept[i].score
        self.counts[t] = <int32_t>self.kept.count
        if self.kept.count == 0:
            self.states[t * self.slots], self.scores[t * self.slots], self.counts[t] = 0, NEVER, 1

    cdef void sort_by_label(self, Py_ssize_t t) noexcept nogil:
        """The slots of token t by the last label of their states, and by the states."""
        cdef Py_ssize_t i, j
        cdef int32_t labels = <int32_t>self.labels
        cdef const int32_t *states = self.states + t * self.slots
        for i in range(self.counts[t]):
            j = i
            while j > 0 and states[self.by_label[j - 1]] % labels > states[i] % labels:
                self.by_label[j] = self.by_label[j - 1]
                j -= 1
            self.by_label[j] = <int32_t>i

    # ------------------------------------------------------------ states and slots

    cdef void labels_at(self, Py_ssize_t t, int32_t slot, int32_t *p, int32_t *c) noexcept nogil:
        """The labels of a state."""
        cdef int32_t state = 0
        if self.exact:
            p[0], c[0] = max(slot, 0) // <int32_t>self.width, max(slot, 0) % <int32_t>self.width
            return
        if slot >= 0:
            state = self.states[t * self.slots + slot]
        p[0], c[0] = state // <int32_t>self.labels, state % <int32_t>self.labels

    cdef float score_of(self, Py_ssize_t t, int32_t p, int32_t c) noexcept nogil:
        """alpha[t][p, c]"""
        cdef Py_ssize_t i
        if self.exact:
            return self.scores[t * self.slots + p * self.width + c]
        for i in range(self.counts[t]):
            if self.states[t * self.slots + i] == p * self.labels + c:
                return self.scores[t * self.slots + i]
        return NEVER

    cdef int32_t best_slot(self, Py_ssize_t t) noexcept nogil:
        """The slot in which the best sequence up to token t ends."""
        cdef Py_ssize_t i, count = self.slots if self.exact else self.counts[t]
        cdef const float *scores = self.scores + t * self.slots
        cdef const float *stop = &self.score[self.labels + 1, 0]
        cdef bint at_end = t == self.sentence.length - 1
        cdef int32_t best = -1, c
        cdef float value, top = NEVER
        for i in range(count):
            value = scores[i]
            if at_end:
                c = <int32_t>(i % self.width if self.exact else self.states[t * self.slots + i] % self.labels)
                value += stop[c]
            if value > top:
                best, top = <int32_t>i, value
        return best

    cdef void incoming_pair(self, Py_ssize_t t, int32_t p, int32_t c, Incoming *into) noexcept nogil:
        """The steps into a state."""
        cdef const Sentence *own = &self.sentence
        cdef Py_ssize_t i, j
        cdef int32_t q, state
        into.count, into.states, into.steps, into.stride = 0, self.slots_in, self.steps_in, 1
        into.local = self.score[p, c]
        if own.pair_starts != NULL:
            for j in range(own.pair_starts[t], own.pair_starts[t + 1]):
                into.local += self.pairs.value(<int32_t>(own.pair_ids[j] * self.labels + p), c)
        into.local += self.emit[t * self.width + c]
        if self.exact and t == 1:
            into.count, self.slots_in[0], self.steps_in[0] = 1, <int32_t>(self.labels * self.width + p), 0
        elif self.exact:
            into.count = self.labels
            for i in range(self.labels):
                self.slots_in[i] = <int32_t>(i * self.width + p)
            self.triples.add_column(own, t, p, c, self.steps_in)
        else:
            for i in range(self.counts[t - 1]):
                state = self.states[(t - 1) * self.slots + i]
                q = state // <int32_t>self.labels
                if state % <int32_t>self.labels == p:
                    self.slots_in[into.count] = <int32_t>i
                    self.steps_in[into.count] = self.triples.value(own, t, q, p, c) if t > 1 else 0
                    into.count += 1

    cdef int32_t slot_before(self, Py_ssize_t t, int32_t p, int32_t c) noexcept nogil:
        """The slot at t-1 on the best sequence that has labels p and c at t-1 and t."""
        cdef Incoming into
        cdef Py_ssize_t i
        cdef int32_t best = -1
        cdef float value, top = NEVER
        self.incoming_pair(t, p, c, &into)
        for i in range(into.count):
            value = self.scores[(t - 1) * self.slots + into.states[i]] + into.steps[i]
            if value > top:
                best, top = into.states[i], value
        return best

    cdef void guess_prefix(self, Py_ssize_t prefix) noexcept nogil:
        """The best sequence of the first labels, into `path`."""
        cdef Py_ssize_t t
        cdef int32_t p, c, slot = self.best_slot(prefix - 1)
        self.slot_path[prefix - 1] = slot
        for t in range(prefix - 1, -1, -1):
            self.labels_at(t, slot, &p, &c)
            self.path[t] = c
            if t:
                slot = self.slot_before(t, p, c)
