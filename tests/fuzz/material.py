"""Small sound inputs of every kind, which are then damaged: corpora, tasks, shards, models, a run directory."""

import atexit
import contextlib
import io
import shutil
import tempfile
import zlib
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgpack
import numpy as np

from perceptron_core.settings import Settings
from perceptron_core.shards.records import Record
from perceptron_core.task import Task
from perceptron_core.task_file import read_task
from perceptron_core.training.in_memory import InMemory, Options, make_shards
from perceptron_core.weights.model_file import ALIGNMENT, MAGIC, Model, write_model
from perceptron_jobs.cli.main import main

WORDS = ("time", "flies", "Arrow", "кот", "时间", "naïveté", "x-ray", "42", "U.S.")
FEATURES = 'features: ["word[-1..1]", "pos[-1] & pos[0]", "suffix2[0]"%s]\n'
CHUNKS = "columns: [word, pos, chunk]\npredict: chunk\nencoding: iob2\nmetric: spans\n" + FEATURES
TASKS = {
    "pairs": CHUNKS % ', "label[-1] & word[0]"',
    "legal": CHUNKS % "" + "legal_transitions: true\n",
    "second": CHUNKS % ', "label[-1] & pos[0]", "label[-2]", "label[-2] & label[-1] & pos[0]"',
    "history": CHUNKS.replace("spans", "accuracy") % ', "label[-1]", "label[-2] & label[-1]"',
    "many": "format: word_tag\ncolumns: [word]\npredict: tag\nfeatures: ['word[-1..1]', 'label[-1] & word[0]']\n",
    "conllu": "format: conllu\ncolumns: [form, lemma]\npredict: upos\nfeatures: ['form[-1..1]', 'lemma[0]']\n",
    "trees": "kind: tree\ncolumns: [form, upos]\nfeatures: ['head.form & child.upos', 'left.upos & between.upos & "
    "right.upos', 'sibling.upos & child.upos', 'head.upos & sibling.upos & child.upos', 'child.upos & distance']\n"
    "relations: ['child.form & head.upos & direction', 'child.upos & first.upos & grand.form']\n",
    "texts": "kind: classification\nfeatures: ['lower[0]', 'lower[0] & lower[1]']\n",
    "csv": "kind: classification\nformat: csv\ncolumns: [text]\npredict: label\nfeatures: ['text[0]']\n",
    "numbers": "kind: classification\nformat: svmlight\n",
}


def _sentences(choose: Random, labels: list[str]) -> list[list[tuple[str, str, str]]]:
    def token() -> tuple[str, str, str]:
        return choose.choice(WORDS), choose.choice("NVA"), choose.choice(labels)

    return [[token() for _ in range(choose.randint(1, 5))] for _ in range(8)]


def _chunks(choose: Random) -> str:
    kinds = ["O", "B-NP", "B-VP", "B-名"]
    return "\n".join("".join(" ".join(token) + "\n" for token in sentence) for sentence in _sentences(choose, kinds))


def _word_tag(choose: Random) -> str:
    sentences = _sentences(choose, [f"T{number}" for number in range(80)])
    return "".join(" ".join(f"{word}_{tag}" for word, _, tag in sentence) + "\n" for sentence in sentences)


def _conllu(choose: Random) -> str:
    lines = []
    for sentence in _sentences(choose, ["NOUN", "VERB"]):
        lines.append("# text = …")
        for number, (word, tag, label) in enumerate(sentence, start=1):
            lines.append(f"{number}\t{word}\t{word.lower()}\t{label}\t{tag}\t_\t{number - 1}\tdep\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def _texts(choose: Random) -> str:
    sentences = _sentences(choose, ["spam", "ham", "кот"])
    return "".join(f"{sentence[0][2]}\t{' '.join(word for word, _, _ in sentence)}\n" for sentence in sentences)


def _csv(choose: Random) -> str:
    return "label,text\n" + _texts(choose).replace("\t", ',"').replace("\n", '"\n')


def _numbers(choose: Random) -> str:
    lines = []
    for _ in range(8):
        features = sorted(choose.sample(range(1, 20), choose.randint(1, 4)))
        lines.append(f"{choose.choice((1, -1, 3))} " + " ".join(f"{f}:{choose.choice((1, 2, 0.5))}" for f in features))
    return "\n".join(lines) + "\n"


MAKERS = {"many": _word_tag, "conllu": _conllu, "trees": _conllu, "texts": _texts, "csv": _csv, "numbers": _numbers}


@cache
def corpus(name: str) -> bytes:
    """The corpus of a task."""
    return MAKERS.get(name, _chunks)(Random(name)).encode()


@cache
def folder() -> Path:
    """Where the material lies: the corpora (NAME.txt) and the tasks (NAME.yaml)."""
    path = Path(tempfile.mkdtemp(prefix="fuzz-material-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    for name, task in TASKS.items():
        (path / f"{name}.yaml").write_text(task, encoding="utf-8")
        (path / f"{name}.txt").write_bytes(corpus(name))
    return path


@cache
def task(name: str) -> Task:
    return read_task(str(folder() / f"{name}.yaml"))


class Trained(NamedTuple):
    """What a training leaves behind."""

    model: Model
    weights: Model
    average: Model
    shards: list[list[Record]]
    options: Options
    steps: list[Any]  # of the shards in the last epoch


@cache
def trained(name: str) -> Trained:
    """Two epochs on two shards."""
    decoder = {"history": "greedy", "second": "beam", "trees": "climb"}.get(name, "viterbi")
    kind = {"texts": "pa1", "second": "mira"}.get(name, "perceptron")
    settings = Settings(decoder=decoder, learner=kind, min_updates=2 if name == "legal" else 1)
    options = Options(settings, shards=2, rounds=1)
    shards = make_shards(task(name), list(task(name).read(str(folder() / f"{name}.txt"), "required")), 2, 1)
    training = InMemory(task(name), shards, options)
    training.epoch()
    steps, _ = training.shard_steps()
    training.epoch()
    standing = training.standing
    assert standing.average is not None
    return Trained(standing.model(), standing.weights, standing.average, shards, options, steps)


def plan_of(name: str) -> Any:
    """How the task's shards are trained on."""
    known = trained(name)
    return InMemory(task(name), known.shards, known.options).plan()


@cache
def run_dir() -> Path:
    """A run with a dev set, three epochs and a report."""
    path, data = folder() / "run", folder() / "pairs.txt"
    with contextlib.redirect_stdout(io.StringIO()):
        options = ["--epochs", "3", "--shards", "2", "--dev", str(data)]
        code = main(["train", str(folder() / "pairs.yaml"), "--train", str(data), "--run-dir", str(path), *options])
    assert code == 0
    return path


# ---------------------------------------------------------------- model files, taken apart and put together

Arrays = dict[str, np.ndarray]


def model_bytes(model: Model) -> bytes:
    path = folder() / "a-model"
    write_model(str(path), model)
    return path.read_bytes()


def take_apart(data: bytes) -> tuple[dict[str, Any], Arrays]:
    size = int.from_bytes(data[8:12], "little")
    header = msgpack.unpackb(data[16 : 16 + size], strict_map_key=False)
    begin = 16 + size + -(16 + size) % ALIGNMENT
    places = header["arrays"]
    return header, {name: np.frombuffer(data, kind, count, begin + at) for name, kind, count, at, _ in places}


def body_of(arrays: Arrays) -> tuple[list[list[Any]], bytes]:
    """The places of the arrays for the header, and their bytes."""
    places, body = [], b""
    for name, array in arrays.items():
        raw = array.tobytes()
        places.append([name, array.dtype.str, len(array), len(body), zlib.crc32(raw)])
        body += raw + bytes(-len(raw) % ALIGNMENT)
    return places, body


def put_together(header: Any, body: bytes) -> bytes:
    """A model file with right checksums."""
    packed = msgpack.packb(header, unicode_errors="surrogatepass")
    begin = MAGIC + len(packed).to_bytes(4, "little") + zlib.crc32(packed).to_bytes(4, "little") + packed
    return begin + bytes(-len(begin) % ALIGNMENT) + body
