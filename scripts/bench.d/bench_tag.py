"""tag: file to tagged file, CoNLL-2000's and Brown's training parts, against python-crfsuite's tagger."""

from pathlib import Path
from typing import NamedTuple

from bench import CONFIGS, HERE, Bench, Goal, Row, raw
from corpora import every, write
from results import Outcome


class Work(NamedTuple):
    name: str
    corpus: str
    task: Path
    goal: Goal
    step: int  # the models, which are not measured, learn from every step-th sentence …
    epochs: int  # … for this number of epochs


WORKS = (
    Work("CoNLL-2000", "conll2000/train.txt.gz", HERE / "chunking19.yaml", Goal(at_least=3), 1, 5),
    Work("Brown", "brown/train.txt.gz", CONFIGS / "pos.yaml", Goal(at_least=8), 10, 3),
)


def run(bench: Bench) -> Outcome:
    outcomes = [_tag(bench, work) for work in WORKS]
    return Outcome(
        [row for outcome in outcomes for row in outcome.rows],
        raw={work.name: outcome.raw for work, outcome in zip(WORKS, outcomes)},
    )


def _tag(bench: Bench, work: Work) -> Outcome:
    corpus, features = bench.corpus(work.corpus), bench.features(work.task)
    folder = bench.scratch / f"tag-{work.name}"
    folder.mkdir()
    part, run, model = folder / "part.txt", folder / "run", folder / "model.crfsuite"
    ours, theirs = folder / "ours.txt", folder / "theirs.txt"
    write(part, every(corpus, work.step))
    bench.say(f"training the taggers of {work.name} (not measured)")
    bench.train(work.task, run, work.epochs, "--train", part)
    if bench.has("CRFsuite"):
        bench.process("crfsuite_process", "train", features, part, model, work.epochs)
    taken = bench.alternate(
        {
            "ours": lambda turn: bench.perceptron("predict", run / "model", corpus, "--output", ours),
            "CRFsuite": lambda turn: bench.process("crfsuite_process", "tag", features, model, corpus, theirs),
        }
    )
    row = Row(
        "tag",
        f"file → tagged file, {work.name}'s training part",
        "CRFsuite",
        accuracy=(bench.score(ours), bench.score(theirs) if "CRFsuite" in taken else None),
        note=f"models of {work.epochs} epochs on one of {work.step} sentences" if work.step > 1 else "",
    )
    return Outcome([bench.compare(row, work.goal, taken["ours"], taken.get("CRFsuite"))], raw=raw(taken))
