"""The one-pass learners: the summands of a block's instances, and the weights of features, from the sums.

The algorithms are in learners/one_pass/, the summing in sums.py.
"""

from collections.abc import Sequence

import numpy as np

from perceptron_core.counting.sums import Summands
from perceptron_core.errors import UserError
from perceptron_core.features.keys import FeatureKeys
from perceptron_core.learners.one_pass import naive_bayes, rocchio
from perceptron_core.weights.rows import Rows, drop_zeros, find_keys, from_matrix, select, to_matrix


class NaiveBayes:
    def __init__(self, constants: Sequence[int]) -> None:
        self.constants = np.array(constants, np.uint64)  # the features of every instance; the first has the prior

    def summands(self, features: FeatureKeys, gold: np.ndarray) -> Summands:
        """The features' values."""
        values = _values(features)
        invalid = naive_bayes.invalid_counts(values)
        if len(invalid):
            raise UserError(
                f"naive-bayes counts features, but one has the value {invalid[0]:g}; give whole numbers from 0 to "
                f"{naive_bayes.LARGEST_VALUE}, or choose another learner"
            )
        return Summands(features.keys, np.repeat(gold, np.diff(features.starts)), values.astype(np.int64))

    def weights(self, sums: Rows, instances: np.ndarray) -> Rows:
        """The weights ("weight", float32) of all features with a count ("sum"), and of the bias."""
        sums = drop_zeros(sums)
        counted = select(sums, np.flatnonzero(~np.isin(sums.keys, self.constants)))
        matrix = naive_bayes.feature_weights(to_matrix(counted, "sum", len(instances)), instances)
        bias = self.constants[:1]
        prior = naive_bayes.prior_weights(instances)[: len(bias)]
        return drop_zeros(from_matrix(np.append(counted.keys, bias), np.append(matrix, prior, axis=0)))


class DocumentFrequencies:
    """Rocchio's first pass."""

    def summands(self, features: FeatureKeys, gold: np.ndarray) -> Summands:
        """1 for every feature of an instance, whatever its label."""
        _, keys, _ = _components(features)
        return Summands(keys, np.zeros(len(keys), np.int32), np.ones(len(keys), np.int64))

    def idf(self, sums: Rows, instances: np.ndarray) -> Rows:
        """The inverse frequencies ("idf", float64) of the features that some instances do not have."""
        everywhere = int(instances.sum())
        some = select(sums, np.flatnonzero(sums.values["sum"] < everywhere))
        return some.with_values(idf=rocchio.inverse_frequencies(some.values["sum"], everywhere))


class Rocchio:
    """Rocchio's second pass."""

    def __init__(self, idf: Rows) -> None:
        self.idf = idf

    @staticmethod
    def check_size(instances: int) -> None:
        """Refuse more instances than the sums can hold."""
        if instances > rocchio.MOST_INSTANCES:
            most = f"{rocchio.MOST_INSTANCES:,} instances at most"
            raise UserError(f"rocchio can add up {most}, but there are {instances:,}; train on a part of them")

    def summands(self, features: FeatureKeys, gold: np.ndarray) -> Summands:
        """The components of the instances' vectors."""
        owners, keys, values = _components(features)
        found = find_keys(self.idf, keys)
        there = found >= 0
        owners, keys, values = owners[there], keys[there], values[there]
        amounts = rocchio.unit_vectors(owners, values, self.idf.values["idf"][found[there]])
        return Summands(keys, gold[owners], amounts)

    def weights(self, sums: Rows, instances: np.ndarray) -> Rows:
        """The weights ("weight", float32) of all features with an idf, from the sums of the vectors ("sum")."""
        sums = drop_zeros(sums)
        idf = self.idf.values["idf"][find_keys(self.idf, sums.keys)]
        matrix = rocchio.feature_weights(to_matrix(sums, "sum", len(instances)), instances, idf)
        return drop_zeros(from_matrix(sums.keys, matrix))


def _values(features: FeatureKeys) -> np.ndarray:
    return features.values if len(features.values) else np.ones(len(features.keys), np.float32)


def _components(features: FeatureKeys) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(instance, key, value) of all that is not zero; a feature that an instance has twice has twice the value. They
    are sorted by instance and key, because lengths are summed in this order, which must not depend on the shard."""
    owners = np.repeat(np.arange(len(features.starts) - 1), np.diff(features.starts))
    order = np.lexsort((features.keys, owners))
    owners, keys, values = owners[order], features.keys[order], _values(features)[order].astype(np.float64)
    first = np.ones(len(keys), bool)
    first[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])
    if not first.all():
        values = np.add.reduceat(values, np.flatnonzero(first))
        owners, keys = owners[first], keys[first]
    there = values != 0
    return owners[there], keys[there], values[there]
