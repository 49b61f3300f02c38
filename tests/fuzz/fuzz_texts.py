"""Texts that users write or bring: task files, experiments, corpora of every format, templates, lookups, weights."""

from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Callable

import yaml

import material
from mutators import mutated, mutated_text
from perceptron_core.corpus import FORMATS, make_format, read_sentences
from perceptron_core.features.attributes import AttributeSet, read_lookup
from perceptron_core.features.crfpp import parse_crfpp
from perceptron_core.features.templates import parse_templates
from perceptron_core.task_file import read_task
from perceptron_core.weights.text import format_weights, parse_weights
from perceptron_jobs.experiment.definition import read_experiment
from pool import Target
from repository import ROOT

BOMB = b"a: &a [x,x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\nfeatures: [*d,*d]\n"
YAML_WORDS = (
    b"word[0]",
    b"word[-1..1]",
    b"label[-1] & ",
    b"[",
    b"{",
    b"&a",
    b"*a",
    b"!!python/name:os.system",
    b"- ",
    b": ",
)
YAML_WORDS += (
    b"word[99999999999]",
    b"word[-1e9]",
    b"word[-9..9]",
    b"&",
    b"<<: ",
    b"1" * 5000,
    b"[" * 200,
    BOMB,
    b"2026-01-01",
)


@cache
def yaml_files(kind: str) -> list[bytes]:
    if kind == "task":
        return [*(task.encode() for task in material.TASKS.values()), *_contents("configs/*.yaml")]
    return _contents("configs/experiments/*.yaml")


def _contents(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(ROOT.glob(pattern))]


def damaged_yaml(kind: str) -> Callable[[Random], bytes]:
    def make(random: Random) -> bytes:
        data = random.choice(yaml_files(kind))
        if random.random() < 0.4:
            return mutated_text(random, data, YAML_WORDS)
        changed = mutated(random, yaml.safe_load(data))
        return yaml.safe_dump(changed, allow_unicode=True).encode("utf-8", "surrogatepass")

    return make


def use_task(data: bytes, scratch: Path) -> None:
    path = scratch / "task.yaml"
    path.write_bytes(data)
    task = read_task(str(path))
    task.structures()
    task.encoder()


def use_experiment(data: bytes, scratch: Path) -> None:
    path = scratch / "experiment.yaml"
    path.write_bytes(data)
    read_experiment(str(path), str(scratch), full=False)


# ---------------------------------------------------------------- corpora

CORPORA = {
    "word_tag": "many",
    "raw": "many",
    "conllu": "conllu",
    "conllu_tree": "trees",
    "label_text": "texts",
    "csv": "csv",
    "svmlight": "numbers",
}
COLUMNS = {
    "columns": ["word", "pos", "chunk"],
    "conllu": ["form", "lemma", "upos"],
    "conllu_tree": ["form", "upos", "head"],
    "svmlight": ["number"],
}
CORPUS_WORDS = (
    b"\t",
    b"_",
    b'"',
    b'""',
    b",",
    b":",
    b"1-2\t",
    b"1.1\t",
    b"\xef\xbb\xbf",
    b"\x1f\x8b\x08",
    b"9" * 400,
    b"-DOCSTART-",
)


def damaged_corpus(name: str) -> Callable[[Random], bytes]:
    def make(random: Random) -> bytes:
        data = material.corpus(CORPORA.get(name, "pairs"))
        if name == "tsv":
            data = b"label\ttext\n" + material.corpus("texts")
        return mutated_text(random, data, CORPUS_WORDS)

    return make


def read_corpus(name: str) -> Callable[[bytes, Path], None]:
    columns = COLUMNS.get(name, ["text"])
    fmt = make_format(name, columns, columns[-1] if len(columns) > 1 else "label")

    def read(data: bytes, scratch: Path) -> None:
        path = scratch / "corpus"
        path.write_bytes(data)
        try:
            for sentence in read_sentences(str(path), fmt, True, "optional"):
                fmt.write(sentence, *[["O"] * len(sentence.token_lines)])
        finally:
            list(read_sentences(str(path), fmt, False, "required"))

    return read


# ---------------------------------------------------------------- templates, lookups, weights

TEMPLATES = b"word[0]\nword[1..3]\npos[-1..0] & pos[0..1]\nsuffix3(lower)[0]\nlabel[-1] & word[0]\nlabel[-2]"
CRFPP = b"# a comment\nU00:%x[-2,0]\nU01:%x[0,0]/%x[1,1]\nU02:const\nB\nB01:%x[0,1]\n"
LOOKUP = "the\tD\nкот\tN\nrun V\n\nword\n".encode()


def use_templates(data: bytes, _: Path) -> None:
    texts = data.decode("utf-8", "replace").split("\n")
    parse_templates(texts, ["word", "pos"], AttributeSet({}, {}), "task")


def use_crfpp(data: bytes, _: Path) -> None:
    parse_crfpp(data.decode("utf-8", "replace"), "template", ["word", "pos"])


def use_lookup(data: bytes, _: Path) -> None:
    read_lookup(data.decode("utf-8", "replace"), "lookup")


@cache
def weight_lines() -> bytes:
    structure = material.task("pairs").structure("viterbi")
    names: dict[Any, Any] = structure.fixed_names(["O", "B-NP", "B-VP"])
    names = dict.fromkeys([*names.values(), *(f"word[0]={word}" for word in material.WORDS)])
    return "".join(f"{name}\tO\t0.25\n" for name in names).encode()


def use_weights(data: bytes, _: Path) -> None:
    task = material.task("pairs")
    lines = data.decode("utf-8", "replace").splitlines(keepends=True)
    weights = parse_weights(lines, "weights", task.structure("viterbi"), task.labels)
    list(format_weights(weights.rows, "weight", weights.labels, weights.names))


TEMPLATE_WORDS = (
    b"[",
    b"]",
    b"..",
    b" & ",
    b"(",
    b")",
    b"99999999999",
    b"-1",
    b"1" * 5000,
    b"[" * 20000,
    b"label[-1]",
    b"[-1e9..1e9]",
)
CRFPP_WORDS = (b"%x[", b"]", b",", b"U", b"B", b"99999999999", b"%x[0,0]" * 50)
WEIGHT_WORDS = (b"\t", b"<start>", b"<stop>", b"label[-1]=", b" & ", b"\\", b"nan", b"1e99", b"extracted=", b"word[0]=")

TEXTS = {
    "task-yaml": Target(damaged_yaml("task"), use_task),
    "experiment-yaml": Target(damaged_yaml("experiment"), use_experiment),
    **{f"corpus-{name}": Target(damaged_corpus(name), read_corpus(name)) for name in FORMATS},
    "templates": Target(lambda random: mutated_text(random, TEMPLATES, TEMPLATE_WORDS), use_templates),
    "crfpp": Target(lambda random: mutated_text(random, CRFPP, CRFPP_WORDS), use_crfpp),
    "lookups": Target(lambda random: mutated_text(random, LOOKUP, (b"\t", b" ")), use_lookup),
    "text-weights": Target(lambda random: mutated_text(random, weight_lines(), WEIGHT_WORDS), use_weights),
}
