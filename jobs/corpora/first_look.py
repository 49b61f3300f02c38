"""A look at the first sentences of a corpus before it is prepared: what would cost a run, or quietly spoil it."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Optional

from perceptron_core.corpus import Sentence, read_sentences
from perceptron_core.corpus.label_encodings import count_begun_by_inside
from perceptron_core.errors import UserError
from perceptron_core.task import Task
from perceptron_jobs.storage import open_file

SAMPLE = 200  # sentences of each file whose labels are looked at


def check_shards(task: Task, files: Sequence[str], shards: int) -> None:
    """Refuse more shards than there are sentences: those without one would only cost time, a job's task each."""
    found = sum(1 for _ in islice(chain.from_iterable(_first(task, path) for path in files), shards))
    if found < shards:
        raise UserError(f"--shards {shards}: the corpus has only {found} {task.called}; give at most {found}")


def remark_on_labels(task: Task, files: Sequence[str]) -> Optional[str]:
    """A sentence, if a file is said to be in IOB2 and looks like IOB1."""
    if task.encoding["input"] != "iob2":
        return None
    for path in files:
        labels = (sentence.labels or () for sentence in islice(_first(task, path), SAMPLE))
        inside, spans = map(sum, zip(*map(count_begun_by_inside, labels)))
        if inside:
            return (
                f"{path}: {inside} of the first {spans} spans begin with I-, as in IOB1, but the task says that the "
                "files are in iob2; if they are in IOB1, say so in the task file: "
                f"`encoding: {{input: iob1, train: {task.encoding['train']}, output: {task.encoding['output']}}}`"
            )
    return None


def _first(task: Task, path: str) -> Iterator[Sentence]:
    return read_sentences(path, task.format, opener=open_file)
