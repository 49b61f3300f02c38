# The interface of the learning core, for the finders of the structures: what they use, and what they must provide.

cimport cython
from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t

from perceptron_core.kernels.memory cimport KeyIndex, find_key

# ------------------------------------------------------------------ banks (bank.pxi, keyed_bank.pxi)

cdef enum:
    NO_ROW = -1  # in `row_of`: a feature without weights; sparse row s is in it as -2 - s
    CACHE_LINE = 64  # bytes


cdef struct Entry:  # of a sparse row
    float weight
    uint16_t label
    uint16_t touched


cdef struct Extent:  # where a sparse row's entries are in the pool
    int64_t begin
    int32_t size, room


cdef struct Evidence:  # that a feature is relevant: the updates in which it took part
    int32_t before  # the count in the weights that training starts from
    int32_t since
    int32_t last  # the number of the update that was counted last


@cython.final
cdef class Bank:
    cdef readonly Py_ssize_t labels, width, dense_from
    cdef int32_t *row_of  # by feature
    cdef int32_t *shown  # the rows that scoring sees: row_of itself, or with min_updates > 1 a copy without hidden rows
    cdef readonly Py_ssize_t min_updates
    cdef Evidence *evidence  # by feature, if min_updates > 1
    cdef int32_t update  # the number of the update under way
    cdef Py_ssize_t features, feature_room
    cdef Py_ssize_t loads  # counts the calls of load, so that copies of the weights can be kept up to date
    # dense rows
    cdef Py_ssize_t rows, row_room
    cdef void *raw_weights  # what was allocated
    cdef float *weights  # rows × width, aligned
    cdef int32_t *updates_of  # by row: where its lags are; NO_ROW before its first update (in late epochs, most rows)
    cdef Py_ssize_t updates, update_room, words
    cdef double *lags  # updates × width
    cdef uint64_t *touched  # updates × words: one bit per label
    # sparse rows
    cdef Py_ssize_t lists, list_room, pool, pool_room
    cdef Extent *extents  # one per list
    cdef Entry *entries  # the pool
    cdef double *entry_lags
    # what a change is multiplied by, if it is not None: step_sizes[feature // rows_per_step_size]
    cdef public const double[::1] step_sizes
    cdef public Py_ssize_t rows_per_step_size

    cdef int reserve_features(self, Py_ssize_t features) except -1
    cdef int make_room(self, Py_ssize_t rows) except -1
    cdef int32_t new_array(self, int32_t feature) except -1
    cdef Py_ssize_t updates_for(self, Py_ssize_t row) except -1
    cdef int new_list(self, int32_t feature, Py_ssize_t room) except -1
    cdef int move_list(self, Extent *extent, Py_ssize_t room) except -1
    cdef int make_array(self, int32_t feature) except -1
    cdef void touch(self, Py_ssize_t updates, Py_ssize_t label) noexcept nogil
    cdef bint is_touched(self, Py_ssize_t updates, Py_ssize_t label) noexcept nogil
    cdef Py_ssize_t entry(self, int32_t feature, int32_t label) except -1
    cdef int32_t row_for_one_more(self, int32_t feature) except? -1
    cdef int load_counts(self, const int32_t[::1] features, const int32_t[::1] counts) except -1
    cdef void show_if_relevant(self, int32_t feature) noexcept nogil
    cdef void count_update(self, int32_t feature) noexcept nogil
    cdef float change(self, int32_t feature, int32_t label, double amount, double seen) except? -1
    cdef int32_t touched_size(self, int32_t feature) noexcept nogil

    cdef inline float value(self, int32_t feature, int32_t label) noexcept nogil:
        """The weight as scoring sees it."""
        cdef Py_ssize_t row = self.shown[feature], i
        cdef const Extent *extent
        if row == NO_ROW:
            return 0
        if row >= 0:
            return self.weights[row * self.width + label]
        extent = &self.extents[-2 - row]
        for i in range(extent.begin, extent.begin + extent.size):
            if self.entries[i].label == label:
                return self.entries[i].weight
        return 0

    cdef inline void add_scores(self, int32_t feature, float *scores) noexcept nogil:
        """scores[label] += weight, for every label of the feature's row."""
        cdef Py_ssize_t row = self.shown[feature], i
        cdef const float *weights
        cdef const Entry *entries
        if row >= 0:
            weights = self.weights + row * self.width
            for i in range(self.width):
                scores[i] += weights[i]
        elif row != NO_ROW:
            entries = self.entries + self.extents[-2 - row].begin
            for i in range(self.extents[-2 - row].size):
                scores[entries[i].label] += entries[i].weight

    cdef inline void add_valued_scores(self, int32_t feature, float value, float *scores) noexcept nogil:
        """scores[label] += value × weight, for every label of the feature's row."""
        cdef Py_ssize_t row = self.shown[feature], i
        cdef const float *weights
        cdef const Entry *entries
        if row >= 0:
            weights = self.weights + row * self.width
            for i in range(self.width):
                scores[i] += value * weights[i]
        elif row != NO_ROW:
            entries = self.entries + self.extents[-2 - row].begin
            for i in range(self.extents[-2 - row].size):
                scores[entries[i].label] += value * entries[i].weight


@cython.final
cdef class KeyedBank:
    cdef Bank bank
    cdef KeyIndex index

    cdef int32_t number_for(self, uint64_t key) except -1

    cdef inline int32_t find(self, uint64_t key) noexcept nogil:
        """The number of the key's row in `bank`, -1 if it has none."""
        return find_key(&self.index, key)


# ------------------------------------------------------------------ Δ and constraints (delta.pxi, constraints.pxi)

cdef struct Part:  # of Δ
    uint64_t feature  # a number; in a bank by key, the key of a row
    size_t slot  # where the table points to it
    int32_t bank, label
    double count  # whole, unless features have values
    int64_t origin  # set by the finder, which gets it back when the weight has moved; otherwise 0


@cython.final
cdef class Delta:
    cdef Part *parts
    cdef int32_t *slots
    cdef Py_ssize_t count, room

    cdef int32_t add(self, int32_t bank, uint64_t feature, int32_t label, double count) except -1 nogil
    cdef size_t slot_for(self, int32_t bank, uint64_t feature, int32_t label) noexcept nogil
    cdef int grow(self) except -1 nogil
    cdef void clear(self) noexcept nogil


cdef struct Constraint:
    double loss, margin, norm
    Py_ssize_t begin, end  # its parts of Δ


@cython.final
cdef class Constraints:
    cdef Constraint *items
    cdef Py_ssize_t count, room
    cdef Part *parts
    cdef Py_ssize_t part_count, part_room

    cdef int add(self, const Part *parts, Py_ssize_t size, double loss, double margin, double norm) except -1 nogil
    cdef int add_from(self, Constraints other, Py_ssize_t i) except -1
    cdef void clear(self) noexcept nogil


# ------------------------------------------------------------------ examples and threads (finder.pxi, threads.pxi)

cdef struct Outcome:  # of an example
    Py_ssize_t wrong  # how much of it is wrong
    Py_ssize_t finder, first, last  # the finder that searched it, and which of its constraints are the example's


cdef class Examples:
    cdef Py_ssize_t count
    cdef const int64_t[::1] sizes  # how much work each is
    cdef const int64_t[::1] begins  # where each one's guess begins
    cdef Py_ssize_t guess_size  # of all of them
    cdef Py_ssize_t columns  # numbers that are guessed per unit of size: 1, unless the structure says otherwise
    cdef Outcome *outcomes
    cdef const int64_t[::1] order  # in which threads take them

    cdef int take(self, object sizes) except -1
    cdef int sort_minibatches(self, Py_ssize_t gathered, Py_ssize_t minibatch) except -1


@cython.final
cdef class Bell:
    cdef PyThread_type_lock lock  # held, except for the moment when it rings
    cdef Py_ssize_t asleep

    cdef void ring(self) noexcept nogil


@cython.final
cdef class Team:
    cdef Examples examples
    cdef Py_ssize_t base  # the number of the block's first example
    cdef Py_ssize_t next, last, done  # numbers: handed out so far, may be handed out, are done
    cdef Py_ssize_t dissolved
    cdef list bells
    cdef object error

    cdef void give_out(self, Examples examples, Py_ssize_t base, Py_ssize_t last)
    cdef Py_ssize_t take(self) noexcept nogil
    cdef bint wait(self, Bell bell) noexcept nogil
    cdef void finish(self) noexcept nogil
    cdef void dissolve(self)


# ------------------------------------------------------------------ finders (finder.pxi)

cdef enum Update:  # which prefix of a wrong guess to update on
    STANDARD, EARLY, MAX_VIOLATION


cdef struct Step:  # of a left-to-right search, for the choice of a prefix
    float best, gold  # the best score up to here, and the gold one
    bint kept  # whether the search still has the gold


cdef class Finder:
    cdef readonly object settings
    cdef readonly tuple banks  # a part of Δ names them by their place here
    cdef void **bank_at  # … as objects of the class Bank
    cdef void **keys_at  # … and of the class KeyedBank, NULL for the others
    cdef Py_ssize_t bank_count
    cdef Py_ssize_t watched  # one bit per bank: whether `moved` is called when its weights change
    cdef Py_ssize_t number  # of its thread
    cdef bint needs_margin
    cdef int when
    cdef Py_ssize_t k
    cdef Delta delta
    cdef Constraints found
    # of the example that is searched now
    cdef Py_ssize_t steps  # of the search
    cdef Step *trace
    cdef Py_ssize_t trace_room

    cdef int use_banks(self, tuple banks) except -1
    cdef float part_weight(self, const Part *part) noexcept nogil
    cdef Py_ssize_t choose_prefix(self) except -1 nogil
    cdef int keep_constraint(self, Py_ssize_t prefix) except -1 nogil
    cdef int find(self, Examples examples, Py_ssize_t i) except -1 nogil
    cdef int find_next(self, Team team) except -1 nogil

    # what a structure overrides
    cdef Examples examples_of(self, object block)
    cdef int refresh(self) except -1
    cdef int guess(self, Examples examples, Py_ssize_t i) except -1 nogil
    cdef void write_guess(self, int32_t *to) noexcept nogil
    cdef Py_ssize_t wrong(self) noexcept nogil
    cdef Py_ssize_t fill_trace(self, bint until_lost) noexcept nogil
    cdef void guess_prefix(self, Py_ssize_t prefix) noexcept nogil
    cdef double loss(self, Py_ssize_t prefix) noexcept nogil
    cdef float gold_score(self, Py_ssize_t prefix) noexcept nogil
    cdef int begin_next_best(self, Py_ssize_t prefix) except -1 nogil
    cdef bint next_best(self, Py_ssize_t prefix, float *score) noexcept nogil
    cdef int collect(self, Py_ssize_t prefix) except -1 nogil
    cdef int moved(self, const Part *part, float weight) except -1
    cdef Finder clone(self)
