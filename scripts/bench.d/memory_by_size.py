"""The peak memory of every command by the size of its text, 32 MB to 2 GB, in one process (-r inline).

The text is the English Web Treebank in CoNLL-U, again and again. In replica r the rare words have one of about r^0.6
names, so that the vocabulary grows as that of natural text does (Heaps' law). Each size is measured once: memory
depends on the text, not on what else the machine does.
"""

import gzip
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench import CONFIGS, Bench, Row
from corpora import suffix
from results import Detail, number

from perceptron_jobs.charts.panels import Chart, Panel

MEGABYTES = (32, 128, 512, 2048)
SHARDS = 8
EPOCHS = 2
ALLOWED = 500  # MB beyond the model
RARE = 5
HEAPS = 0.6
COMMANDS = ("prepare", "train", "predict", "evaluate")
TASK = CONFIGS / "upos.yaml"


class Peaks(NamedTuple):
    """What one size took."""

    megabytes: int
    peaks: dict[str, int]  # bytes, by command
    seconds: dict[str, float]
    model: int  # bytes of the run's largest file of weights


def measure_sizes(bench: Bench) -> list[Peaks]:
    return [_measure(bench, megabytes) for megabytes in MEGABYTES]


def _measure(bench: Bench, megabytes: int) -> Peaks:
    text, folder = bench.scratch / "grown.conllu", bench.scratch / f"memory-{megabytes}"
    grow(bench.corpus("ewt/train.conllu.gz"), text, megabytes << 20)
    folder.mkdir()
    prepared, run = folder / "prepared", folder / "run"
    taken = {
        "prepare": bench.perceptron(
            "prepare", TASK, "--train", text, "--shards", SHARDS, "--output", prepared, "--quiet"
        ),
        "train": bench.train(TASK, run, EPOCHS, "--prepared", prepared),
        "predict": bench.perceptron("predict", run / "model", text, "--output", folder / "tagged"),
        "evaluate": bench.perceptron("evaluate", run / "model", text),
    }
    (folder / "tagged").unlink()
    model = max(file.stat().st_size for file in (run / "model", *run.glob("epoch-*/*")))
    for name, one in taken.items():
        bench.say(f"{megabytes} MB, {name}: {one.seconds:.1f} s, {one.peak / 2**20:.0f} MB")
    peaks, seconds = ({name: getattr(one, what) for name, one in taken.items()} for what in ("peak", "seconds"))
    return Peaks(megabytes, peaks, seconds, model)


def grow(source: Path, target: Path, size: int) -> None:
    """Write a treebank again and again until the file has this many bytes."""
    with gzip.open(source, "rt", encoding="utf-8") as file:
        lines = [line.split("\t") for line in file.read().split("\n")]
    counts = Counter(fields[1] for fields in lines if len(fields) > 1)
    replica = written = 0
    with open(target, "wb") as out:
        while written < size:
            name = suffix(int(replica**HEAPS)) if replica else ""
            renamed = ([f[0], f[1] + name, *f[2:]] if len(f) > 1 and counts[f[1]] <= RARE else f for f in lines)
            written += out.write("\n".join("\t".join(fields) for fields in renamed).encode())
            replica += 1


# ---------------------------------------------------------------- what is shown


def shown(sizes: Sequence[Peaks]) -> tuple[list[Row], Detail]:
    """A row per command, and the table of all sizes."""
    first, last = sizes[0].megabytes, sizes[-1].megabytes
    rows, table = [], []
    for command in COMMANDS:
        beyond = max(size.peaks[command] - size.model for size in sizes) / 2**20
        rows.append(
            Row(
                "growth",
                f"peak memory of {command}, {first} MB to {last:,} MB of text",
                "the model",
                goal=f"{ALLOWED} MB and the model",
                met=beyond <= ALLOWED,
                instead=f"at most {number(beyond)} MB beyond it",
            )
        )
        table.append([f"{command}, MB", *(number(size.peaks[command] / 2**20) for size in sizes)])
    table.append(["the model, MB", *(number(size.model / 2**20) for size in sizes)])
    return rows, Detail("growth, peak memory:", ["text, MB", *(f"{size.megabytes:,}" for size in sizes)], table)


def drawn(sizes: Sequence[Peaks]) -> str:
    """The same as a figure (SVG)."""
    lines = {command: [(float(size.megabytes), size.peaks[command] / 2**20) for size in sizes] for command in COMMANDS}
    lines["the model"] = [(float(size.megabytes), size.model / 2**20) for size in sizes]
    ticks = [float(size.megabytes) for size in sizes]
    panel = Panel("peak memory, MB", "text, MB", lines, log_x=True, x_ticks=ticks, from_zero=True)
    caption = f"The task upos, {SHARDS} shards, {EPOCHS} epochs, one process. `scripts/bench growth`."
    return Chart("Memory by the size of the text", caption, [panel], reference="the model").svg()
