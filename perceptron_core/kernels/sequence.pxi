# Sequences: online training by the violated constraints that the search finds.

cdef enum Update:
    STANDARD, EARLY, MAX_VIOLATION

cdef enum Rule:
    PERCEPTRON, PA, PA1, PA2

UPDATES = {"standard": STANDARD, "early": EARLY, "max-violation": MAX_VIOLATION}
RULES = {"perceptron": PERCEPTRON, "pa": PA, "pa1": PA1, "pa2": PA2}


cdef class SequenceKernel(SequenceSearch):
    """Decodes and trains first-order sequence models; see `reference.SequenceKernel` for the algorithm in the plain."""

    cdef int rule, when
    cdef double aggressiveness
    cdef bint transitions, start_stop
    cdef public double seen  # examples so far: what `lag` multiplies
    cdef object lag_array, touched_array
    cdef double[:, ::1] lag  # of the transitions
    cdef uint8_t[:, ::1] touched
    cdef Delta delta

    def __cinit__(self, Py_ssize_t labels, WeightRows emissions, WeightRows pairs, settings, allowed):
        self.rule = RULES[settings.learner]
        self.when = UPDATES[settings.update]
        self.aggressiveness = settings.aggressiveness
        self.transitions, self.start_stop = settings.transitions, settings.start_stop
        self.lag_array = np.zeros((labels + 2, self.width))
        self.touched_array = np.zeros((labels + 2, self.width), np.uint8)
        self.lag, self.touched = self.lag_array, self.touched_array
        self.delta = Delta()

    def transition_state(self):
        """(weights, lags, touched) of the transitions, (L+2) × L each."""
        n = self.labels
        return self.weight_array[:, :n].copy(), self.lag_array[:, :n].copy(), self.touched_array[:, :n].copy()

    cdef int collect_delta(
        self,
        Py_ssize_t n,
        bint whole,
        const int32_t *gold,
        const int32_t *starts,
        const int32_t *ids,
        const int32_t *pair_starts,
        const int32_t *pair_ids,
    ) except -1:
        """Δ = Φ(gold) - Φ(path) over the first n tokens; `whole` if that is the whole sentence."""
        cdef Py_ssize_t t, j
        cdef double value = 1
        cdef int32_t right, wrong
        cdef int32_t right_before = <int32_t>self.labels, wrong_before = <int32_t>self.labels
        self.delta.clear()
        for t in range(n):
            right, wrong = gold[t], self.path[t]
            if right != wrong:
                for j in range(starts[t], starts[t + 1]):
                    if self.values != NULL:
                        value = self.values[j]
                    self.delta.add(EMISSION, ids[j], right, value)
                    self.delta.add(EMISSION, ids[j], wrong, -value)
            if right != wrong or right_before != wrong_before:
                if (self.transitions and t) or (self.start_stop and not t):
                    self.delta.add(TRANSITION, right_before, right, 1)
                    self.delta.add(TRANSITION, wrong_before, wrong, -1)
                if t and pair_starts != NULL:
                    for j in range(pair_starts[t], pair_starts[t + 1]):
                        self.delta.add(PAIR, <int32_t>(pair_ids[j] * self.labels + right_before), right, 1)
                        self.delta.add(PAIR, <int32_t>(pair_ids[j] * self.labels + wrong_before), wrong, -1)
            right_before, wrong_before = right, wrong
        if whole and self.start_stop and right_before != wrong_before:
            self.delta.add(STOP, 0, right_before, 1)
            self.delta.add(STOP, 0, wrong_before, -1)
        return 0

    cdef inline float part_weight(self, DeltaPart *part) noexcept nogil:
        if part.kind == EMISSION:
            return self.emissions.value(part.feature, part.label)
        if part.kind == PAIR:
            return self.pairs.value(part.feature, part.label)
        return self.weight[part.feature if part.kind == TRANSITION else self.labels + 1, part.label]

    cdef int change_part(self, DeltaPart *part, double amount) except -1:
        cdef Py_ssize_t p
        cdef float old
        if part.kind == EMISSION:
            return self.emissions.change(part.feature, part.label, amount, self.seen)
        if part.kind == PAIR:
            return self.pairs.change(part.feature, part.label, amount, self.seen)
        p = part.feature if part.kind == TRANSITION else self.labels + 1
        old = self.weight[p, part.label]
        self.weight[p, part.label] = <float>(old + amount)
        self.lag[p, part.label] += self.seen * (<double>self.weight[p, part.label] - <double>old)
        self.touched[p, part.label] = 1
        if self.allowed[p, part.label]:
            self.score[p, part.label] = self.weight[p, part.label]
            if part.kind == TRANSITION and p < self.labels:
                self.ceiling[part.label] = max(self.ceiling[part.label], self.score[p, part.label])
        return 0

    cdef double step(self, double loss, double margin, double norm) noexcept:
        """How far to go along Δ: the learner's rule on scalars (see perceptron_core/learners)."""
        cdef double lacking = max(0.0, loss - margin)
        if self.rule == PERCEPTRON:
            return 1.0
        if self.rule == PA2:
            return lacking / (norm + 1.0 / (2.0 * self.aggressiveness))
        if self.rule == PA1:
            return min(self.aggressiveness, lacking / norm)
        return lacking / norm

    cdef bint update(self, double loss) except -1:
        """Move the weights along Δ; False if Δ or the step is zero, so that nothing moves."""
        cdef Py_ssize_t i
        cdef double margin = 0, norm = 0, tau
        cdef DeltaPart *part
        for i in range(self.delta.count):
            part = &self.delta.parts[i]
            margin += part.count * <double>self.part_weight(part)
            norm += part.count * part.count
        if norm == 0:
            return False
        tau = self.step(loss, margin, norm)
        if tau == 0:
            return False
        self.emissions.update += 1
        self.pairs.update += 1
        for i in range(self.delta.count):
            if self.delta.parts[i].count:
                self.change_part(&self.delta.parts[i], tau * self.delta.parts[i].count)
        return True

    # ------------------------------------------------------------ a pass over sentences

    def train(self, block):
        """Online training on a block's sentences, in order: (wrong sentences, updates, wrong tokens)."""
        return self.run(block, True)[1:]

    def decode(self, block):
        """The best labels of every token of the block."""
        return self.run(block, False)[0]

    cdef tuple run(self, block, bint learn):
        cdef const int32_t[::1] lengths = block.lengths, starts = block.starts, ids = block.ids
        cdef const int32_t[::1] gold = block.gold if learn else np.zeros(0, np.int32)
        cdef const int32_t[::1] pair_starts = block.pair_starts, pair_ids = block.pair_ids
        cdef const float[::1] values = block.values
        cdef bint with_pairs = pair_ids.shape[0] > 0
        guesses_array = np.empty(0 if learn else starts.shape[0] - 1, np.int32)
        cdef int32_t[::1] guesses = guesses_array
        cdef Py_ssize_t s, t, n, prefix, begin = 0, wrong_tokens = 0
        cdef Py_ssize_t errors = 0, updates = 0, loss
        cdef int32_t no_id = 0
        cdef const int32_t *id = &ids[0] if ids.shape[0] else &no_id
        cdef const int32_t *pair_id = &pair_ids[0] if with_pairs else NULL
        cdef const int32_t *pair_start
        self.values = &values[0] if values.shape[0] else NULL
        for s in range(lengths.shape[0]):
            n = lengths[s]
            if n == 0:
                continue
            self.make_room(n)
            pair_start = &pair_starts[begin] if with_pairs else NULL
            if n == 1:  # is done sooner than the interpreter's lock is let go and taken again
                self.search(n, &starts[begin], id, pair_start, pair_id)
            else:
                with nogil:
                    self.search(n, &starts[begin], id, pair_start, pair_id)
            if not learn:
                memcpy(&guesses[begin], self.path, n * sizeof(int32_t))
            elif memcmp(self.path, &gold[begin], n * sizeof(int32_t)):
                errors += 1
                for t in range(n):
                    wrong_tokens += self.path[t] != gold[begin + t]
                prefix = n
                if self.when == EARLY:
                    prefix = self.early(n, &gold[begin], pair_start, pair_id) or n
                elif self.when == MAX_VIOLATION:
                    prefix = self.max_violation(n, &gold[begin], pair_start, pair_id)
                if prefix < n:
                    self.trace(prefix, self.best_label(prefix - 1, False), pair_start, pair_id)
                loss = 0
                for t in range(prefix):
                    loss += self.path[t] != gold[begin + t]
                self.collect_delta(prefix, prefix == n, &gold[begin], &starts[begin], id, pair_start, pair_id)
                updates += self.update(loss)
            self.seen += learn
            begin += n
        return guesses_array, errors, updates, wrong_tokens
