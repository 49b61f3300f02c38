"""What the page tells of a run, read from its run directory; what is not there is left out."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from perceptron_core.corpus import CLASSIFICATION, FORMATS
from perceptron_core.errors import UserError
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.rows import select
from perceptron_jobs.corpora.prepared import Prepared
from perceptron_jobs.models.feature_names import find_names, prepared_of
from perceptron_jobs.records.epoch_entry import EpochEntry
from perceptron_jobs.records.prepared_manifest import PreparedShard
from perceptron_jobs.records.run_config import RunConfig
from perceptron_jobs.storage import absolute, base_name
from perceptron_jobs.training.run_dir import RunDir
from perceptron_jobs.training.whole import chosen_model

LABELS = 24  # those with the most weights; `inspect` shows any of a tagset of hundreds
FEATURES = 8  # of each label
# Strong features are frequent, so they are found soon; a corpus of a hundred gigabytes is not read for the others.
SEARCHED_BYTES = 8 << 20

Features = list[tuple[str, float]]  # name, weight


class RunContent(NamedTuple):
    name: str
    config: RunConfig
    history: Sequence[EpochEntry]
    chosen_epoch: Optional[int] = None
    mistakes: Optional[dict[str, Any]] = None
    strongest: dict[str, Features] = {}
    nameless: str = ""  # why no features are shown

    @property
    def kind(self) -> str:
        """What is predicted."""
        return FORMATS[self.config.task["format"]].kind

    @property
    def examples(self) -> str:
        """What errors are counted in."""
        return "instances" if self.kind == CLASSIFICATION else "sentences"


def read_run(
    run: RunDir, task: Optional[Task] = None, model: Optional[Model] = None, python: Optional[str] = None
) -> RunContent:
    """The run as it is now; who has its task or its model at hand gives them. Without the user's Python file (`python`,
    or the task's) features that need it are not shown: what a run directory names is not run."""
    config = run.config()
    assert config is not None, "whoever asks knows that it is a run directory"
    content = RunContent(base_name(absolute(run.path)), config, run.whole_history(), mistakes=run.mistakes())
    if not content.history:
        return content
    model = model or chosen_model(run)
    content = content._replace(chosen_epoch=run.chosen_epoch())
    try:
        known = task or Task(model.task, python)
        return content._replace(strongest=strongest_features(model, known, prepared_of(run.path, None)))
    except UserError as error:  # the corpus is elsewhere by now, or the Python file was not given
        return content._replace(nameless=str(error))


def distinct_names(paths: Sequence[str]) -> list[str]:
    """As much of the ends of the paths as tells them apart."""
    parts = [absolute(path).rstrip("/").split("/") for path in paths]
    for length in range(1, max(map(len, parts))):
        names = ["/".join(path[-length:]) for path in parts]
        if len(set(names)) == len(set(map(tuple, parts))):
            return names
    return list(paths)


def strongest_features(model: Model, task: Task, prepared: Prepared) -> dict[str, Features]:
    """The features that decide most for and against each label, by their averaged weights if there are any.

    Labels with many weights come first: they are those that most is to be told of.
    """
    values = model.rows.values["averaged" if "averaged" in model.rows.values else "weight"]
    sizes = np.bincount(model.rows.labels, minlength=len(model.labels))
    shown = np.argsort(-sizes, kind="stable")[:LABELS].tolist()
    entries = {label: _strongest(values, np.flatnonzero(model.rows.labels == label)) for label in shown}
    rows = model.rows.entry_rows()
    wanted = np.unique(rows[np.concatenate([*entries.values(), np.zeros(0, np.int64)])])
    names = find_names(model._replace(rows=select(model.rows, wanted)), task, _beginning(prepared))
    keys = model.rows.keys
    strongest: dict[str, Features] = {}
    for label, numbers in entries.items():
        found = [(int(keys[rows[i]]), float(values[i])) for i in numbers.tolist() if values[i]]
        strongest[model.labels[label]] = [(names.get(key, f"a rare feature ({key:016x})"), w) for key, w in found]
    return {label: features for label, features in strongest.items() if features}


def _strongest(values: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """Those of the entries with the largest values, whatever their sign, strongest first; of equals the first."""
    strength = np.abs(values[entries])
    if len(entries) > FEATURES:  # to sort a few of millions, sort a few
        enough = strength >= np.partition(strength, -FEATURES)[-FEATURES]
        entries, strength = entries[enough], strength[enough]
    return entries[np.argsort(-strength, kind="stable")][:FEATURES]


def _beginning(prepared: Prepared) -> Prepared:
    """The first shards, at least one."""
    read = 0
    shards: list[PreparedShard] = []
    for shard in prepared.shards:
        if shards and read + shard.bytes > SEARCHED_BYTES:
            break
        read += shard.bytes
        shards.append(shard)
    return prepared._replace(manifest=prepared.manifest._replace(shards=shards))
