"""scripts/bench: its arithmetic, its tables, and its messages about what is missing. Nothing is timed."""

import gzip
import importlib
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Callable

import numpy as np
import pytest

from perceptron_core.features.feature_set import template_key
from perceptron_core.features.templates import parse_feature_name
from perceptron_core.task_file import read_task
from repository import ROOT

FOLDER = ROOT / "scripts" / "bench.d"
NAMES = (
    "epoch",
    "train",
    "tag",
    "labels",
    "parse",
    "classify",
    "memory",
    "cores",
    "cluster",
    "growth",
    "shuffle",
    "wire",
)

Load = Callable[[str], ModuleType]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Imports a module of scripts/bench.d; afterwards all of them are removed from sys.modules."""
    monkeypatch.syspath_prepend(FOLDER)
    yield importlib.import_module
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").parent == FOLDER:
            del sys.modules[name]


def scripts_bench(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(ROOT / "scripts" / "bench"), *arguments], capture_output=True, text=True, timeout=300)


# ---------------------------------------------------------------- the command line


def test_help_lists_every_benchmark() -> None:
    shown = scripts_bench("--help")
    assert shown.returncode == 0, shown.stderr
    listed = [line.split()[0] for line in shown.stdout.partition("benchmarks:\n")[2].splitlines()]
    assert set(NAMES) <= set(listed)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [(["nonsense"], "there is no benchmark nonsense; choose from epoch, train"), (["--repeats", "0"], "1 or more")],
)
def test_a_mistake_is_refused_before_anything_is_installed(arguments: list[str], complaint: str) -> None:
    refused = scripts_bench(*arguments)
    assert refused.returncode == 2
    assert complaint in refused.stderr
    assert "==>" not in refused.stdout


def test_every_registered_module_finds_what_it_imports(load: Load) -> None:
    entries = load("registry").BENCHMARKS.values()
    assert all(callable(load(entry.module).run) for entry in entries)


# ---------------------------------------------------------------- arithmetic


def test_medians_and_paired_ratios(load: Load) -> None:
    arithmetic = load("arithmetic")
    assert arithmetic.spread([3.0, 1.0, 8.0]) == (3.0, 1.0, 8.0)
    # the pairs are 4, 2 and 3; the medians' ratio would be 6/2 = 3, too, but the spread would not be known
    assert arithmetic.paired_ratios([4.0, 6.0, 9.0], [1.0, 3.0, 3.0]) == (3.0, 2.0, 4.0)
    # one busy minute: the pair is spoilt, not the comparison
    assert arithmetic.paired_ratios([10.0, 100.0, 12.0], [5.0, 50.0, 6.0]) == (2.0, 2.0, 2.0)
    with pytest.raises(ValueError, match="2 measurements cannot be paired with 1"):
        arithmetic.paired_ratios([1.0, 2.0], [1.0])


def test_deviation_from_flat(load: Load) -> None:
    arithmetic = load("arithmetic")
    assert arithmetic.deviation_from_flat([2.0, 2.0, 2.0]) == 0
    assert arithmetic.deviation_from_flat([1.0, 1.1, 0.8]) == pytest.approx(0.2)
    assert arithmetic.deviation_from_flat([-1.0, 0.0, 5.0]) == float("inf")


def test_goals(load: Load) -> None:
    goal = load("arithmetic").Goal
    assert goal(at_least=8).text() == "≥ 8×" and goal(at_most=0.5).text() == "≤ 0.5×"
    assert goal(at_least=8).met(8) and not goal(at_least=8).met(7.9)
    assert goal(at_most=0.5).met(0.5) and not goal(at_most=0.5).met(0.6)


# ---------------------------------------------------------------- tables


def test_a_row_shows_spread_goal_and_whether_it_was_met(load: Load) -> None:
    spread, results = load("arithmetic").Spread, load("results")
    row = results.Row(
        "train",
        "a | b",
        "CRFsuite",
        goal="≥ 5×",
        met=False,
        ours=spread(2.0, 1.5, 2.5),
        theirs=spread(8.0, 8.0, 8.0),
        ratio=spread(4.0, 3.2, 5.333),
        memory=(100 * 2**20, None),
        accuracy=(0.9351, 0.934),
    )
    lines = results.table(results.HEADER, [results.cells(row)]).splitlines()
    assert len({len(line.replace("\\|", "||")) for line in lines}) == 1, "columns are aligned"
    shown = [cell.strip() for cell in lines[2].replace("\\|", "/").strip("|").split("|")]
    assert shown[:5] == ["train", "a / b", "2.00 s (1.50–2.50)", "CRFsuite", "8.00 s"]
    assert shown[5:] == ["4.00× (3.20–5.33)", "≥ 5×", "no", "100 / – MB", "93.5 / 93.4 %"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0512, "0.051"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (12345, "12,345")],
)
def test_numbers_have_three_digits(load: Load, value: float, text: str) -> None:
    assert load("results").number(value) == text


# ---------------------------------------------------------------- what is not there


def test_a_missing_rival_is_named_in_the_table(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    rivals, results, measure = load("rivals"), load("results"), load("measure").measure
    there = {"CRFsuite": rivals.FromPip("a-rival-that-nobody-has-written")}
    bench = load("bench").Bench(tmp_path, tmp_path, 2, there)
    nothing = [sys.executable, "-c", ""]
    taken = bench.alternate({"ours": lambda turn: measure(nothing), "CRFsuite": lambda turn: measure(nothing)})
    assert len(taken["ours"]) == 2 and "CRFsuite" not in taken
    goal = load("arithmetic").Goal(at_least=5)
    row = bench.compare(results.Row("train", "work", "CRFsuite"), goal, taken["ours"], taken.get("CRFsuite"))
    assert row.instead.startswith("missing: ") and "a-rival-that-nobody-has-written" in row.instead
    assert row.ratio is None and row.met is None and row.ours is not None
    assert row.instead in results.document([results.Outcome([row])], [])
    assert "CRFsuite is missing" in capsys.readouterr().out


def test_a_rival_that_fails_does_not_stop_the_others(load: Load, tmp_path: Path) -> None:
    measure = load("measure").measure

    class Installed:
        def install(self) -> str:
            return "1.0"

    bench = load("bench").Bench(tmp_path, tmp_path, 2, {"fails": Installed(), "works": Installed()})
    good, bad = [sys.executable, "-c", ""], [sys.executable, "-c", "raise SystemExit('out of luck')"]
    taken = bench.alternate(
        {"fails": lambda turn: measure(bad), "works": lambda turn: measure(good), "ours": lambda turn: measure(good)}
    )
    assert {name: len(ones) for name, ones in taken.items()} == {"works": 2, "ours": 2}
    assert "out of luck" in bench.absent["fails"]
    with pytest.raises(load("problems").Failed, match="out of luck"):  # ours must not fail
        bench.alternate({"ours": lambda turn: measure(bad)})


def test_a_missing_corpus_is_named_and_the_next_benchmark_runs(
    load: Load, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    bench = load("bench").Bench(tmp_path / "nowhere", tmp_path, 1, {})
    outcomes = load("main").run(["epoch", "memory"], bench)
    assert [outcome.rows[0].benchmark for outcome in outcomes] == ["epoch", "memory"]
    assert all("there is no corpus" in outcome.rows[0].instead for outcome in outcomes)
    assert "missing: there is no corpus" in capsys.readouterr().out
    assert not bench.failures


# ---------------------------------------------------------------- measuring


def test_the_memory_of_a_process_tree_is_added_up(load: Load) -> None:
    child = "import time; held = bytes(range(256)) * 200_000; time.sleep(0.5)"
    parent = f"import subprocess, sys; {child}; subprocess.run([sys.executable, '-c', {child!r}])"
    measure = load("measure").measure
    alone, both = (measure([sys.executable, "-c", code]).peak for code in (child, parent))
    assert 50_000_000 < alone < 100_000_000
    assert both > alone + 45_000_000


def test_processor_seconds_are_those_of_all_descendants(load: Load) -> None:
    busy = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    parent = f"import subprocess, sys, time; subprocess.run([sys.executable, '-c', {busy!r}]); time.sleep(0.2)"
    taken = load("measure").measure([sys.executable, "-c", parent])
    assert 0.2 <= taken.processor <= taken.seconds


# ---------------------------------------------------------------- what rivals are given


def test_rivals_get_the_names_of_our_features(load: Load, tmp_path: Path) -> None:
    strings = load("attribute_strings")
    corpus = tmp_path / "corpus.txt"
    words = ["The", "AT&T", "of", "naïve", "Ёж", "a\\b", "x-ray", "1984"]
    corpus.write_text("".join(f"{word} X\n" for word in words) + "\nAlone Y\n\n", encoding="utf-8")
    task = read_task(str(ROOT / "configs" / "pos.yaml"))
    strings.write_features(task.record, tmp_path / "features.json")
    attributes = strings.AttributeStrings(strings.read_features(str(tmp_path / "features.json")))
    given = [token for *inputs, _ in load("corpora").read(corpus) for token in attributes(inputs)]
    encoder = task.encoder()
    encoded = encoder.encode(list(task.read(str(corpus), "required")))
    ours = task.structure("viterbi").keys(encoded, encoder.type_tables(), np.zeros(0, np.uint64))
    keys = [[template_key(*parse_feature_name(name, task.features.templates)) for name in token] for token in given]
    assert "lower[-1]=<-1> & lower[0]=the" in given[0] and "suffix4[0]=aïve" in given[3] and "bias" in given[-1]
    assert [key for token in keys for key in token] == ours.keys.tolist()
    assert [len(token) for token in keys] == (ours.starts[1:] - ours.starts[:-1]).tolist()


def test_grown_text_has_new_rare_words_and_old_frequent_ones(load: Load) -> None:
    corpora = load("corpora")
    sentences = [[["the", f"word{i}"], ["at", "nn"]] for i in range(corpora.RARE + 1)]
    text = corpora.grown(sentences)
    first, second, third = ([next(text) for _ in sentences] for _ in range(3))
    assert first == sentences
    assert [labels for _, labels in third] == [labels for _, labels in sentences]
    assert {words[0] for words, _ in first + second + third} == {"the"}
    assert len({words[1] for words, _ in first + second + third}) == 3 * len(sentences)


def test_a_grown_treebank_has_ever_fewer_new_words(load: Load, tmp_path: Path) -> None:
    sizes = load("memory_by_size")
    frequent = "".join(f"{number}\tthe\t_\n" for number in range(1, 8))
    (tmp_path / "in.gz").write_bytes(gzip.compress(f"# text\n{frequent}8\tкот\t_\n\n".encode()))
    sizes.grow(tmp_path / "in.gz", tmp_path / "out", 5000)
    text = (tmp_path / "out").read_text(encoding="utf-8")
    words = [line.split("\t")[1] for line in text.split("\n") if "\t" in line]
    replicas = words.count("the") // 7
    assert len(text.encode()) >= 5000 and len(words) == 8 * replicas and text.count("\n\n") == replicas
    names = set(words) - {"the"}
    assert 10 < len(names) < replicas / 2 and "кот" in names


def test_memory_by_size_is_held_against_the_model(load: Load) -> None:
    sizes = load("memory_by_size")
    peaks = {"prepare": 100 << 20, "train": 560 << 20, "predict": 520 << 20, "evaluate": 90 << 20}
    measured = [sizes.Peaks(32, dict.fromkeys(peaks, 50 << 20), {}, 1 << 20), sizes.Peaks(2048, peaks, {}, 50 << 20)]
    rows, table = sizes.shown(measured)
    assert [row.met for row in rows] == [True, False, True, True]
    assert table.rows[1] == ["train, MB", "50.0", "560"] and table.header == ["text, MB", "32", "2,048"]
    assert "peak memory, MB" in sizes.drawn(measured)


def test_generated_instances_are_the_same_every_time(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instances = load("generated_instances")
    for name, size in (("TRAIN", 400), ("HELD_OUT", 200), ("AT_ONCE", 200), ("WORDS", 3000)):
        monkeypatch.setattr(instances, name, size)
    for turn in ("first", "second"):
        instances.write_instances(3, tmp_path / f"{turn}.train", tmp_path / f"{turn}.held")
    for part in ("train", "held"):
        assert (tmp_path / f"first.{part}").read_bytes() == (tmp_path / f"second.{part}").read_bytes()
    task = read_task(str(ROOT / "configs" / "svmlight.yaml"))
    read = list(task.read(str(tmp_path / "first.train"), "required"))
    assert len(read) == 400 and {sentence.labels for sentence in read} == {("0",), ("1",), ("2",)}
    counts = Counter(name for sentence in read for name in sentence.columns[0])
    assert counts["1"] > 20 * counts["1000"] and len(counts) > 1000  # Zipf
    assert all(value >= 1 for sentence in read for value in sentence.values)


def test_what_is_written_is_read_again(load: Load, tmp_path: Path) -> None:
    corpora = load("corpora")
    sentences = [[["a", "b"], ["X", "Y"]], [["时间"], ["Z"]], [["c"], ["X"]]]
    corpora.write(tmp_path / "text", iter(sentences))
    assert list(corpora.read(tmp_path / "text")) == sentences
    assert list(corpora.every(tmp_path / "text", 2)) == sentences[::2]


# ---------------------------------------------------------------- parsers

TREEBANK = """# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\tvm\tNumber=Plur\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tpp\t_\t1\tobj\t_\t_
2.1\t(ya)\t_\t_\t_\t_\t_\t_\t_\t_
3\tmar\tmar\tNOUN\tnc\t_\t1\tobl\t_\t_

1\tSí\tsí\tINTJ\ti\t_\t0\troot\t_\t_

"""


def test_a_treebank_for_all_parsers_is_conllu_and_conllx_at_once(load: Load, tmp_path: Path) -> None:
    treebanks = load("treebanks")
    (tmp_path / "full.conllu").write_text(TREEBANK, encoding="utf-8")
    trees = list(treebanks.read_trees(tmp_path / "full.conllu"))
    assert trees[0][1] == ["nos", "PRON", "1", "obj"] and treebanks.count_words(trees) == 4
    treebanks.write_trees(tmp_path / "plain.conllu", trees)
    lines = (tmp_path / "plain.conllu").read_text(encoding="utf-8").split("\n")
    assert lines[1] == "2\tnos\t_\tPRON\tPRON\t_\t1\tobj\t_\t_" and lines[3] == "" and len(lines) == 7
    assert list(treebanks.read_trees(tmp_path / "plain.conllu")) == trees
    (blind, _) = treebanks.blind(trees)
    assert blind == [["vamos", "VERB", "0", "root"], ["nos", "PRON", "1", "dep"], ["mar", "NOUN", "2", "dep"]]
    found = [["<num>", "X", "3", "obj"], ["<num>", "X", "3", "obj"], ["a", "X", "0", "root"]]  # as MSTParser writes it
    (named, *_) = treebanks.with_words(trees, [found])
    assert named == [["vamos", "VERB", "3", "obj"], ["nos", "PRON", "3", "obj"], ["mar", "NOUN", "0", "root"]]
    assert [tree[0][0] for tree in treebanks.spread_out([[[str(i)]] for i in range(10)], 3)] == ["0", "3", "6"]


def test_programs_from_maven_need_maven(load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(load("problems").Missing, match="there is no java on the PATH; on Debian: apt install"):
        load("rivals").RIVALS["MaltParser"].install()


def test_one_byte_of_mstparsers_maps_is_changed(load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rivals = load("rivals")
    rival = rivals.MstParser()
    rival.folder = tmp_path
    (tmp_path / "lib").mkdir()
    with zipfile.ZipFile(tmp_path / "lib" / rival.trove, "w") as jar:
        jar.writestr(rival.patched, b"before" + rival.says_0 + b"after")
    monkeypatch.setattr(rivals.FromMaven, "_fetch", lambda self: None)
    rival._fetch()
    assert (tmp_path / "classes" / rival.patched).read_bytes() == b"before" + rival.says_minus_1 + b"after"
    assert sum(a != b for a, b in zip(rival.says_0, rival.says_minus_1)) == 1
    assert rival.class_path.startswith(str(tmp_path / "classes")), "it is found before the jar"


def test_slow_parsers_learn_from_whole_treebanks_only_on_demand(load: Load) -> None:
    parse = load("bench_parse")
    for full in (False, True):
        rivals = {rival for work in parse.works(full) for rival in work.rivals}
        whole = {rival for work in parse.works(full) if not work.part for rival in work.rivals}
        assert rivals == set(parse.RIVALRIES) and (parse.MST2 in whole) == full and parse.MALT in whole


def test_parsers_are_compared_where_no_rival_is_there(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    parse, results, problems = load("bench_parse"), load("results"), load("problems")
    (tmp_path / "tiny").mkdir()
    for part in ("train", "dev"):
        with gzip.open(tmp_path / "tiny" / f"{part}.conllu.gz", "wt", encoding="utf-8") as file:
            file.write(TREEBANK)

    class Absent:
        def install(self) -> str:
            raise problems.Missing("nobody has it")

    monkeypatch.setattr(load("parsers"), "EPOCHS", 1)  # after more of them, so few sentences are separated
    monkeypatch.setattr(parse, "works", lambda full: [parse.Work("Tiny", "tiny", True, [parse.MALT])])
    (tmp_path / "scratch").mkdir()
    bench = load("bench").Bench(tmp_path, tmp_path / "scratch", 1, {parse.MALT: Absent()})
    outcome = parse.run(bench)
    training, parsing, speed = outcome.rows
    for row in (training, parsing):
        assert row.instead == "missing: nobody has it" and row.met is None
        assert row.ours.median > 0 and row.memory[0] > 0 and 0 <= row.accuracy[0] <= 1 and row.accuracy[1] is None
    assert speed.goal == "≥ 60,000" and speed.met == (speed.ours.median >= 60_000) and speed.unit == "words/s"
    (table,) = outcome.details
    assert [row[0] for row in table.rows] == list(parse.OURS) and "dev part: 4 words" in table.title
    assert "missing: nobody has it" in results.document([outcome], [])
    assert "MaltParser is missing" in capsys.readouterr().out
