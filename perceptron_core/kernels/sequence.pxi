# Sequences: first-order decoding, and online training by the violated constraints it finds.

# The two loops that take the time. `width`, the number of labels rounded up to a multiple of 8, is a constant wherever
# they are called with few labels, so that the compiler keeps a token's scores in vector registers.


cdef inline void sum_rows(
    Py_ssize_t n, const int32_t *starts, const int32_t *ids, const int32_t *row_of, const float *weights,
    float *scores, Py_ssize_t width
) noexcept nogil:
    """scores[t][label] = sum of the weights of token t's features, in their order; dense rows."""
    cdef Py_ssize_t t, j, c, row
    cdef float total[MOST_DENSE]
    for t in range(n):
        for c in range(width):
            total[c] = 0
        for j in range(starts[t], starts[t + 1]):
            row = row_of[ids[j]]
            if row >= 0:
                for c in range(width):
                    total[c] += weights[row * width + c]
        for c in range(width):
            scores[t * width + c] = total[c]


cdef inline void step_forward(
    Py_ssize_t labels, const float *before, const float *into, const float *emit, float *now, float *best,
    Py_ssize_t width
) noexcept nogil:
    """now[c] = max over p of (before[p] + into[p][c]) + emit[c]; `best` is room for one row."""
    cdef Py_ssize_t p, c
    cdef float base, candidate
    for c in range(width):
        best[c] = NEVER
    for p in range(labels):
        base = before[p]
        if base == NEVER:
            continue
        for c in range(width):
            candidate = base + into[p * width + c]
            best[c] = candidate if candidate > best[c] else best[c]
    for c in range(width):
        now[c] = best[c] + emit[c]


cdef inline void step_forward_dense(
    Py_ssize_t labels, const float *before, const float *into, const float *emit, float *now, Py_ssize_t width
) noexcept nogil:
    cdef float best[MOST_DENSE]
    step_forward(labels, before, into, emit, now, best, width)


cdef enum Kind:  # what a part of Δ is a weight of
    EMISSION, PAIR, TRANSITION, STOP

cdef enum Update:
    STANDARD, EARLY, MAX_VIOLATION

cdef enum Rule:
    PERCEPTRON, PA, PA1, PA2

UPDATES = {"standard": STANDARD, "early": EARLY, "max-violation": MAX_VIOLATION}
RULES = {"perceptron": PERCEPTRON, "pa": PA, "pa1": PA1, "pa2": PA2}


cdef struct DeltaPart:  # one component of Δ = Φ(x, gold) - Φ(x, guess)
    uint64_t code
    size_t slot  # where the scratch table points to it
    int32_t kind, feature, label, count


cdef class SequenceKernel:
    """Decodes and trains first-order sequence models; see `reference.SequenceKernel` for the algorithm in the plain."""

    cdef WeightRows emissions, pairs
    cdef Py_ssize_t labels, width, beam
    cdef int rule, when
    cdef double aggressiveness
    cdef bint transitions, start_stop
    cdef public double seen  # examples so far: what `lag` multiplies
    # transition weights: rows 0 … L-1 from a label, row L from the start of a sentence, row L+1 to its end
    cdef object weight_array, lag_array, touched_array, score_array
    cdef float[:, ::1] weight
    cdef double[:, ::1] lag
    cdef uint8_t[:, ::1] touched
    cdef float[:, ::1] score  # weight, with -inf where a transition is not allowed and in the padding
    cdef const uint8_t[:, ::1] allowed
    # scratch for one sentence
    cdef float *emit
    cdef float *alpha
    cdef float *local
    cdef float *order
    cdef int32_t *path
    cdef Py_ssize_t token_room
    cdef DeltaPart *parts
    cdef int32_t *slots
    cdef Py_ssize_t part_count, slot_room

    def __cinit__(self, Py_ssize_t labels, WeightRows emissions, WeightRows pairs, settings, allowed):
        cdef Py_ssize_t p, c
        self.labels = labels
        self.emissions, self.pairs = emissions, pairs
        self.width = emissions.width
        self.beam = min(settings.beam_width(labels), labels)
        self.rule = RULES[settings.learner]
        self.when = UPDATES[settings.update]
        self.aggressiveness = settings.aggressiveness
        self.transitions, self.start_stop = settings.transitions, settings.start_stop
        self.allowed = allowed
        shape = (labels + 2, self.width)
        self.weight_array, self.lag_array = np.zeros(shape, np.float32), np.zeros(shape)
        self.touched_array, self.score_array = np.zeros(shape, np.uint8), np.zeros(shape, np.float32)
        self.weight, self.lag = self.weight_array, self.lag_array
        self.touched, self.score = self.touched_array, self.score_array
        for p in range(labels + 2):
            for c in range(self.width):
                self.score[p, c] = 0 if c < labels and self.allowed[p, c] else NEVER
        self.local = <float *>grown(NULL, labels * self.width * sizeof(float))
        self.order = <float *>grown(NULL, self.width * sizeof(float))

    def __dealloc__(self):
        free(self.emit)
        free(self.alpha)
        free(self.local)
        free(self.order)
        free(self.path)
        free(self.parts)
        free(self.slots)

    def load_transitions(self, weights):
        """Set the (L+2) × L transition weights: from each label, from the start, to the end."""
        self.weight_array[:, : self.labels] = weights
        allowed = np.asarray(self.allowed).astype(bool)
        self.score_array[:, : self.labels] = np.where(allowed, weights, np.float32(NEVER))

    def transition_state(self):
        """(weights, lags, touched) of the transitions, (L+2) × L each."""
        n = self.labels
        return self.weight_array[:, :n].copy(), self.lag_array[:, :n].copy(), self.touched_array[:, :n].copy()

    cdef int make_room(self, Py_ssize_t tokens) except -1:
        if tokens > self.token_room:
            self.token_room = 2 * tokens + 64
            self.emit = <float *>grown(self.emit, self.token_room * self.width * sizeof(float))
            self.alpha = <float *>grown(self.alpha, self.token_room * self.width * sizeof(float))
            self.path = <int32_t *>grown(self.path, self.token_room * sizeof(int32_t))
        return 0

    cdef void score_tokens(self, Py_ssize_t n, const int32_t *starts, const int32_t *ids) noexcept nogil:
        """emit[t][label] = sum of the weights of token t's features, in their order."""
        cdef Py_ssize_t t, j
        cdef const int32_t *row_of = self.emissions.row_of
        cdef const float *weights = self.emissions.weights
        if not self.emissions.dense:
            memset(self.emit, 0, n * self.width * sizeof(float))
            for t in range(n):
                for j in range(starts[t], starts[t + 1]):
                    self.emissions.add_scores(ids[j], self.emit + t * self.width)
        elif self.width == 8:
            sum_rows(n, starts, ids, row_of, weights, self.emit, 8)
        elif self.width == 16:
            sum_rows(n, starts, ids, row_of, weights, self.emit, 16)
        elif self.width == 24:
            sum_rows(n, starts, ids, row_of, weights, self.emit, 24)
        elif self.width == 32:
            sum_rows(n, starts, ids, row_of, weights, self.emit, 32)
        else:
            sum_rows(n, starts, ids, row_of, weights, self.emit, self.width)

    cdef const float *transitions_at(self, Py_ssize_t t, const int32_t *starts, const int32_t *ids) noexcept nogil:
        """The scores label × label of stepping into token t: the transitions, plus its label-bigram features'."""
        cdef Py_ssize_t p, j
        if starts == NULL or starts[t] == starts[t + 1]:
            return &self.score[0, 0]
        memcpy(self.local, &self.score[0, 0], self.labels * self.width * sizeof(float))
        for j in range(starts[t], starts[t + 1]):
            for p in range(self.labels):
                self.pairs.add_scores(<int32_t>(ids[j] * self.labels + p), self.local + p * self.width)
        return self.local

    cdef void forward(self, Py_ssize_t n, const int32_t *pair_starts, const int32_t *pair_ids) noexcept nogil:
        """alpha[t][c]: the best score of a label sequence that ends in c at token t; -inf where the beam dropped it."""
        cdef Py_ssize_t t, c, width = self.width
        cdef const float *into
        cdef const float *before
        cdef const float *emit
        cdef float *now
        for c in range(width):
            self.alpha[c] = self.score[self.labels, c] + self.emit[c]
        self.prune(self.alpha)
        for t in range(1, n):
            into = self.transitions_at(t, pair_starts, pair_ids)
            before, now, emit = self.alpha + (t - 1) * width, self.alpha + t * width, self.emit + t * width
            if width == 8:
                step_forward_dense(self.labels, before, into, emit, now, 8)
            elif width == 16:
                step_forward_dense(self.labels, before, into, emit, now, 16)
            elif width == 24:
                step_forward_dense(self.labels, before, into, emit, now, 24)
            elif width == 32:
                step_forward_dense(self.labels, before, into, emit, now, 32)
            else:
                step_forward(self.labels, before, into, emit, now, self.order, width)
            self.prune(now)

    cdef void prune(self, float *scores) noexcept nogil:
        """Keep the beam's best labels (the lower label where scores tie), set the others to -inf."""
        cdef Py_ssize_t c, i, kept = 0, above = 0
        cdef float *best = self.order
        cdef float bar
        if self.beam >= self.labels:
            return
        for c in range(self.labels):  # the beam's best scores, by insertion, descending
            if kept == self.beam and scores[c] <= best[kept - 1]:
                continue
            i = kept if kept < self.beam else kept - 1
            while i > 0 and best[i - 1] < scores[c]:
                best[i] = best[i - 1]
                i -= 1
            best[i] = scores[c]
            if kept < self.beam:
                kept += 1
        bar = best[kept - 1]
        for i in range(kept):
            above += best[i] > bar
        for c in range(self.labels):
            if scores[c] > bar:
                continue
            if scores[c] == bar and above < self.beam:
                above += 1
            else:
                scores[c] = NEVER

    cdef int32_t best_label(self, Py_ssize_t t, bint at_end) noexcept nogil:
        """The label in which the best sequence up to token t ends."""
        cdef Py_ssize_t c, best = 0
        cdef const float *scores = self.alpha + t * self.width
        cdef const float *stop = &self.score[self.labels + 1, 0]
        cdef float value, top = NEVER
        for c in range(self.labels):
            value = scores[c] + stop[c] if at_end else scores[c]
            if value > top:
                best, top = c, value
        return <int32_t>best

    cdef int32_t came_from(
        self, Py_ssize_t t, int32_t label, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """The label before `label` at token t on the best sequence: the argmax that `forward` did not store."""
        cdef Py_ssize_t p, best = 0
        cdef const float *into = self.transitions_at(t, pair_starts, pair_ids)
        cdef const float *before = self.alpha + (t - 1) * self.width
        cdef float value, top = NEVER
        for p in range(self.labels):
            value = before[p] + into[p * self.width + label]
            if value > top:
                best, top = p, value
        return <int32_t>best

    cdef void trace(
        self, Py_ssize_t n, int32_t last, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """The best sequence of n labels that ends in `last`, into `path`."""
        cdef Py_ssize_t t
        self.path[n - 1] = last
        for t in range(n - 1, 0, -1):
            self.path[t - 1] = self.came_from(t, self.path[t], pair_starts, pair_ids)

    cdef Py_ssize_t early(
        self, Py_ssize_t n, const int32_t *gold, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """The length of the shortest prefix whose gold labels the search has lost; 0 if it kept them to the end."""
        cdef Py_ssize_t t
        for t in range(n):
            if self.alpha[t * self.width + gold[t]] == NEVER:
                return t + 1
            if t and self.came_from(t, gold[t], pair_starts, pair_ids) != gold[t - 1]:
                return t + 1
        return 0

    cdef Py_ssize_t max_violation(
        self, Py_ssize_t n, const int32_t *gold, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """The length of the prefix on which the search's best beats the gold by most; the longest where it ties."""
        cdef Py_ssize_t t, p, j, width = self.width, longest = n
        cdef float score = 0, step, best, violation, top = NEVER
        cdef int32_t label
        for t in range(n):
            p = gold[t - 1] if t else self.labels
            step = self.weight[p, gold[t]]
            if t and pair_starts != NULL:
                for j in range(pair_starts[t], pair_starts[t + 1]):
                    step += self.pairs.value(<int32_t>(pair_ids[j] * self.labels + p), gold[t])
            score = (score + step) + self.emit[t * width + gold[t]]
            label = self.best_label(t, t == n - 1)
            best = self.alpha[t * width + label]
            if t == n - 1:
                score += self.weight[self.labels + 1, gold[t]]
                best += self.score[self.labels + 1, label]
            violation = best - score
            if violation >= top:
                longest, top = t + 1, violation
        return longest

    # ------------------------------------------------------------ Δ

    cdef int add_part(self, int32_t kind, int32_t feature, int32_t label, int32_t count) except -1:
        """Δ[kind, feature, label] += count; parts stay in the order in which they first came up."""
        cdef uint64_t code = ((<uint64_t>feature) << 18) | ((<uint64_t>label) << 2) | <uint64_t>kind
        cdef size_t at
        if 2 * (self.part_count + 1) > self.slot_room:
            self.grow_parts()
        at = self.slot_for(code)
        if self.slots[at] < 0:
            self.slots[at] = <int32_t>self.part_count
            self.parts[self.part_count].code = code
            self.parts[self.part_count].slot = at
            self.parts[self.part_count].kind = kind
            self.parts[self.part_count].feature = feature
            self.parts[self.part_count].label = label
            self.parts[self.part_count].count = 0
            self.part_count += 1
        self.parts[self.slots[at]].count += count
        return 0

    cdef inline size_t slot_for(self, uint64_t code) noexcept nogil:
        cdef size_t mask = self.slot_room - 1, at = scramble(code) & mask
        while self.slots[at] >= 0 and self.parts[self.slots[at]].code != code:
            at = (at + 1) & mask
        return at

    cdef int grow_parts(self) except -1:
        cdef Py_ssize_t i
        self.slot_room = 2 * self.slot_room if self.slot_room else 1024
        self.slots = <int32_t *>grown(self.slots, self.slot_room * sizeof(int32_t))
        self.parts = <DeltaPart *>grown(self.parts, self.slot_room // 2 * sizeof(DeltaPart))
        memset(self.slots, 0xFF, self.slot_room * sizeof(int32_t))
        for i in range(self.part_count):
            self.parts[i].slot = self.slot_for(self.parts[i].code)
            self.slots[self.parts[i].slot] = <int32_t>i
        return 0

    cdef void clear_parts(self) noexcept nogil:
        """Only the slots in use: one long sentence must not make every later update pay for its table."""
        cdef Py_ssize_t i
        for i in range(self.part_count):
            self.slots[self.parts[i].slot] = -1
        self.part_count = 0

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
        cdef int32_t right, wrong
        cdef int32_t right_before = <int32_t>self.labels, wrong_before = <int32_t>self.labels
        self.clear_parts()
        for t in range(n):
            right, wrong = gold[t], self.path[t]
            if right != wrong:
                for j in range(starts[t], starts[t + 1]):
                    self.add_part(EMISSION, ids[j], right, 1)
                    self.add_part(EMISSION, ids[j], wrong, -1)
            if right != wrong or right_before != wrong_before:
                if (self.transitions and t) or (self.start_stop and not t):
                    self.add_part(TRANSITION, right_before, right, 1)
                    self.add_part(TRANSITION, wrong_before, wrong, -1)
                if t and pair_starts != NULL:
                    for j in range(pair_starts[t], pair_starts[t + 1]):
                        self.add_part(PAIR, <int32_t>(pair_ids[j] * self.labels + right_before), right, 1)
                        self.add_part(PAIR, <int32_t>(pair_ids[j] * self.labels + wrong_before), wrong, -1)
            right_before, wrong_before = right, wrong
        if whole and self.start_stop and right_before != wrong_before:
            self.add_part(STOP, 0, right_before, 1)
            self.add_part(STOP, 0, wrong_before, -1)
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
        return 0

    cdef double step(self, double loss, double margin, double norm) noexcept:
        """How far to go along Δ: the learner's rule on scalars (see perceptron_core/learners)."""
        if self.rule == PERCEPTRON:
            return 1.0
        if self.rule == PA2:
            return (loss - margin) / (norm + 1.0 / (2.0 * self.aggressiveness))
        if self.rule == PA1:
            return min(self.aggressiveness, (loss - margin) / norm)
        return (loss - margin) / norm

    cdef bint update(self, double loss) except -1:
        """Move the weights along Δ; False if Δ is zero, so that there is nothing to move."""
        cdef Py_ssize_t i
        cdef double margin = 0, norm = 0, tau
        cdef DeltaPart *part
        for i in range(self.part_count):
            part = &self.parts[i]
            margin += part.count * <double>self.part_weight(part)
            norm += <double>part.count * part.count
        if norm == 0:
            return False
        tau = self.step(loss, margin, norm)
        for i in range(self.part_count):
            if self.parts[i].count:
                self.change_part(&self.parts[i], tau * self.parts[i].count)
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
        cdef bint with_pairs = pair_ids.shape[0] > 0
        guesses_array = np.empty(0 if learn else starts.shape[0] - 1, np.int32)
        cdef int32_t[::1] guesses = guesses_array
        cdef Py_ssize_t s, t, n, prefix, begin = 0, wrong_tokens = 0
        cdef Py_ssize_t errors = 0, updates = 0, loss
        cdef int32_t no_id = 0
        cdef const int32_t *id = &ids[0] if ids.shape[0] else &no_id
        cdef const int32_t *pair_id = &pair_ids[0] if with_pairs else NULL
        cdef const int32_t *pair_start
        for s in range(lengths.shape[0]):
            n = lengths[s]
            if n == 0:
                continue
            self.make_room(n)
            pair_start = &pair_starts[begin] if with_pairs else NULL
            with nogil:
                self.score_tokens(n, &starts[begin], id)
                self.forward(n, pair_start, pair_id)
                self.trace(n, self.best_label(n - 1, True), pair_start, pair_id)
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
