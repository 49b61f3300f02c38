"""Metrics: count on a part of the data, add the counts of the parts, score once.

counts = METRICS["spans"]()
counts.add_sentence(gold, guess)            # in each mapper, sentence by sentence
counts.add(SpanCounts.from_record(record))  # in the reducer, part by part
counts.headline(), counts.score(), counts.report()
"""

from perceptron_core.evaluation.metrics.accuracy import AccuracyCounts
from perceptron_core.evaluation.metrics.classes import ClassCounts
from perceptron_core.evaluation.metrics.counts import Counts
from perceptron_core.evaluation.metrics.spans import SpanCounts

__all__ = ["METRICS", "AccuracyCounts", "ClassCounts", "Counts", "SpanCounts"]

METRICS: dict[str, type[Counts]] = {"accuracy": AccuracyCounts, "spans": SpanCounts, "classes": ClassCounts}
