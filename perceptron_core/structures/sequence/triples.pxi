# The rows of triple and skip features: which of them have weights, and where.

cdef enum Joined:  # how a feature is joined with the labels before
    WITH_BOTH, WITH_SECOND

ctypedef struct RowAt:  # a row of a feature
    int32_t pair  # p · L + q for the labels q, p before; q if it is joined only with that label
    int32_t number  # in the bank


ctypedef struct RowList:  # of a feature, by ascending `pair`
    RowAt *rows
    int32_t count, room


cdef class TripleRows:
    """The features' base keys by number, and what is known about their rows in the bank by key; clones share it.

    A feature has up to L² rows, of which few exist. An exact search looks at all pairs of labels, so it goes through
    the lists of the rows that do exist; a beam looks at few pairs, and asks the bank for each of them, unless the
    feature has no row at all.
    """

    cdef KeyedBank bank
    cdef Py_ssize_t labels
    cdef const uint64_t[::1] hashes  # of the labels
    cdef bint by_list
    cdef uint64_t *base_keys
    cdef uint8_t *alive  # by feature: whether it may have rows
    cdef RowList *lists  # by feature × Joined
    cdef Py_ssize_t features, room, scanned
    cdef uint8_t *listed  # by row number
    cdef Py_ssize_t listed_room, listed_count, loads_seen

    def __cinit__(self, KeyedBank bank not None, Py_ssize_t labels, hashes, bint by_list):
        self.bank, self.labels, self.by_list = bank, labels, by_list
        self.hashes = np.ascontiguousarray(hashes, np.uint64)

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(2 * self.features):
            free(self.lists[i].rows)
        free(self.base_keys)
        free(self.alive)
        free(self.lists)
        free(self.listed)

    cdef int set_keys(self, const uint64_t[::1] keys) except -1:
        cdef Py_ssize_t i, count = keys.shape[0]
        if count > self.room:
            self.room = 2 * count + 64
            self.base_keys = <uint64_t *>grown(self.base_keys, self.room * sizeof(uint64_t))
            self.alive = <uint8_t *>grown(self.alive, self.room)
            self.lists = <RowList *>grown(self.lists, 2 * self.room * sizeof(RowList))
        if count > self.features:
            memset(self.lists + 2 * self.features, 0, 2 * (count - self.features) * sizeof(RowList))
            for i in range(self.features, count):
                self.base_keys[i], self.alive[i] = keys[i], self.bank.index.count > 0
            self.features = count
        return 0

    cdef int refresh(self) except -1:
        """Find the rows that were loaded: those of new features, or of all features if weights were loaded since."""
        cdef Py_ssize_t i
        if self.loads_seen != self.bank.bank.loads:
            self.loads_seen, self.scanned = self.bank.bank.loads, 0
        if not self.by_list:
            for i in range(self.scanned, self.features):
                self.alive[i] = self.alive[i] or self.bank.index.count > 0
        elif self.listed_count < self.bank.index.count:
            for i in range(self.scanned, self.features):
                self.scan(i)
        self.scanned = self.features
        return 0

    cdef int scan(self, Py_ssize_t feature) except -1:
        cdef int32_t p, q
        cdef uint64_t key
        for q in range(<int32_t>self.labels):
            self.list_if_there(feature, WITH_SECOND, q, extend_key(self.base_keys[feature], self.hashes[q]))
        for p in range(<int32_t>self.labels):
            key = extend_key(self.base_keys[feature], self.hashes[p])
            for q in range(<int32_t>self.labels):
                self.list_if_there(
                    feature, WITH_BOTH, <int32_t>(p * self.labels + q), extend_key(key, self.hashes[q])
                )
        return 0

    cdef inline int list_if_there(self, Py_ssize_t feature, int joined, int32_t pair, uint64_t key) except -1:
        cdef int32_t number = self.bank.find(key)
        if number >= 0:
            self.list_row(feature, joined, pair, number)
        return 0

    cdef int list_row(self, Py_ssize_t feature, int joined, int32_t pair, int32_t number) except -1:
        """Add a row to its feature's list, if it is not there."""
        cdef RowList *own = &self.lists[2 * feature + joined]
        cdef int32_t i
        cdef Py_ssize_t room = self.listed_room
        if number >= room:
            self.listed_room = 2 * number + 1024
            self.listed = <uint8_t *>grown(self.listed, self.listed_room)
            memset(self.listed + room, 0, self.listed_room - room)
        if self.listed[number]:
            return 0
        self.listed[number] = 1
        self.listed_count += 1
        if own.count == own.room:
            own.room = 2 * own.room + 2
            own.rows = <RowAt *>grown(own.rows, own.room * sizeof(RowAt))
        i = own.count
        while i > 0 and own.rows[i - 1].pair > pair:
            own.rows[i] = own.rows[i - 1]
            i -= 1
        own.rows[i].pair, own.rows[i].number = pair, number
        own.count += 1
        return 0

    # The origin of a row, as it is kept in the parts of Δ: feature, Joined and pair in one number.

    cdef inline int64_t origin(self, Py_ssize_t feature, int joined, Py_ssize_t pair) noexcept nogil:
        return (2 * <int64_t>feature + joined) * self.labels * self.labels + pair

    cdef int row_moved(self, const Part *part) except -1:
        """Called when a weight has moved; its row may be new."""
        cdef int64_t pairs = self.labels * self.labels, both = part.origin // pairs
        self.alive[both // 2] = 1
        if self.by_list:
            self.list_row(
                <Py_ssize_t>(both // 2), <int>(both % 2), <int32_t>(part.origin % pairs), self.bank.find(part.feature)
            )
        return 0

    # ------------------------------------------------------------ by key

    cdef inline uint64_t key_of(self, Py_ssize_t feature, int joined, int32_t q, int32_t p) noexcept nogil:
        cdef uint64_t key = self.base_keys[feature]
        if joined == WITH_BOTH:
            key = extend_key(key, self.hashes[p])
        return extend_key(key, self.hashes[q])

    cdef inline bint add_rows(
        self, const Sentence *own, Py_ssize_t t, int32_t q, int32_t p, float *scores
    ) noexcept nogil:
        """scores[c] = triple[t][q, p, c]; if there are no rows, returns False and does not change them."""
        cdef bint found = False
        cdef Py_ssize_t j
        for j in range(own.triple_starts[t], own.triple_starts[t + 1]):
            found = self.add_row(own.triple_ids[j], WITH_BOTH, q, p, found, scores)
        for j in range(own.skip_starts[t], own.skip_starts[t + 1]):
            found = self.add_row(own.skip_ids[j], WITH_SECOND, q, p, found, scores)
        return found

    cdef inline bint add_row(
        self, Py_ssize_t feature, int joined, int32_t q, int32_t p, bint found, float *scores
    ) noexcept nogil:
        cdef int32_t number
        if not self.alive[feature]:
            return found
        number = self.bank.find(self.key_of(feature, joined, q, p))
        if number < 0:
            return found
        if not found:
            memset(scores, 0, self.bank.bank.width * sizeof(float))
        self.bank.bank.add_scores(number, scores)
        return True

    cdef inline float value(self, const Sentence *own, Py_ssize_t t, int32_t q, int32_t p, int32_t c) noexcept nogil:
        """triple[t][q, p, c]"""
        cdef float total = 0
        cdef Py_ssize_t j
        for j in range(own.triple_starts[t], own.triple_starts[t + 1]):
            total += self.row_value(own.triple_ids[j], WITH_BOTH, q, p, c)
        for j in range(own.skip_starts[t], own.skip_starts[t + 1]):
            total += self.row_value(own.skip_ids[j], WITH_SECOND, q, p, c)
        return total

    cdef inline float row_value(self, Py_ssize_t feature, int joined, int32_t q, int32_t p, int32_t c) noexcept nogil:
        cdef int32_t number = -1
        if self.alive[feature]:
            number = self.bank.find(self.key_of(feature, joined, q, p))
        return self.bank.bank.value(number, c) if number >= 0 else 0

    # ------------------------------------------------------------ by list

    cdef inline void add_column(
        self, const Sentence *own, Py_ssize_t t, int32_t p, int32_t c, float *column
    ) noexcept nogil:
        """column[q] = triple[t][q, p, c]"""
        cdef Py_ssize_t j
        memset(column, 0, self.labels * sizeof(float))
        for j in range(own.triple_starts[t], own.triple_starts[t + 1]):
            self.add_list(&self.lists[2 * own.triple_ids[j] + WITH_BOTH], <int32_t>(p * self.labels), c, column)
        for j in range(own.skip_starts[t], own.skip_starts[t + 1]):
            self.add_list(&self.lists[2 * own.skip_ids[j] + WITH_SECOND], 0, c, column)

    cdef inline void add_list(self, const RowList *rows, int32_t first, int32_t c, float *column) noexcept nogil:
        """column[q] += weight, of the rows whose pair is first + q."""
        cdef int32_t low = 0, high = rows.count, middle
        while low < high:
            middle = (low + high) // 2
            if rows.rows[middle].pair < first:
                low = middle + 1
            else:
                high = middle
        while low < rows.count and rows.rows[low].pair < first + self.labels:
            column[rows.rows[low].pair - first] += self.bank.bank.value(rows.rows[low].number, c)
            low += 1
