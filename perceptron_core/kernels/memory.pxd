# What all extensions share: realloc with an exception, the extension of keys, and a table from keys to numbers.

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset


cdef inline void *grown(void *memory, size_t size) except NULL nogil:
    """realloc that raises MemoryError."""
    cdef void *larger = realloc(memory, size if size else 1)
    if larger == NULL:
        with gil:
            raise MemoryError()
    return larger


cdef inline uint64_t scramble(uint64_t x) noexcept nogil:
    x ^= x >> 30
    x *= 0xBF58476D1CE4E5B9ULL
    x ^= x >> 27
    x *= 0x94D049BB133111EBULL
    return x ^ (x >> 31)


cdef inline uint64_t extend_key(uint64_t key, uint64_t value) noexcept nogil:
    """The key that `key` becomes when `value` joins it (perceptron_core/hashing.py)."""
    cdef uint64_t extended = scramble((key + 0x9E3779B97F4A7C15ULL) ^ value)
    return extended if extended else 1


# Keys numbered in the order in which they are first seen: open addressing, linear probing. No key is 0. A key and its
# number are side by side, because they are looked up together. Before them, one byte of the key is compared: these bytes
# are few enough to stay in the cache, and tell of most keys that they are not there.

cdef struct KeySlot:
    uint64_t key
    int32_t number


cdef struct KeyIndex:
    KeySlot *slots
    uint8_t *tags  # one per slot, 0 for an empty one
    uint64_t *known  # by number
    size_t mask
    Py_ssize_t count, room


cdef inline int open_index(KeyIndex *index) except -1 nogil:
    index.mask = 1023
    index.count, index.room = 0, 640  # at most five eighths of the slots are used: a compromise between time and memory
    index.slots = <KeySlot *>grown(NULL, 1024 * sizeof(KeySlot))
    index.tags = <uint8_t *>grown(NULL, 1024)
    index.known = <uint64_t *>grown(NULL, 640 * sizeof(uint64_t))
    memset(index.tags, 0, 1024)
    return 0


cdef inline void close_index(KeyIndex *index) noexcept nogil:
    free(index.slots)
    free(index.tags)
    free(index.known)


cdef inline uint8_t tag_of(uint64_t key) noexcept nogil:
    """Other bits than those that choose the slot; never 0."""
    return <uint8_t>(key >> 56) | 1


cdef inline size_t slot_of(const KeyIndex *index, uint64_t key) noexcept nogil:
    """The slot of the key, or the empty slot where it would be."""
    cdef size_t at = key & index.mask
    cdef uint8_t tag = tag_of(key)
    while index.tags[at] and (index.tags[at] != tag or index.slots[at].key != key):
        at = (at + 1) & index.mask
    return at


cdef inline int32_t find_key(const KeyIndex *index, uint64_t key) noexcept nogil:
    """The key's number, -1 for one never seen."""
    cdef size_t at = slot_of(index, key)
    return index.slots[at].number if index.tags[at] else -1


cdef inline int grow_index(KeyIndex *index) except -1 nogil:
    """Twice the slots, the known keys entered again."""
    cdef Py_ssize_t i
    cdef size_t slots = 2 * (index.mask + 1), at
    index.slots = <KeySlot *>grown(index.slots, slots * sizeof(KeySlot))
    index.room *= 2
    index.known = <uint64_t *>grown(index.known, index.room * sizeof(uint64_t))
    index.tags = <uint8_t *>grown(index.tags, slots)
    index.mask = slots - 1
    memset(index.tags, 0, slots)
    for i in range(index.count):
        at = index.known[i] & index.mask  # all keys are different
        while index.tags[at]:
            at = (at + 1) & index.mask
        fill_slot(index, at, index.known[i], <int32_t>i)
    return 0


cdef inline void fill_slot(KeyIndex *index, size_t at, uint64_t key, int32_t number) noexcept nogil:
    index.tags[at] = tag_of(key)
    index.slots[at].key, index.slots[at].number = key, number


cdef inline int32_t number_key(KeyIndex *index, uint64_t key) except -1 nogil:
    """The key's number; a new key gets the next one."""
    cdef size_t at = slot_of(index, key)
    if index.tags[at] == 0:
        if index.count == index.room:
            grow_index(index)
            at = slot_of(index, key)
        fill_slot(index, at, key, <int32_t>index.count)
        index.known[index.count] = key
        index.count += 1
    return index.slots[at].number
