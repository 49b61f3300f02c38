"""The driver's part in *scaled* mixing: in how many of a run's shards each feature occurs, counted once and kept."""

from perceptron_core.weights.model_file import Model
from perceptron_core.weights.records import from_record
from perceptron_core.weights.rows import concatenate
from perceptron_jobs.mr.count_shards import COUNTED, MRCountShards
from perceptron_jobs.training.open_run import OpenRun

KEY_BYTES = 8


def count_shards_of_features(run: OpenRun) -> None:
    """Write the run's file `occurrences`, unless it is there already."""
    if run.directory.storage.exists(run.directory.file("occurrences")):
        return
    run.listener.step("count the shards of features", 0)
    found = run.over_shards(MRCountShards, [], run.most_features() * KEY_BYTES)
    rows = concatenate([from_record(record["rows"], 1, COUNTED) for record in found.ranges])
    config = run.config
    run.directory.write_occurrences(Model("occurrences", config.task, config.labels, config.settings, rows))
