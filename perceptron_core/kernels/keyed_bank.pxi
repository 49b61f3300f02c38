# Weights by 64-bit key, for features that are too many to number.

@cython.final
cdef class KeyedBank:
    """A bank whose features have keys instead of numbers; a key gets a row when an update needs it, or it is loaded.

    Several threads may look up keys at the same time; only the update, which is in one thread, makes rows.
    """

    def __cinit__(self, Py_ssize_t labels, Py_ssize_t dense_from, Py_ssize_t min_updates=1):
        open_index(&self.index)
        self.bank = Bank(labels, dense_from, min_updates)

    def __dealloc__(self):
        close_index(&self.index)

    def __len__(self):
        return self.index.count

    @property
    def labels(self):
        return self.bank.labels

    @property
    def min_updates(self):
        return self.bank.min_updates

    cdef int32_t number_for(self, uint64_t key) except -1:
        """The number of the key's row; a new one if it has none. A dense row is made at once, so that the rows have the
        numbers of their keys."""
        cdef int32_t number = number_key(&self.index, key)
        self.bank.reserve_features(self.index.count)
        if self.bank.dense_from == 0 and self.bank.row_of[number] == NO_ROW:
            self.bank.new_array(number)
        return number

    def load(self, const uint64_t[::1] keys, const int64_t[::1] starts, labels, values, counts=None):
        """Give keys[i], which has no row yet, the weights of entries starts[i] … starts[i+1]-1, and the count of the
        updates that it took part in before."""
        cdef Py_ssize_t i
        numbers_array = np.empty(keys.shape[0], np.int32)
        cdef int32_t[::1] numbers = numbers_array
        for i in range(keys.shape[0]):
            numbers[i] = self.number_for(keys[i])
        self.bank.load(numbers_array, starts, labels, values, counts)

    def touched_entries(self):
        """Every weight that took part in an update, by ascending keys: (keys, where the entries of each begin, labels,
        weights, lags)."""
        keys = self.keys()
        numbers, *entries = self.bank.touched_entries(np.argsort(keys).astype(np.int32))
        return (keys[numbers], *entries)

    def counted(self, const uint64_t[::1] keys):
        """The number of updates in which each key's row took part since it was loaded, up to min_updates in all."""
        cdef Py_ssize_t i
        numbers_array = np.empty(keys.shape[0], np.int32)
        cdef int32_t[::1] numbers = numbers_array
        for i in range(keys.shape[0]):
            numbers[i] = self.find(keys[i])
        return self.bank.counted(numbers_array)

    def keys(self):
        """The keys that have a row, in the order in which they got it."""
        keys_array = np.empty(self.index.count, np.uint64)
        cdef uint64_t[::1] out = keys_array
        if self.index.count:
            memcpy(&out[0], self.index.known, self.index.count * sizeof(uint64_t))
        return keys_array
