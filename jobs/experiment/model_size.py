"""How large the model of a run is after its last epoch, whose scores the tables show.

The run's own file `model` may be that of an earlier epoch, if that was better on the dev set.
"""

import os
import tempfile
from functools import cache
from typing import NamedTuple

import numpy as np

from perceptron_core.weights.model_file import write_model
from perceptron_jobs.training.run_dir import RunDir


class ModelSize(NamedTuple):
    features: int  # with a weight other than zero for any label; each transition counts as one
    bytes: int  # of a model file


@cache  # several measures need it
def model_size(run_dir: str) -> ModelSize:
    run = RunDir(run_dir)
    last = run.epochs()[-1]
    model = run.standing(last).model()
    values = model.rows.values
    weights = values["averaged"] if "averaged" in values else values["weight"]  # if the learner has no average
    features = np.unique(model.rows.entry_rows()[weights != 0])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        write_model(path, model)
        return ModelSize(len(features), os.path.getsize(path))
