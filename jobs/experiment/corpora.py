"""What the cells train on: the corpora, cut to size where the experiment limits them, and prepared."""

import os
from collections.abc import Iterator, Sequence

import numpy as np

from perceptron_core.atomic import written_atomically, written_inside
from perceptron_core.corpus import Sentence
from perceptron_core.errors import UserError
from perceptron_core.shards.builder import PieceEncoder, ShardBuilder
from perceptron_core.task import Task
from perceptron_core.wire import encode_file_line
from perceptron_jobs.corpora.prepared import MANIFEST, check_files, data_identity, read_prepared
from perceptron_jobs.corpora.preparing import write_shard_file
from perceptron_jobs.experiment.cell import Cell, Corpus
from perceptron_jobs.experiment.makers import MAKERS
from perceptron_jobs.experiment.uneven import UNEVEN
from perceptron_jobs.records.prepared_manifest import Manifest
from perceptron_jobs.storage import open_file, storage_of


def _read(task: Task, files: Sequence[str], keep_text: bool = False) -> list[Sentence]:
    return [s for path in files for s in task.read(path, "required", keep_text=keep_text, opener=open_file) if s.labels]


def make(corpus: Corpus, folder: str) -> Corpus:
    """The corpus; if it is made from others, with the files that were made."""
    check_files([*corpus.train, *corpus.dev])
    if not corpus.make:
        return corpus
    made = {}
    for part, paths in (("train", corpus.train), ("dev", corpus.dev)):
        made[part] = os.path.join(folder, f"{corpus.name}-{part}.txt")
        with written_atomically(made[part]) as file:
            file.writelines(line.encode() for path in paths for line in MAKERS[corpus.make](path))
    return corpus._replace(train=(made["train"],), dev=(made["dev"],))


def training_files(corpus: Corpus, task: Task, folder: str) -> list[str]:
    """The corpus's training files; with a limit, one file of every n-th sentence, evenly from the whole corpus."""
    if not corpus.limit:
        return list(corpus.train)
    path = os.path.join(folder, f"{corpus.name}.txt")
    sentences = _read(task, corpus.train, keep_text=True)
    chosen = sentences[:: max(1, len(sentences) // corpus.limit)][: corpus.limit]
    with written_atomically(path) as file:  # every time, so that a changed corpus is noticed
        for sentence in chosen:
            file.write(("\n".join(sentence.text) + "\n").encode("utf-8", "surrogatepass"))
    return [path]


def check_prepared(folder: str, cell: Cell, task: Task, files: Sequence[str]) -> None:
    """Refuse shards that were made when the corpus or the task's features were different."""
    manifest = read_prepared(folder).manifest
    if manifest.features != task.fingerprint or manifest.data != _identity(cell.deal, files):
        raise UserError(
            f"{folder} was made of another corpus, or with other features, than {cell.corpus.name} has now; "
            "choose another --output, or remove the folder and the runs that were trained on it"
        )


def _identity(deal: str, files: Sequence[str]) -> list[dict]:
    """What the run's configuration says of its data; the deal is a part of it, since it decides the weights, too."""
    return [{**identity, "deal": deal} if deal in UNEVEN else identity for identity in data_identity(files)]


def prepare_unevenly(cell: Cell, task: Task, files: Sequence[str], folder: str) -> None:
    """A prepared corpus with the shards of the cell's deal; each is built as if it were a corpus of its own."""
    sentences = _read(task, files)
    shards, seed = cell.options["shards"], cell.options["seed"]
    parts = UNEVEN[cell.deal]([len(sentence.columns[0]) for sentence in sentences], shards, seed)
    manifest = Manifest(task.fingerprint, seed, _identity(cell.deal, files))
    with storage_of(folder).new_folder(folder) as local:
        built = []
        for shard, part in enumerate(parts):
            identity = {"shard": shard, "shards": shards, "seed": seed, "features": task.fingerprint}
            lines = _shard_lines(task, [sentences[i] for i in part.tolist()], identity)
            built.append(write_shard_file(local, lines))
        with written_inside(os.path.join(local, MANIFEST)) as out:
            out.write(manifest.with_shards(built, shards).as_json())


def _shard_lines(task: Task, sentences: Sequence[Sentence], identity: dict) -> Iterator[bytes]:
    builder = ShardBuilder(task.features, task.layout)
    if sentences:
        ((_, record),) = PieceEncoder(task.encoder(), identity["seed"], 0, 0, 1).encode(sentences)
        builder.add({**record, "places": np.arange(len(sentences))})  # in the deal's order, not shuffled
    return (encode_file_line(*record) for record in builder.finish(identity))
