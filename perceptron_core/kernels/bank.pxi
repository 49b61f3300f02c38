# Weights by feature number: one row of labels per feature.

@cython.final
cdef class Bank:
    """The weights of the features by number: one row of labels each, made when it first gets a weight.

    Most features have weights for only two or three labels, so a row is first a short list of (label, weight). Once it
    has `dense_from` labels, it becomes an array, whose scores are added by vector instructions. With few labels
    (dense_from = 0) it is an array from the beginning.
    `lag` is for the lazy averaging: the sum over updates of change × examples seen before it.
    With min_updates > 1, scoring skips a row until its feature has taken part in that number of updates.
    """

    def __cinit__(self, Py_ssize_t labels, Py_ssize_t dense_from, Py_ssize_t min_updates=1):
        if labels > 65535:
            raise ValueError("a bank has at most 65,535 labels")
        self.labels = labels
        self.width = (labels + 7) // 8 * 8
        self.words = (labels + 63) // 64
        self.dense_from = dense_from
        self.min_updates = min_updates
        self.step_sizes, self.rows_per_step_size = None, 1

    def __dealloc__(self):
        if self.shown != self.row_of:
            free(self.shown)
        free(self.evidence)
        free(self.row_of)
        free(self.raw_weights)
        free(self.updates_of)
        free(self.lags)
        free(self.touched)
        free(self.extents)
        free(self.entries)
        free(self.entry_lags)

    def reserve(self, Py_ssize_t features):
        """Make room for features with numbers below this; they have no row yet."""
        self.reserve_features(features)

    cdef int reserve_features(self, Py_ssize_t features) except -1:
        cdef Py_ssize_t room = self.feature_room
        if features > room:
            while room < features:
                room = 2 * room + 1024
            self.row_of = <int32_t *>grown(self.row_of, room * sizeof(int32_t))
            self.feature_room = room
            if self.min_updates > 1:
                self.shown = <int32_t *>grown(self.shown, room * sizeof(int32_t))
                self.evidence = <Evidence *>grown(self.evidence, room * sizeof(Evidence))
            else:
                self.shown = self.row_of
        if features > self.features:
            memset(self.row_of + self.features, 0xFF, (features - self.features) * sizeof(int32_t))
            if self.min_updates > 1:
                memset(self.shown + self.features, 0xFF, (features - self.features) * sizeof(int32_t))
                memset(self.evidence + self.features, 0, (features - self.features) * sizeof(Evidence))
            self.features = features
        return 0

    cdef int make_room(self, Py_ssize_t rows) except -1:
        """Make room for this total number of dense rows."""
        cdef char *raw
        cdef size_t used = self.rows * self.width * sizeof(float), shift = 0
        if rows > self.row_room:
            # Aligned, so that a row of 16 weights is one line of the cache.
            if self.raw_weights != NULL:
                shift = <char *>self.weights - <char *>self.raw_weights
            raw = <char *>grown(self.raw_weights, rows * self.width * sizeof(float) + CACHE_LINE)
            self.raw_weights = raw
            self.weights = <float *>(raw + (-<size_t>raw) % CACHE_LINE)
            if <char *>self.weights != raw + shift:
                memmove(self.weights, raw + shift, used)
            self.updates_of = <int32_t *>grown(self.updates_of, rows * sizeof(int32_t))
            self.row_room = rows
        return 0

    cdef int32_t new_array(self, int32_t feature) except -1:
        """A dense row of zeros."""
        if self.rows == self.row_room:
            self.make_room(2 * self.rows + 256)
        memset(self.weights + self.rows * self.width, 0, self.width * sizeof(float))
        self.updates_of[self.rows] = NO_ROW
        self.row_of[feature] = <int32_t>self.rows
        self.rows += 1
        return self.row_of[feature]

    cdef Py_ssize_t updates_for(self, Py_ssize_t row) except -1:
        """Where a dense row's lags are, and which of its weights were touched."""
        if self.updates_of[row] == NO_ROW:
            if self.updates == self.update_room:
                self.update_room = 2 * self.update_room + 256
                self.lags = <double *>grown(self.lags, self.update_room * self.width * sizeof(double))
                self.touched = <uint64_t *>grown(self.touched, self.update_room * self.words * sizeof(uint64_t))
            memset(self.lags + self.updates * self.width, 0, self.width * sizeof(double))
            memset(self.touched + self.updates * self.words, 0, self.words * sizeof(uint64_t))
            self.updates_of[row] = <int32_t>self.updates
            self.updates += 1
        return self.updates_of[row]

    cdef int new_list(self, int32_t feature, Py_ssize_t room) except -1:
        """A sparse row with room for this number of labels."""
        if self.lists == self.list_room:
            self.list_room = 2 * self.list_room + 256
            self.extents = <Extent *>grown(self.extents, self.list_room * sizeof(Extent))
        memset(&self.extents[self.lists], 0, sizeof(Extent))
        self.row_of[feature] = <int32_t>(-2 - self.lists)
        self.lists += 1
        return self.move_list(&self.extents[self.lists - 1], room)

    cdef int move_list(self, Extent *extent, Py_ssize_t room) except -1:
        """Move a list to the end of the pool, with more room. Its old place stays unused; rooms double, so at most half
        of the pool is unused."""
        if self.pool + room > self.pool_room:
            self.pool_room = 2 * self.pool_room + room + 1024
            self.entries = <Entry *>grown(self.entries, self.pool_room * sizeof(Entry))
            self.entry_lags = <double *>grown(self.entry_lags, self.pool_room * sizeof(double))
        memcpy(self.entries + self.pool, self.entries + extent.begin, extent.size * sizeof(Entry))
        memcpy(self.entry_lags + self.pool, self.entry_lags + extent.begin, extent.size * sizeof(double))
        extent.begin, extent.room = self.pool, <int32_t>room
        self.pool += room
        return 0

    cdef int make_array(self, int32_t feature) except -1:
        """Turn a sparse row into a dense one."""
        cdef Extent *extent = &self.extents[-2 - self.row_of[feature]]
        cdef Py_ssize_t i, row = self.new_array(feature), updates = self.updates_for(row)
        cdef Entry *entry
        for i in range(extent.begin, extent.begin + extent.size):
            entry = &self.entries[i]
            self.weights[row * self.width + entry.label] = entry.weight
            self.lags[updates * self.width + entry.label] = self.entry_lags[i]
            if entry.touched:
                self.touch(updates, entry.label)
        extent.size = 0
        return 0

    cdef void touch(self, Py_ssize_t updates, Py_ssize_t label) noexcept nogil:
        self.touched[updates * self.words + label // 64] |= (<uint64_t>1) << (label % 64)

    cdef bint is_touched(self, Py_ssize_t updates, Py_ssize_t label) noexcept nogil:
        return (self.touched[updates * self.words + label // 64] >> (label % 64)) & 1

    cdef Py_ssize_t entry(self, int32_t feature, int32_t label) except -1:
        """The place of a sparse row's weight in the pool; a new weight is inserted in the order of the labels."""
        cdef Extent *extent = &self.extents[-2 - self.row_of[feature]]
        cdef Py_ssize_t i, after
        i = extent.begin
        while i < extent.begin + extent.size and self.entries[i].label < label:
            i += 1
        after = extent.begin + extent.size - i
        if after and self.entries[i].label == label:
            return i
        if extent.size == extent.room:
            i -= extent.begin
            self.move_list(extent, 2 * extent.room)
            i += extent.begin
        memmove(&self.entries[i + 1], &self.entries[i], after * sizeof(Entry))
        memmove(&self.entry_lags[i + 1], &self.entry_lags[i], after * sizeof(double))
        extent.size += 1
        memset(&self.entries[i], 0, sizeof(Entry))
        self.entries[i].label = <uint16_t>label
        self.entry_lags[i] = 0
        return i

    cdef int32_t row_for_one_more(self, int32_t feature) except? -1:
        """The feature's row, ready for one more label."""
        if self.row_of[feature] == NO_ROW:
            if self.dense_from == 0:
                self.new_array(feature)
            else:
                self.new_list(feature, 2)
        elif self.row_of[feature] < 0 and self.extents[-2 - self.row_of[feature]].size >= self.dense_from:
            self.make_array(feature)
        return self.row_of[feature]

    def load(self, const int32_t[::1] features, const int64_t[::1] starts, entry_labels, entry_values, counts=None):
        """Give features[i], which has no row yet, the weights of entries starts[i] … starts[i+1]-1, and the count of
        the updates that it took part in before; negative numbers are skipped."""
        cdef const uint32_t[::1] labels = entry_labels
        cdef const float[::1] values = entry_values
        cdef Py_ssize_t i, j, size
        cdef int32_t row
        self.loads += 1
        if self.dense_from == 0:
            self.make_room(self.rows + features.shape[0])
        if self.min_updates > 1:
            self.load_counts(features, counts)
        for i in range(features.shape[0]):
            size = starts[i + 1] - starts[i]
            if features[i] < 0 or size == 0:
                continue
            if size > self.dense_from:
                row = self.row_of[features[i]]
                if row < 0:
                    row = self.new_array(features[i])
                for j in range(starts[i], starts[i + 1]):
                    self.weights[row * self.width + labels[j]] = values[j]
            else:
                self.new_list(features[i], size)
                for j in range(starts[i], starts[i + 1]):
                    self.entries[self.entry(features[i], labels[j])].weight = values[j]
            if self.min_updates > 1:
                self.show_if_relevant(features[i])

    cdef int load_counts(self, const int32_t[::1] features, const int32_t[::1] counts) except -1:
        cdef Py_ssize_t i
        for i in range(features.shape[0]):
            if features[i] >= 0:
                self.evidence[features[i]].before = counts[i]
        return 0

    def counted(self, const int32_t[::1] features):
        """The number of updates in which each feature took part since it was loaded, up to min_updates in all."""
        counts_array = np.empty(features.shape[0], np.int32)
        cdef int32_t[::1] counts = counts_array
        cdef Py_ssize_t i
        for i in range(features.shape[0]):
            counts[i] = self.evidence[features[i]].since
        return counts_array

    cdef void show_if_relevant(self, int32_t feature) noexcept nogil:
        if self.evidence[feature].before + self.evidence[feature].since >= self.min_updates:
            self.shown[feature] = self.row_of[feature]

    cdef void count_update(self, int32_t feature) noexcept nogil:
        """Count the feature once per update, for any number of labels; a relevant feature is no longer counted."""
        cdef Evidence *evidence = &self.evidence[feature]
        if evidence.last != self.update and evidence.before + evidence.since < self.min_updates:
            evidence.last = self.update
            evidence.since += 1
        self.show_if_relevant(feature)

    cdef float change(self, int32_t feature, int32_t label, double amount, double seen) except? -1:
        """Add `amount` times the feature's step size to a weight, after `seen` examples; returns the new weight."""
        cdef Py_ssize_t at, row = self.row_for_one_more(feature)
        cdef float *weight
        cdef double *lag
        cdef float old
        if self.step_sizes is not None:
            amount *= self.step_sizes[feature // self.rows_per_step_size]
        if row >= 0:
            at = self.updates_for(row)
            weight, lag = &self.weights[row * self.width + label], &self.lags[at * self.width + label]
            self.touch(at, label)
        else:
            at = self.entry(feature, label)
            weight, lag = &self.entries[at].weight, &self.entry_lags[at]
            self.entries[at].touched = 1
        old = weight[0]
        weight[0] = <float>(old + amount)
        lag[0] += seen * (<double>weight[0] - <double>old)
        if self.min_updates > 1:
            self.count_update(feature)
        return weight[0]

    def touched_entries(self, const int32_t[::1] order):
        """Every weight that took part in an update, features in the given order: (features, where the entries of each
        begin, labels, weights, lags)."""
        cdef Py_ssize_t i, f, row, updates, label, features = 0, entries = 0
        cdef int32_t[::1] sizes = np.zeros(order.shape[0], np.int32)
        for f in range(order.shape[0]):
            sizes[f] = self.touched_size(order[f])
            features += sizes[f] > 0
            entries += sizes[f]
        numbers_array, starts_array = np.empty(features, np.int32), np.empty(features + 1, np.int64)
        labels_array = np.empty(entries, np.uint32)
        weights_array, lags_array = np.empty(entries, np.float32), np.empty(entries)
        cdef int32_t[::1] numbers = numbers_array
        cdef int64_t[::1] starts = starts_array
        cdef uint32_t[::1] labels = labels_array
        cdef float[::1] weights = weights_array
        cdef double[::1] lags = lags_array
        cdef Extent *extent
        features = entries = 0
        for f in range(order.shape[0]):
            if sizes[f] == 0:
                continue
            numbers[features], starts[features] = order[f], entries
            features += 1
            row = self.row_of[order[f]]
            if row >= 0:
                updates = self.updates_of[row]
                for label in range(self.labels):
                    if self.is_touched(updates, label):
                        labels[entries] = <uint32_t>label
                        weights[entries] = self.weights[row * self.width + label]
                        lags[entries] = self.lags[updates * self.width + label]
                        entries += 1
            else:
                extent = &self.extents[-2 - row]
                for i in range(extent.begin, extent.begin + extent.size):
                    if self.entries[i].touched:
                        labels[entries] = self.entries[i].label
                        weights[entries], lags[entries] = self.entries[i].weight, self.entry_lags[i]
                        entries += 1
        starts[features] = entries
        return numbers_array, starts_array, labels_array, weights_array, lags_array

    cdef int32_t touched_size(self, int32_t feature) noexcept nogil:
        """How many of a feature's weights took part in an update."""
        cdef Py_ssize_t i, row = self.row_of[feature]
        cdef int32_t size = 0
        cdef const Extent *extent
        if row >= 0:
            if self.updates_of[row] != NO_ROW:
                for i in range(self.labels):
                    size += self.is_touched(self.updates_of[row], i)
        elif row != NO_ROW:
            extent = &self.extents[-2 - row]
            for i in range(extent.begin, extent.begin + extent.size):
                size += self.entries[i].touched
        return size
