"""labels: file to model with Brown's 190 or so tags, against CRFsuite's and OpenNLP's perceptrons, and NLTK's.

OpenNLP decides token by token and gets the tag before as an attribute. NLTK has features of its own and takes far
longer, so it trains for fewer epochs; both are stated.
"""

from itertools import islice
from pathlib import Path
from typing import NamedTuple, Optional

from attribute_strings import read_features, write_template_lines
from bench import CONFIGS, Bench, Goal, Row, Side, raw
from corpora import every, write
from measure import Measurement, measure
from results import Outcome
from rivals import OpenNlp

STEP, SENTENCES = 5, 9000
EPOCHS, NLTK_EPOCHS = 10, 3


class Contender(NamedTuple):
    """A rival: how it trains, how it tags the dev part, and by how much ours should be faster."""

    train: Side
    tag: Side
    goal: Optional[Goal]
    note: str = ""


def run(bench: Bench) -> Outcome:
    part, dev = bench.scratch / "labels.txt", bench.corpus("brown/dev.txt.gz")
    write(part, islice(every(bench.corpus("brown/train.txt.gz"), STEP), SENTENCES))
    task, ours, tagged = CONFIGS / "pos.yaml", bench.scratch / "labels-run", bench.scratch / "labels-tagged.txt"

    rivals = _rivals(bench, part, dev, tagged)
    sides: dict[str, Side] = {"ours": lambda turn: bench.train(task, ours, EPOCHS, "--train", part)}
    taken = bench.alternate({**sides, **{name: rival.train for name, rival in rivals.items()}})
    bench.perceptron("predict", ours, dev, "--output", tagged)
    our_accuracy, rows = bench.score(tagged), []
    for name, rival in rivals.items():
        their_accuracy = None
        if name in taken:
            bench.say(f"scoring {name} (not measured)")
            rival.tag(0)
            their_accuracy = bench.score(tagged)
        row = Row(
            "labels",
            f"file → model, {SENTENCES:,} sentences of Brown, {EPOCHS} epochs",
            name,
            accuracy=(our_accuracy, their_accuracy),
            note=f"accuracy is on the dev part{rival.note}",
        )
        row = bench.compare(row, rival.goal, taken["ours"], taken.get(name))
        if row.met and rival.goal:
            row = row._replace(met=our_accuracy >= their_accuracy)
        rows.append(row._replace(goal=f"{row.goal}, accuracy ≥") if rival.goal else row)
    return Outcome(rows, raw=raw(taken))


def _rivals(bench: Bench, part: Path, dev: Path, tagged: Path) -> dict[str, Contender]:
    features, templates = bench.features(CONFIGS / "pos.yaml"), bench.scratch / "labels.templates"
    write_template_lines(read_features(features), templates)
    models = {name: bench.scratch / f"labels.{name}" for name in ("crfsuite", "opennlp", "nltk")}

    def opennlp(*arguments: object) -> Measurement:
        rival = bench.rivals["OpenNLP"]
        assert isinstance(rival, OpenNlp)
        return measure(["java", "-cp", rival.class_path, rival.driver, *arguments])

    return {
        "CRFsuite": Contender(
            lambda turn: bench.process("crfsuite_process", "train", features, part, models["crfsuite"], EPOCHS),
            lambda turn: bench.process("crfsuite_process", "tag", features, models["crfsuite"], dev, tagged),
            Goal(at_least=7),
        ),
        "OpenNLP": Contender(
            lambda turn: opennlp("train", templates, part, models["opennlp"], EPOCHS),
            lambda turn: opennlp("tag", templates, models["opennlp"], dev, tagged),
            Goal(at_least=2.5),
            "; it decides token by token, with the tag before as an attribute",
        ),
        "NLTK": Contender(
            lambda turn: bench.process("nltk_process", "train", part, models["nltk"], NLTK_EPOCHS),
            lambda turn: bench.process("nltk_process", "tag", models["nltk"], dev, tagged),
            None,
            f"; it trains for only {NLTK_EPOCHS} epochs, on features of its own",
        ),
    }
