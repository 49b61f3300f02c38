"""parse: treebank to parser, and file to parsed file, against MaltParser, MSTParser and UDPipe 1.

All get the same information: forms and gold universal tags. What counts are the processor's seconds, since Java works
with several threads. MSTParser and UDPipe take ten minutes and more for a whole treebank: without --full they learn
from a part of one, and so do ours beside them.

Start-up is told apart by parsing a single sentence. What remains is little for a fast parser, so these parse the dev
part several times over.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple, Optional

from arithmetic import spread
from bench import Bench, Goal, Row, Side, peak, raw
from measure import Measurement
from parsers import EPOCHS, FAST, MALT, MST1, MST2, SECOND, UDPIPE, Parser, make_parsers, score
from problems import Failed
from results import Detail, Outcome, number
from treebanks import Tree, blind, count_words, read_trees, spread_out, write_trees

PART = 500  # sentences for slow rivals
COPIES = 8  # of the dev part, for fast parsers
SPEED = 60_000  # tokens per second, second order, without start-up
OURS, FAST_ONES, SLOW_ONES = (FAST, SECOND), (MALT,), (MST1, MST2, UDPIPE)


class Rivalry(NamedTuple):
    """Which of ours a rival is compared with, and by how much ours should be faster on a whole treebank."""

    ours: str
    train: Optional[Goal] = None
    parse: Optional[Goal] = None


RIVALRIES = {
    MALT: Rivalry(SECOND, Goal(at_least=1), Goal(at_least=5)),
    MST1: Rivalry(FAST, Goal(at_least=50), Goal(at_least=100)),
    MST2: Rivalry(SECOND, Goal(at_least=50), Goal(at_least=100)),
    UDPIPE: Rivalry(SECOND),
}


class Work(NamedTuple):
    name: str
    folder: str  # of the corpora
    projective: bool
    rivals: Sequence[str]
    part: Optional[int] = None  # sentences; None: the whole treebank


def works(full: bool) -> list[Work]:
    """What is measured; with `full` everybody learns from whole treebanks."""
    rivals = (*FAST_ONES, *SLOW_ONES) if full else FAST_ONES
    whole = [Work("EWT", "ewt", True, rivals), Work("Basque", "eu-bdt", False, rivals)]
    return whole if full else [*whole, whole[1]._replace(rivals=SLOW_ONES, part=PART)]


class Files(NamedTuple):
    train: Path
    gold: Path
    dev: Path  # without trees
    one: Path  # its first sentence
    many: Path  # the dev part several times over


class Taken(NamedTuple):
    """What was measured of one parser."""

    train: Sequence[Measurement]
    parse: Sequence[Measurement]
    start: Sequence[Measurement]  # a single sentence
    many: Sequence[Measurement]  # of fast parsers
    scores: tuple[float, float]  # UAS, LAS


def run(bench: Bench) -> Outcome:
    rows, details, measured = [], [], {}
    for work in works(bench.full):
        outcome = _measure(bench, work)
        rows += outcome.rows
        details += outcome.details
        measured[_named(work)] = outcome.raw
    return Outcome(rows, details, measured)


def _named(work: Work) -> str:
    return f"{work.part:,} sentences of {work.name}" if work.part else work.name


def _measure(bench: Bench, work: Work) -> Outcome:
    trees = [list(read_trees(bench.corpus(f"{work.folder}/{part}.conllu.gz"))) for part in ("train", "dev")]
    train, dev = spread_out(trees[0], work.part) if work.part else trees[0], trees[1]
    folder = bench.scratch / f"parse-{work.folder}-{work.part or 'all'}"
    folder.mkdir()
    files = _write(folder, train, dev)
    parsers = make_parsers(bench, folder, work.projective)
    parsers = {name: parser for name, parser in parsers.items() if name in (*OURS, *work.rivals)}

    bench.say(f"{_named(work)}: training")
    trained = bench.alternate({name: _training(parser, files.train) for name, parser in parsers.items()})
    parsers = {name: parser for name, parser in parsers.items() if name in trained}
    stages = {}
    for stage, treebank in (("parse", files.dev), ("start", files.one), ("many", files.many)):
        bench.say(f"{_named(work)}: parsing {treebank.name}")
        chosen = {name: parser for name, parser in parsers.items() if stage != "many" or name not in SLOW_ONES}
        stages[stage] = bench.alternate({n: _parsing(p, treebank, _output(folder, n)) for n, p in chosen.items()})
        if stage == "parse":
            scores = _scores(bench, {name: parsers[name] for name in stages[stage]}, files.gold, folder)
            parsers = {name: parsers[name] for name in scores}
    taken = {
        name: Taken(trained[name], *(stages[stage].get(name, ()) for stage in stages), scores[name])
        for name in scores
        if name in stages["start"]
    }
    words = count_words(dev), len(dev[0])
    title = f"parse, {_named(work)}: {len(train):,} sentences, {EPOCHS} epochs; dev part: {words[0]:,} words"
    return Outcome(
        [*_rows(bench, work, taken), *([] if work.part else [_speed(work, taken[SECOND], *words)])],
        [Detail(title, *_table(taken, *words))],
        {stage: raw(ones) for stage, ones in {"train": trained, **stages}.items()},
    )


def _write(folder: Path, train: Sequence[Tree], dev: Sequence[Tree]) -> Files:
    files = Files(*(folder / f"{name}.conllu" for name in Files._fields))
    write_trees(files.train, train)
    write_trees(files.gold, dev)
    write_trees(files.dev, blind(dev))
    write_trees(files.one, blind(dev[:1]))
    write_trees(files.many, blind([*dev] * COPIES))
    return files


def _output(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(', ', '-').replace(' ', '-')}.conllu"


def _scores(bench: Bench, parsers: Mapping[str, Parser], gold: Path, folder: Path) -> dict[str, tuple[float, float]]:
    """UAS and LAS; a rival whose trees cannot be scored is left out and noted."""
    found = {}
    for name, parser in parsers.items():
        try:
            found[name] = score(bench, parser, gold, _output(folder, name))
        except Failed as error:
            if name in OURS:
                raise
            bench.absent[name] = f"its trees cannot be scored: {error}"
            bench.say(f"{name}: {error}")
    return found


def _training(parser: Parser, treebank: Path) -> Side:
    return lambda turn: parser.train(treebank)


def _parsing(parser: Parser, treebank: Path, parsed: Path) -> Side:
    return lambda turn: parser.parse(treebank, parsed)


# ------------------------------------------------------------ what is shown


def _rows(bench: Bench, work: Work, taken: Mapping[str, Taken]) -> list[Row]:
    rows = []
    for rival in work.rivals:
        versus, theirs = RIVALRIES[rival], taken.get(rival)
        ours = taken[versus.ours]
        accuracy = ours.scores[1], theirs.scores[1] if theirs else None
        train = Row(
            "parse",
            f"treebank → parser, {_named(work)}, {EPOCHS} epochs, {versus.ours[6:]}, processor",
            rival,
            accuracy=accuracy,
            note="accuracy is LAS on the dev part" + ("" if rival != MALT else "; it has no epochs"),
        )
        parse = train._replace(
            work=f"file → parsed file, {work.name}'s dev part, {versus.ours[6:]}, processor", note=""
        )
        for row, goal, stage in ((train, versus.train, "train"), (parse, versus.parse, "parse")):
            measured = [getattr(each, stage) if each else None for each in (ours, theirs)]
            rows.append(bench.compare(row, None if work.part else goal, *measured, value=_processor))
    return rows


def _speed(work: Work, ours: Taken, words: int, one: int) -> Row:
    """Ours, against nobody."""
    speed = spread(beyond_start(ours, words, one))
    what = f"words per processor second without start-up, {work.name}'s dev part, {SECOND[6:]}"
    return Row("parse", what, "–", goal=f"≥ {SPEED:,}", met=speed.median >= SPEED, unit="words/s", ours=speed)


def _processor(one: Measurement) -> float:
    return one.processor


def _median(taken: Sequence[Measurement]) -> float:
    return median(one.processor for one in taken)


def beyond_start(taken: Taken, words: int, one: int) -> list[float]:
    """Words per processor second, turn by turn, without what a single sentence takes."""
    parsed, words = (taken.many, COPIES * words) if taken.many else (taken.parse, words)
    return [(words - one) / max(0.01, whole.processor - start.processor) for whole, start in zip(parsed, taken.start)]


def _table(taken: Mapping[str, Taken], words: int, one: int) -> tuple[list[str], list[list[object]]]:
    header = ["parser", "training, processor s", "wall s", "MB", "parsing, processor s", "wall s", "MB"]
    header += ["words/s", "without start-up", "UAS", "LAS"]
    rows: list[list[object]] = []
    for name, of in taken.items():
        row: list[object] = [name]
        for stage in (of.train, of.parse):
            wall = median(each.seconds for each in stage)
            row += [number(_median(stage)), number(wall), f"{peak(stage) / 2**20:,.0f}"]
        speeds = words / _median(of.parse), median(beyond_start(of, words, one))
        rows.append([*row, *(f"{speed:,.0f}" for speed in speeds), *(f"{100 * share:.2f}" for share in of.scores)])
    return header, rows
