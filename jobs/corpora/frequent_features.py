"""Leaving out rare features: MRCountFeatures, run on the shards of a corpus while it is being prepared."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np

from perceptron_core.counting.rare import kept_file
from perceptron_core.task import Task
from perceptron_jobs.engines.over_shards import run_over_shards
from perceptron_jobs.engines.runners import Cluster
from perceptron_jobs.mr.count_features import MRCountFeatures
from perceptron_jobs.records.prepared_manifest import KeptFile, Manifest

COUNT_BYTES = 10  # of one feature's count in the shuffle, at most


class FrequentFeatures(NamedTuple):
    """The features that occur on at least `least` tokens."""

    task: Task
    task_file: str
    least: int
    cluster: Cluster

    def find(self, manifest: Manifest, shards: Sequence[str]) -> tuple[Manifest, Optional[bytes]]:
        """The corpus's manifest, with the file of the kept features described in it; and that file, unless all are."""
        if self.least == 1:
            return manifest, None
        most = manifest.tokens * len(self.task.features.templates)
        arguments = ["--task", self.task_file, "--least", str(self.least)]
        output = run_over_shards(MRCountFeatures, self.cluster, arguments, shards, most * COUNT_BYTES)
        keys = np.concatenate(output.ranges)
        data = kept_file(keys)
        described = KeptFile(len(keys), len(data), hashlib.sha256(data).hexdigest())
        return manifest._replace(min_count=self.least, kept=described), data
