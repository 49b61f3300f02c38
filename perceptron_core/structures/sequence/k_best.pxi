# The k best sequences of states: the next best of a state is found when a longer sequence needs it.

cdef struct Incoming:  # the steps into a state
    Py_ssize_t count
    const int32_t *states  # from which ones, ascending; NULL: from all, 0 … count-1
    const float *steps  # steps[i * stride]: what the i-th step scores
    Py_ssize_t stride
    float local  # what the state itself scores, added after the step


cdef struct Derivation:  # one of the best sequences of states up to a token, by its last step
    float score
    int32_t before, rank  # the state before, and which of that state's derivations this one continues


ctypedef void (*IncomingOf)(void *lattice, Py_ssize_t t, int32_t state, Incoming *into) noexcept nogil


cdef class KBest:
    """`k_best.py`, lazily (Huang & Chiang 2005, Algorithm 3), over the states that a search has kept.

    The first derivation of a state is that of the search. The next one of (t, c) is the best step from any state p
    before, with the first derivation of (t-1, p) that (t, c) has not used yet. Only the successor of the last one can
    be missing, so one more sequence costs a walk along one path, and at each of its tokens one look at all states
    before.

    Its input is the search's alpha[t][state], and a function that gives the steps into a state.
    """

    cdef Py_ssize_t k, states
    cdef IncomingOf incoming_of
    cdef void *lattice
    cdef const float *alpha
    cdef Py_ssize_t width  # of a row of alpha
    cdef Derivation *derivations  # token × state × k
    cdef int32_t *known  # token × state: how many of them are known
    cdef uint8_t *spent  # token × state: whether there are no more
    cdef int32_t *used  # by state before: how many of its derivations a state has used; 0 between two calls
    cdef int32_t *ended  # by last state: how many of the sequences given so far end in it
    cdef int32_t *walk  # by token: the state that needs one more
    cdef Py_ssize_t walk_room
    cdef int32_t last_given  # the last state of the sequence given last

    def __cinit__(self, Py_ssize_t k, Py_ssize_t states):
        self.k, self.states = k, states  # `states` is the most that a token has
        self.used = <int32_t *>grown(NULL, states * sizeof(int32_t))
        self.ended = <int32_t *>grown(NULL, states * sizeof(int32_t))
        memset(self.used, 0, states * sizeof(int32_t))

    def __dealloc__(self):
        free(self.derivations)
        free(self.known)
        free(self.spent)
        free(self.used)
        free(self.ended)
        free(self.walk)

    cdef void search(self, void *lattice, IncomingOf incoming_of, const float *alpha, Py_ssize_t width) noexcept nogil:
        """Use the states of this search."""
        self.lattice, self.incoming_of, self.alpha, self.width = lattice, incoming_of, alpha, width

    cdef int begin(self, Py_ssize_t n, int32_t last) except -1 nogil:
        """Begin a new sentence, whose best sequence of n states, which ends in `last`, has been given already."""
        cdef Py_ssize_t size = n * self.states
        if n > self.walk_room:
            self.walk_room = 2 * n + 64
            self.walk = <int32_t *>grown(self.walk, self.walk_room * sizeof(int32_t))
            self.known = <int32_t *>grown(self.known, self.walk_room * self.states * sizeof(int32_t))
            self.spent = <uint8_t *>grown(self.spent, self.walk_room * self.states)
            self.derivations = <Derivation *>grown(
                self.derivations, self.walk_room * self.states * self.k * sizeof(Derivation)
            )
        memset(self.known, 0, size * sizeof(int32_t))
        memset(self.spent, 0, size)
        memset(self.ended, 0, self.states * sizeof(int32_t))
        self.last_given = last
        self.ended[last] = 1
        return 0

    cdef bint next(
        self, Py_ssize_t n, Py_ssize_t last_states, const float *stop, int32_t *path, float *score
    ) noexcept nogil:
        """The next best sequence of n states into `path`, with its score; False if there is none.

        The last token has `last_states` states; stop[state] is the score of stopping there, if the sentence ends.
        """
        cdef Py_ssize_t c, t, place, best = -1
        cdef float value, top = NEVER
        cdef int32_t state, rank
        cdef const Derivation *derivation
        self.make_known(n - 1, self.last_given, self.ended[self.last_given])
        for c in range(last_states):
            place = (n - 1) * self.states + c
            if self.ended[c] == 0:
                value = self.alpha[(n - 1) * self.width + c]
            elif self.ended[c] < self.known[place]:
                value = self.derivations[place * self.k + self.ended[c]].score
            else:
                continue
            if stop != NULL:
                value += stop[c]
            if value > top:
                best, top = c, value
        if best < 0:
            return False
        score[0] = top
        self.last_given = state = <int32_t>best
        rank = self.ended[best]
        self.ended[best] += 1
        path[n - 1] = state
        for t in range(n - 1, 0, -1):
            place = t * self.states + state
            if self.known[place] == 0:
                self.make_first(t, state)
            derivation = &self.derivations[place * self.k + rank]
            state, rank = derivation.before, derivation.rank
            path[t - 1] = state
        return True

    cdef void make_first(self, Py_ssize_t t, int32_t state) noexcept nogil:
        """A state's best derivation, which is the search's."""
        cdef Py_ssize_t place = t * self.states + state, i, p
        cdef Derivation *first = &self.derivations[place * self.k]
        cdef Incoming into
        cdef float value, top = NEVER
        first.score, first.before, first.rank = self.alpha[t * self.width + state], 0, 0
        if t:
            self.incoming_of(self.lattice, t, state, &into)
            for i in range(into.count):
                p = i if into.states == NULL else into.states[i]
                value = self.alpha[(t - 1) * self.width + p] + into.steps[i * into.stride]
                if value > top:
                    first.before, top = <int32_t>p, value
        self.known[place], self.spent[place] = 1, t == 0

    cdef void make_known(self, Py_ssize_t t, int32_t state, int32_t rank) noexcept nogil:
        """Find derivation `rank` of a state, if there is one; all before it are known."""
        cdef Py_ssize_t place, top = t
        cdef const Derivation *last
        while True:  # back to the token where the next one is known, or there is none
            place = t * self.states + state
            if self.known[place] == 0:
                self.make_first(t, state)
            if self.known[place] > rank or self.spent[place]:
                break
            self.walk[t] = state
            last = &self.derivations[place * self.k + self.known[place] - 1]
            state, rank = last.before, last.rank + 1
            t -= 1
        for t in range(t + 1, top + 1):
            self.add_next(t, self.walk[t])

    cdef void add_next(self, Py_ssize_t t, int32_t state) noexcept nogil:
        """Add a derivation of a state; the successor of its last one is known. Ties go to the lower state before."""
        cdef Py_ssize_t p, i, best = -1, place = t * self.states + state, before
        cdef Derivation *own = self.derivations + place * self.k
        cdef Incoming into
        cdef float value, top = NEVER
        self.incoming_of(self.lattice, t, state, &into)
        for i in range(self.known[place]):
            self.used[own[i].before] += 1
        for i in range(into.count):
            p = i if into.states == NULL else into.states[i]
            before = (t - 1) * self.states + p
            if self.used[p] == 0:
                value = self.alpha[(t - 1) * self.width + p]
            elif self.used[p] < self.known[before]:
                value = self.derivations[before * self.k + self.used[p]].score
            else:
                continue
            value += into.steps[i * into.stride]
            if value > top:
                best, top = p, value
        if best < 0:
            self.spent[place] = 1
        else:
            i = self.known[place]
            own[i].score = top + into.local
            own[i].before, own[i].rank = <int32_t>best, self.used[best]
            self.known[place] += 1
        for i in range(self.known[place]):
            self.used[own[i].before] = 0
