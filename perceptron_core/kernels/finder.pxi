# A finder searches an example and finds the constraints that it violates. A structure overrides the search itself.

UPDATES = {"standard": STANDARD, "early": EARLY, "max-violation": MAX_VIOLATION}


cdef Py_ssize_t first_lost(const Step *trace, Py_ssize_t steps, Py_ssize_t otherwise) noexcept nogil:
    """The shortest prefix whose gold the search did not keep (perceptron_core/structures/prefixes.py)."""
    cdef Py_ssize_t t
    for t in range(steps):
        if not trace[t].kept:
            return t + 1
    return otherwise


cdef Py_ssize_t largest_violation(const Step *trace, Py_ssize_t steps) noexcept nogil:
    """The prefix on which the search's best beats the gold by most; the longest of several equal ones."""
    cdef Py_ssize_t t, longest = steps
    cdef float violation, largest = -INFINITY
    for t in range(steps):
        violation = trace[t].best - trace[t].gold
        if violation >= largest:
            longest, largest = t + 1, violation
    return longest


cdef class Examples:
    """The examples of a block that are not empty; the subclass of a structure has their features."""

    def __cinit__(self, *_):
        self.columns = 1

    def __dealloc__(self):
        free(self.outcomes)

    cdef int take(self, object sizes) except -1:
        """Take examples of these sizes, which are also the sizes of their guesses; those of size 0 are skipped."""
        every = np.asarray(sizes, np.int64)
        self.sizes, self.begins = every[every > 0], (np.cumsum(every) - every)[every > 0]
        self.guess_size = int(every.sum())
        self.count = self.sizes.shape[0]
        self.outcomes = <Outcome *>grown(self.outcomes, self.count * sizeof(Outcome))
        return 0

    cdef int sort_minibatches(self, Py_ssize_t gathered, Py_ssize_t minibatch) except -1:
        """Put the largest examples of each minibatch first: all threads would have to wait for a large one that is
        begun last. `gathered` examples of the first minibatch were in the block before."""
        minibatches = (np.arange(self.count) + gathered) // minibatch
        self.order = np.lexsort((-np.asarray(self.sizes), minibatches))
        return 0


cdef class Finder:
    """Searches examples and keeps the constraints that they violate; each thread has one of its own.

    `find` is the same for all structures. They override these methods:

        examples_of    a block as the search takes it
        refresh        before a block: copy weights again that were loaded since
        guess          search an example; the next methods are about this example
        write_guess    the guess, as numbers
        wrong          how much of the guess is wrong: 0 if it is right
        fill_trace     fill `trace`, one Step per step of a left-to-right search: the scores, or (until_lost) `kept`
                       up to the first step where the gold is lost; returns the number of steps
        guess_prefix   the best guess of a prefix, which then replaces the guess of the whole
        loss           how much of the guess of a prefix is wrong
        gold_score     the score of the gold prefix, in the precision of the search
        begin_next_best, next_best   the guesses that follow the best one, with their scores
        collect        Δ = Φ(gold) − Φ(guess) of a prefix, into `delta`
        moved          called when a weight of a watched bank has changed
        clone          another finder for another thread, which shares the weights and all copies of them
    """

    def __cinit__(self, *_, **__):
        self.delta = Delta()
        self.found = Constraints()

    def __dealloc__(self):
        free(self.trace)
        free(self.bank_at)
        free(self.keys_at)

    cdef int use_banks(self, tuple banks) except -1:
        """Set the banks by their numbers, and what the settings say about constraints."""
        cdef Py_ssize_t i
        self.banks, self.bank_count = banks, len(banks)
        self.bank_at = <void **>grown(self.bank_at, len(banks) * sizeof(void *))
        self.keys_at = <void **>grown(self.keys_at, len(banks) * sizeof(void *))
        for i, bank in enumerate(banks):
            self.keys_at[i] = <void *>bank if isinstance(bank, KeyedBank) else NULL
            self.bank_at[i] = <void *>((<KeyedBank>bank).bank) if isinstance(bank, KeyedBank) else <void *>(<Bank?>bank)
        self.needs_margin = RULES[self.settings.learner] != PERCEPTRON
        self.when = UPDATES[self.settings.update]
        self.k = self.settings.k_best
        return 0

    cdef float part_weight(self, const Part *part) noexcept nogil:
        """The weight of a part, as scoring sees it."""
        cdef int32_t number = <int32_t>part.feature
        if self.keys_at[part.bank] != NULL:
            number = (<KeyedBank>self.keys_at[part.bank]).find(part.feature)
            if number < 0:
                return 0
        return (<Bank>self.bank_at[part.bank]).value(number, part.label)

    cdef int find(self, Examples examples, Py_ssize_t i) except -1 nogil:
        """Search an example, and keep the constraints that it violates."""
        cdef Py_ssize_t prefix, others
        cdef Outcome *outcome = &examples.outcomes[i]
        cdef float score, bar
        self.guess(examples, i)
        prefix = self.steps
        outcome.finder, outcome.first = self.number, self.found.count
        outcome.wrong = self.wrong()
        if outcome.wrong:
            prefix = self.choose_prefix()
            if prefix < self.steps:
                self.guess_prefix(prefix)
            self.keep_constraint(prefix)
        if self.k > 1:
            bar = self.gold_score(prefix)
            self.begin_next_best(prefix)
            for others in range(1, self.k):
                if not self.next_best(prefix, &score) or score < bar:
                    break
                self.keep_constraint(prefix)
        outcome.last = self.found.count
        return 0

    cdef Py_ssize_t choose_prefix(self) except -1 nogil:
        """The prefix of a wrong guess to update on."""
        if self.when == STANDARD:
            return self.steps
        if self.steps > self.trace_room:
            self.trace_room = 2 * self.steps
            self.trace = <Step *>grown(self.trace, self.trace_room * sizeof(Step))
        if self.when == EARLY:
            return first_lost(self.trace, self.fill_trace(True), self.steps)
        return largest_violation(self.trace, self.fill_trace(False))

    cdef int keep_constraint(self, Py_ssize_t prefix) except -1 nogil:
        """Keep the constraint that the gold prefix should beat the guess, unless their features are equal."""
        cdef Py_ssize_t j
        cdef double margin = 0, norm = 0
        cdef const Part *part
        self.delta.clear()
        self.collect(prefix)
        for j in range(self.delta.count):
            part = &self.delta.parts[j]
            norm += part.count * part.count
            if self.needs_margin:
                margin += part.count * <double>self.part_weight(part)
        if norm != 0:
            self.found.add(self.delta.parts, self.delta.count, self.loss(prefix), margin, norm)
        return 0

    cdef int find_next(self, Team team) except -1 nogil:
        """Find the constraints of the team's examples, one after the other, until all are handed out."""
        cdef Py_ssize_t number = team.take()
        while number >= 0:
            self.find(team.examples, team.examples.order[number - team.base])
            count_one(&team.done)
            number = team.take()
        return 0

    def serve(self, Team team, Bell bell):
        """The loop of a helping thread, until the team is dissolved."""
        cdef bint goes_on = True
        while goes_on:
            try:
                with nogil:
                    while goes_on:
                        self.find_next(team)
                        goes_on = team.wait(bell)
            except MemoryError as error:
                team.error = error
                count_one(&team.done)

    cdef Examples examples_of(self, object block):
        raise NotImplementedError()

    cdef int refresh(self) except -1:
        return 0

    cdef int guess(self, Examples examples, Py_ssize_t i) except -1 nogil:
        return 0

    cdef void write_guess(self, int32_t *to) noexcept nogil:
        pass

    cdef Py_ssize_t wrong(self) noexcept nogil:
        return 0

    cdef Py_ssize_t fill_trace(self, bint until_lost) noexcept nogil:
        return 0

    cdef void guess_prefix(self, Py_ssize_t prefix) noexcept nogil:
        pass

    cdef double loss(self, Py_ssize_t prefix) noexcept nogil:
        return 0

    cdef float gold_score(self, Py_ssize_t prefix) noexcept nogil:
        return 0

    cdef int begin_next_best(self, Py_ssize_t prefix) except -1 nogil:
        return 0

    cdef bint next_best(self, Py_ssize_t prefix, float *score) noexcept nogil:
        return False

    cdef int collect(self, Py_ssize_t prefix) except -1 nogil:
        return 0

    cdef int moved(self, const Part *part, float weight) except -1:
        return 0

    cdef Finder clone(self):
        raise NotImplementedError()
