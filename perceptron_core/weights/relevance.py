"""Sparse models: a feature stays out of scoring until it has proved relevant (Goldberg & Elhadad 2011).

    U = 0                                                    # a count a feature, shared by its labels
    for each sentence (x, y):
        z = argmax over z of Σ w_f · Φ_f(x, z), over the features f with U_f ≥ min_updates
        if z ≠ y:  w ← w + τ (Φ(x, y) − Φ(x, z))             # by all features, the hidden ones, too
                   U_f ← U_f + 1 for every f that this moved  # once, whatever the number of its labels

So a feature that becomes relevant brings its history with it. Every key of a row is a feature: an emission, or a
label-bigram feature together with the previous label. Transitions, of which there are no more than labels × (labels
+ 2), are relevant from the first: to hide them would save nothing.

Averaging and mixing are those of all weights, hidden or not: the paper's counts touch the scoring function alone, and a
feature behaves "as if it was there from the beginning". The counts of an epoch add up over the shards (mixing.py); each
shard goes on counting from the sum of the epochs before. Beyond min_updates nobody counts, because more proves no more.

The margin w·Δ by which passive-aggressive learners choose their step is what scoring sees of it. By the whole of w, a
sentence could be wrong and have margin enough: it would move nothing, and its features would never be shown.

A run's epochs hold all features with their counts, which going on needs; the model that users get holds the relevant
features alone, and no counts.

Reference: Y. Goldberg and M. Elhadad, Learning sparser perceptron models, ACL 2011.
"""

import numpy as np

from perceptron_core.weights.rows import Rows, drop_zeros, select


def counted_from(rows: Rows, count: int) -> Rows:
    """The same weights, of features that took part in so many updates each."""
    return rows._replace(counts=np.full(len(rows.keys), count, np.int32))


def relevant(rows: Rows, min_updates: int) -> Rows:
    """The weights that scoring sees, without counts; all of them, where nothing is counted."""
    if rows.counts is None:
        return rows
    chosen = np.flatnonzero((rows.counts >= min_updates) & (np.diff(rows.starts) > 0))
    return drop_zeros(select(rows, chosen)._replace(counts=None))
