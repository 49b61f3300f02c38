# Merging: the union of two sorted sparse weight sets, in one linear pass.


def unite_two(
    const uint64_t[::1] keys_a, const int64_t[::1] starts_a, const uint32_t[::1] labels_a,
    const uint64_t[::1] keys_b, const int64_t[::1] starts_b, const uint32_t[::1] labels_b,
):
    """(keys, starts, labels) of all (key, label) pairs, and for both inputs where each of its entries went."""
    cdef Py_ssize_t rows_a = keys_a.shape[0], rows_b = keys_b.shape[0]
    cdef Py_ssize_t a = 0, b = 0, i, j, end_a, end_b, row = 0, n = 0
    cdef bint take_a, take_b
    keys_array = np.empty(rows_a + rows_b, np.uint64)
    starts_array = np.zeros(rows_a + rows_b + 1, np.int64)
    labels_array = np.empty(labels_a.shape[0] + labels_b.shape[0], np.uint32)
    place_a_array, place_b_array = np.empty(labels_a.shape[0], np.int64), np.empty(labels_b.shape[0], np.int64)
    cdef uint64_t[::1] keys = keys_array
    cdef int64_t[::1] starts = starts_array, place_a = place_a_array, place_b = place_b_array
    cdef uint32_t[::1] labels = labels_array
    with nogil:
        while a < rows_a or b < rows_b:
            i = j = end_a = end_b = 0
            take_a = b == rows_b or (a < rows_a and keys_a[a] <= keys_b[b])
            take_b = a == rows_a or (b < rows_b and keys_b[b] <= keys_a[a])
            if take_a:
                keys[row] = keys_a[a]
                i, end_a = starts_a[a], starts_a[a + 1]
                a += 1
            if take_b:
                keys[row] = keys_b[b]
                j, end_b = starts_b[b], starts_b[b + 1]
                b += 1
            while i < end_a or j < end_b:
                if j == end_b or (i < end_a and labels_a[i] <= labels_b[j]):
                    labels[n] = labels_a[i]
                    if j < end_b and labels_b[j] == labels_a[i]:
                        place_b[j] = n
                        j += 1
                    place_a[i] = n
                    i += 1
                else:
                    labels[n] = labels_b[j]
                    place_b[j] = n
                    j += 1
                n += 1
            row += 1
            starts[row] = n
    return keys_array[:row], starts_array[: row + 1], labels_array[:n], place_a_array, place_b_array


def add_step(
    const int64_t[::1] place not None, const float[::1] value not None, const double[::1] lag not None,
    double examples, int64_t multiple, const double[::1] old not None, double[::1] moved not None,
    double[::1] mean not None, int64_t[::1] present not None, float[::1] low not None, float[::1] high not None
):
    """Add one shard's step to what is being mixed; its i-th weight is the place[i]-th of these arrays."""
    cdef Py_ssize_t i, at
    cdef double change
    for i in range(place.shape[0]):
        at = place[i]
        change = <double>value[i] - old[at]
        moved[at] += multiple * change
        mean[at] += multiple * (change - lag[i] / examples)
        present[at] += multiple
        low[at] = min(low[at], value[i])
        high[at] = max(high[at], value[i])
