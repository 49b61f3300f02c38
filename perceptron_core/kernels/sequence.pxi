# Sequences: training by the violated constraints that the search finds.

cdef enum Update:
    STANDARD, EARLY, MAX_VIOLATION

cdef enum Rule:
    PERCEPTRON, PA, PA1, PA2, MIRA

UPDATES = {"standard": STANDARD, "early": EARLY, "max-violation": MAX_VIOLATION}
RULES = {"perceptron": PERCEPTRON, "pa": PA, "pa1": PA1, "pa2": PA2, "mira": MIRA}


cdef class ConstraintFinder(KBestSearch):
    """Decodes sentences and keeps the constraints that they violate; a thread has one of its own."""

    cdef int rule, when
    cdef bint transitions, start_stop
    cdef Py_ssize_t number  # which thread's
    cdef Delta delta
    cdef Constraints found

    def __cinit__(self, Py_ssize_t labels, WeightRows emissions, WeightRows pairs, settings, allowed):
        self.rule = RULES[settings.learner]
        self.when = UPDATES[settings.update]
        self.transitions, self.start_stop = settings.transitions, settings.start_stop
        self.delta = Delta()
        self.found = Constraints()

    cdef int collect_delta(
        self,
        Py_ssize_t n,
        bint whole,
        const int32_t *gold,
        const int32_t *starts,
        const int32_t *ids,
        const int32_t *pair_starts,
        const int32_t *pair_ids,
    ) except -1 nogil:
        """Δ = Φ(gold) - Φ(path) over the first n tokens; `whole` if that is the whole sentence."""
        cdef Py_ssize_t t, j
        cdef double value = 1
        cdef int32_t right, wrong
        cdef int32_t right_before = <int32_t>self.labels, wrong_before = <int32_t>self.labels
        self.delta.clear()
        for t in range(n):
            right, wrong = gold[t], self.path[t]
            if right != wrong:
                for j in range(starts[t], starts[t + 1]):
                    if self.values != NULL:
                        value = self.values[j]
                    self.delta.add(EMISSION, ids[j], right, value)
                    self.delta.add(EMISSION, ids[j], wrong, -value)
            if right != wrong or right_before != wrong_before:
                if (self.transitions and t) or (self.start_stop and not t):
                    self.delta.add(TRANSITION, right_before, right, 1)
                    self.delta.add(TRANSITION, wrong_before, wrong, -1)
                if t and pair_starts != NULL:
                    for j in range(pair_starts[t], pair_starts[t + 1]):
                        self.delta.add(PAIR, <int32_t>(pair_ids[j] * self.labels + right_before), right, 1)
                        self.delta.add(PAIR, <int32_t>(pair_ids[j] * self.labels + wrong_before), wrong, -1)
            right_before, wrong_before = right, wrong
        if whole and self.start_stop and right_before != wrong_before:
            self.delta.add(STOP, 0, right_before, 1)
            self.delta.add(STOP, 0, wrong_before, -1)
        return 0

    cdef inline float part_weight(self, DeltaPart *part) noexcept nogil:
        if part.kind == EMISSION:
            return self.emissions.value(part.feature, part.label)
        if part.kind == PAIR:
            return self.pairs.value(part.feature, part.label)
        return self.weight[part.feature if part.kind == TRANSITION else self.labels + 1, part.label]

    cdef int guess(self, Sentences sentences, Py_ssize_t i) except -1 nogil:
        """The best labels of a sentence, into `path`."""
        cdef Py_ssize_t n = sentences.lengths[i], begin = sentences.begins[i]
        cdef const int32_t *pair_starts = sentences.pair_starts_at(begin)
        self.make_room(n)
        self.values = sentences.value
        self.score_tokens(n, &sentences.starts[begin], sentences.id)
        self.forward(n, pair_starts, sentences.pair_id)
        self.trace(n, self.best_label(n - 1, True), pair_starts, sentences.pair_id)
        return 0

    cdef int find(self, Sentences sentences, Py_ssize_t i) except -1 nogil:
        """Decode a sentence, and keep the constraints that it violates."""
        cdef Py_ssize_t t, n = sentences.lengths[i], begin = sentences.begins[i], prefix = n, others
        cdef const int32_t *gold = &sentences.gold[begin]
        cdef const int32_t *pair_starts = sentences.pair_starts_at(begin)
        cdef const int32_t *pair_ids = sentences.pair_id
        cdef Outcome *outcome = &sentences.outcomes[i]
        cdef float score, bar
        self.guess(sentences, i)
        outcome.finder, outcome.wrong = self.number, 0
        outcome.first = outcome.last = self.found.count
        for t in range(n):
            outcome.wrong += self.path[t] != gold[t]
        if outcome.wrong:
            if self.when == EARLY:
                prefix = self.early(n, gold, pair_starts, pair_ids) or n
            elif self.when == MAX_VIOLATION:
                prefix = self.max_violation(n, gold, pair_starts, pair_ids)
            if prefix < n:
                self.trace(prefix, self.best_label(prefix - 1, False), pair_starts, pair_ids)
            self.keep_constraint(sentences, i, prefix)
        if self.k > 1:
            bar = self.gold_score(prefix, prefix == n, gold, pair_starts, pair_ids)
            self.begin_sequences(prefix)
            for others in range(1, self.k):
                if not self.next_sequence(prefix, prefix == n, &score, pair_starts, pair_ids) or score < bar:
                    break
                self.keep_constraint(sentences, i, prefix)
        outcome.last = self.found.count
        return 0

    cdef int keep_constraint(self, Sentences sentences, Py_ssize_t i, Py_ssize_t prefix) except -1 nogil:
        """That the first gold labels should score higher than `path`, unless it has the same features."""
        cdef Py_ssize_t j, n = sentences.lengths[i], begin = sentences.begins[i]
        cdef const int32_t *gold = &sentences.gold[begin]
        cdef double loss = 0, margin = 0, norm = 0
        cdef DeltaPart *part
        self.collect_delta(
            prefix, prefix == n, gold, &sentences.starts[begin], sentences.id, sentences.pair_starts_at(begin),
            sentences.pair_id
        )
        for j in range(self.delta.count):
            part = &self.delta.parts[j]
            norm += part.count * part.count
            if self.rule != PERCEPTRON:
                margin += part.count * <double>self.part_weight(part)
        for j in range(prefix):
            loss += self.path[j] != gold[j]
        if norm != 0:
            self.found.add(self.delta.parts, self.delta.count, loss, margin, norm)
        return 0

    cdef int find_next(self, Team team) except -1 nogil:
        """Find the constraints of one sentence of the team's after the other, until all are handed out."""
        cdef Py_ssize_t number = team.take()
        while number >= 0:
            self.find(team.sentences, team.sentences.order[number - team.base])
            count_one(&team.done)
            number = team.take()
        return 0

    def serve(self, Team team, Bell bell):
        """What a helping thread does, until the team is dissolved."""
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


cdef class SequenceKernel(ConstraintFinder):
    """Decodes and trains first-order sequence models; see `reference.SequenceKernel` for the algorithm in the plain."""

    cdef double cap
    cdef Py_ssize_t minibatch
    cdef public double seen  # examples so far
    cdef object lag_array, touched_array
    cdef double[:, ::1] lag  # of the transitions
    cdef uint8_t[:, ::1] touched
    cdef Constraints constraints  # of the minibatch so far
    cdef Py_ssize_t gathered  # how many examples of the minibatch these are of
    cdef Combination combination
    cdef object settings
    cdef Team team  # None if it decodes alone
    cdef list helpers  # for the threads beside its own

    def __cinit__(self, Py_ssize_t labels, WeightRows emissions, WeightRows pairs, settings, allowed):
        self.settings, self.helpers = settings, []
        self.cap = settings.cap()
        self.minibatch = settings.minibatch
        self.lag_array = np.zeros((labels + 2, self.width))
        self.touched_array = np.zeros((labels + 2, self.width), np.uint8)
        self.lag, self.touched = self.lag_array, self.touched_array
        self.constraints = Constraints()
        self.combination = Combination()

    def transition_state(self):
        """(weights, lags, touched) of the transitions, (L+2) × L each."""
        n = self.labels
        return self.weight_array[:, :n].copy(), self.lag_array[:, :n].copy(), self.touched_array[:, :n].copy()

    cdef int change_part(self, DeltaPart *part, double amount, double seen) except -1:
        cdef Py_ssize_t p
        cdef float old
        if part.kind == EMISSION:
            return self.emissions.change(part.feature, part.label, amount, seen)
        if part.kind == PAIR:
            return self.pairs.change(part.feature, part.label, amount, seen)
        p = part.feature if part.kind == TRANSITION else self.labels + 1
        old = self.weight[p, part.label]
        self.weight[p, part.label] = <float>(old + amount)
        self.lag[p, part.label] += seen * (<double>self.weight[p, part.label] - <double>old)
        self.touched[p, part.label] = 1
        if self.allowed[p, part.label]:
            self.score[p, part.label] = self.weight[p, part.label]
            if part.kind == TRANSITION and p < self.labels:
                self.ceiling[part.label] = max(self.ceiling[part.label], self.score[p, part.label])
        return 0

    cdef double step(self, double loss, double margin, double norm) noexcept:
        """How far to go along Δ: the learner's rule on scalars (see perceptron_core/learners)."""
        cdef double lacking = max(0.0, loss - margin)
        if self.rule == PERCEPTRON:
            return 1.0
        if self.rule == PA2:
            return lacking / (norm + 1.0 / (2.0 * self.cap))
        if self.rule == PA1 or self.rule == MIRA:
            return min(self.cap, lacking / norm)
        return lacking / norm

    def flush(self):
        """Update by the minibatch as far as it has come, which a pass's end may cut short: how many updates, 0 or 1."""
        return self.update()

    cdef Py_ssize_t update(self) except -1:
        """w ← w + Σ α_c Δ_c over the constraints of the minibatch, each weight once; 0 if nothing moves."""
        cdef Constraints found = self.constraints
        cdef Py_ssize_t moved = 0
        self.gathered = 0
        if found.count == 1:
            moved = self.move(
                found.parts, found.part_count, self.step(found.items[0].loss, found.items[0].margin, found.items[0].norm)
            )
        elif found.count:
            self.combination.unite(found)
            if self.rule == PERCEPTRON:
                self.combination.take_mean(found)
            else:
                self.combination.solve(found, self.cap)
            self.combination.combine(found)
            moved = self.move(self.combination.parts, self.combination.count, 1.0)
        found.clear()
        return moved

    cdef bint move(self, DeltaPart *parts, Py_ssize_t count, double multiplier) except -1:
        """Change the weights; the example seen last is the one that changes them."""
        cdef Py_ssize_t i
        cdef double amount
        cdef bint moved = False
        self.emissions.update += 1
        self.pairs.update += 1
        for i in range(count):
            amount = multiplier * parts[i].count
            if amount != 0:
                self.change_part(&parts[i], amount, self.seen - 1)
                moved = True
        return moved

    # ------------------------------------------------------------ a pass over sentences

    def use_threads(self, Py_ssize_t threads):
        """Decode the sentences of a minibatch by so many threads; the result is the same."""
        cdef ConstraintFinder helper
        if self.team is not None:
            self.team.dissolve()
        self.team, self.helpers = Team() if threads > 1 else None, []
        for number in range(1, threads):
            helper = ConstraintFinder(
                self.labels, self.emissions, self.pairs, self.settings, np.asarray(self.allowed)
            )
            helper.number = number
            helper.share_transitions(self)
            self.helpers.append(helper)
            bell = Bell()
            self.team.bells.append(bell)
            Thread(target=helper.serve, args=(self.team, bell), daemon=True).start()

    def __del__(self):
        if self.team is not None:
            self.team.dissolve()

    cdef int find_all(self, Sentences sentences, Py_ssize_t first, Py_ssize_t last) except -1:
        """The constraints of some sentences of a minibatch, by all threads."""
        cdef Py_ssize_t i
        cdef Team team = self.team
        cdef ConstraintFinder helper
        self.found.clear()
        if last == first + 1 and sentences.lengths[first] == 1:  # is done sooner than the lock is let go and taken again
            self.find(sentences, first)
            return 0
        if team is None:
            with nogil:
                for i in range(first, last):
                    self.find(sentences, i)
            return 0
        for helper in self.helpers:
            helper.found.clear()
        team.give_out(sentences, team.last - first, team.last + last - first)
        with nogil:
            self.find_next(team)
            team.finish()
        if team.error is not None:
            raise team.error
        return 0

    def train(self, block):
        """Training on a block's sentences, in order: (wrong sentences, updates, wrong tokens)."""
        cdef Sentences sentences = Sentences(block)
        cdef Py_ssize_t i, j, first = 0, last, errors = 0, updates = 0, wrong_tokens = 0
        cdef Outcome *outcome
        cdef ConstraintFinder finder
        if self.helpers:
            sentences.sort_minibatches(self.gathered, self.minibatch)
        while first < sentences.count:
            last = min(sentences.count, first + self.minibatch - self.gathered)
            self.find_all(sentences, first, last)
            for i in range(first, last):
                outcome = &sentences.outcomes[i]
                errors += outcome.wrong > 0
                wrong_tokens += outcome.wrong
                if outcome.first < outcome.last:
                    finder = self.helpers[outcome.finder - 1] if outcome.finder else self
                    for j in range(outcome.first, outcome.last):
                        self.constraints.add_from(finder.found, j)
            self.seen += last - first
            self.gathered += last - first
            if self.gathered == self.minibatch:
                updates += self.update()
            first = last
        return errors, updates, wrong_tokens

    def decode(self, block):
        """The best labels of every token of the block."""
        cdef Sentences sentences = Sentences(block)
        guesses_array = np.empty(sentences.starts.shape[0] - 1, np.int32)
        cdef int32_t[::1] guesses = guesses_array
        cdef Py_ssize_t i
        for i in range(sentences.count):
            if sentences.lengths[i] == 1:  # as in find_all
                self.guess(sentences, i)
            else:
                with nogil:
                    self.guess(sentences, i)
            memcpy(&guesses[sentences.begins[i]], self.path, sentences.lengths[i] * sizeof(int32_t))
        return guesses_array
