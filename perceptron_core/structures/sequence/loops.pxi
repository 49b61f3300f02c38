# The two loops that take the time: the scores of a sentence's tokens, and the step from one token to the next.
#
# `width`, the number of labels rounded up to a multiple of 8, is a constant wherever they are called with few labels,
# so that the compiler keeps a token's scores in vector registers.


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
    """The least of a[c] - b[c], without those that are not a number (both are -inf)."""
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
    """`step_forward` for many labels: the same numbers with a fraction of the additions.

    No transition into c scores more than ceiling[c]. So a label p for which before[p] + ceiling[c] ≤ best[c] for all c
    changes nothing; after the top label, these are most labels. (Rounding is monotone, so the
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


cdef void score_tokens(Bank bank, const Sentence *sentence, float *emit) noexcept nogil:
    """emit[t][label] = sum of the weights of token t's features, times their values, in their order."""
    cdef Py_ssize_t t, j, n = sentence.length, width = bank.width
    cdef const int32_t *starts = sentence.starts
    cdef const int32_t *ids = sentence.ids
    cdef const float *values = sentence.values
    if bank.dense_from:
        memset(emit, 0, n * width * sizeof(float))
        for t in range(n):
            for j in range(starts[t], starts[t + 1]):
                if values == NULL:
                    bank.add_scores(ids[j], emit + t * width)
                else:
                    bank.add_valued_scores(ids[j], values[j], emit + t * width)
    elif width == 8:
        sum_rows(n, starts, ids, values, bank.shown, bank.weights, emit, 8)
    elif width == 16:
        sum_rows(n, starts, ids, values, bank.shown, bank.weights, emit, 16)
    elif width == 24:
        sum_rows(n, starts, ids, values, bank.shown, bank.weights, emit, 24)
    elif width == 32:
        sum_rows(n, starts, ids, values, bank.shown, bank.weights, emit, 32)
    else:
        sum_rows(n, starts, ids, values, bank.shown, bank.weights, emit, width)
