"""The first epoch in rounds: the shards are mixed several times while they are read for the first time.

    for round r in 1 … R:                                # with R = 1: the papers' first epoch
        each shard trains on the r-th part of its sentences, from the same mixed weights
        mix

What training loses with many shards, it loses in the first epoch. Every shard begins it without weights, and learns
only from its own few sentences. With a hundred shards the mixed weights then know only what a hundredth of the corpus
teaches, and later epochs hardly correct the weights of rare features. After R rounds a shard has learnt from its own
sentences and, R − 1 times, from all other shards. Later epochs gain nothing from rounds.

CoNLL-2003, dev F1 of the averaged weights after 1, 2, 5 and 15 epochs, row mixing, means of three seeds (the runs of
`perceptron experiment rounds --full`); serial training has 85.7, 88.4, 89.9 and 90.6:

    S      one round                 four                      eight
    10     78.7  84.7  89.2  90.4    83.4  87.7  89.8  90.6    85.1  87.9  89.7  90.4
    50     72.2  82.6  88.4  89.9    83.2  87.7  89.5  90.4    85.6  88.4  89.9  90.7
    100    67.7  82.0  88.4  90.0    82.4  87.5  89.4  90.3    85.6  88.4  89.7  90.4

With few shards a few rounds are enough: on five shards, two rounds did as well as five. A round is one more job, not
one more pass over the corpus. Rounds of growing size (1/16, 1/16, 1/8, 1/4, 1/2), which are fewer jobs, were tried and
are between four and eight equal ones. Another divisor in the first epoch was tried, too, and gained nothing. Theorem 3
of McDonald et al. 2010 does not ask how the sentences of a shard are spread over its epochs, so what holds for a mixing
strategy holds with rounds, too.
"""

from collections.abc import Iterator
from typing import NamedTuple

from perceptron_core.training.mixing import CERTAIN

ROUNDS = 8  # at most, unless the option says otherwise


class RoundPart(NamedTuple):
    """Which part of every shard a round trains on; the sizes of the parts differ by one sentence at most."""

    number: int = 0
    rounds: int = 1

    def span(self, sentences: int) -> tuple[int, int]:
        """The number of the part's first sentence, and of the first one after it, in a shard with these sentences."""
        return sentences * self.number // self.rounds, sentences * (self.number + 1) // self.rounds


WHOLE = RoundPart()


def parts(rounds: int) -> Iterator[RoundPart]:
    return (RoundPart(number, rounds) for number in range(rounds))


def usual_rounds(mixing: str, shards: int, local_epochs: int, has_weights: bool) -> int:
    """The default number of rounds of the first epoch: one for every two shards, if training starts without weights.
    The papers' strategies mix once per epoch, as in the papers; so does training with several local epochs."""
    if mixing in CERTAIN or has_weights or local_epochs > 1:
        return 1
    return max(1, min(ROUNDS, shards // 2))
