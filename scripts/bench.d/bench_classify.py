"""classify: an epoch of classification in memory and the accuracy on held-out instances, against scikit-learn."""

import json
from pathlib import Path
from typing import NamedTuple

from bench import CONFIGS, Bench, Goal, Row, raw, report
from generated_instances import TRAIN, write_instances
from measure import Measurement
from results import Outcome

EPOCHS = 5
CLASSES = (2, 10)
GOAL = Goal(at_least=1)
WITHIN = 0.005  # of the rival's accuracy
LEARNERS = {"Perceptron": "perceptron", "PassiveAggressiveClassifier": "pa1"}  # rival → ours
TASK = CONFIGS / "svmlight.yaml"


def run(bench: Bench) -> Outcome:
    rows, measured = [], {}
    for classes in CLASSES:
        files = _files(bench, classes)
        for rival in LEARNERS:
            row, taken = _against(bench, rival, classes, files)
            rows.append(row)
            measured[f"{classes} classes, {rival}"] = {**raw(taken), "accuracy": row.accuracy}
    return Outcome(rows, raw=measured)


class Files(NamedTuple):
    train: Path
    held_out: Path
    prepared: Path


def _files(bench: Bench, classes: int) -> Files:
    bench.say(f"making {TRAIN:,} instances of {classes} classes")
    files = Files(*(bench.scratch / f"classify{classes}.{name}" for name in Files._fields))
    write_instances(classes, files.train, files.held_out)
    bench.perceptron("prepare", TASK, "--train", files.train, "--output", files.prepared, "--quiet")
    return files


def _against(bench: Bench, rival: str, classes: int, files: Files) -> tuple[Row, dict[str, list[Measurement]]]:
    learner = LEARNERS[rival]
    taken = bench.alternate(
        {
            "ours": lambda turn: bench.process("epoch_process", files.prepared, TASK, EPOCHS, learner),
            rival: lambda turn: bench.process("sklearn_process", rival, files.train, files.held_out, EPOCHS),
        }
    )
    work = f"an epoch in memory, {TRAIN:,} instances, {classes} classes, {learner}, mean of {EPOCHS}"
    row = bench.compare(Row("classify", work, rival), GOAL, taken["ours"], taken.get(rival), _seconds)
    ours = _accuracy(bench, files, learner)
    return _with_accuracy(row, ours, taken.get(rival, [])), taken


def _seconds(one: Measurement) -> float:
    """The processor's seconds of one pass: of ours, or a rival's `fit` by its number of epochs."""
    passes = report(one)["passes"]
    return sum(passes) / len(passes)


def _accuracy(bench: Bench, files: Files, learner: str) -> float:
    """Of the model that `perceptron train` makes, with its averaged weights, as whoever trains one gets it."""
    model = bench.scratch / "classify-run"
    bench.train(TASK, model, EPOCHS, "--prepared", files.prepared, "--learner", learner)
    return json.loads(bench.perceptron("evaluate", model, files.held_out, "--json").output)["accuracy"]


def _with_accuracy(row: Row, ours: float, theirs: list[Measurement]) -> Row:
    row = row._replace(memory=(None, None), accuracy=(ours, None), goal=f"{GOAL.text()}, accuracy − 0.5 or better")
    if not theirs:
        return row
    accuracy = report(theirs[0])["accuracy"]
    return row._replace(met=bool(row.met) and ours >= accuracy - WITHIN, accuracy=(ours, accuracy))
