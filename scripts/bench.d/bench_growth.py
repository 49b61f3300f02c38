"""growth: 1, 2, 4, 8 and 16 shards of one size, by the product's own commands, against a straight line; and the peak
memory of the commands up to 2 GB of text (memory_by_size.py).

The text is Brown in a random order, grown beyond its end by replicas whose rare words are new. A command's
seconds per token leave out what it takes for a corpus of one sentence, which is printed separately. An epoch is the
second one, which starts from weights: the sum of its mappers' seconds, and for mixing what came after the last of them.
"""

import random
import shutil
import sys
from itertools import islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

from arithmetic import deviation_from_flat, spread
from bench import CONFIGS, Bench, Row, history
from corpora import grown, read, write
from measure import Measurement, measure
from memory_by_size import drawn, measure_sizes, shown
from results import Detail, Outcome, number

from perceptron_jobs.mr import train_epoch

SIZES = (1, 2, 4, 8, 16)
SENTENCES = 5000  # of a shard
EPOCHS = 2
TOLERANCE = 0.1
AGAIN = 4  # how often a mapper gets the same sentences; its memory should stay the same
STAGES = ("prepare", "epoch", "mix", "predict")
TASK = CONFIGS / "pos.yaml"


class Stage(NamedTuple):
    seconds: float
    size: int  # bytes of what it makes


class Size(NamedTuple):
    """What one number of shards took, once."""

    tokens: int
    stages: dict[str, Stage]
    mapper: Measurement  # a process


def run(bench: Bench) -> Outcome:
    sentences = list(read(bench.corpus("brown/train.txt.gz")))
    random.Random(1).shuffle(sentences)
    corpora = {shards: bench.scratch / f"growth-{shards}.txt" for shards in SIZES}
    for shards, corpus in corpora.items():
        write(corpus, islice(grown(sentences), shards * SENTENCES))
    one = bench.scratch / "growth-one.txt"
    write(one, iter(sentences[:1]))
    taken: dict[int, list[Size]] = {shards: [] for shards in SIZES}
    floors: list[Size] = []
    for turn in range(bench.repeats):
        floors.append(_go_through(bench, one, 1))
        for shards, corpus in corpora.items():
            taken[shards].append(_go_through(bench, corpus, shards))
            bench.say(f"{turn + 1}/{bench.repeats} {shards} shards")
    again = _mapper_of_repeated(bench, sentences[:SENTENCES])
    rows, details = _tables(taken, floors, again)
    sizes = measure_sizes(bench)
    memory_rows, memory_table = shown(sizes)
    raw = {"taken": taken, "floors": floors, "again": again, "sizes": sizes}
    return Outcome([*rows, *memory_rows], [*details, memory_table], raw, {"growth-memory.svg": drawn(sizes)})


def _go_through(bench: Bench, corpus: Path, shards: int) -> Size:
    folder = bench.scratch / "growth"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    prepared, run, tagged = folder / "prepared", folder / "run", folder / "tagged.txt"
    prepare = bench.perceptron("prepare", TASK, "--train", corpus, "--shards", shards, "--output", prepared, "--quiet")
    bench.train(TASK, run, EPOCHS, "--prepared", prepared)
    predict = bench.perceptron("predict", run / "model", corpus, "--output", tagged)
    epoch = history(run)[-1]
    mapping, mixing = sum(shard["seconds"] for shard in epoch["shards"]), ("shuffle", "reduce", "publish")
    stages = {
        "prepare": Stage(prepare.seconds, sum(file.stat().st_size for file in prepared.glob("*.gz"))),
        "epoch": Stage(mapping, epoch["shuffled"]),
        "mix": Stage(sum(epoch["phases"][name] for name in mixing), (run / "model").stat().st_size),
        "predict": Stage(predict.seconds, tagged.stat().st_size),
    }
    return Size(epoch["tokens"], stages, _mapper(run, prepared))


def _mapper(run: Path, prepared: Path) -> Measurement:
    """One map task of the next epoch, as Hadoop or mrjob's local runner starts it."""
    (weights,) = run.glob(f"epoch-*{EPOCHS}/weights")
    shard = min(prepared.glob("*.gz"))
    options = ["--config", run / "config.json", "--weights", weights, "--epoch", EPOCHS + 1, "--ranges", 1]
    return measure([sys.executable, train_epoch.__file__, "--step-num=0", "--mapper", *options, shard])


def _mapper_of_repeated(bench: Bench, sentences: list[list[list[str]]]) -> list[int]:
    """The peak memory of a mapper whose shard has these sentences once, and of one that has them several times."""
    peaks = []
    for times in (1, AGAIN):
        folder = bench.scratch / f"growth-again-{times}"
        folder.mkdir()
        corpus, prepared, run = folder / "corpus.txt", folder / "prepared", folder / "run"
        write(corpus, iter(sentences * times))
        bench.perceptron("prepare", TASK, "--train", corpus, "--output", prepared, "--quiet")
        bench.train(TASK, run, EPOCHS, "--prepared", prepared)
        peaks.append(_mapper(run, prepared).peak)
    return peaks


# ---------------------------------------------------------------- tables


def _tables(taken: dict[int, list[Size]], floors: list[Size], again: list[int]) -> tuple[list[Row], list[Detail]]:
    lines, rows = [], []
    largest = SIZES[-1]
    for stage in STAGES:
        # There is one mapper per shard, so the start of each mapper is a part of the line.
        floor = 0.0 if stage == "epoch" else min(one.stages[stage].seconds for one in floors)
        micros, sizes = [], []
        for ones in taken.values():
            micros.append(median([(one.stages[stage].seconds - floor) / one.tokens * 1e6 for one in ones]))
            sizes.append(median([one.stages[stage].size / one.tokens for one in ones]))
        lines.append([f"{stage}, µs per token", *map(number, micros), f"{floor:.2f} s"])
        lines.append([f"{stage}, bytes per token", *map(number, sizes), "–"])
        rows.append(_flat(f"{stage}, 1 to {largest} shards of {SENTENCES:,} sentences", micros, "µs per token"))
    peaks = [median([one.mapper.peak for one in ones]) for ones in taken.values()]
    seconds = [median([one.mapper.seconds for one in ones]) for ones in taken.values()]
    lines.append(["a mapper's process, s", *map(number, seconds), "–"])
    lines.append(["a mapper's peak memory, MB", *(number(peak / 2**20) for peak in peaks), "–"])
    rows.append(_flat(f"memory of a mapper, 1 to {largest} shards of {SENTENCES:,} sentences", peaks, "MB"))
    once, several = again
    rows.append(
        _flat(f"memory of a mapper, its sentences once and {AGAIN} times", [once, several], "MB")._replace(
            rival="the same features", goal="not by sentences", instead=f"{number(several / once)} times the memory"
        )
    )
    tokens = [median([one.tokens for one in ones]) for ones in taken.values()]
    header = ["shards", *map(str, SIZES), "one sentence"]
    return rows, [Detail("growth:", header, [["tokens", *(f"{count:,.0f}" for count in tokens), "–"], *lines])]


def _flat(work: str, values: list[float], unit: str) -> Row:
    strays = deviation_from_flat(values)
    return Row(
        "growth",
        work,
        "a straight line",
        goal=f"flat within {100 * TOLERANCE:.0f} %",
        met=strays <= TOLERANCE,
        unit=unit,
        ours=spread(values),
        instead=f"strays by {100 * strays:.0f} %",
    )
