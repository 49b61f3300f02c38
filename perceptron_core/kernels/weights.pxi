# Weights: a row of labels a feature.

cdef class WeightRows:
    """The weights of the features by number: a row of labels each, made when it first gets a weight.

    With few labels a row is a plain array (scores are added label by label, which vectorises); with many labels it
    is a short list of (label, weight), because most features meet two or three labels only.
    `lag` is the lazily kept part of the average: the sum over updates of change × examples seen before it.
    """

    cdef readonly Py_ssize_t labels, width
    cdef readonly bint dense
    cdef int32_t *row_of  # feature number → row, -1 while it has none
    cdef Py_ssize_t features, feature_room, rows, row_room
    cdef float *weights  # dense: rows × width; sparse: the pool of entries
    cdef double *lags
    cdef uint64_t *touched_masks  # dense: a bit a label
    cdef uint8_t *touched  # sparse: a flag an entry
    cdef uint16_t *entry_labels  # sparse
    cdef int64_t *begins  # sparse: where a row's entries are in the pool
    cdef int32_t *sizes
    cdef int32_t *rooms
    cdef Py_ssize_t pool, pool_room

    def __cinit__(self, Py_ssize_t labels, bint dense):
        self.labels = labels
        self.width = (labels + 7) // 8 * 8
        self.dense = dense
        if dense and labels > MOST_DENSE:
            raise ValueError("a dense row has a 64-bit mask")
        if labels > 65535:
            raise ValueError("more than 65,535 labels")

    def __dealloc__(self):
        free(self.row_of)
        free(self.weights)
        free(self.lags)
        free(self.touched_masks)
        free(self.touched)
        free(self.entry_labels)
        free(self.begins)
        free(self.sizes)
        free(self.rooms)

    def reserve(self, Py_ssize_t features):
        """Make room for features with numbers below this; they have no row yet."""
        cdef Py_ssize_t room = self.feature_room
        if features > room:
            while room < features:
                room = 2 * room + 1024
            self.row_of = <int32_t *>grown(self.row_of, room * sizeof(int32_t))
            self.feature_room = room
        if features > self.features:
            memset(self.row_of + self.features, 0xFF, (features - self.features) * sizeof(int32_t))
            self.features = features

    cdef int new_row(self, int32_t feature) except -1:
        cdef Py_ssize_t room = self.row_room
        if self.rows == room:
            room = 2 * room + 256
            if self.dense:
                self.weights = <float *>grown(self.weights, room * self.width * sizeof(float))
                self.lags = <double *>grown(self.lags, room * self.width * sizeof(double))
                self.touched_masks = <uint64_t *>grown(self.touched_masks, room * sizeof(uint64_t))
            else:
                self.begins = <int64_t *>grown(self.begins, room * sizeof(int64_t))
                self.sizes = <int32_t *>grown(self.sizes, room * sizeof(int32_t))
                self.rooms = <int32_t *>grown(self.rooms, room * sizeof(int32_t))
            self.row_room = room
        if self.dense:
            memset(self.weights + self.rows * self.width, 0, self.width * sizeof(float))
            memset(self.lags + self.rows * self.width, 0, self.width * sizeof(double))
            self.touched_masks[self.rows] = 0
        else:
            self.begins[self.rows] = 0
            self.sizes[self.rows] = 0
            self.rooms[self.rows] = 0
        self.row_of[feature] = <int32_t>self.rows
        self.rows += 1
        return 0

    cdef Py_ssize_t entry(self, int32_t feature, int32_t label) except -1:
        """Where this weight is, in a new place if it has none yet."""
        cdef Py_ssize_t row, i, begin
        if self.row_of[feature] < 0:
            self.new_row(feature)
        row = self.row_of[feature]
        if self.dense:
            return row * self.width + label
        begin = self.begins[row]
        for i in range(begin, begin + self.sizes[row]):
            if self.entry_labels[i] == label:
                return i
        if self.sizes[row] == self.rooms[row]:
            self.move_row(row, 2 * self.rooms[row] if self.rooms[row] else 2)
        i = self.begins[row] + self.sizes[row]
        self.sizes[row] += 1
        self.entry_labels[i] = <uint16_t>label
        self.weights[i] = 0
        self.lags[i] = 0
        self.touched[i] = 0
        return i

    cdef int move_row(self, Py_ssize_t row, Py_ssize_t room) except -1:
        """To the end of the pool, with more room; the old place is given up (rooms double, so at most half is)."""
        cdef Py_ssize_t larger = self.pool_room, old = self.begins[row], new = self.pool, n = self.sizes[row]
        if self.pool + room > larger:
            larger = 2 * larger + room + 1024
            self.weights = <float *>grown(self.weights, larger * sizeof(float))
            self.lags = <double *>grown(self.lags, larger * sizeof(double))
            self.touched = <uint8_t *>grown(self.touched, larger * sizeof(uint8_t))
            self.entry_labels = <uint16_t *>grown(self.entry_labels, larger * sizeof(uint16_t))
            self.pool_room = larger
        memcpy(self.weights + new, self.weights + old, n * sizeof(float))
        memcpy(self.lags + new, self.lags + old, n * sizeof(double))
        memcpy(self.touched + new, self.touched + old, n * sizeof(uint8_t))
        memcpy(self.entry_labels + new, self.entry_labels + old, n * sizeof(uint16_t))
        self.begins[row] = new
        self.rooms[row] = <int32_t>room
        self.pool += room
        return 0

    def load(self, const int32_t[::1] features, const int64_t[::1] starts, entry_labels, entry_values):
        """Give features[i] the weights of entries starts[i] … starts[i+1]-1; a negative number is passed over."""
        cdef const uint32_t[::1] labels = entry_labels
        cdef const float[::1] values = entry_values
        cdef Py_ssize_t i, j, at
        for i in range(features.shape[0]):
            if features[i] < 0:
                continue
            if not self.dense and self.row_of[features[i]] < 0 and starts[i + 1] > starts[i]:
                self.new_row(features[i])
                self.move_row(self.row_of[features[i]], starts[i + 1] - starts[i])
            for j in range(starts[i], starts[i + 1]):
                at = self.entry(features[i], labels[j])
                self.weights[at] = values[j]

    cdef inline float value(self, int32_t feature, int32_t label) noexcept nogil:
        cdef Py_ssize_t row = self.row_of[feature], i, begin
        if row < 0:
            return 0
        if self.dense:
            return self.weights[row * self.width + label]
        begin = self.begins[row]
        for i in range(begin, begin + self.sizes[row]):
            if self.entry_labels[i] == label:
                return self.weights[i]
        return 0

    cdef int change(self, int32_t feature, int32_t label, double amount, double seen) except -1:
        """Add `amount` to a weight, after `seen` examples."""
        cdef Py_ssize_t at = self.entry(feature, label)
        cdef float old = self.weights[at]
        self.weights[at] = <float>(old + amount)
        self.lags[at] += seen * (<double>self.weights[at] - <double>old)
        if self.dense:
            self.touched_masks[self.row_of[feature]] |= (<uint64_t>1) << label
        else:
            self.touched[at] = 1
        return 0

    cdef inline void add_scores(self, int32_t feature, float *scores) noexcept nogil:
        """scores[label] += weight, for every label of the feature's row."""
        cdef Py_ssize_t row = self.row_of[feature], i, begin
        cdef float *weights
        if row < 0:
            return
        if self.dense:
            weights = self.weights + row * self.width
            for i in range(self.width):
                scores[i] += weights[i]
        else:
            begin = self.begins[row]
            for i in range(begin, begin + self.sizes[row]):
                scores[self.entry_labels[i]] += self.weights[i]

    def touched_entries(self):
        """(feature, label, weight, lag) of every weight that took part in an update, as arrays."""
        cdef Py_ssize_t f, row, i, n = 0
        cdef int32_t label
        for row in range(self.rows):
            if self.dense:
                for label in range(self.labels):
                    n += (self.touched_masks[row] >> label) & 1
            else:
                for i in range(self.begins[row], self.begins[row] + self.sizes[row]):
                    n += self.touched[i]
        features_array, labels_array = np.empty(n, np.int32), np.empty(n, np.uint32)
        weights_array, lags_array = np.empty(n, np.float32), np.empty(n)
        cdef int32_t[::1] features = features_array
        cdef uint32_t[::1] labels = labels_array
        cdef float[::1] weights = weights_array
        cdef double[::1] lags = lags_array
        n = 0
        for f in range(self.features):
            row = self.row_of[f]
            if row < 0:
                continue
            if self.dense:
                for label in range(self.labels):
                    if (self.touched_masks[row] >> label) & 1:
                        features[n], labels[n] = <int32_t>f, label
                        weights[n] = self.weights[row * self.width + label]
                        lags[n] = self.lags[row * self.width + label]
                        n += 1
            else:
                for i in range(self.begins[row], self.begins[row] + self.sizes[row]):
                    if self.touched[i]:
                        features[n], labels[n] = <int32_t>f, self.entry_labels[i]
                        weights[n], lags[n] = self.weights[i], self.lags[i]
                        n += 1
        return features_array, labels_array, weights_array, lags_array
