# Hands out examples to threads that run without the interpreter's lock.

cdef extern from *:
    """
    #include <sched.h>
    static Py_ssize_t look(Py_ssize_t *at) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
    static void put(Py_ssize_t *at, Py_ssize_t value) { __atomic_store_n(at, value, __ATOMIC_SEQ_CST); }
    static Py_ssize_t swap(Py_ssize_t *at, Py_ssize_t value) { return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); }
    static void count_one(Py_ssize_t *at) { __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); }
    static int next_one(Py_ssize_t *at, Py_ssize_t known) {
        return __atomic_compare_exchange_n(at, &known, known + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    """
    Py_ssize_t look(Py_ssize_t *at) nogil
    void put(Py_ssize_t *at, Py_ssize_t value) nogil
    Py_ssize_t swap(Py_ssize_t *at, Py_ssize_t value) nogil
    void count_one(Py_ssize_t *at) nogil
    bint next_one(Py_ssize_t *at, Py_ssize_t known) nogil
    int sched_yield() nogil

cdef enum:
    PATIENCE = 1000  # how often a thread yields before it goes to sleep: about as long as an update takes


@cython.final
cdef class Bell:
    """Lets a thread sleep until `ring` is called."""

    def __cinit__(self):
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError()
        PyThread_acquire_lock(self.lock, WAIT_LOCK)

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    cdef void ring(self) noexcept nogil:
        if swap(&self.asleep, 0):
            PyThread_release_lock(self.lock)


@cython.final
cdef class Team:
    """The examples of a minibatch, handed out one by one to threads that are free.

    The numbers of examples continue through all minibatches, so that each is handed out once, and a late thread finds
    that none is left. The next minibatch is given out when all of the last one are done.
    """

    def __cinit__(self):
        self.bells = []

    cdef void give_out(self, Examples examples, Py_ssize_t base, Py_ssize_t last):
        cdef Bell bell
        self.examples, self.base = examples, base
        put(&self.last, last)
        for bell in self.bells:
            bell.ring()

    cdef Py_ssize_t take(self) noexcept nogil:
        """The number of the next example to search, -1 if all are handed out."""
        cdef Py_ssize_t number = look(&self.next)
        while number < look(&self.last):
            if next_one(&self.next, number):
                return number
            number = look(&self.next)
        return -1

    cdef bint wait(self, Bell bell) noexcept nogil:
        """Wait until there may be an example to search; False if the team is dissolved."""
        cdef Py_ssize_t turns
        for turns in range(PATIENCE):
            if look(&self.next) < look(&self.last) or look(&self.dissolved):
                break
            sched_yield()
        else:
            put(&bell.asleep, 1)
            # If it was ring() that set `asleep` back to 0, the lock was released, and has to be acquired again.
            if look(&self.next) == look(&self.last) and not look(&self.dissolved) or not swap(&bell.asleep, 0):
                PyThread_acquire_lock(bell.lock, WAIT_LOCK)
        return not look(&self.dissolved)

    cdef void finish(self) noexcept nogil:
        """Wait until the other threads have finished their examples."""
        while look(&self.done) < look(&self.last):
            sched_yield()

    cdef void dissolve(self):
        cdef Bell bell
        put(&self.dissolved, 1)
        for bell in self.bells:
            bell.ring()
