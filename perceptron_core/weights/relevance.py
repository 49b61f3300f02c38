"""Sparse models: a feature stays out of scoring until it has proved relevant (Goldberg & Elhadad 2011).

    U = 0                                                    # one count per feature, for all its labels
    for each sentence (x, y):
        z = argmax over z of Σ w_f · Φ_f(x, z), over the features f with U_f ≥ min_updates
        if z ≠ y:  w ← w + τ (Φ(x, y) − Φ(x, z))             # all features, including the hidden ones
                   U_f ← U_f + 1 for every f that this moved  # once, for any number of labels

So a feature that becomes relevant has the weights of all its updates. Every key of a row is a feature: an emission, or
a label-bigram feature together with the previous label. Transitions, of which there are at most labels × (labels + 2),
are relevant from the start: hiding them would save nothing.

All weights are averaged and mixed, hidden or not: in the paper the counts only affect the scoring function, and a
feature behaves "as if it was there from the beginning". The counts of an epoch are summed over the shards (mixing.py),
and each shard starts the next epoch with the sum. Counting stops at min_updates.

The margin w·Δ that decides the step of passive-aggressive learners is computed from the relevant features only. With
all of w, a wrong sentence could have a large enough margin: then nothing would move, and its features would stay
hidden.

The epochs of a run contain all features with their counts, which a resumed run needs; the model that users get contains
only the relevant features, without counts.

Reference: Y. Goldberg and M. Elhadad, Learning sparser perceptron models, ACL 2011.
"""

import numpy as np

from perceptron_core.weights.rows import Rows, drop_zeros, select


def counted_from(rows: Rows, count: int) -> Rows:
    """The same weights, with this count for every feature."""
    return rows._replace(counts=np.full(len(rows.keys), count, np.int32))


def relevant(rows: Rows, min_updates: int) -> Rows:
    """The weights that scoring uses, without counts; all of them where there are no counts."""
    if rows.counts is None:
        return rows
    chosen = np.flatnonzero((rows.counts >= min_updates) & (np.diff(rows.starts) > 0))
    return drop_zeros(select(rows, chosen)._replace(counts=None))
