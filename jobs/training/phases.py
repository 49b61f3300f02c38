"""Where an epoch's seconds go: submitting its job, mapping, shuffling, reducing, publishing.

Every task reports when it began and ended its work, so the phases are known on all runners without asking any service.
The clocks of several machines differ a little; therefore a phase that would be negative counts as 0.
"""

from collections.abc import Sequence
from itertools import accumulate

PHASES = ("submit", "map", "shuffle", "reduce", "publish")

Interval = Sequence[float]  # from, to: seconds since 1970


def seconds_by_phase(
    began: float, mappers: Sequence[Interval], reducers: Sequence[Interval], ended: float
) -> dict[str, float]:
    """The seconds until the first mapper began, until the last one ended, until the first reducer began, and so on."""
    marks = [
        began,
        min(start for start, _ in mappers),
        max(end for _, end in mappers),
        min(start for start, _ in reducers),
        max(end for _, end in reducers),
        ended,
    ]
    ordered = [min(mark, ended) for mark in accumulate(marks, max)]
    return {name: to - since for name, since, to in zip(PHASES, ordered, ordered[1:])}
