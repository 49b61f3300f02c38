# Second-order sequences: the guess against the gold labels, the next best and Δ (in plain Python: second_order.py).


cdef void incoming_of_slot(void *finder, Py_ssize_t t, int32_t slot, Incoming *into) noexcept nogil:
    cdef int32_t p, c
    (<PairSearch>finder).labels_at(t, slot, &p, &c)
    (<PairSearch>finder).incoming_pair(t, p, c, into)


cdef class SecondOrderFinder(PairSearch):
    """Finds the constraints of a sentence by the searches over pairs of labels."""

    cdef Finder clone(self):
        cdef SecondOrderFinder other = SecondOrderFinder(
            self.labels, self.emissions, self.pairs, self.transitions, self.triples.bank,
            np.asarray(self.triples.hashes), self.settings, np.asarray(self.allowed)
        )
        other.score, other.ceiling, other.triples = self.score, self.ceiling, self.triples
        return other

    cdef Py_ssize_t fill_trace(self, bint until_lost) noexcept nogil:
        cdef Py_ssize_t t, n = self.sentence.length
        cdef const int32_t *gold = self.sentence.gold
        cdef float score = 0
        cdef int32_t slot, q, p, c
        for t in range(n):
            if until_lost:
                p = gold[t - 1] if t else <int32_t>self.labels
                self.trace[t].kept = self.score_of(t, p, gold[t]) != NEVER
                if t > 1 and self.trace[t].kept:
                    self.labels_at(t - 1, self.slot_before(t, p, gold[t]), &q, &p)
                    self.trace[t].kept = q == gold[t - 2]
                if not self.trace[t].kept:
                    return t + 1
            else:
                slot = self.best_slot(t)
                score = self.add_gold(score, t)
                self.trace[t].best, self.trace[t].gold = NEVER, score
                if slot >= 0:
                    self.trace[t].best = self.scores[t * self.slots + slot]
                if t == n - 1:
                    self.labels_at(t, slot, &p, &c)
                    self.trace[t].gold += self.transitions.value(<int32_t>(self.labels + 1), gold[t])
                    self.trace[t].best += self.score[self.labels + 1, c]
        return n

    cdef inline float add_gold(self, float score, Py_ssize_t t) noexcept nogil:
        """The score of the gold labels up to token t, from that up to the token before."""
        cdef const int32_t *gold = self.sentence.gold
        cdef float emit = self.emit[t * self.width + gold[t]]
        if t == 0:
            return (score + self.gold_step(t)) + emit
        if t > 1:
            score += self.triples.value(&self.sentence, t, gold[t - 2], gold[t - 1], gold[t])
        return score + (self.gold_step(t) + emit)

    cdef float gold_score(self, Py_ssize_t prefix) noexcept nogil:
        cdef Py_ssize_t t
        cdef float score = 0
        for t in range(prefix):
            score = self.add_gold(score, t)
        if prefix == self.sentence.length:
            score += self.transitions.value(<int32_t>(self.labels + 1), self.sentence.gold[prefix - 1])
        return score

    cdef int begin_next_best(self, Py_ssize_t prefix) except -1 nogil:
        cdef Py_ssize_t i
        cdef int32_t p, c
        for i in range(self.slots if self.exact else self.counts[prefix - 1]):
            self.labels_at(prefix - 1, <int32_t>i, &p, &c)
            self.stops[i] = self.score[self.labels + 1, c]
        self.k_best.search(<void *>self, incoming_of_slot, self.scores, self.slots)
        return self.k_best.begin(prefix, max(self.slot_path[prefix - 1], 0))

    cdef bint next_best(self, Py_ssize_t prefix, float *score) noexcept nogil:
        cdef Py_ssize_t t
        cdef int32_t p
        cdef const float *stop = self.stops if prefix == self.sentence.length else NULL
        if self.slot_path[prefix - 1] < 0:  # not even the best sequence is possible
            return False
        if not self.k_best.next(
            prefix, self.slots if self.exact else self.counts[prefix - 1], stop, self.slot_path, score
        ):
            return False
        for t in range(prefix):
            self.labels_at(t, self.slot_path[t], &p, &self.path[t])
        return True

    cdef int collect(self, Py_ssize_t prefix) except -1 nogil:
        cdef Py_ssize_t t
        for t in range(prefix):
            self.collect_token(t)
            if t > 1:
                self.collect_triples(t)
        return self.collect_stop(prefix)

    cdef int collect_triples(self, Py_ssize_t t) except -1 nogil:
        """The triple features' part of Δ at token t, then the skip features'."""
        cdef const Sentence *own = &self.sentence
        cdef Py_ssize_t j
        cdef const int32_t *gold = own.gold + t - 2
        cdef const int32_t *path = self.path + t - 2
        if gold[0] == path[0] and gold[1] == path[1] and gold[2] == path[2]:
            return 0
        for j in range(own.triple_starts[t], own.triple_starts[t + 1]):
            self.add_triple(own.triple_ids[j], WITH_BOTH, gold, 1)
            self.add_triple(own.triple_ids[j], WITH_BOTH, path, -1)
        for j in range(own.skip_starts[t], own.skip_starts[t + 1]):
            self.add_triple(own.skip_ids[j], WITH_SECOND, gold, 1)
            self.add_triple(own.skip_ids[j], WITH_SECOND, path, -1)
        return 0

    cdef int add_triple(self, Py_ssize_t feature, int joined, const int32_t *labels, double count) except -1 nogil:
        """Add one feature, joined with three labels."""
        cdef int32_t q = labels[0], p = labels[1]
        cdef int32_t place = self.delta.add(TRIPLES, self.triples.key_of(feature, joined, q, p), labels[2], count)
        cdef Part *parts = self.delta.parts
        parts[place].origin = self.triples.origin(feature, joined, p * self.labels + q if joined == WITH_BOTH else q)
        return 0
