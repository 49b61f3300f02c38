"""Running the predict and evaluate jobs: a model and files in, tagged text or a score out."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Optional

from perceptron_core.corpus import FORMATS
from perceptron_core.errors import UserError
from perceptron_core.evaluation.metrics import METRICS, Counts
from perceptron_core.evaluation.predictor import choose_weights
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model, write_model
from perceptron_jobs.corpora.pieces import cut_files, whole_files
from perceptron_jobs.corpora.prepared import check_files
from perceptron_jobs.engines.runners import Cluster, listed, run_job
from perceptron_jobs.mr.evaluate import LABELS, MREvaluate
from perceptron_jobs.mr.predict import MRPredict
from perceptron_jobs.storage import storage_of
from perceptron_jobs.training.run_dir import open_model


def python_file(model_path: str, model: Model, given: Optional[str]) -> Optional[str]:
    """Where the user's Python file is, if the model's features need one: as given, here, or beside the model."""
    named = model.task["python"]
    if not named:
        return None
    folder = model_path if os.path.isdir(model_path) else os.path.dirname(os.path.abspath(model_path))
    beside = os.path.join(folder, named["file"])
    here = named["file"]
    return given or next((path for path in (here, beside) if os.path.isfile(path)), here)


@contextmanager
def model_arguments(
    path: str, weights: Optional[str], python: Optional[str], cluster: Cluster
) -> Iterator[tuple[Task, list[str]]]:
    """A model's task, and the jobs' arguments for the model as a user names it; a run directory's weights are put into
    one file."""
    model = open_model(path)
    which = weights or ("averaged" if "averaged" in model.rows.values else "last")
    choose_weights(model, which)  # says so now if the model does not have them
    arguments = ["--weights", which]
    task = Task(model.task, python_file(path, model, python))
    file = task.find_python()
    if file:
        arguments += ["--python", os.path.abspath(file)]
    with tempfile.TemporaryDirectory() as scratch:
        if storage_of(path).is_folder(path):
            path = os.path.join(scratch, "model")
            write_model(path, model)
        yield task, ["--model", cluster.file(path), *arguments]


def predict(
    model: str,
    files: Sequence[str],
    weights: Optional[str],
    python: Optional[str],
    fmt: Optional[str],
    cluster: Cluster,
) -> list[str]:
    """The files' text, in order, with the guesses in it."""
    check_files(files)
    with model_arguments(model, weights, python, cluster) as (task, arguments):
        if fmt and FORMATS[fmt].kind != task.kind:
            raise UserError(
                f"--format {fmt} is of sequences, but the model classifies {task.record['format']} files; "
                "leave it out: labels may be missing"
            )
        arguments += ["--format", fmt] if fmt else []
        pieces = cut_files(files, task.format, cluster)
        with listed(pieces) as manifest:
            return [text for _, text in sorted(run_job(MRPredict, cluster, arguments, [manifest]))]


def evaluate(
    model: str,
    files: Sequence[str],
    weights: Optional[str],
    python: Optional[str],
    cluster: Cluster,
) -> Counts:
    """The counts of a model's guesses on files with gold labels."""
    check_files(files)
    with model_arguments(model, weights, python, cluster) as (task, arguments):
        pieces = cut_files(files, task.format, cluster)
        with listed(pieces) as manifest:
            ((metric, record),) = run_job(MREvaluate, cluster, arguments, [manifest])
    return METRICS[metric].from_record(record)


def evaluate_predicted(files: Sequence[str], metric: Optional[str], cluster: Cluster) -> Counts:
    """The counts of files whose last two columns are gold and guess; chunk labels are scored as spans."""
    check_files(files)
    with listed(whole_files(files, cluster)) as manifest:
        output: dict[str, Any] = dict(run_job(MREvaluate, cluster, [], [manifest]))
    chosen = metric or ("spans" if output[LABELS] else "accuracy")
    return METRICS[chosen].from_record(output[chosen])
