# The best few of many states, which come one by one in the order of their numbers.

cdef struct Kept:
    int32_t state
    float score, rank  # it ranks by its score, and at the end of a sentence by what it scores once it stops


cdef struct Beam:
    Py_ssize_t width, count
    Kept *kept  # by descending rank
    Py_ssize_t late_count
    Kept *late  # the first ones that have a score, but rank at -inf because the sentence may not stop there


cdef inline void enter(Beam *beam, int32_t state, float score, float rank) noexcept nogil:
    """Keep the state if it is among the best so far; the lower state where ranks tie."""
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
    """Sort what is kept by state. States that rank at -inf fill up the beam in the order of their numbers, as all states
    without a score would; so one of them has its place if few enough states without a rank come before it."""
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
