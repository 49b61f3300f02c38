# The trainer: minibatches, threads, updates and averages, for any structure.


cdef class Trainer:
    """Finds the violated constraints of a minibatch and updates by them (in plain Python: reference/trainer.py)."""

    cdef readonly Finder finder
    cdef int rule
    cdef double cap
    cdef Py_ssize_t minibatch
    cdef public double seen  # examples so far
    cdef Constraints constraints  # of the minibatch so far
    cdef Py_ssize_t gathered  # how many examples of the minibatch were searched
    cdef Combination combination
    cdef Team team  # None if there is only one thread
    cdef list helpers  # the finders of the other threads

    def __init__(self, Finder finder not None, settings):
        self.finder, self.helpers = finder, []
        self.rule = RULES[settings.learner]
        self.cap = settings.cap()
        self.minibatch = settings.minibatch
        self.constraints = Constraints()
        self.combination = Combination()

    def use_threads(self, Py_ssize_t threads):
        """Search the examples of a minibatch in this number of threads; the result is the same."""
        cdef Finder helper
        if self.team is not None:
            self.team.dissolve()
        self.team, self.helpers = Team() if threads > 1 else None, []
        for number in range(1, threads):
            helper = self.finder.clone()
            helper.number = number
            self.helpers.append(helper)
            bell = Bell()
            self.team.bells.append(bell)
            Thread(target=helper.serve, args=(self.team, bell), daemon=True).start()

    def __del__(self):
        if self.team is not None:
            self.team.dissolve()

    def train(self, block):
        """Train on a block's examples, in order: (wrong examples, updates, how much of them is wrong)."""
        cdef Examples examples = self.finder.examples_of(block)
        cdef Py_ssize_t i, j, first = 0, last, errors = 0, updates = 0, wrong = 0
        cdef Outcome *outcome
        cdef Finder finder
        self.finder.refresh()
        if self.helpers:
            examples.sort_minibatches(self.gathered, self.minibatch)
        while first < examples.count:
            last = min(examples.count, first + self.minibatch - self.gathered)
            self.find_all(examples, first, last)
            for i in range(first, last):
                outcome = &examples.outcomes[i]
                errors += outcome.wrong > 0
                wrong += outcome.wrong
                if outcome.first < outcome.last:
                    finder = self.helpers[outcome.finder - 1] if outcome.finder else self.finder
                    for j in range(outcome.first, outcome.last):
                        self.constraints.add_from(finder.found, j)
            self.seen += last - first
            self.gathered += last - first
            if self.gathered == self.minibatch:
                updates += self.update()
            first = last
        return errors, updates, wrong

    cdef int find_all(self, Examples examples, Py_ssize_t first, Py_ssize_t last) except -1:
        """Find the constraints of some examples of a minibatch, in all threads."""
        cdef Py_ssize_t i
        cdef Team team = self.team
        cdef Finder finder = self.finder, helper
        finder.found.clear()
        if last == first + 1 and examples.sizes[first] == 1:  # faster than releasing the lock and acquiring it again
            finder.find(examples, first)
            return 0
        if team is None:
            with nogil:
                for i in range(first, last):
                    finder.find(examples, i)
            return 0
        for helper in self.helpers:
            helper.found.clear()
        team.give_out(examples, team.last - first, team.last + last - first)
        with nogil:
            finder.find_next(team)
            team.finish()
        if team.error is not None:
            raise team.error
        return 0

    def flush(self):
        """Update by the last minibatch of a pass, which may not be full; returns the number of updates, 0 or 1."""
        return self.update()

    cdef Py_ssize_t update(self) except -1:
        """w ← w + Σ α_c Δ_c over the constraints of the minibatch, each weight once; 0 if nothing moves."""
        cdef Constraints found = self.constraints
        cdef Py_ssize_t moved = 0
        self.gathered = 0
        if found.count == 1:
            moved = self.move(found.parts, found.part_count, step_along(self.rule, self.cap, &found.items[0]))
        elif found.count:
            self.combination.unite(found)
            if self.rule == PERCEPTRON:
                self.combination.take_mean(found)
            else:
                self.combination.solve(found, self.cap)
            self.combination.combine(found)
            moved = self.move(self.combination.sum.parts, self.combination.sum.count, 1.0)
        found.clear()
        return moved

    cdef bint move(self, const Part *parts, Py_ssize_t count, double multiplier) except -1:
        """Change the weights, after the example that was seen last; False if nothing moves."""
        cdef Finder finder = self.finder
        cdef Py_ssize_t i
        cdef int32_t number
        cdef double amount
        cdef float weight
        cdef bint moved = False
        cdef const Part *part
        for i in range(finder.bank_count):
            (<Bank>finder.bank_at[i]).update += 1
        for i in range(count):
            part = &parts[i]
            amount = multiplier * part.count
            if amount == 0:
                continue
            moved, number = True, <int32_t>part.feature
            if finder.keys_at[part.bank] != NULL:
                number = (<KeyedBank>finder.keys_at[part.bank]).number_for(part.feature)
            weight = (<Bank>finder.bank_at[part.bank]).change(number, part.label, amount, self.seen - 1)
            if (finder.watched >> part.bank) & 1:
                finder.moved(part, weight)
        return moved

    def decode(self, block):
        """The best guess of every example of the block; with several columns, one row per unit."""
        cdef Finder finder = self.finder
        cdef Examples examples = finder.examples_of(block)
        guesses_array = np.zeros(examples.guess_size * examples.columns, np.int32)
        cdef int32_t[::1] guesses = guesses_array
        cdef Py_ssize_t i
        finder.refresh()
        for i in range(examples.count):
            if examples.sizes[i] == 1:  # as in find_all
                finder.guess(examples, i)
            else:
                with nogil:
                    finder.guess(examples, i)
            finder.write_guess(&guesses[examples.begins[i] * examples.columns])
        return guesses_array if examples.columns == 1 else guesses_array.reshape(-1, examples.columns)
