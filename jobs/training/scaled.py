"""The driver's part in *scaled* mixing: in how many of a run's shards each feature occurs, counted once and kept."""

from typing import Any

from perceptron_core.weights.model_file import Model
from perceptron_core.weights.rows import concatenate, from_record
from perceptron_jobs.corpora.prepared import Prepared, blaming_damage
from perceptron_jobs.engines.over_shards import run_over_shards
from perceptron_jobs.mr.count_shards import MRCountOccurrences
from perceptron_jobs.training.plan import Listener, TrainingPlan
from perceptron_jobs.training.run_dir import RunDir

KEY_BYTES = 8


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
    arguments = ["--config", plan.cluster.file(run.file("config.json"))]
    inputs = [plan.cluster.file(corpus.path(shard)) for shard in chosen]
    with blaming_damage(corpus):
        counted = run_over_shards(MRCountOccurrences, plan.cluster, arguments, inputs, most * KEY_BYTES)
    rows = concatenate([from_record(record["rows"]) for record in counted.ranges])
    run.write_occurrences(Model("occurrences", config["task"], config["labels"], config["settings"], rows))
