# Search: a sentence's scores, the best label sequence under them, and where the gold labels were lost.

# The two loops that take the time. `width`, the number of labels rounded up to a multiple of 8, is a constant wherever
# they are called with few labels, so that the compiler keeps a token's scores in vector registers.


cdef inline void sum_plain_rows(
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


cdef inline void sum_valued_rows(
    Py_ssize_t n, const int32_t *starts, const int32_t *ids, const float *values, const int32_t *row_of,
    const float *weights, float *scores, Py_ssize_t width
) noexcept nogil:
    """The same where each feature has a value, which its weights are multiplied by."""
    cdef Py_ssize_t t, j, c, row
    cdef float total[MOST_DENSE]
    cdef float value
    for t in range(n):
        for c in range(width):
            total[c] = 0
        for j in range(starts[t], starts[t + 1]):
            row, value = row_of[ids[j]], values[j]
            if row >= 0:
                for c in range(width):
                    total[c] += value * weights[row * width + c]
        for c in range(width):
            scores[t * width + c] = total[c]


cdef inline void sum_rows(
    Py_ssize_t n, const int32_t *starts, const int32_t *ids, const float *values, const int32_t *row_of,
    const float *weights, float *scores, Py_ssize_t width
) noexcept nogil:
    if values == NULL:
        sum_plain_rows(n, starts, ids, row_of, weights, scores, width)
    else:
        sum_valued_rows(n, starts, ids, values, row_of, weights, scores, width)


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


cdef inline int32_t top_label(const float *scores, Py_ssize_t width) noexcept nogil:
    """The first label of the highest score."""
    cdef Py_ssize_t c, k
    cdef float top[8]
    for k in range(8):
        top[k] = scores[k]
    for c in range(8, width, 8):
        for k in range(8):
            top[k] = scores[c + k] if scores[c + k] > top[k] else top[k]
    for k in range(1, 8):
        top[0] = top[k] if top[k] > top[0] else top[0]
    for c in range(width):
        if scores[c] == top[0]:
            return <int32_t>c
    return 0


cdef inline float lowest_difference(const float *a, const float *b, Py_ssize_t width) noexcept nogil:
    """The least of a[c] - b[c], passing over those that are no number (-inf twice)."""
    cdef Py_ssize_t c, k
    cdef float least[8]
    cdef float difference
    for k in range(8):
        least[k] = INFINITY
    for c in range(0, width, 8):
        for k in range(8):
            difference = a[c + k] - b[c + k]
            least[k] = difference if difference < least[k] else least[k]
    for k in range(1, 8):
        least[0] = least[k] if least[k] < least[0] else least[0]
    return least[0]


cdef inline void step_forward_bounded(
    Py_ssize_t labels, const float *before, int32_t top, const float *into, const float *ceiling, const float *emit,
    float *now, float *best, Py_ssize_t width
) noexcept nogil:
    """`step_forward` for many labels, the same numbers by a fraction of the sums.

    No transition into c scores more than ceiling[c]. So a label p for which before[p] + ceiling[c] ≤ best[c] for all c
    changes nothing, and once the top label was seen, that is most of them. (Rounding is monotone, so the
    inequality of exact numbers carries over to the rounded sums; the bar is lowered by its own rounding.)
    """
    cdef Py_ssize_t p, c
    cdef float base = before[top], bar, candidate
    for c in range(width):
        best[c] = base + into[top * width + c]
    bar = nextafterf(lowest_difference(best, ceiling, width), NEVER)
    for p in range(labels):
        base = before[p]
        if base <= bar or base == NEVER or p == top:
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


cdef class SequenceSearch:
    """Viterbi and beam search over the weights of a first-order model (perceptron_core/decoders, violations.py)."""

    cdef WeightRows emissions, pairs
    cdef const float *values  # of the features of the sentences at hand; NULL where all are 1
    cdef Py_ssize_t labels, width, beam
    # transition weights: rows 0 … L-1 from a label, row L from the start of a sentence, row L+1 to its end
    cdef object weight_array, score_array
    cdef float[:, ::1] weight
    cdef float[:, ::1] score  # weight, with -inf where a transition is not allowed and in the padding
    cdef const uint8_t[:, ::1] allowed
    cdef object ceiling_array
    cdef float[::1] ceiling  # at least the highest score of a transition into each label
    # scratch for one sentence
    cdef float *emit
    cdef float *alpha
    cdef float *local
    cdef float *order
    cdef int32_t *top  # the label of the highest alpha at each token, where there are many labels
    cdef int32_t *path
    cdef Py_ssize_t token_room

    def __cinit__(self, Py_ssize_t labels, WeightRows emissions, WeightRows pairs, settings, allowed):
        self.labels = labels
        self.emissions, self.pairs = emissions, pairs
        self.width = emissions.width
        self.beam = min(settings.beam_width(labels), labels)
        self.allowed = allowed
        self.weight_array = np.zeros((labels + 2, self.width), np.float32)
        self.score_array = np.full((labels + 2, self.width), NEVER, np.float32)
        self.weight, self.score = self.weight_array, self.score_array
        self.ceiling_array = np.zeros(self.width, np.float32)
        self.ceiling = self.ceiling_array
        self.local = <float *>grown(NULL, labels * self.width * sizeof(float))
        self.order = <float *>grown(NULL, self.width * sizeof(float))
        self.load_transitions(np.zeros((labels + 2, labels), np.float32))

    def __dealloc__(self):
        free(self.emit)
        free(self.alpha)
        free(self.local)
        free(self.order)
        free(self.top)
        free(self.path)

    def load_transitions(self, weights):
        """Set the (L+2) × L transition weights: from each label, from the start, to the end."""
        self.weight_array[:, : self.labels] = weights
        allowed = np.asarray(self.allowed).astype(bool)
        self.score_array[:, : self.labels] = np.where(allowed, weights, np.float32(NEVER))
        self.ceiling_array[:] = self.score_array[: self.labels].max(axis=0)

    cdef void share_transitions(self, SequenceSearch other):
        """Search by the other's transitions, as they are and as they will be."""
        self.weight, self.score, self.ceiling = other.weight, other.score, other.ceiling

    cdef int make_room(self, Py_ssize_t tokens) except -1 nogil:
        if tokens > self.token_room:
            self.token_room = 2 * tokens + 64
            self.emit = <float *>grown(self.emit, self.token_room * self.width * sizeof(float))
            self.alpha = <float *>grown(self.alpha, self.token_room * self.width * sizeof(float))
            self.top = <int32_t *>grown(self.top, self.token_room * sizeof(int32_t))
            self.path = <int32_t *>grown(self.path, self.token_room * sizeof(int32_t))
        return 0

    cdef void score_tokens(self, Py_ssize_t n, const int32_t *starts, const int32_t *ids) noexcept nogil:
        """emit[t][label] = sum of the weights of token t's features, times their values, in their order."""
        cdef Py_ssize_t t, j
        cdef const int32_t *row_of = self.emissions.shown
        cdef const float *weights = self.emissions.weights
        if self.emissions.dense_from:
            memset(self.emit, 0, n * self.width * sizeof(float))
            for t in range(n):
                for j in range(starts[t], starts[t + 1]):
                    if self.values == NULL:
                        self.emissions.add_scores(ids[j], self.emit + t * self.width)
                    else:
                        self.emissions.add_valued_scores(ids[j], self.values[j], self.emit + t * self.width)
        elif self.width == 8:
            sum_rows(n, starts, ids, self.values, row_of, weights, self.emit, 8)
        elif self.width == 16:
            sum_rows(n, starts, ids, self.values, row_of, weights, self.emit, 16)
        elif self.width == 24:
            sum_rows(n, starts, ids, self.values, row_of, weights, self.emit, 24)
        elif self.width == 32:
            sum_rows(n, starts, ids, self.values, row_of, weights, self.emit, 32)
        else:
            sum_rows(n, starts, ids, self.values, row_of, weights, self.emit, self.width)

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
        cdef int32_t top
        for c in range(width):
            self.alpha[c] = self.score[self.labels, c] + self.emit[c]
        self.prune(self.alpha, n == 1)
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
            elif into == self.local:
                step_forward(self.labels, before, into, emit, now, self.order, width)
            else:
                top = self.top[t - 1] = top_label(before, width)
                step_forward_bounded(self.labels, before, top, into, &self.ceiling[0], emit, now, self.order, width)
            self.prune(now, t == n - 1)

    cdef void prune(self, float *scores, bint at_end) noexcept nogil:
        """Keep the beam's best labels (the lower label where scores tie), set the others to -inf; at the end of a
        sentence, by what they score once it stops there."""
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
        cdef float value, top = NEVER, ceiling = INFINITY, bar = NEVER
        if self.width > 32 and into != self.local:  # look only at labels that could win
            p = self.top[t - 1]
            ceiling, bar = self.ceiling[label], before[p] + into[p * self.width + label]
        for p in range(self.labels):
            if before[p] + ceiling < bar:
                continue
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

    cdef inline float gold_step(
        self, Py_ssize_t t, const int32_t *gold, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """What stepping to the gold label of token t scores, allowed or not."""
        cdef Py_ssize_t j, p = gold[t - 1] if t else self.labels
        cdef float step = self.weight[p, gold[t]]
        if t and pair_starts != NULL:
            for j in range(pair_starts[t], pair_starts[t + 1]):
                step += self.pairs.value(<int32_t>(pair_ids[j] * self.labels + p), gold[t])
        return step

    cdef float gold_score(
        self, Py_ssize_t n, bint whole, const int32_t *gold, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """The score of the first n gold labels."""
        cdef Py_ssize_t t
        cdef float score = 0
        for t in range(n):
            score = (score + self.gold_step(t, gold, pair_starts, pair_ids)) + self.emit[t * self.width + gold[t]]
        return score + self.weight[self.labels + 1, gold[n - 1]] if whole else score

    cdef Py_ssize_t max_violation(
        self, Py_ssize_t n, const int32_t *gold, const int32_t *pair_starts, const int32_t *pair_ids
    ) noexcept nogil:
        """The length of the prefix on which the search's best beats the gold by most; the longest where it ties."""
        cdef Py_ssize_t t, width = self.width, longest = n
        cdef float score = 0, best, violation, top = NEVER
        cdef int32_t label
        for t in range(n):
            score = (score + self.gold_step(t, gold, pair_starts, pair_ids)) + self.emit[t * width + gold[t]]
            label = self.best_label(t, t == n - 1)
            best = self.alpha[t * width + label]
            if t == n - 1:
                score += self.weight[self.labels + 1, gold[t]]
                best += self.score[self.labels + 1, label]
            violation = best - score
            if violation >= top:
                longest, top = t + 1, violation
        return longest
