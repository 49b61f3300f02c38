"""What a run is trained on, and all that decides its weights: fixed when it begins, compared when it continues."""

import hashlib
from typing import Any, NamedTuple

import numpy as np

from perceptron_core.errors import UserError
from perceptron_core.shards.dealing import choose_shard
from perceptron_core.training.rounds import usual_rounds
from perceptron_core.training.standing import Standing, settings_of_run
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.rows import Rows, drop_zeros, empty, relabel
from perceptron_jobs.corpora.prepared import Prepared, check_intact, data_identity, read_prepared
from perceptron_jobs.corpora.preparing import Preparation, prepare
from perceptron_jobs.records.run_config import RunConfig
from perceptron_jobs.training.plan import Listener, TrainingPlan
from perceptron_jobs.training.run_dir import RunDir
from perceptron_jobs.training.whole import open_model


class CorpusOfRun(NamedTuple):
    """The prepared corpus, and what the run's configuration says of it."""

    prepared: Prepared
    shards: int
    seed: int
    data: list[dict[str, Any]]
    min_count: int


def find_corpus(plan: TrainingPlan, run: RunDir, listener: Listener) -> CorpusOfRun:
    """The prepared corpus: the one that was named, the run's own, or one that is made now."""
    if plan.prepared:
        return _named_corpus(plan, plan.prepared)
    asked = Preparation(
        plan.task,
        plan.train,
        run.file("prepared"),
        plan.shards or 1,
        1 if plan.seed is None else plan.seed,
        plan.min_count or 1,
    )
    if run.storage.exists(asked.folder):
        corpus = read_prepared(asked.folder)
        wanted = CorpusOfRun(corpus, asked.shards, asked.seed, data_identity(plan.train), asked.min_count)
        same = corpus.manifest.features == plan.task.fingerprint and wanted == _as_prepared(corpus)
        if same or run.config() is not None:  # the comparison of configurations says what is different
            check_intact(corpus)
            return wanted
        run.storage.remove(asked.folder)
    listener.step("prepare", 0)
    return _as_prepared(prepare(asked, plan.cluster))


def _as_prepared(corpus: Prepared) -> CorpusOfRun:
    manifest = corpus.manifest
    return CorpusOfRun(corpus, len(corpus.shards), manifest.seed, manifest.data, manifest.min_count)


def _named_corpus(plan: TrainingPlan, folder: str) -> CorpusOfRun:
    """The corpus of --prepared; refuses one that was prepared with other options than those given."""
    corpus = read_prepared(folder)
    check_intact(corpus)
    for name, wanted, is_there in (
        ("features", plan.task.fingerprint, corpus.manifest.features),
        ("shards", plan.shards, len(corpus.shards)),
        ("seed", plan.seed, corpus.manifest.seed),
        ("min-count", plan.min_count, corpus.manifest.min_count),
    ):
        if wanted is not None and wanted != is_there:
            raise UserError(
                f"{folder} was prepared with other {name} ({is_there}, not {wanted}); "
                f"prepare the corpus again, or leave out --{name}"
            )
    return _as_prepared(corpus)


def configure(plan: TrainingPlan, run: RunDir, corpus: CorpusOfRun) -> tuple[RunConfig, Standing]:
    """The run's configuration, and the weights it starts from; a run is not continued with another configuration."""
    task_record = plan.task.portable()
    labels, start, init_digest = plan.task.labels(corpus.prepared.labels()), empty(weight=np.float32), None
    if plan.init_model:
        if corpus.min_count > 1:
            raise UserError(
                "the model of --init-model may have features that --min-count leaves out; give only one of the two"
            )
        first = open_model(plan.init_model)
        labels, start = _start_from(first, plan, corpus.prepared)
        init_digest = hashlib.sha256(start.keys.tobytes() + start.values["weight"].tobytes()).hexdigest()[:16]
    if not labels:
        raise UserError("the corpus has no labels to learn")
    settings = settings_of_run(plan.task, plan.settings)
    chosen = [choose_shard(corpus.seed, corpus.shards)] if plan.subsample else list(range(corpus.shards))
    rounds = plan.rounds or usual_rounds(plan.mixing, len(chosen), settings.local_epochs, bool(plan.init_model))
    config = RunConfig(
        task=task_record,
        labels=labels,
        settings=settings.record(),
        mixing=plan.mixing,
        shards=corpus.shards,
        seed=corpus.seed,
        subsample=plan.subsample,
        chosen_shards=chosen,
        data=corpus.data,
        init_model=init_digest,
        rounds=rounds,
        min_count=corpus.min_count,
    ).identified()
    known = run.config()
    if known is None:
        run.write_config(config)
    else:
        _refuse_differences(run, known.record(), config.record())
    return config, Standing.before_training(plan.task, labels, settings, start)


def _start_from(first: Model, plan: TrainingPlan, corpus: Prepared) -> tuple[list[str], Rows]:
    if first.task["templates"] != plan.task.record["templates"]:
        raise UserError(f"{plan.init_model} has other features than the task; start from a model with the same ones")
    found = set(corpus.labels()) | set(first.labels)
    labels = plan.task.labels(sorted(found))
    column = "weight" if "weight" in first.rows.values else "averaged"
    weights = first.rows.with_values(weight=first.rows.values[column])
    return labels, drop_zeros(relabel(weights, first.labels, labels))


def _refuse_differences(run: RunDir, known: dict[str, Any], wanted: dict[str, Any]) -> None:
    differences = [
        f"{name} was {before!r}, now {now!r}" if len(f"{before!r}{now!r}") < 100 else f"{name} has changed"
        for name, before, now in _differences(known, wanted)
    ]
    if differences:
        raise UserError(
            f"the run {run.path} was begun with other settings: {'; '.join(differences)}. "
            "Use the same settings to continue it, or another --run-dir to begin a new run"
        )


def _differences(known: dict[str, Any], wanted: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    found = []
    for name in sorted({*known, *wanted} - {"run"}):
        before, now = known.get(name), wanted.get(name)
        if isinstance(before, dict) and isinstance(now, dict):
            found += [(f"{name}: {inner}", b, n) for inner, b, n in _differences(before, now)]
        elif before != now:
            found.append((name, before, now))
    return found
