"""cores: `-r local` with two shards against one, on a corpus whose serial epoch takes at least 20 seconds."""

import math
import shutil
from itertools import islice
from pathlib import Path

from bench import CONFIGS, Bench, Goal, Row, history, raw
from corpora import grown, read, write
from measure import Measurement
from results import Outcome

EPOCHS = 2
SERIAL_SECONDS = 20  # what a serial epoch should take at least …
RESERVE = 1.25  # … even if the machine is faster later than when that was found out
TASK = CONFIGS / "pos.yaml"


def run(bench: Bench) -> Outcome:
    sentences = list(read(bench.corpus("brown/train.txt.gz")))
    corpus = bench.scratch / "cores.txt"
    bench.say("finding out how long a serial epoch takes (not measured)")
    write(corpus, iter(sentences))
    _prepare(bench, corpus, 1)
    run = _run(bench, 1)
    bench.train(TASK, run, EPOCHS, "--prepared", _prepared(bench, 1), "-r", "local")
    fastest = min(epoch["seconds"] for epoch in history(run))
    replicas = math.ceil(RESERVE * SERIAL_SECONDS / fastest)
    bench.say(f"{fastest:.1f} s for Brown, so {replicas} replicas of it")
    write(corpus, islice(grown(sentences), replicas * len(sentences)))
    for shards in (1, 2):
        _prepare(bench, corpus, shards)
    serial: list[float] = []

    def train(shards: int) -> Measurement:
        run = _run(bench, shards)
        taken = bench.train(TASK, run, EPOCHS, "--prepared", _prepared(bench, shards), "-r", "local")
        if shards == 1:
            serial.extend(epoch["seconds"] for epoch in history(run))
        return taken

    taken = bench.alternate({"two shards": lambda turn: train(2), "one shard": lambda turn: train(1)})
    row = Row(
        "cores",
        f"training on a prepared corpus ({replicas} × Brown, {EPOCHS} epochs), -r local, 2 shards",
        "ours with 1 shard",
        note=f"a serial epoch took {min(serial):.0f} to {max(serial):.0f} s; the memory of a tree counts "
        "shared pages in each process",
    )
    compared = bench.compare(row, Goal(at_least=1.8), taken["two shards"], taken["one shard"])
    return Outcome([compared], raw={**raw(taken), "serial_epochs": serial, "replicas": replicas})


def _prepared(bench: Bench, shards: int) -> Path:
    return bench.scratch / f"cores-prepared-{shards}"


def _prepare(bench: Bench, corpus: Path, shards: int) -> None:
    folder = _prepared(bench, shards)
    shutil.rmtree(folder, ignore_errors=True)
    bench.perceptron("prepare", TASK, "--train", corpus, "--shards", shards, "--output", folder, "--quiet")


def _run(bench: Bench, shards: int) -> Path:
    return bench.scratch / f"cores-run-{shards}"
