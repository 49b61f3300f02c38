"""The driver's part in *scaled* mixing: in how many of a run's shards each feature occurs, counted once and kept."""

from typing import Any

from jobs.occurrences import MRCountOccurrences
from jobs.plan import Listener, TrainingPlan
from jobs.prepared import Prepared, blaming_damage
from jobs.run_dir import RunDir
from jobs.runners import run_job
from perceptron_core.model import Model
from perceptron_core.rows import concatenate, from_record

KEY_BYTES = 8
RANGE_BYTES = 64 << 20  # how many bytes of keys one range should carry at most


def count_occurrences(
    plan: TrainingPlan, run: RunDir, corpus: Prepared, config: dict[str, Any], listener: Listener
) -> None:
    """Write the run's file `occurrences`, unless it is there already."""
    if run.storage.exists(run.file("occurrences")):
        return
    listener.step("count features", 0)
    chosen = config["chosen_shards"]
    # There are no more keys than every template gives for every token; how many are distinct is not known yet.
    most = sum(corpus.shards[shard]["tokens"] for shard in chosen) * len(plan.task.features.templates)
    ranges = plan.cluster.reducers or max(1, -(-most * KEY_BYTES // RANGE_BYTES))
    arguments = ["--config", plan.cluster.file(run.file("config.json")), "--ranges", str(ranges)]
    inputs = [plan.cluster.file(corpus.path(shard)) for shard in chosen]
    with blaming_damage(corpus):
        counted = sorted(run_job(MRCountOccurrences, plan.cluster, arguments, inputs))
    assert len(counted) == ranges, "ranges of the counts are missing"
    rows = concatenate([from_record(record) for _, record in counted])
    run.write_occurrences(Model("occurrences", config["task"], config["labels"], config["settings"], rows))
