"""Running the predict and evaluate jobs: they take a model and files, and return tagged text or a score."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Optional

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
    """Where the user's Python file is, if the features need one: as given, in this folder, or beside the model."""
    named = model.task["python"]
    if not named:
        return None
    folder = model_path if os.path.isdir(model_path) else os.path.dirname(os.path.abspath(model_path))
    beside = os.path.join(folder, named["file"])
    here = named["file"]
    return given or next((path for path in (here, beside) if os.path.isfile(path)), here)


class NamedModel(NamedTuple):
    """A model as a user names it."""

    path: str  # a model file, or a run directory
    weights: Optional[str] = None  # averaged or last; None: averaged if there are any
    python: Optional[str] = None  # the Python file that the features need

    def open(self) -> tuple[Model, str]:
        """The model, and which of its weights are meant; refuses weights that it does not have."""
        model = open_model(self.path)
        which = self.weights or ("averaged" if "averaged" in model.rows.values else "last")
        choose_weights(model, which)
        return model, which

    def task(self, model: Model) -> Task:
        return Task(model.task, python_file(self.path, model, self.python))

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
            f"--format {fmt} is a format of sequences, but the model classifies {task.record['format']} files; "
            "leave it out: the files may lack labels"
        )


def evaluate(model: NamedModel, files: Sequence[str], cluster: Cluster) -> Counts:
    """The counts of a model's guesses on files with gold labels."""
    check_files(files)
    with model.for_jobs(cluster) as (task, arguments):
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
