"""Rocchio: a label is a vector, the mean of its instances minus a part of the mean of all the others.

    idf(f) = log (D / the instances that have f)                  # D instances; counted in a first pass
    u(f, x) = value of f in x · idf(f)
    v(x) = u(x) / ‖u(x)‖                                          # 0, if u(x) is
    c(y) = α · mean of v(x) over the instances of y − β · mean of v(x) over all the others
    w[f, y] = idf(f) · c(f, y) / ‖c(y)‖
    guess argmax over y of u(x) · c(y) / ‖c(y)‖ = Σ over the features f of x: value · w[f, y]

That is the label whose vector has the smallest angle with the instance's: dividing by ‖u(x)‖, too, would change no
guess. Without ‖c(y)‖, labels whose instances are all alike, and which so have a long mean, would win too often: 67
instead of 78 % right on EWT's parts of speech. A feature of a text or a token is present or not: its value is 1, and
the usual log(TF + 1), which is then the same for all of them, disappears in the normalisation. A number is used as it
is, in training and in prediction; for logarithms of frequencies, put the logarithms into the corpus. A feature of every
instance, such as the bias, has idf 0 and no weight, so Rocchio has no prior. A feature that training never saw says
nothing about any label.

α and β are those of Buckley, Salton and Allan 1994, which are in common use; only their ratio matters.

The sums of v(x) must not depend on their order, so each component, between −1 and 1, is rounded to a multiple of 2⁻³²,
which changes it by at most 2⁻³³. Their int64 sums are exact for fewer than 2³¹ instances.

References: J. Rocchio, Relevance feedback in information retrieval, 1971; T. Joachims, A probabilistic analysis of the
Rocchio algorithm with TFIDF for text categorization, ICML 1997; W. Cohen, lecture on parallel naive Bayes, Rocchio and
perceptrons (all tasks read the document frequencies, none writes them).
"""

import numpy as np

ALPHA, BETA = 16.0, 4.0
ONE = 2.0**32  # represents 1 in the sums
MOST_INSTANCES = (1 << 31) - 1


def inverse_frequencies(frequencies: np.ndarray, instances: int) -> np.ndarray:
    return np.log(instances / frequencies)


def unit_vectors(owners: np.ndarray, values: np.ndarray, idf: np.ndarray) -> np.ndarray:
    """v, as multiples of 1 / ONE. Component i belongs to the vector of instance number owners[i], and to a feature
    whose value is values[i] and whose idf is idf[i]; neither is zero."""
    components = values * idf
    lengths = np.sqrt(np.bincount(owners, weights=components * components))
    return np.rint(components / lengths[owners] * ONE).astype(np.int64)


def feature_weights(sums: np.ndarray, instances: np.ndarray, idf: np.ndarray) -> np.ndarray:
    """w[f, y], from the sums of v, features × labels, and the instances of each label."""
    others = sums.sum(axis=1, keepdims=True) - sums
    mean = sums / np.maximum(1, instances)
    mean_of_others = others / np.maximum(1, instances.sum() - instances)
    centres = (ALPHA * mean - BETA * mean_of_others) / ONE
    lengths = np.sqrt((centres * centres).sum(axis=0))
    return idf[:, None] * centres / np.where(lengths > 0, lengths, 1)
