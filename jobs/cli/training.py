"""`perceptron prepare`, `perceptron train` and `perceptron experiment`."""

import os

from perceptron_core.errors import UserError
from perceptron_core.kernels import COMPILED
from perceptron_core.settings import Settings
from perceptron_core.structures import KINDS
from perceptron_core.task import Task
from perceptron_core.training.stopping import StopRule
from perceptron_core.weights.model_file import Model
from perceptron_jobs.cli.surroundings import Arguments, opened_cluster, require
from perceptron_jobs.cli.terminal import Terminal
from perceptron_jobs.corpora.first_look import remark_on_labels
from perceptron_jobs.corpora.preparing import Preparation, prepare
from perceptron_jobs.options.names import find_experiment
from perceptron_jobs.options.spelling import as_arguments
from perceptron_jobs.report import read_run, report_html
from perceptron_jobs.storage.base import NotOurs
from perceptron_jobs.training.driver import train
from perceptron_jobs.training.plan import TrainingPlan
from perceptron_jobs.training.run_dir import RunDir


class TrainingTerminal(Terminal):
    """Shows a training, and writes the report when it ends."""

    def finished(self, run: RunDir, task: Task, model: Model) -> None:
        """The model is written, and stays if the report cannot be made."""
        try:
            run.write_report(report_html([read_run(run, task, model)]))
        except NotOurs:
            raise
        except (UserError, OSError) as error:
            self.note(f"the report could not be written: {error}")


def _mention_kernel(terminal: Terminal) -> None:
    if not COMPILED:
        terminal.note("the compiled kernel is not installed (or switched off); the slower reference runs instead")


def run_prepare(arguments: Arguments, task: Task) -> None:
    require(arguments, "train", "output")
    terminal = Terminal(arguments.quiet)
    with opened_cluster(arguments, "prepare") as cluster:
        asked = Preparation(
            task, arguments.train, arguments.output, arguments.shards, arguments.seed, arguments.min_count
        )
        made = prepare(asked, cluster)
    manifest = made.manifest
    counted = f"{manifest.sentences:,} {task.called}"
    if manifest.tokens != manifest.sentences:
        counted += f", {manifest.tokens:,} tokens"
    terminal.note(f"{counted}, {len(made.labels())} labels in {len(made.shards)} shards: {arguments.output}")
    if manifest.kept:
        terminal.note(f"{manifest.kept.features:,} features occur on {manifest.min_count} tokens or more")
    for remark in (made.remark(), remark_on_labels(task, arguments.train)):
        if remark:
            terminal.note(remark)


def run_train(arguments: Arguments, task: Task) -> None:
    require(arguments, "run_dir")
    if bool(arguments.train) == bool(arguments.prepared):
        raise UserError("give the corpus either by --train FILE... or by --prepared DIR")
    if arguments.patience and not arguments.dev:
        raise UserError("--patience watches the dev score; give --dev FILE... as well")
    if arguments.threads > 1 and arguments.minibatch == 1:
        raise UserError("--threads decode the sentences of a minibatch; give --minibatch M as well, at least 2")
    default_cap = None if arguments.learner == "mira" else 1.0
    terminal = TrainingTerminal(arguments.quiet)
    _mention_kernel(terminal)
    plan = TrainingPlan(
        task=task,
        run_dir=arguments.run_dir,
        train=arguments.train or (),
        prepared=arguments.prepared,
        dev=arguments.dev or (),
        shards=arguments.shards,
        seed=arguments.seed,
        min_count=arguments.min_count,
        settings=Settings(
            learner=arguments.learner,
            aggressiveness=default_cap if arguments.aggressiveness is None else arguments.aggressiveness,
            decoder=arguments.decoder or KINDS[task.kind].decoders[0],
            beam=arguments.beam,
            update=arguments.update,
            local_epochs=arguments.local_epochs,
            average=arguments.average,
            min_updates=arguments.min_updates,
            minibatch=arguments.minibatch,
            k_best=arguments.k_best,
        ),
        threads=arguments.threads,
        mixing=arguments.mixing,
        rounds=arguments.rounds,
        subsample=arguments.subsample,
        init_model=arguments.init_model,
        stop=StopRule(arguments.epochs, arguments.stop_threshold, arguments.patience),
    )
    with opened_cluster(arguments) as cluster:
        run = train(plan._replace(cluster=cluster), terminal)
    terminal.note(f"model of epoch {run.chosen_epoch()}: {run.file('model')}")


def run_experiment(arguments: Arguments) -> None:
    from perceptron_jobs.experiment.definition import read_experiment  # only now: no other command needs it
    from perceptron_jobs.experiment.run import Surroundings, run_experiment

    data = arguments.data or os.environ.get("PERCEPTRON_DATA")
    if not data:
        raise UserError("say where the corpora are: --data DIR, or PERCEPTRON_DATA")
    experiment = read_experiment(find_experiment(arguments.experiment), data, arguments.full)
    given = {name: getattr(arguments, name) for name in ("runner", "conf", "cluster_id", "reducers")}
    runner = as_arguments(given) + [f"-D{setting}" for setting in arguments.property]
    jobs = arguments.jobs or (os.cpu_count() if arguments.runner == "inline" else None) or 1
    terminal = Terminal(arguments.quiet)
    for path in run_experiment(experiment, Surroundings(arguments.output, jobs, runner), terminal):
        terminal.note(path)
