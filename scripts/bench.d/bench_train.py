"""train: file to model file, CoNLL-2000, 10 epochs, interpreter start and all, against python-crfsuite."""

from bench import HERE, Bench, Goal, Row, raw
from results import Outcome

EPOCHS = 10


def run(bench: Bench) -> Outcome:
    task, corpus = HERE / "chunking19.yaml", bench.corpus("conll2000/train.txt.gz")
    test = bench.corpus("conll2000/test.txt.gz")
    features, model, ours = bench.features(task), bench.scratch / "train.crfsuite", bench.scratch / "train-run"

    taken = bench.alternate(
        {
            "ours": lambda turn: bench.train(task, ours, EPOCHS, "--train", corpus),
            "CRFsuite": lambda turn: bench.process("crfsuite_process", "train", features, corpus, model, EPOCHS),
        }
    )
    tagged = bench.scratch / "train-tagged.txt"
    bench.perceptron("predict", ours, test, "--output", tagged)
    our_f1, their_f1 = bench.score(tagged), None
    if "CRFsuite" in taken:
        bench.process("crfsuite_process", "tag", features, model, test, tagged)
        their_f1 = bench.score(tagged)
    row = Row(
        "train",
        f"file → model file, CoNLL-2000, {EPOCHS} epochs, 19 attributes per token",
        "CRFsuite",
        accuracy=(our_f1, their_f1),
        note="accuracy is F1 on the test part",
    )
    compared = bench.compare(row, Goal(at_least=5), taken["ours"], taken.get("CRFsuite"))
    return Outcome([compared], raw=raw(taken))
