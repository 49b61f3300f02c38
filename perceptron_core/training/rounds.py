"""The first epoch in rounds: the shards are mixed several times while they are read for the first time.

    for round r in 1 … R:                                # with R = 1: the papers' first epoch
        each shard trains on the r-th part of its sentences, from the same mixed weights
        mix

What many shards cost is lost in the first epoch. Every shard begins it with nothing and ends it with what its own few
sentences teach; at a hundred shards the mixed weights then know as much as a hundredth of the corpus teaches, and the
weights of rare features are those of a beginner, which later epochs hardly touch. After R rounds a shard has learnt
from its own part and, R − 1 times, from all the others. Later epochs gain nothing from rounds.

CoNLL-2003, dev F1 of the averaged weights after 1, 2, 5 and 15 epochs, row mixing, means of three seeds (the runs of
`perceptron experiment rounds --full`); serial training has 85.7, 88.4, 89.9 and 90.6:

    S      one round                 four                      eight
    10     78.7  84.7  89.2  90.4    83.4  87.7  89.8  90.6    85.1  87.9  89.7  90.4
    50     72.2  82.6  88.4  89.9    83.2  87.7  89.5  90.4    85.6  88.4  89.9  90.7
    100    67.7  82.0  88.4  90.0    82.4  87.5  89.4  90.3    85.6  88.4  89.7  90.4

With few shards a few rounds are enough: two on five shards did as well as five. A round is one more job, not one more
pass over the corpus. Rounds of growing size (1/16, 1/16, 1/8, 1/4, 1/2), which are fewer jobs, were tried and are
between four and eight equal ones; so was a first epoch with another divisor: no gain. Theorem 3 of McDonald et al. 2010
does not ask how the sentences of a shard are spread over its epochs, so what holds for a mixing strategy holds with
rounds, too.
"""

from collections.abc import Iterator
from typing import NamedTuple

from perceptron_core.training.mixing import CERTAIN

ROUNDS = 8  # at most, if nobody says


class RoundPart(NamedTuple):
    """Which part of every shard a round trains on: equal ones, but for a sentence."""

    number: int = 0
    rounds: int = 1

    def span(self, sentences: int) -> tuple[int, int]:
        """From which sentence of a shard of so many to before which."""
        return sentences * self.number // self.rounds, sentences * (self.number + 1) // self.rounds


WHOLE = RoundPart()


def parts(rounds: int) -> Iterator[RoundPart]:
    return (RoundPart(number, rounds) for number in range(rounds))


def usual_rounds(mixing: str, shards: int, local_epochs: int, has_weights: bool) -> int:
    """How many rounds the first epoch has if nobody says: one for every two shards, where they begin with nothing. The
    papers' strategies are mixed once an epoch, as in the papers; who asks for many passes before mixing shall have
    them."""
    if mixing in CERTAIN or has_weights or local_epochs > 1:
        return 1
    return max(1, min(ROUNDS, shards // 2))
