"""Running the predict and evaluate jobs: they take a model and files, and return tagged text or a score."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Optional

from perceptron_core.corpus import FORMATS
from perceptron_core.errors import InputError, UserError
from perceptron_core.evaluation.metrics import METRICS, AttachmentCounts, Counts
from perceptron_core.evaluation.metrics.predicted_trees import read_predicted_trees
from perceptron_core.evaluation.predictor import choose_weights
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model, write_model
from perceptron_jobs.corpora.pieces import cut_files, whole_files
from perceptron_jobs.corpora.prepared import check_files
from perceptron_jobs.engines.runners import Cluster, listed, run_job
from perceptron_jobs.mr.evaluate import LABELS, MREvaluate
from perceptron_jobs.mr.predict import MRPredict
from perceptron_jobs.storage import open_file, storage_of
from perceptron_jobs.training.whole import open_model


class NamedModel(NamedTuple):
    """A model as a user names it."""

    path: str  # a model file, or a run directory
    weights: Optional[str] = None  # averaged or last; None: averaged if there are any
    python: Optional[str] = None  # the Python file that the features need; nothing else is run

    def open(self) -> tuple[Model, str]:
        """The model, and which of its weights are meant; refuses weights that it does not have."""
        model = open_model(self.path)
        which = self.weights or ("averaged" if "averaged" in model.rows.values else "last")
        choose_weights(model, which)
        return model, which

    def task(self, model: Model) -> Task:
        try:
            return Task(model.task, self.python)
        except UserError as error:  # a record that is well formed, but makes no sense
            raise InputError(f"is damaged: {error}", self.path) from error

    @contextmanager
    def for_jobs(self, cluster: Cluster) -> Iterator[tuple[Task, list[str]]]:
        """The model's task, and the arguments by which jobs take the model; a run's weights are put into one file."""
        model, which = self.open()
        arguments, task, path = ["--weights", which], self.task(model), self.path
        file = task.find_python()
        if file:
            arguments += ["--python", os.path.abspath(file)]
        with tempfile.TemporaryDirectory() as scratch:
            if storage_of(path).is_folder(path):
                path = os.path.join(scratch, "model")
                write_model(path, model)
            yield task, ["--model", cluster.file(path), *arguments]


def predict(model: NamedModel, files: Sequence[str], cluster: Cluster, fmt: Optional[str] = None) -> Iterator[str]:
    """The files' text, in order, with the guesses in it: some sentences at a time."""
    check_files(files)
    with model.for_jobs(cluster) as (task, arguments):
        check_format(fmt, task)
        arguments += ["--format", fmt] if fmt else []
        pieces = cut_files(files, task.format, cluster)
        before = ""
        with listed(pieces) as manifest:
            for key, text in run_job(MRPredict, cluster, arguments, [manifest]):
                assert key > before, f"{key} came after {before}"
                before = key
                yield text


def check_format(fmt: Optional[str], task: Task) -> None:
    """Refuse a format of the input that is not one of the model's kind."""
    if fmt and FORMATS[fmt].kind != task.kind:
        raise UserError(
            f"--format {fmt} is a format of sequences, but the model takes {task.record['format']} files; "
            "leave it out: what is predicted may be missing in them"
        )


def evaluate(model: NamedModel, files: Sequence[str], cluster: Cluster) -> Counts:
    """The counts of a model's guesses on files with gold labels."""
    check_files(files)
    with model.for_jobs(cluster) as (task, arguments):
        pieces = cut_files(files, task.format, cluster)
        with listed(pieces) as manifest:
            ((metric, record),) = run_job(MREvaluate, cluster, arguments, [manifest])
    return METRICS[metric].from_record(record)


def evaluate_trees(gold: str, predicted: str) -> Counts:
    """The counts of the trees in a CoNLL-U file against gold ones, both read here: there is no work for many tasks."""
    check_files([gold, predicted])
    counts = AttachmentCounts()
    for targets in read_predicted_trees(gold, predicted, open_file):
        counts.add_targets(*targets)
    return counts


def evaluate_predicted(files: Sequence[str], metric: Optional[str], cluster: Cluster) -> Counts:
    """The counts of files whose last two columns are gold and guess; chunk labels are scored as spans."""
    check_files(files)
    with listed(whole_files(files, cluster)) as manifest:
        output: dict[str, Any] = dict(run_job(MREvaluate, cluster, [], [manifest]))
    chosen = metric or ("spans" if output[LABELS] else "accuracy")
    return METRICS[chosen].from_record(output[chosen])
