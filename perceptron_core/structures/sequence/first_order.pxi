# First-order sequences: the score of a label depends on the label before.


cdef void incoming_of_label(void *finder, Py_ssize_t t, int32_t label, Incoming *into) noexcept nogil:
    (<SequenceFinder>finder).incoming(t, label, into)


cdef class SequenceFinder(Finder):
    """Viterbi and beam search over the weights of a first-order model; `reference.py` has them in plain Python.

    Transitions are a bank of L+2 rows: 0 … L-1 from a label, L from the start of a sentence, L+1 to its end.
    """

    cdef readonly Py_ssize_t labels
    cdef Bank emissions, pairs, transitions
    cdef Py_ssize_t width, beam
    cdef bint with_transitions, with_start_stop
    # the transitions' weights, with -inf where one is not allowed and in the padding; clones share them
    cdef object score_array
    cdef float[:, ::1] score
    cdef const uint8_t[:, ::1] allowed
    cdef object ceiling_array
    cdef float[::1] ceiling  # at least the highest score of a transition into each label
    cdef Py_ssize_t loads_seen
    cdef KBest k_best
    # scratch for one sentence
    cdef Sentence sentence
    cdef float *emit
    cdef float *alpha
    cdef float *local
    cdef float *order
    cdef int32_t *top  # the label of the highest alpha at each token, where there are many labels
    cdef int32_t *path
    cdef Py_ssize_t token_room

    def __init__(
        self, Py_ssize_t labels, Bank emissions not None, Bank pairs not None, Bank transitions not None, settings,
        allowed
    ):
        if emissions.dense_from == 0 and labels > MOST_DENSE:
            raise ValueError("with more than 64 labels, dense_from of the emissions must not be 0")
        self.settings, self.labels = settings, labels
        self.emissions, self.pairs, self.transitions = emissions, pairs, transitions
        self.width, self.allowed = emissions.width, allowed
        self.beam = min(settings.beam_width(labels), labels)
        self.with_transitions, self.with_start_stop = settings.transitions, settings.start_stop
        transitions.reserve(labels + 2)
        self.use_banks((emissions, pairs, transitions))
        self.watched = 1 << TRANSITIONS
        self.score_array = np.full((labels + 2, self.width), NEVER, np.float32)
        self.ceiling_array = np.zeros(self.width, np.float32)
        self.score, self.ceiling, self.loads_seen = self.score_array, self.ceiling_array, -1
        self.refresh()
        self.k_best = KBest(self.k, labels)
        self.local = <float *>grown(self.local, labels * self.width * sizeof(float))
        self.order = <float *>grown(self.order, self.width * sizeof(float))

    def __dealloc__(self):
        free(self.emit)
        free(self.alpha)
        free(self.local)
        free(self.order)
        free(self.top)
        free(self.path)

    cdef Finder clone(self):
        cdef SequenceFinder other = SequenceFinder(
            self.labels, self.emissions, self.pairs, self.transitions, self.settings, np.asarray(self.allowed)
        )
        other.score, other.ceiling = self.score, self.ceiling
        return other

    cdef Examples examples_of(self, object block):
        return Sentences(block)

    cdef int refresh(self) except -1:
        """Copy the transitions again if some were loaded."""
        cdef Py_ssize_t p, c
        if self.loads_seen == self.transitions.loads:
            return 0
        self.loads_seen = self.transitions.loads
        for c in range(self.labels):
            self.ceiling[c] = NEVER
        for p in range(self.labels + 2):
            for c in range(self.labels):
                self.score[p, c] = self.transitions.value(<int32_t>p, <int32_t>c) if self.allowed[p, c] else NEVER
                if p < self.labels:
                    self.ceiling[c] = max(self.ceiling[c], self.score[p, c])
        for c in range(self.labels, self.width):
            self.ceiling[c] = NEVER
        return 0

    cdef int moved(self, const Part *part, float weight) except -1:
        cdef Py_ssize_t p = <Py_ssize_t>part.feature
        if self.allowed[p, part.label]:
            self.score[p, part.label] = weight
            if p < self.labels:
                self.ceiling[part.label] = max(self.ceiling[part.label], weight)
        return 0

    # ------------------------------------------------------------ the search

    cdef int make_room(self, Py_ssize_t tokens) except -1 nogil:
        if tokens > self.token_room:
            self.token_room = 2 * tokens + 64
            self.emit = <float *>grown(self.emit, self.token_room * self.width * sizeof(float))
            self.alpha = <float *>grown(self.alpha, self.token_room * self.width * sizeof(float))
            self.top = <int32_t *>grown(self.top, self.token_room * sizeof(int32_t))
            self.path = <int32_t *>grown(self.path, self.token_room * sizeof(int32_t))
        return 0

    cdef int guess(self, Examples examples, Py_ssize_t i) except -1 nogil:
        """The best labels of a sentence, into `path`."""
        (<Sentences>examples).select(i, &self.sentence)
        self.steps = self.sentence.length
        self.make_room(self.steps)
        score_tokens(self.emissions, &self.sentence, self.emit)
        self.forward()
        self.read_path(self.steps, self.best_label(self.steps - 1))
        return 0

    cdef inline const float *transitions_at(self, Py_ssize_t t) noexcept nogil:
        """The scores label × label of stepping into token t: the transitions, plus its label-bigram features'."""
        cdef Py_ssize_t p, j
        cdef const int32_t *starts = self.sentence.pair_starts
        if starts == NULL or starts[t] == starts[t + 1]:
            return &self.score[0, 0]
        memcpy(self.local, &self.score[0, 0], self.labels * self.width * sizeof(float))
        for j in range(starts[t], starts[t + 1]):
            for p in range(self.labels):
                self.pairs.add_scores(
                    <int32_t>(self.sentence.pair_ids[j] * self.labels + p), self.local + p * self.width
                )
        return self.local

    cdef void forward(self) noexcept nogil:
        """alpha[t][c]: the best score of a label sequence that ends in c at token t; -inf where the beam dropped it."""
        cdef Py_ssize_t t, c, n = self.sentence.length, width = self.width
        cdef const float *into
        cdef const float *before
        cdef const float *emit
        cdef float *now
        cdef int32_t top
        for c in range(width):
            self.alpha[c] = self.score[self.labels, c] + self.emit[c]
        self.prune(self.alpha, n == 1)
        for t in range(1, n):
            into = self.transitions_at(t)
            before, now, emit = self.alpha + (t - 1) * width, self.alpha + t * width, self.emit + t * width
            if width == 8:
                step_forward_dense(self.labels, before, into, emit, now, 8)
            elif width == 16:
                step_forward_dense(self.labels, before, into, emit, now, 16)
            elif width == 24:
                step_forward_dense(self.labels, before, into, emit, now, 24)
            elif width == 32:
                step_forward_dense(self.labels, before, into, emit, now, 32)
            elif into == self.local:
                step_forward(self.labels, before, into, emit, now, self.order, width)
            else:
                top = self.top[t - 1] = top_label(before, width)
                step_forward_bounded(self.labels, before, top, into, &self.ceiling[0], emit, now, self.order, width)
            self.prune(now, t == n - 1)

    cdef void prune(self, float *scores, bint at_end) noexcept nogil:
        """Keep the beam's best labels (the lower label of equal ones), set the others to -inf; at the end of a
        sentence, by their score with stop."""
        cdef Py_ssize_t c, i, kept = 0, above = 0
        cdef float *best = self.order
        cdef const float *stop = &self.score[self.labels + 1, 0]
        cdef float rank, bar
        if self.beam >= self.labels:
            return
        for c in range(self.labels):  # the beam's best scores, by insertion, descending
            rank = scores[c] + stop[c] if at_end else scores[c]
            if kept == self.beam and rank <= best[kept - 1]:
                continue
            i = kept if kept < self.beam else kept - 1
            while i > 0 and best[i - 1] < rank:
                best[i] = best[i - 1]
                i -= 1
            best[i] = rank
            if kept < self.beam:
                kept += 1
        bar = best[kept - 1]
        for i in range(kept):
            above += best[i] > bar
        for c in range(self.labels):
            rank = scores[c] + stop[c] if at_end else scores[c]
            if rank > bar:
                continue
            if rank == bar and above < self.beam:
                above += 1
            else:
                scores[c] = NEVER

    cdef int32_t best_label(self, Py_ssize_t t) noexcept nogil:
        """The label in which the best sequence up to token t ends."""
        cdef Py_ssize_t c, best = 0
        cdef bint at_end = t == self.sentence.length - 1
        cdef const float *scores = self.alpha + t * self.width
        cdef const float *stop = &self.score[self.labels + 1, 0]
        cdef float value, top = NEVER
        for c in range(self.labels):
            value = scores[c] + stop[c] if at_end else scores[c]
            if value > top:
                best, top = c, value
        return <int32_t>best

    cdef inline int32_t came_from(self, Py_ssize_t t, int32_t label) noexcept nogil:
        """The label before `label` at token t on the best sequence: the argmax that `forward` did not store."""
        cdef Py_ssize_t p, best = 0
        cdef const float *into = self.transitions_at(t)
        cdef const float *before = self.alpha + (t - 1) * self.width
        cdef float value, top = NEVER, ceiling = INFINITY, bar = NEVER
        if self.width > 32 and into != self.local:  # look only at labels that can be the best
            p = self.top[t - 1]
            ceiling, bar = self.ceiling[label], before[p] + into[p * self.width + label]
        for p in range(self.labels):
            if before[p] + ceiling < bar:
                continue
            value = before[p] + into[p * self.width + label]
            if value > top:
                best, top = p, value
        return <int32_t>best

    cdef void read_path(self, Py_ssize_t n, int32_t last) noexcept nogil:
        """The best sequence of n labels that ends in `last`, into `path`."""
        cdef Py_ssize_t t
        self.path[n - 1] = last
        for t in range(n - 1, 0, -1):
            self.path[t - 1] = self.came_from(t, self.path[t])

    # ------------------------------------------------------------ the guess against the gold labels

    cdef void write_guess(self, int32_t *to) noexcept nogil:
        memcpy(to, self.path, self.sentence.length * sizeof(int32_t))

    cdef Py_ssize_t wrong(self) noexcept nogil:
        return <Py_ssize_t>self.loss(self.sentence.length)

    cdef double loss(self, Py_ssize_t prefix) noexcept nogil:
        cdef Py_ssize_t t, wrong = 0
        for t in range(prefix):
            wrong += self.path[t] != self.sentence.gold[t]
        return <double>wrong

    cdef void guess_prefix(self, Py_ssize_t prefix) noexcept nogil:
        self.read_path(prefix, self.best_label(prefix - 1))

    cdef Py_ssize_t fill_trace(self, bint until_lost) noexcept nogil:
        cdef Py_ssize_t t, n = self.sentence.length
        cdef const int32_t *gold = self.sentence.gold
        cdef float score = 0
        cdef int32_t label
        for t in range(n):
            if until_lost:
                self.trace[t].kept = self.alpha[t * self.width + gold[t]] != NEVER
                if t and self.trace[t].kept:
                    self.trace[t].kept = self.came_from(t, gold[t]) == gold[t - 1]
                if not self.trace[t].kept:
                    return t + 1
            else:
                label = self.best_label(t)
                score = (score + self.gold_step(t)) + self.emit[t * self.width + gold[t]]
                self.trace[t].best, self.trace[t].gold = self.alpha[t * self.width + label], score
                if t == n - 1:
                    self.trace[t].gold += self.transitions.value(<int32_t>(self.labels + 1), gold[t])
                    self.trace[t].best += self.score[self.labels + 1, label]
        return n

    cdef inline float gold_step(self, Py_ssize_t t) noexcept nogil:
        """The score of the step to the gold label of token t, even if it is not allowed."""
        cdef const Sentence *own = &self.sentence
        cdef Py_ssize_t j
        cdef int32_t p = own.gold[t - 1] if t else <int32_t>self.labels
        cdef float step = self.transitions.value(p, own.gold[t])
        if t and own.pair_starts != NULL:
            for j in range(own.pair_starts[t], own.pair_starts[t + 1]):
                step += self.pairs.value(<int32_t>(own.pair_ids[j] * self.labels + p), own.gold[t])
        return step

    cdef float gold_score(self, Py_ssize_t prefix) noexcept nogil:
        cdef Py_ssize_t t
        cdef const int32_t *gold = self.sentence.gold
        cdef float score = 0
        for t in range(prefix):
            score = (score + self.gold_step(t)) + self.emit[t * self.width + gold[t]]
        if prefix == self.sentence.length:
            score += self.transitions.value(<int32_t>(self.labels + 1), gold[prefix - 1])
        return score

    cdef void incoming(self, Py_ssize_t t, int32_t label, Incoming *into) noexcept nogil:
        """For the k best: the steps into a label."""
        into.count, into.states = self.labels, NULL
        into.steps, into.stride = self.transitions_at(t) + label, self.width
        into.local = self.emit[t * self.width + label]

    cdef int begin_next_best(self, Py_ssize_t prefix) except -1 nogil:
        self.k_best.search(<void *>self, incoming_of_label, self.alpha, self.width)
        return self.k_best.begin(prefix, self.path[prefix - 1])

    cdef bint next_best(self, Py_ssize_t prefix, float *score) noexcept nogil:
        cdef const float *stop = &self.score[self.labels + 1, 0] if prefix == self.sentence.length else NULL
        return self.k_best.next(prefix, self.labels, stop, self.path, score)

    cdef int collect(self, Py_ssize_t prefix) except -1 nogil:
        cdef Py_ssize_t t
        for t in range(prefix):
            self.collect_token(t)
        return self.collect_stop(prefix)

    cdef inline int collect_token(self, Py_ssize_t t) except -1 nogil:
        """Token t's part of Δ."""
        cdef const Sentence *own = &self.sentence
        cdef Py_ssize_t j
        cdef double value = 1
        cdef int32_t right = own.gold[t], wrong = self.path[t]
        cdef int32_t right_before = <int32_t>self.labels, wrong_before = <int32_t>self.labels
        if t:
            right_before, wrong_before = own.gold[t - 1], self.path[t - 1]
        if right != wrong:
            for j in range(own.starts[t], own.starts[t + 1]):
                if own.values != NULL:
                    value = own.values[j]
                self.delta.add(EMISSIONS, own.ids[j], right, value)
                self.delta.add(EMISSIONS, own.ids[j], wrong, -value)
        if right != wrong or right_before != wrong_before:
            if (self.with_transitions and t) or (self.with_start_stop and not t):
                self.delta.add(TRANSITIONS, right_before, right, 1)
                self.delta.add(TRANSITIONS, wrong_before, wrong, -1)
            if t and own.pair_starts != NULL:
                for j in range(own.pair_starts[t], own.pair_starts[t + 1]):
                    self.delta.add(PAIRS, own.pair_ids[j] * self.labels + right_before, right, 1)
                    self.delta.add(PAIRS, own.pair_ids[j] * self.labels + wrong_before, wrong, -1)
        return 0

    cdef inline int collect_stop(self, Py_ssize_t prefix) except -1 nogil:
        cdef int32_t right = self.sentence.gold[prefix - 1], wrong = self.path[prefix - 1]
        if prefix == self.sentence.length and self.with_start_stop and right != wrong:
            self.delta.add(TRANSITIONS, self.labels + 1, right, 1)
            self.delta.add(TRANSITIONS, self.labels + 1, wrong, -1)
        return 0
