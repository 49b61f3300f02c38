"""epoch: a training epoch in memory, CoNLL-2000, the same 19 attributes per token, against an iteration of CRFsuite."""

from typing import Callable

from bench import HERE, Bench, Goal, Row, raw, report
from measure import Measurement
from results import Outcome

EPOCHS = 10
GOAL = Goal(at_least=6)  # of a kernel compiled for the processor family's baseline, as ours is


def run(bench: Bench) -> Outcome:
    task, corpus = HERE / "chunking19.yaml", bench.corpus("conll2000/train.txt.gz")
    features, prepared, model = bench.features(task), bench.scratch / "epoch-prepared", bench.scratch / "epoch.crfsuite"
    bench.perceptron("prepare", task, "--train", corpus, "--output", prepared, "--quiet")
    taken = bench.alternate(
        {
            "ours": lambda turn: bench.process("epoch_process", prepared, task, EPOCHS),
            "CRFsuite": lambda turn: bench.process("crfsuite_process", "train", features, corpus, model, EPOCHS),
        }
    )
    row = Row("epoch", f"an epoch in memory, CoNLL-2000, 19 attributes per token, mean of {EPOCHS}", "CRFsuite")
    passes = bench.compare(
        row._replace(note="processor seconds of only the pass, as CRFsuite's log has them; for memory see `train`"),
        GOAL,
        taken["ours"],
        taken.get("CRFsuite"),
        _mean_of("passes"),
    )
    wholes = bench.compare(
        row._replace(work=f"{row.work}, with weights fetched and steps emitted, mixed and applied"),
        None,
        taken["ours"],
        taken.get("CRFsuite"),
        _mean_of("epochs"),
    )
    rows = [compared._replace(memory=(None, None)) for compared in (passes, wholes)]
    reports = {name: [report(one) for one in ones] for name, ones in taken.items()}
    return Outcome(rows, raw={**raw(taken), "reports": reports})


def _mean_of(ours: str) -> Callable[[Measurement], float]:
    """The mean seconds: of our passes or epochs, or of a rival's iterations."""

    def mean(one: Measurement) -> float:
        said = report(one)
        seconds = said[ours] if ours in said else said["iterations"]
        return sum(seconds) / len(seconds)

    return mean
