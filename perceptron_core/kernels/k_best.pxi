# The k best label sequences: a state's next best is looked for when a longer sequence asks for it.

cdef struct Derivation:  # one of the best label sequences up to a token, by its last step
    float score
    int32_t before, rank  # the label before, and which of that state's derivations this one goes on with


cdef class KBestSearch(SequenceSearch):
    """`decoders/k_best.py`, lazily (Huang & Chiang 2005, Algorithm 3), over the states that the search has kept.

    The first derivation of a state is the search's own. A next one of (t, c) is the best step from any label p before,
    by the first derivation of (t-1, p) which (t, c) has not used yet. Since only the last one's successor can be
    missing, one more sequence costs a walk along one path, and one look at all labels at each of its tokens.
    """

    cdef Py_ssize_t k
    cdef Derivation *derivations  # token × label × k
    cdef int32_t *known  # token × label: how many of them are known
    cdef uint8_t *spent  # token × label: whether there are no more
    cdef int32_t *used  # by label before: how many of its derivations a state has used
    cdef int32_t *ended  # by last label: how many of the sequences given so far end in it
    cdef int32_t *walk  # by token: the label whose state needs one more
    cdef Py_ssize_t walk_room
    cdef int32_t last_given  # the last label of the sequence given last

    def __cinit__(self, Py_ssize_t labels, WeightRows emissions, WeightRows pairs, settings, allowed):
        self.k = settings.k_best
        self.used = <int32_t *>grown(NULL, labels * sizeof(int32_t))
        self.ended = <int32_t *>grown(NULL, labels * sizeof(int32_t))

    def __dealloc__(self):
        free(self.derivations)
        free(self.known)
        free(self.spent)
        free(self.used)
        free(self.ended)
        free(self.walk)

    cdef int begin_sequences(self, Py_ssize_t n) except -1 nogil:
        """Forget the sentence before; the best sequence of n labels, which is in `path`, has been given."""
        cdef Py_ssize_t states = n * self.labels
        if n > self.walk_room:
            self.walk_room = 2 * n + 64
            self.walk = <int32_t *>grown(self.walk, self.walk_room * sizeof(int32_t))
            self.known = <int32_t *>grown(self.known, self.walk_room * self.labels * sizeof(int32_t))
            self.spent = <uint8_t *>grown(self.spent, self.walk_room * self.labels)
            self.derivations = <Derivation *>grown(
                self.derivations, self.walk_room * self.labels * self.k * sizeof(Derivation)
            )
        memset(self.known, 0, states * sizeof(int32_t))
        memset(self.spent, 0, states)
        memset(self.ended, 0, self.labels * sizeof(int32_t))
        self.last_given = self.path[n - 1]
        self.ended[self.last_given] = 1
        return 0

    cdef bint next_sequence(
        self, Py_ssize_t n, bint whole, float *score, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """The next best sequence of n labels into `path`, with its score; False if there is none."""
        cdef Py_ssize_t c, t, state, best = -1
        cdef const float *stop = &self.score[self.labels + 1, 0]
        cdef float value, top = NEVER
        cdef int32_t label, rank
        cdef const Derivation *derivation
        self.make_known(n - 1, self.last_given, self.ended[self.last_given], pair_starts, pair_ids)
        for c in range(self.labels):
            state = (n - 1) * self.labels + c
            if self.ended[c] == 0:
                value = self.alpha[(n - 1) * self.width + c]
            elif self.ended[c] < self.known[state]:
                value = self.derivations[state * self.k + self.ended[c]].score
            else:
                continue
            if whole:
                value += stop[c]
            if value > top:
                best, top = c, value
        if best < 0:
            return False
        score[0] = top
        self.last_given = label = <int32_t>best
        rank = self.ended[best]
        self.ended[best] += 1
        self.path[n - 1] = label
        for t in range(n - 1, 0, -1):
            state = t * self.labels + label
            if self.known[state] == 0:
                self.make_first(t, label, pair_starts, pair_ids)
            derivation = &self.derivations[state * self.k + rank]
            label, rank = derivation.before, derivation.rank
            self.path[t - 1] = label
        return True

    cdef void make_first(
        self, Py_ssize_t t, int32_t label, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """A state's best derivation, which is the search's."""
        cdef Py_ssize_t state = t * self.labels + label
        cdef Derivation *first = &self.derivations[state * self.k]
        first.score = self.alpha[t * self.width + label]
        first.before = self.came_from(t, label, pair_starts, pair_ids) if t else 0
        first.rank = 0
        self.known[state], self.spent[state] = 1, t == 0

    cdef void make_known(
        self, Py_ssize_t t, int32_t label, int32_t rank, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """Derivation `rank` of a state, all before it being known; unless it has no more."""
        cdef Py_ssize_t state, top = t
        cdef const Derivation *last
        while True:  # down to where the next one is known, or there is none
            state = t * self.labels + label
            if self.known[state] == 0:
                self.make_first(t, label, pair_starts, pair_ids)
            if self.known[state] > rank or self.spent[state]:
                break
            self.walk[t] = label
            last = &self.derivations[state * self.k + self.known[state] - 1]
            label, rank = last.before, last.rank + 1
            t -= 1
        for t in range(t + 1, top + 1):
            self.add_next(t, self.walk[t], pair_starts, pair_ids)

    cdef void add_next(
        self, Py_ssize_t t, int32_t label, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """One more derivation of a state, the successor of its last one being known; the lower label where it ties."""
        cdef Py_ssize_t p, i, best = -1, state = t * self.labels + label, before
        cdef const float *into = self.transitions_at(t, pair_starts, pair_ids)
        cdef Derivation *own = self.derivations + state * self.k
        cdef float value, top = NEVER
        memset(self.used, 0, self.labels * sizeof(int32_t))
        for i in range(self.known[state]):
            self.used[own[i].before] += 1
        for p in range(self.labels):
            before = (t - 1) * self.labels + p
            if self.used[p] == 0:
                value = self.alpha[(t - 1) * self.width + p]
            elif self.used[p] < self.known[before]:
                value = self.derivations[before * self.k + self.used[p]].score
            else:
                continue
            value += into[p * self.width + label]
            if value > top:
                best, top = p, value
        if best < 0:
            self.spent[state] = 1
            return
        i = self.known[state]
        own[i].score = top + self.emit[t * self.width + label]
        own[i].before, own[i].rank = <int32_t>best, self.used[best]
        self.known[state] += 1
