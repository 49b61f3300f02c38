"""Golden hashes: the bytes of models and shards for small configurations of everything that can be trained.

All other tests compare two runs of the same version, so none of them would notice if all bytes changed. A deliberate
change of bytes changes the recorded value in the same commit, which says why: PERCEPTRON_GOLDEN=record writes the file.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, NamedTuple

import pytest

from perceptron_core.settings import Settings
from perceptron_core.task_file import read_task
from perceptron_core.training.in_memory import Options, train_in_memory
from perceptron_core.training.stopping import StopRule
from perceptron_core.weights.model_file import write_model
from treebank import treebank

RECORDED = Path(__file__).with_name("golden.json")
WORDS = ("time", "flies", "Arrow", "кот", "собака", "时间", "Ёж", "naïveté", "x-ray", "like", "42", "U.S.")
TAGS = ("N", "V", "A", "D")


def _columns(choose: random.Random, sentences: int) -> str:
    """Word, part of speech, chunk."""
    lines = []
    for _ in range(sentences):
        inside = False
        for _ in range(choose.randint(1, 7)):
            word, tag = choose.choice(WORDS), choose.choice(TAGS)
            label = "O" if tag == "V" else f"I-{tag}P" if inside and choose.random() < 0.5 else f"B-{tag}P"
            inside = label != "O"
            lines.append(f"{word} {tag} {label if not inside or choose.random() < 0.9 else 'O'}")
        lines.append("")
    return "\n".join(lines) + "\n"


def _pairs(choose: random.Random, sentences: int, labels: int) -> list[list[tuple[str, str]]]:
    def label(word: str) -> str:
        return f"T{(WORDS.index(word) * 7 + choose.randint(0, 3)) % labels}"

    words = [[choose.choice(WORDS) for _ in range(choose.randint(1, 6))] for _ in range(sentences)]
    return [[(word, label(word)) for word in sentence] for sentence in words]


def _conllu(choose: random.Random) -> str:
    lines = []
    for sentence in _pairs(choose, 30, 4):
        for number, (word, tag) in enumerate(sentence, start=1):
            lines.append(f"{number}\t{word}\t{word.lower()}\t{tag}\t_\t_\t0\t_\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def _texts(choose: random.Random, separator: str) -> str:
    lines = []
    for _ in range(60):
        label = choose.choice(("spam", "ham", "кот"))
        words = [choose.choice(WORDS[: 6 if label == "ham" else 12]) for _ in range(choose.randint(0, 6))]
        lines.append(f"{label}{separator}{' '.join(words)}")
    return "\n".join(lines) + "\n"


def _numbers(choose: random.Random) -> str:
    lines = []
    for _ in range(60):
        features = sorted(choose.sample(range(1, 20), choose.randint(1, 6)))
        lines.append(f"{choose.choice((1, -1, 3))} " + " ".join(f"{f}:{choose.choice((1, 2, 0.5))}" for f in features))
    return "\n".join(lines) + "\n"


CHUNKS = """\
columns: [word, pos, chunk]
predict: chunk
encoding: iob2
metric: spans
features: ["word[-1..1]", "pos[-1..0] & pos[0..1]", "suffix2[0]", "shape[0]", "prefix1(pos)[1]"]
"""
PAIRS = CHUNKS.replace('"shape[0]"', '"shape[0]", "label[-1] & word[0]", "label[-1] & pos[0]"')
SECOND = CHUNKS.replace(
    '"shape[0]"',
    '"shape[0]", "label[-1] & pos[0]", "label[-2]", "label[-2] & word[0]",'
    ' "label[-2] & label[-1]", "label[-2] & label[-1] & pos[0]"',
)
HISTORY = """\
columns: [word, pos, chunk]
predict: chunk
encoding: iob2
features: ["word[-1..1]", "pos[0]", "label[-1]", "label[-2]", "label[-2] & label[-1]", "label[-1] & pos[0]"]
"""
WORD_TAG = (
    "format: word_tag\ncolumns: [word]\npredict: tag\nfeatures: ['word[-1..1]', 'suffix3(lower)[0]', 'length[0]']\n"
)
TEXTS = "kind: classification\nfeatures: ['lower[0]', 'lower[0] & lower[1]']\n"
TREES = """\
kind: tree
columns: [form, upos, feats]
features: ["head.form & child.form", "head.upos & child.upos", "child.form & child.upos", "head.upos",
           "left.upos[-1] & left.upos & right.upos", "left.upos & between.upos & right.upos", "child.upos & distance",
           "head.upos & child.Case(feats)"]
relations: ["head.upos & child.upos & direction", "child.form & first.upos", "child.upos & previous.upos & grand.form"]
"""
SIBLINGS = TREES.replace(
    '"head.upos",', '"head.upos", "sibling.upos & child.upos", "head.upos & sibling.upos & child.upos & direction",'
)
TASKS = {
    "trees": TREES,
    "siblings": SIBLINGS,
    "unlabelled": SIBLINGS.split("relations:")[0] + "labelled: false\nroots: any\n",
    "chunks": CHUNKS,
    "pairs": PAIRS,
    "legal": CHUNKS.replace("iob2", "{input: iob2, train: iobes, output: iob2}") + "legal_transitions: true\n",
    "plain": CHUNKS + "transitions: false\nstart_stop: false\nbias: false\n",
    "history": HISTORY,
    "second": SECOND,
    "crfpp": "columns: [word, pos, chunk]\npredict: chunk\ncrfpp: template\n",
    "python": CHUNKS + "python: own.py\nextractor: extract\nlookups: {class: words.txt}\n",
    "word_tag": WORD_TAG,
    "many": WORD_TAG,
    "conllu": "format: conllu\ncolumns: [form, lemma]\npredict: upos\nfeatures: ['form[-1..1]', 'lemma[0]']\n",
    "label_text": TEXTS,
    "csv": TEXTS + "format: csv\ncolumns: [text]\npredict: label\n",
    "tsv": TEXTS + "format: tsv\ncolumns: [text]\npredict: label\n",
    "svmlight": "kind: classification\nformat: svmlight\n",
}
TASKS["python"] = TASKS["python"].replace('"shape[0]"', '"class[0]", "vowels[-1]"')
OWN = """\
def vowels(word):
    return "".join(c for c in word if c in "aeiouи") or None


def extract(sentence, position):
    return [f"at{min(position, 3)}", sentence[position][0][:1]]
"""


class Case(NamedTuple):
    task: str
    options: tuple[Any, ...]


def _cases() -> dict[str, Case]:
    decoders = {"history": "greedy", "trees": "eisner", "siblings": "eisner2", "unlabelled": "climb"}
    cases = {f"task {task}": Case(task, ("--decoder", decoders[task]) if task in decoders else ()) for task in TASKS}
    for learner in ("pa", "pa1", "pa2", "mira"):
        cases[f"learner {learner}"] = Case("pairs", ("--learner", learner))
    for learner in ("naive-bayes", "rocchio"):
        for task in ("chunks", "label_text"):
            cases[f"learner {learner}, {task}"] = Case(task, ("--learner", learner))
    for mixing in ("uniform", "errors", "examples", "touched", "row", "scaled"):
        cases[f"mixing {mixing}"] = Case("pairs", ("--shards", 3, "--mixing", mixing))
        cases[f"mixing {mixing}, labels without end"] = Case("many", ("--shards", 2, "--mixing", mixing))
    for decoder in ("viterbi", "beam", "greedy"):
        for update in ("standard", "early", "max-violation"):
            options = ("--decoder", decoder, "--beam", 2, "--update", update)
            cases[f"{decoder}, {update}"] = Case("pairs", options)
    for update in ("early", "max-violation"):
        cases[f"beam, {update}, mira"] = Case(
            "legal", ("--beam", 2, "--decoder", "beam", "--update", update, "--learner", "mira", "--k-best", 3)
        )
    more: dict[str, Case] = {
        "k best": Case("pairs", ("--learner", "mira", "--k-best", 4, "--aggressiveness", 0.1)),
        "minibatch": Case("pairs", ("--minibatch", 4)),
        "minibatch mira": Case("pairs", ("--minibatch", 5, "--learner", "mira", "--k-best", 2, "--threads", 2)),
        "minibatch of classes": Case("label_text", ("--minibatch", 3, "--threads", 2)),
        "rounds": Case("chunks", ("--shards", 4, "--rounds", 3)),
        "rounds of history": Case("history", ("--decoder", "greedy", "--shards", 4, "--rounds", 3)),
        "history, three shards": Case("history", ("--decoder", "greedy", "--shards", 3, "--learner", "pa1")),
        "local epochs": Case("chunks", ("--shards", 2, "--local-epochs", 2)),
        "no average": Case("chunks", ("--no-average", "--shards", 2)),
        "one of three shards": Case("chunks", ("--subsample", "--shards", 3)),
        "another seed": Case("chunks", ("--seed", 7)),
        "min-updates": Case("pairs", ("--min-updates", 3, "--shards", 2)),
        "min-updates of many labels": Case(
            "many",
            (
                "--min-updates",
                2,
            ),
        ),
        "min-count": Case("pairs", ("--min-count", 3, "--shards", 2)),
        "min-count of texts": Case(
            "label_text",
            (
                "--min-count",
                2,
            ),
        ),
        "start from a model": Case("chunks", ("--init-model", "START")),
        "second order, beam, early": Case("second", ("--decoder", "beam", "--beam", 3, "--update", "early")),
        "second order, k best": Case("second", ("--learner", "mira", "--k-best", 3, "--minibatch", 4, "--threads", 2)),
        "second order, three shards": Case("second", ("--shards", 3, "--min-updates", 2)),
        "second order, scaled": Case("second", ("--shards", 3, "--mixing", "scaled")),
        "second order, min-count": Case("second", ("--min-count", 3, "--learner", "pa1")),
        "second order, history's templates": Case("history", ("--decoder", "viterbi")),
        "trees, mst": Case("trees", ("--decoder", "mst", "--shards", 2)),
        "trees, climb, pa1": Case("siblings", ("--decoder", "climb", "--learner", "pa1", "--shards", 3)),
        "trees, k best": Case(
            "siblings", ("--decoder", "eisner2", "--learner", "mira", "--k-best", 4, "--minibatch", 3, "--threads", 2)
        ),
        "trees, k best of mst": Case("trees", ("--decoder", "mst", "--learner", "mira", "--k-best", 3)),
        "trees, min-updates": Case("siblings", ("--decoder", "eisner2", "--min-updates", 2, "--shards", 2)),
        "trees, min-count": Case("siblings", ("--decoder", "climb", "--min-count", 3)),
        "trees, rounds": Case("trees", ("--decoder", "eisner", "--shards", 4, "--rounds", 3)),
        "numbers, pa2": Case("svmlight", ("--learner", "pa2", "--shards", 2)),
    }
    return {**cases, **more}


CASES = _cases()
BY_REFERENCE = (
    "task pairs", "task history", "task many", "task python", "task svmlight", "learner pa2", "learner rocchio, chunks",
    "mixing scaled", "beam, early, mira", "beam, max-violation", "k best", "minibatch mira", "min-updates", "rounds",
    "task trees", "task unlabelled", "trees, mst", "trees, k best", "trees, min-updates", "trees, min-count",
    "task second", "second order, beam, early", "second order, k best", "second order, three shards",
)  # fmt: skip


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    choose = random.Random(2026)
    files = {
        **{f"{name}.txt": _columns(choose, 40) for name in ("chunks", "START")},
        "word_tag.txt": "".join(" ".join(f"{w}_{t}" for w, t in s) + "\n" for s in _pairs(choose, 40, 5)),
        "many.txt": "".join(" ".join(f"{w}_{t}" for w, t in s) + "\n" for s in _pairs(choose, 90, 81)),
        "conllu.txt": _conllu(choose),
        "label_text.txt": _texts(choose, "\t"),
        "csv.txt": "label,text\n" + _texts(choose, ","),
        "tsv.txt": "label\ttext\n" + _texts(choose, "\t"),
        "svmlight.txt": _numbers(choose),
        **{f"{name}.txt": treebank(2026, 40) for name in ("trees", "siblings", "unlabelled")},
        "template": "U00:%x[-1,0]\nU01:%x[0,0]/%x[1,1]\nU:%x[0,1]\nU:%x[1,1]\nB01:%x[0,1]\nB\n",
        "own.py": OWN,
        "words.txt": "кот\tanimal\nflies\tanimal\ntime\n",
        **{f"{name}.yaml": text for name, text in TASKS.items()},
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", CASES)
def test_the_bytes_are_the_recorded_ones(name: str, corpora: Path, tmp_path: Path, must: Callable[..., str]) -> None:
    task, options = CASES[name]
    train = corpora / f"{task}.txt"
    if not train.exists():
        train = corpora / "chunks.txt"
    arguments = ["train", corpora / f"{task}.yaml", "--quiet", "--epochs", 3, "--stop-threshold", 0]
    if "START" in options:
        must(*arguments, "--train", corpora / "START.txt", "--run-dir", tmp_path / "first")
        options = tuple(tmp_path / "first" / "model" if option == "START" else option for option in options)
    must(*arguments, "--train", train, "--run-dir", tmp_path / "run", *options)
    shard = min((tmp_path / "run" / "prepared").glob("shard-*.gz"))
    found = {"model": _digest(tmp_path / "run" / "model"), "shard": _digest(shard)}
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    if os.environ.get("PERCEPTRON_GOLDEN") == "record":
        recorded[name] = found
        RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    assert found == recorded[name]


def _options(given: dict[str, Any]) -> Options:
    """The command line's options, as training in memory takes them."""
    cap = None if given.get("learner") == "mira" else 1.0
    names = {name: given[name] for name in Settings._fields if name in given}
    settings = Settings(**{"aggressiveness": cap, **names})
    own = {name: given[name] for name in Options._fields if name in given}
    return Options(settings=settings, stop=StopRule(3, 0, None), **own)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "--init-model" not in case.options])
def test_training_in_memory_gives_the_same_bytes(name: str, corpora: Path, tmp_path: Path) -> None:
    case, given = CASES[name], {}
    for option, value in zip(case.options, [*case.options[1:], None]):
        if str(option).startswith("--"):
            key = str(option)[2:].replace("-", "_")
            given[key[3:] if key.startswith("no_") else key] = (
                not key.startswith("no_") if value is None or str(value).startswith("--") else value
            )
    task = read_task(str(corpora / f"{case.task}.yaml"))
    file = corpora / f"{case.task}.txt"
    sentences = list(task.read(str(file if file.exists() else corpora / "chunks.txt"), "required"))
    write_model(str(tmp_path / "model"), train_in_memory(task, sentences, _options(given)).model)
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))[name]["model"]
    assert _digest(tmp_path / "model") == recorded


def test_every_recorded_hash_has_its_case() -> None:
    assert set(json.loads(RECORDED.read_text(encoding="utf-8"))) == set(CASES)


def test_the_reference_kernel_gives_the_same_bytes(tmp_path: Path) -> None:
    chosen = [f"{Path(__file__)}::test_the_bytes_are_the_recorded_ones[{name}]" for name in BY_REFERENCE]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--import-mode=importlib", "-q", "-p", "no:cacheprovider", *chosen],
        cwd=tmp_path,  # not the repository, whose packages would stand in for the installed ones
        env={**os.environ, "PERCEPTRON_KERNEL": "reference", "PERCEPTRON_GOLDEN": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(BY_REFERENCE)} passed" in done.stdout
