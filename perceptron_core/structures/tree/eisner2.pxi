# The best projective tree, second order (in plain Python, with pseudo-code: eisner2.py).

cdef void fill_second_order(Chart chart, ArcScores scores, SiblingScores siblings) noexcept nogil:
    """Fill a chart in which an arc is scored with its sibling."""
    cdef Py_ssize_t s, t, width
    cdef float best, none
    for width in range(1, chart.n - chart.low + 1):
        for s in range(chart.low, chart.n - width + 1):
            t = s + width
            chart.siblings[chart.at(s, t)] = chart.siblings_by_end[chart.at(t, s)] = chart.join(s, t)
            best = chart.best_right(s, t, siblings.between(s, t))
            none = chart.complete_left[chart.at(s + 1, t)] + siblings.first_child(s, t)
            chart.incomplete_right[chart.at(s, t)] = scores.arc[s * scores.stride + t] + (none if none >= best else best)
            if s == 0:
                chart.incomplete_left_by_end[chart.at(t, s)] = NEVER
            else:
                best = chart.best_left(s, t, siblings.between(t, s))
                none = chart.complete_right[chart.at(s, t - 1)] + siblings.first_child(t, s)
                chart.incomplete_left_by_end[chart.at(t, s)] = (
                    scores.arc[t * scores.stride + s] + (none if none >= best else best)
                )
            chart.complete(s, t)
