"""Metrics: count on a part of the data, add the counts of the parts, score once.

counts = METRICS["spans"]()
counts.add_targets(gold, guess)             # in each mapper, sentence by sentence
counts.add(SpanCounts.from_record(record))  # in the reducer, part by part
counts.headline(), counts.score(), counts.report()
"""

from perceptron_core.evaluation.metrics.accuracy import AccuracyCounts
from perceptron_core.evaluation.metrics.attachment import AttachmentCounts
from perceptron_core.evaluation.metrics.classes import ClassCounts
from perceptron_core.evaluation.metrics.counts import Counts, LabelCounts
from perceptron_core.evaluation.metrics.spans import SpanCounts

__all__ = ["LABEL_METRICS", "METRICS", "AccuracyCounts", "AttachmentCounts", "ClassCounts", "Counts", "SpanCounts"]

LABEL_METRICS: dict[str, type[LabelCounts]] = {"accuracy": AccuracyCounts, "spans": SpanCounts, "classes": ClassCounts}
METRICS: dict[str, type[Counts]] = {**LABEL_METRICS, "attachment": AttachmentCounts}
