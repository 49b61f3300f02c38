# Keeps the best few of many states, which come one by one in the order of their numbers.

cdef struct Kept:
    int32_t state
    float score, rank  # the rank is its score; at the end of a sentence, its score with stop


cdef struct Beam:
    Py_ssize_t width, count
    Kept *kept  # by descending rank
    Py_ssize_t late_count
    Kept *late  # the first ones with a score but the rank -inf, because the sentence must not stop there


cdef inline void enter(Beam *beam, int32_t state, float score, float rank) noexcept nogil:
    """Keep the state if it is among the best so far; the lower state of equal ones."""
    cdef Py_ssize_t i
    if score == NEVER:
        return
    if rank == NEVER:
        if beam.late_count < beam.width:
            beam.late[beam.late_count].state, beam.late[beam.late_count].score = state, score
            beam.late_count += 1
        return
    i = beam.count
    if i == beam.width:
        if rank <= beam.kept[i - 1].rank:
            return
        i -= 1
    else:
        beam.count += 1
    while i > 0 and beam.kept[i - 1].rank < rank:
        beam.kept[i] = beam.kept[i - 1]
        i -= 1
    beam.kept[i].state, beam.kept[i].score, beam.kept[i].rank = state, score, rank


cdef inline void close_beam(Beam *beam) noexcept nogil:
    """Sort what is kept by state. The reference fills the rest of the beam with the first states of rank -inf, those
    without a score included. So a late state is kept if few enough states of rank -inf have lower numbers."""
    cdef Py_ssize_t i, j, before, ranked = beam.count
    cdef Kept one
    for i in range(1, beam.count):
        one, j = beam.kept[i], i
        while j > 0 and beam.kept[j - 1].state > one.state:
            beam.kept[j] = beam.kept[j - 1]
            j -= 1
        beam.kept[j] = one
    for i in range(beam.late_count):
        one, before = beam.late[i], 0
        for j in range(beam.count):
            before += beam.kept[j].state < one.state and beam.kept[j].rank != NEVER
        if one.state - before < beam.width - ranked:
            one.rank = NEVER
            j = beam.count
            while j > 0 and beam.kept[j - 1].state > one.state:
                beam.kept[j] = beam.kept[j - 1]
                j -= 1
            beam.kept[j] = one
            beam.count += 1
