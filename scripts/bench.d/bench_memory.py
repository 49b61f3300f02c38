"""memory: the peak of training on all of Brown's training part, against CRFsuite."""

from bench import CONFIGS, Bench, Goal, Row, raw
from results import Outcome

EPOCHS = 3  # memory no longer grows after the first


def run(bench: Bench) -> Outcome:
    task, corpus = CONFIGS / "pos.yaml", bench.corpus("brown/train.txt.gz")
    features, model, ours = bench.features(task), bench.scratch / "memory.crfsuite", bench.scratch / "memory-run"

    taken = bench.alternate(
        {
            "ours": lambda turn: bench.train(task, ours, EPOCHS, "--train", corpus),
            "CRFsuite": lambda turn: bench.process("crfsuite_process", "train", features, corpus, model, EPOCHS),
        }
    )
    row = Row("memory", f"file → model, all of Brown's training part, {EPOCHS} epochs", "CRFsuite")
    peaks = bench.compare(
        row._replace(work=f"{row.work}: peak memory", unit="MB"),
        Goal(at_most=0.5),
        taken["ours"],
        taken.get("CRFsuite"),
        lambda one: one.peak,
    )
    seconds = bench.compare(row._replace(work=f"{row.work}: time"), None, taken["ours"], taken.get("CRFsuite"))
    return Outcome([peaks, seconds], raw=raw(taken))
