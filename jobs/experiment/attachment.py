"""UAS of a parser's run after its last epoch. A run's history has only the headline, LAS; papers show UAS, too.

The dev set is parsed again for it.
"""

from functools import cache
from typing import NamedTuple, Optional

from perceptron_core.evaluation.held_out import read_held_out
from perceptron_core.evaluation.metrics import AttachmentCounts
from perceptron_core.evaluation.predictor import choose_weights
from perceptron_core.task_file import read_task
from perceptron_jobs.experiment.cell import Corpus
from perceptron_jobs.storage import open_file
from perceptron_jobs.training.run_dir import RunDir


class Attachment(NamedTuple):
    """UAS in percent; None if there are no such weights, or no trees."""

    last: Optional[float] = None
    averaged: Optional[float] = None


@cache  # several measures need it
def attachment(run_dir: str, corpus: Corpus) -> Attachment:
    run = RunDir(run_dir)
    standing = run.standing(run.epochs()[-1])
    model, settings = standing.model(), standing.settings()
    task = read_task(corpus.task).for_decoder(settings.decoder)
    if task.record["metric"] != "attachment":
        return Attachment()
    held_out = read_held_out(task, settings.decoder, corpus.dev, open_file)

    def uas(which: str) -> float:
        counts = held_out.score(model.labels, settings, choose_weights(model, which))
        assert isinstance(counts, AttachmentCounts), "the metric of trees"
        return 100 * counts.score()["uas"]

    return Attachment(uas("last"), uas("averaged") if standing.average is not None else None)
