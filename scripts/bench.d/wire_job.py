"""MRTrainEpoch without the training: its mappers send steps that lie ready, so that only their way is measured."""

from typing import Any

import numpy as np

from perceptron_core.training.epoch import EpochStats
from perceptron_core.weights.rows import Rows
from perceptron_jobs.mr.train_epoch import MRTrainEpoch


class _ReadyStep:
    """Takes the place of ShardEpoch."""

    stats = EpochStats(1, 1, 1, 1, 1)

    def take(self, kind: str, record: dict[str, Any]) -> None:
        """The record says which shard this is, and where its rows are."""
        self.header = record
        with np.load(record["file"]) as arrays:
            values = {"weight": arrays["weight"], "lag": arrays["lag"]}
            self.rows = Rows(arrays["keys"], arrays["starts"], arrays["labels"], values)

    def finish(self) -> tuple[dict[str, Any], Rows]:
        return self.header, self.rows


class MRWire(MRTrainEpoch):
    def mapper_init(self) -> None:
        super().mapper_init()
        self.epoch = _ReadyStep()


if __name__ == "__main__":
    MRWire.run()
