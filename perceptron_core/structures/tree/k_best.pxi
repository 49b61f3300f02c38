# The k best projective trees, one after the other (Huang & Chiang 2005, Algorithm 3; in plain Python: eisner.py).
#
# A span of the chart is made in several ways ("edges"): each has a left and a right part. A derivation is an edge with
# the ranks of its parts. Every span that is asked for keeps its derivations so far, best first, and the candidates for
# the next one; the next best of a part is looked for only when a candidate needs it.

cdef struct Derivation:
    float score
    int32_t edge, left, right  # ranks of the parts


cdef struct Cell:  # of a span
    Span span
    Py_ssize_t begin, count  # its derivations
    Py_ssize_t candidates, candidate_count, candidate_room  # in the pool


cdef bint comes_before(const Derivation *a, const Derivation *b) noexcept nogil:
    """The better score; of equal ones the first edge, then the better ranks."""
    if a.score != b.score:
        return a.score > b.score
    if a.edge != b.edge:
        return a.edge < b.edge
    return a.left < b.left if a.left != b.left else a.right < b.right


cdef class KBest:
    """The next best trees of a filled chart."""

    cdef Chart chart
    cdef ArcScores arcs
    cdef SiblingScores siblings
    cdef Py_ssize_t k, asked
    cdef int32_t *cell_of  # by item and span; -1 for one that was not asked for
    cdef Py_ssize_t places, cell_room, cell_count, pool_size, pool_room
    cdef Cell *cells
    cdef Derivation *pool
    cdef Py_ssize_t *used  # the places of the cells, to clear them
    cdef Py_ssize_t root

    def __init__(self, Chart chart, ArcScores arcs, SiblingScores siblings, Py_ssize_t k):
        self.chart, self.arcs, self.siblings, self.k = chart, arcs, siblings, k

    def __dealloc__(self):
        free(self.cell_of)
        free(self.cells)
        free(self.pool)
        free(self.used)

    cdef int begin(self) except -1 nogil:
        """Begin with the chart as it is; the best tree counts as asked for."""
        cdef Py_ssize_t i, places = (SIBLINGS + 2) * self.chart.stride * self.chart.stride
        cdef Span whole
        if places > self.places:
            self.cell_of = <int32_t *>grown(self.cell_of, places * sizeof(int32_t))
            memset(self.cell_of, 0xFF, places * sizeof(int32_t))
            self.places = places
        else:
            for i in range(self.cell_count):
                self.cell_of[self.used[i]] = -1
        self.cell_count = self.pool_size = 0
        whole.item = ROOT if self.chart.low else COMPLETE_RIGHT
        whole.begin, whole.end = 0, <int32_t>self.chart.n
        self.root = self.cell(whole)
        self.asked = 0
        self.ask(self.root, 0)
        return 0

    cdef bint next(self, int32_t *heads) except -1 nogil:
        """The next best tree; False if there is none."""
        self.asked += 1
        if not self.ask(self.root, self.asked):
            return False
        heads[0] = -1
        self.read(self.root, self.asked, heads)
        return True

    cdef Py_ssize_t cell(self, Span span) except -1 nogil:
        """The number of a span's cell; a new one if it was not asked for before."""
        cdef Py_ssize_t place = (span.item * self.chart.stride + span.begin) * self.chart.stride + span.end
        cdef Cell *made
        cdef Py_ssize_t edge, edges, number
        cdef Derivation candidate
        if self.cell_of[place] >= 0:
            return self.cell_of[place]
        if self.cell_count == self.cell_room:
            self.cell_room = 2 * self.cell_room + 64
            self.cells = <Cell *>grown(self.cells, self.cell_room * sizeof(Cell))
            self.used = <Py_ssize_t *>grown(self.used, self.cell_room * sizeof(Py_ssize_t))
        number, edges = self.cell_count, self.edges(span)
        self.cell_of[place], self.used[number] = <int32_t>number, place
        self.cell_count += 1
        made = &self.cells[number]
        made.span, made.count, made.candidate_count = span, 0, 0
        made.candidate_room = edges + 2 * self.k + 2
        made.begin = self.take(self.k + 1)
        made.candidates = self.take(made.candidate_room)
        candidate.left = candidate.right = 0
        for edge in range(edges):
            candidate.edge = <int32_t>edge
            candidate.score = self.first_score(span, edge)
            if candidate.score > NEVER:
                self.pool[made.candidates + made.candidate_count] = candidate
                made.candidate_count += 1
        return number

    cdef Py_ssize_t take(self, Py_ssize_t size) except -1 nogil:
        """Room for some derivations."""
        cdef Py_ssize_t begin = self.pool_size
        self.pool_size += size
        if self.pool_size > self.pool_room:
            self.pool_room = 2 * self.pool_size
            self.pool = <Derivation *>grown(self.pool, self.pool_room * sizeof(Derivation))
        return begin

    cdef bint ask(self, Py_ssize_t number, Py_ssize_t rank) except -1 nogil:
        """Find the derivations of a cell up to a rank; False if it has not as many."""
        cdef Py_ssize_t i, best
        cdef Cell *cell
        cdef Derivation found
        while self.cells[number].count <= rank:
            cell = &self.cells[number]
            if cell.candidate_count == 0 or cell.count > self.k:
                return False
            best = 0
            for i in range(1, cell.candidate_count):
                if comes_before(&self.pool[cell.candidates + i], &self.pool[cell.candidates + best]):
                    best = i
            found = self.pool[cell.candidates + best]
            cell.candidate_count -= 1
            self.pool[cell.candidates + best] = self.pool[cell.candidates + cell.candidate_count]
            self.pool[cell.begin + cell.count] = found
            cell.count += 1
            # Every derivation has one predecessor: the rank of the left part is raised last.
            self.propose(number, found, 1, 0)
            if found.left == 0:
                self.propose(number, found, 0, 1)
        return True

    cdef int propose(self, Py_ssize_t number, Derivation from_, int left, int right) except -1 nogil:
        """Make the derivation with a raised rank a candidate, if its parts exist."""
        cdef Span span = self.cells[number].span
        cdef Span[2] parts
        cdef Py_ssize_t[2] at
        cdef float[2] scores
        cdef int32_t[2] ranks
        cdef Py_ssize_t i
        cdef Cell *cell
        ranks[0], ranks[1] = from_.left + left, from_.right + right
        self.parts_of(span, from_.edge, parts)
        for i in range(2):
            if parts[i].begin == parts[i].end:  # one word: nothing to derive
                if ranks[i]:
                    return 0
                scores[i] = 0
                continue
            at[i] = self.cell(parts[i])
            if not self.ask(at[i], ranks[i]):
                return 0
            scores[i] = self.pool[self.cells[at[i]].begin + ranks[i]].score
        cell = &self.cells[number]
        from_.left, from_.right = ranks[0], ranks[1]
        from_.score = self.edge_score(span, from_.edge, scores[0], scores[1])
        if from_.score > NEVER and cell.candidate_count < cell.candidate_room:
            self.pool[cell.candidates + cell.candidate_count] = from_
            cell.candidate_count += 1
        return 0

    cdef int read(self, Py_ssize_t number, Py_ssize_t rank, int32_t *heads) except -1 nogil:
        """The arcs of a derivation."""
        cdef Cell *cell = &self.cells[number]
        cdef Derivation found = self.pool[cell.begin + rank]
        cdef Span span = cell.span
        cdef Span[2] parts
        if span.item == INCOMPLETE_RIGHT:
            heads[span.end] = span.begin
        elif span.item == INCOMPLETE_LEFT:
            heads[span.begin] = span.end
        elif span.item == ROOT:
            heads[found.edge + 1] = 0
        self.parts_of(span, found.edge, parts)
        for i in range(2):
            if parts[i].begin != parts[i].end:
                at = self.cell(parts[i])
                self.ask(at, found.left if i == 0 else found.right)
                self.read(at, found.left if i == 0 else found.right, heads)
        return 0

    # ------------------------------------------------------------ how spans are made

    cdef Py_ssize_t edges(self, Span span) noexcept nogil:
        """The number of ways in which a span is made. (With siblings, an arc's first way is without one.)"""
        return span.end if span.item == ROOT else span.end - span.begin

    cdef void parts_of(self, Span span, Py_ssize_t edge, Span *parts) noexcept nogil:
        """The left and the right part. A part of one word is complete and empty."""
        cdef Py_ssize_t s = span.begin, t = span.end, q
        if span.item == COMPLETE_RIGHT:
            self.set_part(parts, INCOMPLETE_RIGHT, s, s + 1 + edge)
            self.set_part(parts + 1, COMPLETE_RIGHT, s + 1 + edge, t)
        elif span.item == COMPLETE_LEFT:
            self.set_part(parts, COMPLETE_LEFT, s, s + edge)
            self.set_part(parts + 1, INCOMPLETE_LEFT, s + edge, t)
        elif span.item == ROOT:
            self.set_part(parts, COMPLETE_LEFT, 1, edge + 1)
            self.set_part(parts + 1, COMPLETE_RIGHT, edge + 1, t)
        elif span.item == SIBLINGS or self.siblings is None:
            self.set_part(parts, COMPLETE_RIGHT, s, s + edge)
            self.set_part(parts + 1, COMPLETE_LEFT, s + edge + 1, t)
        elif span.item == INCOMPLETE_RIGHT:
            if edge == 0:
                self.set_part(parts, COMPLETE_LEFT, s + 1, t)
                self.set_part(parts + 1, COMPLETE_LEFT, t, t)
            else:
                self.set_part(parts, INCOMPLETE_RIGHT, s, s + edge)
                self.set_part(parts + 1, SIBLINGS, s + edge, t)
        elif edge == 0:
            self.set_part(parts, COMPLETE_RIGHT, s, t - 1)
            self.set_part(parts + 1, COMPLETE_RIGHT, s, s)
        else:
            self.set_part(parts, SIBLINGS, s, s + edge)
            self.set_part(parts + 1, INCOMPLETE_LEFT, s + edge, t)

    cdef inline void set_part(self, Span *part, int item, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        part.item, part.begin, part.end = item, <int32_t>begin, <int32_t>end

    cdef float edge_score(self, Span span, Py_ssize_t edge, float left, float right) noexcept nogil:
        """The score of a span made in this way; added in the order of the search."""
        cdef Py_ssize_t h = span.begin, d = span.end
        cdef float score = left + right
        if span.item == ROOT:
            score += self.arcs.arc[edge + 1]
            return score if self.siblings is None else score + self.siblings.first_child(0, edge + 1)
        if span.item == INCOMPLETE_LEFT:
            h, d = d, h
        elif span.item != INCOMPLETE_RIGHT:
            return score
        if d == 0:
            return NEVER
        if self.siblings is None:
            return score + self.arcs.arc[h * self.arcs.stride + d]
        if edge == 0:
            return self.arcs.arc[h * self.arcs.stride + d] + (left + self.siblings.first_child(h, d))
        score += self.siblings.score(h, span.begin + edge, d)
        return self.arcs.arc[h * self.arcs.stride + d] + score

    cdef float first_score(self, Span span, Py_ssize_t edge) noexcept nogil:
        """The score of a way with the best parts."""
        cdef Span[2] parts
        self.parts_of(span, edge, parts)
        return self.edge_score(span, edge, self.best_score(parts[0]), self.best_score(parts[1]))

    cdef float best_score(self, Span span) noexcept nogil:
        if span.begin == span.end:
            return 0
        if span.item == COMPLETE_RIGHT:
            return self.chart.complete_right[self.chart.at(span.begin, span.end)]
        if span.item == COMPLETE_LEFT:
            return self.chart.complete_left[self.chart.at(span.begin, span.end)]
        if span.item == INCOMPLETE_RIGHT:
            return self.chart.incomplete_right[self.chart.at(span.begin, span.end)]
        if span.item == INCOMPLETE_LEFT:
            return self.chart.incomplete_left_by_end[self.chart.at(span.end, span.begin)]
        return self.chart.siblings[self.chart.at(span.begin, span.end)]
