# Keys: hashing strings, composing feature keys, numbering them.

cdef uint64_t FNV_OFFSET = 0xCBF29CE484222325ULL
cdef uint64_t FNV_PRIME = 0x100000001B3ULL


def hash_strings(strings):
    """The 64-bit hash of every string; 0 for None."""
    cdef Py_ssize_t i, j, size, n = len(strings)
    cdef const char *text
    cdef uint64_t h
    hashes = np.zeros(n, np.uint64)
    cdef uint64_t[::1] out = hashes
    for i in range(n):
        string = strings[i]
        if string is None:
            continue
        try:
            text = PyUnicode_AsUTF8AndSize(string, &size)
            encoded = None
        except UnicodeEncodeError:  # lone surrogates
            encoded = string.encode("utf-8", "surrogatepass")
            text, size = encoded, len(encoded)
        h = FNV_OFFSET
        for j in range(size):
            h = (h ^ <uint8_t>text[j]) * FNV_PRIME
        h = scramble(h)
        out[i] = h if h else 1
    return hashes


def compose_keys(program, const int32_t[::1] lengths, ids, tables):
    """The keys of every token's features: (starts, keys), token t has keys[starts[t]:starts[t+1]].

    ids[c] are the tokens' type numbers in column c; tables[c] holds, flat, each type's attribute hashes.
    """
    cdef const uint64_t[::1] seeds = program.seeds
    cdef const int32_t[::1] part_starts = program.part_starts
    cdef const int32_t[::1] part_columns = program.part_columns
    cdef const int32_t[::1] part_attributes = program.part_attributes
    cdef const int32_t[::1] part_offsets = program.part_offsets
    cdef const uint64_t[:, ::1] before = program.before
    cdef const uint64_t[:, ::1] after = program.after
    cdef Py_ssize_t columns = len(ids), templates = seeds.shape[0], sentences = lengths.shape[0]
    cdef Py_ssize_t c, s, t, k, p, at, n = 0, begin = 0, end, total = 0
    cdef uint64_t key, value
    cdef const int32_t[::1] some_ids
    cdef const uint64_t[::1] some_table
    cdef const int32_t **id_of = <const int32_t **>malloc((columns + 1) * sizeof(void *))
    cdef const uint64_t **table_of = <const uint64_t **>malloc((columns + 1) * sizeof(void *))
    cdef int32_t[::1] widths = program.widths
    for s in range(sentences):
        total += lengths[s]
    starts_array = np.zeros(total + 1, np.int32)
    keys_array = np.empty(total * templates, np.uint64)
    cdef int32_t[::1] starts = starts_array
    cdef uint64_t[::1] keys = keys_array
    try:
        for c in range(columns):
            some_ids, some_table = ids[c], tables[c]
            id_of[c] = &some_ids[0] if some_ids.shape[0] else NULL
            table_of[c] = &some_table[0] if some_table.shape[0] else NULL
        with nogil:
            for s in range(sentences):
                end = begin + lengths[s]
                for t in range(begin, end):
                    for k in range(templates):
                        key = seeds[k]
                        for p in range(part_starts[k], part_starts[k + 1]):
                            at = t + part_offsets[p]
                            c = part_columns[p]
                            if at < begin:
                                value = before[p, begin - at - 1]
                            elif at >= end:
                                value = after[p, at - end]
                            else:
                                value = table_of[c][<Py_ssize_t>id_of[c][at] * widths[c] + part_attributes[p]]
                            if value == 0:
                                key = 0
                                break
                            key = extend_key(key, value)
                        if key:
                            keys[n] = key
                            n += 1
                    starts[t + 1] = <int32_t>n
                begin = end
    finally:
        free(id_of)
        free(table_of)
    return starts_array, keys_array[:n]


def pool_keys(
    const int32_t[::1] sizes, const int32_t[::1] starts, const uint64_t[::1] keys, const uint64_t[::1] constants
):
    """The different keys of every text: (starts, keys, sources), text i has keys[starts[i]:starts[i+1]].

    Text i is the next sizes[i] words; the keys of word w are keys[starts[w]:starts[w+1]]. A key stands where it first
    occurs, and sources says where that is in `keys`; the constants come last, their source is -1.
    """
    cdef Py_ssize_t texts = sizes.shape[0], more = constants.shape[0]
    cdef Py_ssize_t i, j, begin = 0, word = 0, end, n = 0
    cdef size_t room = 1024, at
    cdef uint64_t *slots = <uint64_t *>grown(NULL, room * sizeof(uint64_t))
    cdef int64_t *text_of = <int64_t *>grown(NULL, room * sizeof(int64_t))  # whose key is in the slot
    starts_array = np.zeros(texts + 1, np.int32)
    keys_array = np.empty(keys.shape[0] + texts * more, np.uint64)
    sources_array = np.empty(keys.shape[0] + texts * more, np.int32)
    cdef int32_t[::1] pooled_starts = starts_array, sources = sources_array
    cdef uint64_t[::1] pooled = keys_array
    memset(text_of, 0xFF, room * sizeof(int64_t))
    try:
        for i in range(texts):
            word += sizes[i]
            end = starts[word]
            if <size_t>(2 * (end - begin)) > room:
                while <size_t>(2 * (end - begin)) > room:
                    room *= 2
                slots = <uint64_t *>grown(slots, room * sizeof(uint64_t))
                text_of = <int64_t *>grown(text_of, room * sizeof(int64_t))
                memset(text_of, 0xFF, room * sizeof(int64_t))
            for j in range(begin, end):
                at = keys[j] & (room - 1)
                while text_of[at] == i and slots[at] != keys[j]:
                    at = (at + 1) & (room - 1)
                if text_of[at] != i:
                    text_of[at], slots[at] = i, keys[j]
                    pooled[n], sources[n] = keys[j], <int32_t>j
                    n += 1
            for j in range(more):
                pooled[n], sources[n] = constants[j], -1
                n += 1
            pooled_starts[i + 1] = <int32_t>n
            begin = end
    finally:
        free(slots)
        free(text_of)
    return starts_array, keys_array[:n], sources_array[:n]


cdef class KeyTable:
    """Keys numbered in the order in which they are first seen."""

    cdef KeyIndex index

    def __cinit__(self):
        open_index(&self.index)

    def __dealloc__(self):
        close_index(&self.index)

    def __len__(self):
        return self.index.count

    def intern(self, const uint64_t[::1] keys):
        """The number of every key; new keys get the next numbers."""
        cdef Py_ssize_t i
        ids_array = np.empty(keys.shape[0], np.int32)
        cdef int32_t[::1] ids = ids_array
        for i in range(keys.shape[0]):
            ids[i] = number_key(&self.index, keys[i])
        return ids_array

    def find(self, const uint64_t[::1] keys):
        """The number of every key, -1 for one never seen."""
        cdef Py_ssize_t i
        ids_array = np.empty(keys.shape[0], np.int32)
        cdef int32_t[::1] ids = ids_array
        with nogil:
            for i in range(keys.shape[0]):
                ids[i] = find_key(&self.index, keys[i])
        return ids_array

    def keys(self, Py_ssize_t first=0):
        """The keys numbered `first` and up, in the order of their numbers."""
        keys_array = np.empty(self.index.count - first, np.uint64)
        cdef uint64_t[::1] out = keys_array
        if self.index.count > first:
            memcpy(&out[0], self.index.known + first, (self.index.count - first) * sizeof(uint64_t))
        return keys_array
