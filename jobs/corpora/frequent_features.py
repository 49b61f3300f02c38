"""Leaving out rare features: the job that counts them, run on the shards of a corpus while it is being prepared."""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from perceptron_core.counting.rare import kept_file
from perceptron_core.task import Task
from perceptron_jobs.engines.over_shards import run_over_shards
from perceptron_jobs.engines.runners import Cluster
from perceptron_jobs.mr.count_features import MRCountFeatures

COUNT_BYTES = 10  # of one feature's count in the shuffle, at most


class KeptFeatures(NamedTuple):
    """The features that occur on enough tokens."""

    task: Task
    record: str  # the task's file
    least: int
    cluster: Cluster

    def find(self, content: dict[str, Any], shards: Sequence[str]) -> tuple[dict[str, Any], Optional[bytes]]:
        """The corpus's manifest, with the file of the kept features described in it; and that file, unless all are."""
        if self.least == 1:
            return content, None
        occurrences = content["tokens"] * len(self.task.features.templates)
        arguments = ["--task", self.record, "--least", str(self.least)]
        output = run_over_shards(MRCountFeatures, self.cluster, arguments, shards, occurrences * COUNT_BYTES)
        keys = np.concatenate(output.ranges)
        data = kept_file(keys)
        described = {"features": len(keys), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        return {**content, "min_count": self.least, "kept": described}, data
