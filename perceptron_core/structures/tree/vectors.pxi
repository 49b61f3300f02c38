# The largest sum of two arrays' entries: the inner loop of the searches over spans. A maximum does not depend on the
# order, so it may be taken by vectors; where it is, is looked for afterwards.

cdef extern from *:
    """
    #if defined(__SSE__)
    #include <xmmintrin.h>
    static inline float largest_sum(const float *a, const float *b, long n) {
        long i = 0;
        float best = -__builtin_inff();
        if (n >= 4) {
            __m128 top = _mm_set1_ps(best);
            float lanes[4];
            for (; i + 4 <= n; i += 4)
                top = _mm_max_ps(top, _mm_add_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i)));
            _mm_storeu_ps(lanes, top);
            for (int k = 0; k < 4; k++)
                if (lanes[k] > best) best = lanes[k];
        }
        for (; i < n; i++)
            if (a[i] + b[i] > best) best = a[i] + b[i];
        return best;
    }
    static inline float largest_sum3(const float *a, const float *b, const float *c, long n) {
        long i = 0;
        float best = -__builtin_inff();
        if (n >= 4) {
            __m128 top = _mm_set1_ps(best);
            float lanes[4];
            for (; i + 4 <= n; i += 4)
                top = _mm_max_ps(top, _mm_add_ps(_mm_add_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i)),
                                                 _mm_loadu_ps(c + i)));
            _mm_storeu_ps(lanes, top);
            for (int k = 0; k < 4; k++)
                if (lanes[k] > best) best = lanes[k];
        }
        for (; i < n; i++)
            if (a[i] + b[i] + c[i] > best) best = a[i] + b[i] + c[i];
        return best;
    }
    #else
    static inline float largest_sum(const float *a, const float *b, long n) {
        float best = -__builtin_inff();
        for (long i = 0; i < n; i++)
            if (a[i] + b[i] > best) best = a[i] + b[i];
        return best;
    }
    static inline float largest_sum3(const float *a, const float *b, const float *c, long n) {
        float best = -__builtin_inff();
        for (long i = 0; i < n; i++)
            if (a[i] + b[i] + c[i] > best) best = a[i] + b[i] + c[i];
        return best;
    }
    #endif
    #define prefetch(address) __builtin_prefetch(address)
    """
    float largest_sum(const float *a, const float *b, Py_ssize_t n) nogil
    float largest_sum3(const float *a, const float *b, const float *c, Py_ssize_t n) nogil
    void prefetch(const void *address) nogil


cdef inline Py_ssize_t where_sum(const float *a, const float *b, Py_ssize_t n, float sum) noexcept nogil:
    """The first place where the two add up to this."""
    cdef Py_ssize_t i
    for i in range(n):
        if a[i] + b[i] == sum:
            return i
    return -1
