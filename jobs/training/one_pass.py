"""The driver's part in learners of one pass: which jobs they need, and the weights that follow from their sums.

    naive-bayes   MRSumStatistics  →  weights
    rocchio       MRSumStatistics  →  inverse document frequencies, kept in the run directory
                  MRSumStatistics, with these in the distributed cache  →  weights

The sums over all shards are the same for any number of shards, so there is nothing to mix, and no second epoch.
"""

from typing import Any, NamedTuple

from perceptron_core.counting.summands import DocumentFrequencies, NaiveBayes, Rocchio
from perceptron_core.errors import UserError
from perceptron_core.learners import ONE_PASS
from perceptron_core.settings import Settings
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.records import from_record
from perceptron_core.weights.rows import Rows, concatenate
from perceptron_jobs.mr.sum_statistics import COUNTS, FREQUENCIES, SUMS, VECTORS, MRSumStatistics
from perceptron_jobs.records.run_config import SUMMED
from perceptron_jobs.training.job_record import JobRecord
from perceptron_jobs.training.open_run import OpenRun
from perceptron_jobs.training.plan import TrainingPlan
from perceptron_jobs.training.run_dir import fetch_model

SUM_BYTES = 24  # of a feature's sum for one label in the shuffle, at most
# The settings that a learner of one pass either uses or can ignore.
FREE = ("learner", "decoder", "beam", "aggressiveness", "average", "transitions", "start_stop")


class Sums(NamedTuple):
    """What a job has put out."""

    rows: Rows
    instances: Any  # of each label
    record: JobRecord


def plan_of_one_pass(plan: TrainingPlan) -> TrainingPlan:
    """The plan, adapted if its learner needs one pass only; refuses options that only make sense with updates."""
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


def learn(run: OpenRun) -> tuple[Rows, JobRecord]:
    """The weights, and what the jobs tell of themselves."""
    plan, config, directory = run.plan, run.config, run.directory
    structure = plan.task.structure(plan.settings.decoder)
    if plan.task.record["transitions"] or any(map(structure.label_offsets, plan.task.features.templates)):
        run.listener.note(f"{plan.settings.learner} takes every token by itself: it ignores pairs of labels")
    run.listener.step(f"count for {plan.settings.learner}", 0)
    if plan.settings.learner == COUNTS:
        found = _sum(run, COUNTS)
        constants = plan.task.features.constant_keys()
        return NaiveBayes(constants).weights(found.rows, found.instances), found.record
    Rocchio.check_size(run.tokens())
    first = None
    if not directory.storage.exists(directory.file("idf")):
        first = _sum(run, FREQUENCIES)
        rows = DocumentFrequencies().idf(first.rows, first.instances)
        directory.write_idf(Model("idf", config.task, config.labels, config.settings, rows))
    second = _sum(run, VECTORS, "--idf", run.job_file("idf"))
    weights = Rocchio(fetch_model(directory.file("idf")).rows).weights(second.rows, second.instances)
    if first is None:
        return weights, second.record
    return weights, second.record._replace(  # its tasks come first: by them the shards are shown
        shuffled=first.record.shuffled + second.record.shuffled,
        mappers=second.record.mappers + first.record.mappers,
        reducers=second.record.reducers + first.record.reducers,
    )


def _sum(run: OpenRun, what: str, *options: str) -> Sums:
    """Run MRSumStatistics on the run's shards."""
    arguments = ["--what", what, *options]
    kept = run.corpus.kept_path()
    if kept:
        arguments += ["--kept", run.plan.cluster.file(kept)]
    output = run.over_shards(MRSumStatistics, arguments, run.most_features() * SUM_BYTES)
    first = output.ranges[0]
    return Sums(
        concatenate([from_record(record["rows"], len(run.config.labels), SUMS) for record in output.ranges]),
        first["instances"],
        JobRecord(first["stats"], output.shuffled(), first["worked"], [record["worked"] for record in output.reducers]),
    )
