"""The driver's part in learners that need one pass: which jobs they take, and weights from what these have summed.

    naive-bayes   MRSumShares  →  weights
    rocchio       MRSumShares  →  inverse document frequencies, kept in the run directory
                  MRSumShares, with these in the distributed cache  →  weights

The shards' sums are the same for any number of shards, so there is nothing to mix, and no second epoch.
"""

from typing import Any, NamedTuple

from perceptron_core.counting.summands import DocumentFrequencies, NaiveBayes, Rocchio
from perceptron_core.errors import UserError
from perceptron_core.learners import ONE_PASS
from perceptron_core.settings import Settings
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.rows import Rows, concatenate, from_record
from perceptron_jobs.corpora.prepared import Prepared, blaming_damage
from perceptron_jobs.engines.over_shards import run_over_shards
from perceptron_jobs.mr.sum_shares import COUNTS, FREQUENCIES, VECTORS, MRSumShares
from perceptron_jobs.training.job_record import JobRecord
from perceptron_jobs.training.plan import Listener, TrainingPlan
from perceptron_jobs.training.run_dir import RunDir, fetch_model

SHARE_BYTES = 24  # of a feature's sum for one label in the shuffle, at most
SUMMED = "sum"  # how the shards become one: as no mixing strategy does
# The settings that a learner of one pass either has a use for, or is not harmed by.
FREE = ("learner", "decoder", "beam", "aggressiveness", "average", "transitions", "start_stop")


class Pass(NamedTuple):
    """What a job has put out."""

    rows: Rows
    instances: Any  # of each label
    record: JobRecord


def settled(plan: TrainingPlan) -> TrainingPlan:
    """The plan as a learner of one pass takes it; refuses what only many updates have a use for."""
    learner = plan.settings.learner
    if learner not in ONE_PASS:
        return plan
    known = Settings()._asdict()
    given = [name for name, value in plan.settings._asdict().items() if name not in FREE and value != known[name]]
    given += ["mixing"] if plan.mixing != TrainingPlan._field_defaults["mixing"] else []
    given += ["rounds"] if plan.rounds else []
    given += ["init_model"] if plan.init_model else []
    given += ["patience"] if plan.stop.patience else []
    if given:
        option = given[0].replace("_", "-")
        raise UserError(f"{option}: {learner} counts once and updates nothing; leave out --{option}")
    return plan._replace(settings=plan.settings._replace(average=False), mixing=SUMMED, rounds=1)


def learn(
    plan: TrainingPlan, run: RunDir, corpus: Prepared, config: dict[str, Any], listener: Listener
) -> tuple[Rows, JobRecord]:
    """The weights, and what the jobs tell of themselves."""
    jobs = _Jobs(plan, run, corpus, config)
    structure = plan.task.structure(plan.settings.decoder)
    if plan.task.record["transitions"] or any(map(structure.label_offsets, plan.task.features.templates)):
        listener.note(f"{plan.settings.learner} takes every token by itself: label pairs have no part in it")
    listener.step(f"count for {plan.settings.learner}", 0)
    if plan.settings.learner == COUNTS:
        counted = jobs.sum(COUNTS)
        constants = plan.task.features.constant_keys()
        return NaiveBayes(constants).weights(counted.rows, counted.instances), counted.record
    Rocchio.check_size(sum(corpus.shards[shard]["tokens"] for shard in config["chosen_shards"]))
    first = None
    if not run.storage.exists(run.file("idf")):
        first = jobs.sum(FREQUENCIES)
        rows = DocumentFrequencies().idf(first.rows, first.instances)
        run.write_idf(Model("idf", config["task"], config["labels"], config["settings"], rows))
    second = jobs.sum(VECTORS, "--idf", plan.cluster.file(run.file("idf")))
    weights = Rocchio(fetch_model(run.file("idf")).rows).weights(second.rows, second.instances)
    if first is None:
        return weights, second.record
    return weights, second.record._replace(  # the second job's tasks come first, because shards are told of by them
        shuffled=first.record.shuffled + second.record.shuffled,
        mappers=second.record.mappers + first.record.mappers,
        reducers=second.record.reducers + first.record.reducers,
    )


class _Jobs(NamedTuple):
    plan: TrainingPlan
    run: RunDir
    corpus: Prepared
    config: dict[str, Any]

    def sum(self, what: str, *options: str) -> Pass:
        """Run MRSumShares on the run's shards."""
        cluster, chosen = self.plan.cluster, self.config["chosen_shards"]
        # There are no more sums than every template gives for every token; how many are distinct is not known yet.
        most = sum(self.corpus.shards[shard]["tokens"] for shard in chosen) * len(self.plan.task.features.templates)
        arguments = ["--config", cluster.file(self.run.file("config.json")), "--what", what, *options]
        if self.corpus.kept_path():
            arguments += ["--kept", cluster.file(self.corpus.kept_path())]
        inputs = [cluster.file(self.corpus.path(shard)) for shard in chosen]
        with blaming_damage(self.corpus):
            output = run_over_shards(MRSumShares, cluster, arguments, inputs, most * SHARE_BYTES)
        first = output.ranges[0]
        return Pass(
            concatenate([from_record(record["rows"]) for record in output.ranges]),
            first["instances"],
            JobRecord(
                first["stats"], output.shuffled(), first["worked"], [record["worked"] for record in output.reducers]
            ),
        )
