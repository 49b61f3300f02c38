"""The sub-commands: each takes its parsed arguments and calls the work."""

import argparse
import contextlib
import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import BinaryIO

from perceptron_core.atomic import written_atomically
from perceptron_core.errors import InputError, UserError
from perceptron_core.evaluation.metrics import SpanCounts
from perceptron_core.evaluation.predictor import choose_weights
from perceptron_core.kernels import COMPILED
from perceptron_core.settings import Settings
from perceptron_core.structures.tokens import history
from perceptron_core.task import Task
from perceptron_core.training.stopping import StopRule
from perceptron_core.weights.model_file import Model, write_model
from perceptron_core.weights.text import format_weights, parse_weights
from perceptron_jobs.cli.terminal import CLEAR, Terminal
from perceptron_jobs.corpora.prepared import prepare
from perceptron_jobs.engines.runners import Cluster
from perceptron_jobs.models.apply import evaluate, evaluate_predicted, predict, python_file
from perceptron_jobs.models.feature_names import find_names, prepared_of
from perceptron_jobs.options.names import find_experiment
from perceptron_jobs.options.spelling import as_arguments
from perceptron_jobs.report import distinct_names, learning_curve, learning_curve_svg, read_run, report_html
from perceptron_jobs.storage import is_remote, storage_of
from perceptron_jobs.training.configuration import portable
from perceptron_jobs.training.driver import train
from perceptron_jobs.training.plan import TrainingPlan
from perceptron_jobs.training.run_dir import RunDir, open_model

Arguments = argparse.Namespace


class _ToStandardError(logging.Handler):
    """What the jobs' runner has to say, such as where a job can be watched."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"\r{CLEAR}" if sys.stderr.isatty() else "", self.format(record), sep="", file=sys.stderr)


@contextlib.contextmanager
def _cluster(arguments: Arguments, what: str = "") -> Iterator[Cluster]:
    """Where the command's jobs run; what was started for them ends with the block. A bar shows how far `what` is."""
    log = logging.getLogger("perceptron")
    log.setLevel(logging.WARNING if getattr(arguments, "quiet", False) else logging.INFO)
    log.handlers, log.propagate = [_ToStandardError()], False
    named = Cluster(arguments.runner, arguments.conf, arguments.reducers, tuple(arguments.property))
    with named._replace(cluster_id=arguments.cluster_id).opened() as cluster:
        if not what:
            yield cluster
            return
        terminal = Terminal(getattr(arguments, "quiet", False))
        terminal.step(what, 100)
        yield cluster._replace(progress=lambda done, of, state="": terminal.progress(100 * done // max(1, of), state))
        terminal.clear()


def _require(arguments: Arguments, *names: str) -> None:
    for name in names:
        if not getattr(arguments, name):
            flag = f"--{name.replace('_', '-')}"
            raise UserError(f"{flag} is missing; give it here or under `options` in the task file")


def _mention_kernel(terminal: Terminal) -> None:
    if not COMPILED:
        terminal.note("the compiled kernel is not installed (or switched off): the slower reference runs instead")


def run_prepare(arguments: Arguments, task: Task) -> None:
    _require(arguments, "train", "output")
    terminal = Terminal(arguments.quiet)
    with _cluster(arguments, "prepare") as cluster:
        options = (arguments.shards, arguments.seed, arguments.output, cluster, arguments.min_count)
        made = prepare(task, arguments.train, *options)
    content = made.content
    counted = f"{content['sentences']:,} sentences, {content['tokens']:,} tokens"
    if task.classifies:
        counted = f"{content['sentences']:,} instances"
    terminal.note(f"{counted}, {len(made.labels())} labels in {len(made.shards)} shards: {arguments.output}")
    if made.kept_path():
        terminal.note(f"{content['kept']['features']:,} features occur on {content['min_count']} tokens or more")
    if made.remark():
        terminal.note(made.remark())


def run_train(arguments: Arguments, task: Task) -> None:
    _require(arguments, "run_dir")
    if bool(arguments.train) == bool(arguments.prepared):
        raise UserError("give the corpus either by --train FILE... or by --prepared DIR")
    if arguments.patience and not arguments.dev:
        raise UserError("--patience watches the dev score; give --dev FILE... as well")
    if arguments.threads > 1 and arguments.minibatch == 1:
        raise UserError("--threads decode the sentences of a minibatch; give --minibatch M as well, 2 or more")
    default_cap = None if arguments.learner == "mira" else 1.0
    terminal = Terminal(arguments.quiet)
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
            decoder=arguments.decoder,
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
    with _cluster(arguments) as cluster:
        run = train(plan._replace(cluster=cluster), terminal)
    terminal.note(f"model of epoch {run.chosen_epoch()}: {run.file('model')}")


def run_predict(arguments: Arguments) -> None:
    with _local_files(arguments.files) as files, _output(arguments.output) as output:
        with _cluster(arguments, "predict") as cluster:
            options = (arguments.weights, arguments.python, arguments.format)
            texts = predict(arguments.model, files, *options, cluster)
        for text in texts:
            output.write(text.encode("utf-8", "surrogatepass"))


@contextlib.contextmanager
def _local_files(names: list[str]) -> Iterator[list[str]]:
    """The files, with standard input put into one of its own where "-" stands."""
    if "-" not in names:
        yield names
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "standard-input")
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield [path if name == "-" else name for name in names]
        except UserError as error:
            raise UserError(str(error).replace(path, "standard input")) from error


@contextlib.contextmanager
def _output(name: str) -> Iterator[BinaryIO]:
    """Standard output for "-", else a file that appears when all of it is written."""
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    is_device = os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)
    if is_device:  # /dev/null must stay what it is
        with open(name, "wb") as file:
            yield file
    elif is_remote(name):
        with storage_of(name).new_file(name) as local, open(local, "wb") as file:
            yield file
    else:
        with written_atomically(name) as file:
            yield file


def run_evaluate(arguments: Arguments) -> None:
    if arguments.predicted:
        if arguments.model:
            raise UserError(
                "--predicted scores files that are tagged already; leave out MODEL and GOLD, or --predicted"
            )
        with _cluster(arguments, "evaluate") as cluster:
            counts = evaluate_predicted(arguments.predicted, arguments.metric, cluster)
    elif arguments.model and arguments.gold:
        with _cluster(arguments, "evaluate") as cluster:
            counts = evaluate(arguments.model, arguments.gold, arguments.weights, arguments.python, cluster)
    else:
        raise UserError("give MODEL and GOLD files, or --predicted FILE...")
    if arguments.json:
        print(json.dumps(counts.score(), indent=1))
        return
    print(counts.report(), end="", flush=True)
    if isinstance(counts, SpanCounts):  # on standard error, so that the report stays conlleval's
        share = 100 * counts.score()["sentence_accuracy"]
        print(f"sentences right: {counts.correct_sentences} of {counts.sentences} ({share:.2f} %)", file=sys.stderr)


def _named_model(arguments: Arguments) -> tuple[Model, str, dict[int, str]]:
    """The model, which of its columns is asked for, and the names of its features."""
    model = open_model(arguments.model)
    which = arguments.weights or ("averaged" if "averaged" in model.rows.values else "last")
    choose_weights(model, which)
    names = model.names
    if names is None:
        task = Task(model.task, python_file(arguments.model, model, arguments.python))
        names = find_names(model, task, prepared_of(arguments.model, arguments.prepared))
    nameless = sum(key not in names for key in model.rows.keys.tolist())
    if nameless:
        raise InputError(
            f"{nameless} of its features are not in the prepared corpus, so they have no name; "
            "give the corpus it was trained on by --prepared DIR",
            arguments.model,
        )
    return model, {"averaged": "averaged", "last": "weight"}[which], names


def run_inspect(arguments: Arguments) -> None:
    model, column, names = _named_model(arguments)
    if arguments.label and arguments.label not in model.labels:
        raise UserError(f"the model has no label {arguments.label}; it has {', '.join(model.labels)}")
    values = model.rows.values[column]
    keys, labels = model.rows.entry_keys().tolist(), model.rows.labels.tolist()
    shown = 0
    for i in abs(values).argsort(kind="stable")[::-1].tolist():
        name, label = names[keys[i]], model.labels[labels[i]]
        if not values[i] or (arguments.label and label != arguments.label):
            continue
        if arguments.feature and arguments.feature not in name:
            continue
        print(f"{values[i]:12.4f}  {label:<12} {name}")
        shown += 1
        if shown == arguments.top:
            break
    if not shown:
        print("no weight matches")


def run_export(arguments: Arguments) -> None:
    model, column, names = _named_model(arguments)
    with _output(arguments.output) as output:
        for line in format_weights(model.rows, column, model.labels, names):
            output.write(line.encode("utf-8", "surrogatepass"))


def run_import(arguments: Arguments, task: Task) -> None:
    try:
        with open(arguments.file, encoding="utf-8", newline="\n") as file:
            weights = parse_weights(file, arguments.file, task)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", arguments.file) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", arguments.file) from error
    decoding = {name: task.record["options"][name] for name in ("decoder", "beam") if name in task.record["options"]}
    settings = Settings(
        transitions=task.record["transitions"], start_stop=task.record["start_stop"], **decoding
    ).check()
    history.check(task.features, settings)
    model = Model("model", portable(task), weights.labels, settings.record(), weights.rows, names=weights.names)
    write_model(arguments.output, model)


def run_report(arguments: Arguments) -> None:
    runs = [RunDir(path) for path in arguments.runs]
    for run in runs:
        if run.config() is None:
            raise InputError("is no run directory (it has no config.json)", run.path)
    if arguments.svg and len(runs) > 1:
        raise UserError("--svg draws the curve of one run; --output shows several side by side")
    names = distinct_names(arguments.runs)
    if arguments.output:
        page = report_html([read_run(run)._replace(name=name) for run, name in zip(runs, names)])
        with _output(arguments.output) as output:
            output.write(page.encode())
    if arguments.svg:
        with _output(arguments.svg) as output:
            output.write(learning_curve_svg(runs[0].told_history(), names[0]).encode())
    if arguments.output:
        return
    for run, name in zip(runs, names):
        if len(runs) > 1:
            print(name)
        print(learning_curve(run.told_history()))


def run_experiment(arguments: Arguments) -> None:
    from perceptron_jobs.experiment.definition import read_experiment  # only now: no other command needs it
    from perceptron_jobs.experiment.run import Surroundings, run_experiment

    data = arguments.data or os.environ.get("PERCEPTRON_DATA")
    if not data:
        raise UserError("say where the corpora are, by --data DIR or by PERCEPTRON_DATA")
    experiment = read_experiment(find_experiment(arguments.experiment), data, arguments.full)
    given = {name: getattr(arguments, name) for name in ("runner", "conf", "cluster_id", "reducers")}
    runner = as_arguments(given) + [f"-D{setting}" for setting in arguments.property]
    jobs = arguments.jobs or (os.cpu_count() if arguments.runner == "inline" else None) or 1
    terminal = Terminal(arguments.quiet)
    for path in run_experiment(experiment, Surroundings(arguments.output, jobs, runner), terminal):
        terminal.note(path)
