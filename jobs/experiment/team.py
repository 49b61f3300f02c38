"""The clock of P processors that decode the sentences of a minibatch together, computed from the times of one.

    for each minibatch:                                     # Zhao & Huang 2013, Algorithm 5
        its sentences, the longest first, each to the processor that is free first
        when the last one is decoded:  one processor updates the weights

So an epoch takes the sum over its minibatches of the longest processor's time, and everything else that it took on one
processor: updates, and in the first epoch reading the shard. The cost of threads themselves is left out; a run with
--threads shows it.
"""

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from perceptron_core.schema import list_of, number, record, whole

TEAM_CAPTION = (
    "With a minibatch, the clock is that of several processors which decode its sentences together, computed from the "
    "measured time of every sentence; one of them does everything else."
)


DECODING_FILE = record({"tokens": list_of(whole()), "seconds": list_of(number()), "updates": number()})

Sentence = tuple[int, float]  # tokens, and seconds to decode them


class Decoding(NamedTuple):
    """The sentences of a shard, in its order."""

    tokens: list[int]
    seconds: list[float]  # to decode each
    updates: float  # seconds of everything else in a pass over them

    def minibatches(self, size: int) -> Iterator[list[Sentence]]:
        sentences = list(zip(self.tokens, self.seconds))
        for begin in range(0, len(sentences), size):
            yield sentences[begin : begin + size]


class Team(NamedTuple):
    alone: float  # seconds that one processor needs to decode an epoch's sentences
    together: float  # seconds that the team needs
    waiting: float  # the share of its time that the team spends waiting for its slowest member
    waiting_in_order: float  # the same, if sentences were not handed out by length
    loop: float  # how many times faster a pass over the shard is, with nothing around it but decoding and updates

    def instead_of(self, seconds: float) -> float:
        """What the team would need for an epoch that took one processor this long."""
        return max(0.0, seconds - self.alone) + self.together


def make_team(decoding: Decoding, minibatch: int, processors: int) -> Team:
    minibatches = list(decoding.minibatches(minibatch))
    alone = sum(decoding.seconds)
    together = sum(longest_first(each, processors) for each in minibatches)
    unbalanced = sum(in_order(each, processors) for each in minibatches)
    # Rounded and not below 0, since sums in another order differ in their last digits.
    waiting, waiting_in_order = (
        max(0.0, round(1 - alone / (processors * seconds), 6)) for seconds in (together, unbalanced)
    )
    loop = (alone + decoding.updates) / (together + decoding.updates)
    return Team(alone, together, waiting, waiting_in_order, loop)


def longest_first(sentences: Sequence[Sentence], processors: int) -> float:
    """Seconds until all are decoded, if a free processor takes the longest sentence that is left, as --threads does."""
    free_at = [0.0] * processors
    for _, seconds in sorted(sentences, key=lambda sentence: -sentence[0]):
        heapq.heapreplace(free_at, free_at[0] + seconds)
    return max(free_at)


def in_order(sentences: Sequence[Sentence], processors: int) -> float:
    """Seconds until all are decoded, if each processor gets an equal number of sentences, in their order."""
    cuts = [len(sentences) * processor // processors for processor in range(processors + 1)]
    return max(sum(seconds for _, seconds in sentences[begin:end]) for begin, end in zip(cuts, cuts[1:]))
