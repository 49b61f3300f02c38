"""How each parser is trained and run, as commands: ours and the rivals'. All learn for the same number of epochs."""

import shutil
from pathlib import Path
from typing import Callable, NamedTuple

from bench import CONFIGS, Bench
from measure import Measurement, measure
from rivals import FromMaven
from treebanks import read_trees, with_words, write_trees

EPOCHS = 10
FAST, SECOND = "ours, parsing-fast", "ours, parsing"
MALT, MST1, MST2, UDPIPE = "MaltParser", "MSTParser, order 1", "MSTParser, order 2", "UDPipe"
# One thread collects Java's garbage, which costs the least processor time.
JAVA = ("java", "-XX:+UseSerialGC", "-Xmx6g")


class Parser(NamedTuple):
    train: Callable[[Path], Measurement]  # of a treebank
    parse: Callable[[Path, Path], Measurement]  # treebank without trees → with them
    keeps_words: bool = True  # in its output; MSTParser writes `<num>` for numbers, and "-" for "_"


def make_parsers(bench: Bench, folder: Path, projective: bool) -> dict[str, Parser]:
    """All parsers by name; their models are in the folder. Where trees are not projective, each finds such trees in its
    own way: ours by `mst` and `climb`, MSTParser by its non-proj, MaltParser pseudo-projectively, UDPipe by swaps."""
    return {
        FAST: _ours(bench, folder / "fast", "parsing-fast", [] if projective else ["--decoder", "mst"]),
        SECOND: _ours(bench, folder / "second", "parsing", [] if projective else ["--decoder", "climb"]),
        MALT: _malt(bench, folder, [] if projective else ["-pp", "head"]),
        MST1: _mst(bench, MST1, folder, 1, projective),
        MST2: _mst(bench, MST2, folder, 2, projective),
        UDPIPE: _udpipe(
            bench, folder, [] if projective else ["transition_system=swap", "transition_oracle=static_lazy"]
        ),
    }


def score(bench: Bench, parser: Parser, gold: Path, parsed: Path) -> tuple[float, float]:
    """UAS and LAS, by our own evaluate, 0 … 1."""
    if not parser.keeps_words:
        write_trees(parsed, list(with_words(read_trees(gold), read_trees(parsed))))
    scores = bench.scores(gold, parsed)
    return scores["uas"], scores["las"]


def _ours(bench: Bench, run: Path, task: str, options: list[str]) -> Parser:
    return Parser(
        lambda treebank: bench.train(CONFIGS / f"{task}.yaml", run, EPOCHS, "--train", treebank, *options),
        lambda treebank, parsed: bench.perceptron("predict", run / "model", treebank, "--output", parsed),
    )


def _java(bench: Bench, rival: str, *arguments: object) -> Measurement:
    program = bench.rivals[rival]
    assert isinstance(program, FromMaven)
    return measure([*JAVA, "-cp", program.class_path, *arguments])


def _malt(bench: Bench, folder: Path, options: list[str]) -> Parser:
    def malt(*arguments: object) -> Measurement:
        return _java(bench, MALT, "org.maltparser.Malt", "-w", folder, "-c", "malt", *arguments)

    def train(treebank: Path) -> Measurement:
        shutil.rmtree(folder / "malt", ignore_errors=True)
        return malt("-m", "learn", "-i", treebank, "-a", "nivreeager", "-l", "liblinear", *options)

    return Parser(train, lambda treebank, parsed: malt("-m", "parse", "-i", treebank, "-o", parsed))


def _mst(bench: Bench, rival: str, folder: Path, order: int, projective: bool) -> Parser:
    settings = (
        f"model-name:{folder / f'mst{order}.model'}",
        "format:CONLL",
        f"order:{order}",
        f"decode-type:{'proj' if projective else 'non-proj'}",
    )

    def mst(*arguments: object) -> Measurement:
        return _java(bench, rival, "mstparser.DependencyParser", *settings, *arguments)

    return Parser(
        lambda treebank: mst("train", f"train-file:{treebank}", f"iters:{EPOCHS}"),
        lambda treebank, parsed: mst("test", f"test-file:{treebank}", f"output-file:{parsed}"),
        keeps_words=False,
    )


def _udpipe(bench: Bench, folder: Path, options: list[str]) -> Parser:
    model = folder / "parser.udpipe"
    return Parser(
        lambda treebank: bench.process("udpipe_process", "train", treebank, model, EPOCHS, *options),
        lambda treebank, parsed: bench.process("udpipe_process", "parse", model, treebank, parsed),
    )
