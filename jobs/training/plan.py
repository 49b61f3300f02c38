"""What a training is asked to do, and who is told how it goes."""

from collections.abc import Sequence
from typing import NamedTuple, Optional

from perceptron_core.registry import DEFAULT_MIXING
from perceptron_core.settings import Settings
from perceptron_core.task import Task
from perceptron_core.training.stopping import StopRule
from perceptron_core.weights.model_file import Model
from perceptron_jobs.engines.runners import Cluster
from perceptron_jobs.records.epoch_entry import EpochEntry
from perceptron_jobs.training.run_dir import RunDir


class TrainingPlan(NamedTuple):
    """What `perceptron train` was asked for."""

    task: Task
    run_dir: str
    train: Sequence[str] = ()
    prepared: Optional[str] = None
    dev: Sequence[str] = ()
    shards: Optional[int] = None
    seed: Optional[int] = None
    min_count: Optional[int] = None
    settings: Settings = Settings()
    threads: int = 1  # not among the settings, since it changes no result
    mixing: str = DEFAULT_MIXING
    rounds: Optional[int] = None  # of the first epoch; None: see perceptron_core/training/rounds.py
    subsample: bool = False
    init_model: Optional[str] = None
    stop: StopRule = StopRule(10, 0.0005, None)
    cluster: Cluster = Cluster()


class Listener:
    """Is told what a run does. The command line shows it; a user of the library may ignore it."""

    def note(self, text: str) -> None:
        """A message for the user."""

    def step(self, what: str, total: int) -> None:
        """Work of `total` units begins."""

    def progress(self, done: int, state: str = "") -> None:
        """`done` units are done; a cluster that does not know how many tells its state."""

    def epoch(self, entry: EpochEntry) -> None:
        """An epoch was published."""

    def finished(self, run: RunDir, task: Task, model: Model) -> None:
        """The training has ended and its model is written; the run directory is still held by this process."""
