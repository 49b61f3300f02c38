# Merging: the union of sorted sparse weight sets, in one linear pass.


def unite_two(
    const uint64_t[::1] keys_a, const int64_t[::1] starts_a, const uint32_t[::1] labels_a,
    const uint64_t[::1] keys_b, const int64_t[::1] starts_b, const uint32_t[::1] labels_b,
):
    """(keys, starts, labels) of all (key, label) pairs, and for both inputs where each of its entries is in them."""
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
    double examples, int64_t multiple, mixed
):
    """Add one shard's step to what is being mixed (old, moved, mean, present, low, high); its i-th weight is the
    place[i]-th of these arrays."""
    cdef const double[::1] old = mixed[0]
    cdef double[::1] moved = mixed[1], mean = mixed[2]
    cdef int64_t[::1] present = mixed[3]
    cdef float[::1] low = mixed[4], high = mixed[5]
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


cdef struct Side:
    # One of the sets that are merged, and how far it has been read.
    const uint64_t *keys
    const int64_t *starts
    const uint32_t *labels
    Py_ssize_t rows, row  # how many there are, and the next one
    int64_t next, end  # entries of the row that is being merged
    bint has_row, has_entry  # whether it has the row and the entry that are being merged


cdef Side side_of(rows):
    """The side of (keys, starts, labels, …); the caller must keep these arrays while it is used."""
    cdef const uint64_t[::1] keys = rows[0]
    cdef const int64_t[::1] starts = rows[1]
    cdef const uint32_t[::1] labels = rows[2]
    cdef Side side
    memset(&side, 0, sizeof(Side))
    side.rows = keys.shape[0]
    if side.rows:
        side.keys, side.starts = &keys[0], &starts[0]
    if labels.shape[0]:
        side.labels = &labels[0]
    return side


cdef inline bint next_row(Side *sides, int n, uint64_t *key) noexcept nogil:
    """Begin the row of the lowest key that is left; False if there is none."""
    cdef bint found = False
    cdef int i
    cdef Side *side
    for i in range(n):
        side = &sides[i]
        if side.row < side.rows and (not found or side.keys[side.row] < key[0]):
            key[0], found = side.keys[side.row], True
    for i in range(n):
        side = &sides[i]
        side.has_row = side.row < side.rows and side.keys[side.row] == key[0]
        side.next = side.end = 0
        if side.has_row:
            side.next, side.end = side.starts[side.row], side.starts[side.row + 1]
            side.row += 1
    return found


cdef inline bint next_entry(Side *sides, int n, uint32_t *label) noexcept nogil:
    """Take the lowest label that is left in the row from the sides that have it (it is their entry next - 1)."""
    cdef bint found = False
    cdef int i
    cdef Side *side
    for i in range(n):
        side = &sides[i]
        if side.next < side.end and (not found or side.labels[side.next] < label[0]):
            label[0], found = side.labels[side.next], True
    for i in range(n):
        side = &sides[i]
        side.has_entry = side.next < side.end and side.labels[side.next] == label[0]
        side.next += side.has_entry
    return found


def replace_weights(tuple before not None, tuple after not None):
    """(keys, starts, labels, weights, counts) of two such tuples: after's weights where it has any, before's elsewhere,
    without zeros; the counts are added, and None if `after` has none. A row without weights stays if it has a count."""
    cdef const float[::1] weights_a = before[3], weights_b = after[3]
    cdef const int32_t[::1] counts_a = before[4], counts_b = after[4]
    cdef Py_ssize_t row = 0, n = 0, first, most = len(before[0]) + len(after[0])
    cdef bint counted = counts_b is not None, counted_before = counts_a is not None
    cdef uint64_t key
    cdef uint32_t label
    cdef int32_t count
    cdef float weight
    cdef Side[2] sides
    sides[0], sides[1] = side_of(before), side_of(after)
    keys_array, starts_array = np.empty(most, np.uint64), np.empty(most + 1, np.int64)
    labels_array = np.empty(weights_a.shape[0] + weights_b.shape[0], np.uint32)
    weights_array = np.empty(len(labels_array), np.float32)
    counts_array = np.empty(most if counted else 0, np.int32)
    cdef uint64_t[::1] keys = keys_array
    cdef int64_t[::1] starts = starts_array
    cdef uint32_t[::1] labels = labels_array
    cdef float[::1] weights = weights_array
    cdef int32_t[::1] counts = counts_array
    starts[0] = 0
    with nogil:
        while next_row(sides, 2, &key):
            first = n
            while next_entry(sides, 2, &label):
                weight = weights_b[sides[1].next - 1] if sides[1].has_entry else weights_a[sides[0].next - 1]
                if weight != 0:
                    labels[n], weights[n] = label, weight
                    n += 1
            count = 0
            if counted:
                if counted_before and sides[0].has_row:
                    count += counts_a[sides[0].row - 1]
                if sides[1].has_row:
                    count += counts_b[sides[1].row - 1]
                counts[row] = count
            if n > first or count > 0:
                keys[row] = key
                row += 1
                starts[row] = n
    kept = counts_array[:row] if counted else None
    return keys_array[:row], starts_array[: row + 1], labels_array[:n], weights_array[:n], kept


def add_averages(tuple before not None, tuple last not None, tuple step not None, double share):
    """(keys, starts, labels, totals) of three such tuples: sum + share * (weight + mean), each zero where there is
    none; without zeros."""
    cdef const double[::1] sums = before[3], means = step[3]
    cdef const float[::1] weights = last[3]
    cdef Py_ssize_t row = 0, n = 0, first, most = len(before[0]) + len(last[0]) + len(step[0])
    cdef uint64_t key
    cdef uint32_t label
    cdef double total, weight, mean
    cdef Side[3] sides
    sides[0], sides[1], sides[2] = side_of(before), side_of(last), side_of(step)
    keys_array, starts_array = np.empty(most, np.uint64), np.empty(most + 1, np.int64)
    labels_array = np.empty(sums.shape[0] + weights.shape[0] + means.shape[0], np.uint32)
    totals_array = np.empty(len(labels_array))
    cdef uint64_t[::1] keys = keys_array
    cdef int64_t[::1] starts = starts_array
    cdef uint32_t[::1] labels = labels_array
    cdef double[::1] totals = totals_array
    starts[0] = 0
    with nogil:
        while next_row(sides, 3, &key):
            first = n
            while next_entry(sides, 3, &label):
                total = sums[sides[0].next - 1] if sides[0].has_entry else 0
                weight = weights[sides[1].next - 1] if sides[1].has_entry else 0
                mean = means[sides[2].next - 1] if sides[2].has_entry else 0
                total += share * (weight + mean)
                if total != 0:
                    labels[n], totals[n] = label, total
                    n += 1
            if n > first:
                keys[row] = key
                row += 1
                starts[row] = n
    return keys_array[:row], starts_array[: row + 1], labels_array[:n], totals_array[:n]
