"""Which pieces of which files the mappers read: several read a big plain file, one reads any other file."""

import json
import os
import tempfile
from collections.abc import Sequence
from itertools import groupby

from perceptron_core.corpus import Format, Piece, split_file
from perceptron_core.corpus.files import GZIP_MAGIC
from perceptron_core.errors import InputError
from perceptron_core.task import Task
from perceptron_jobs.engines.runners import Cluster, listed, run_job
from perceptron_jobs.mr.count_sentences import MRCountSentences
from perceptron_jobs.storage import absolute, storage_of

PIECE_BYTES = 64 << 20


def whole_files(files: Sequence[str], cluster: Cluster) -> list[Piece]:
    return [Piece(number, cluster.reachable(absolute(path))) for number, path in enumerate(files)]


def cut_files(files: Sequence[str], fmt: Format, cluster: Cluster) -> list[Piece]:
    """The files' pieces, in order."""
    pieces = []
    for whole in whole_files(files, cluster):
        storage = storage_of(whole.path)
        size = storage.size(whole.path) or 0
        if fmt.whole or size <= PIECE_BYTES or _is_packed(whole.path):
            pieces.append(whole)
        else:
            pieces += split_file(whole.file, whole.path, size, PIECE_BYTES)
    return pieces


def _is_packed(path: str) -> bool:
    with storage_of(path).open(path) as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def numbered(task: Task, pieces: Sequence[Piece], cluster: Cluster) -> list[Piece]:
    """The pieces with the ordinal of their first sentence; a job counts the sentences if a file has several pieces."""
    if not any(piece.is_part() for piece in pieces):
        return list(pieces)
    with tempfile.TemporaryDirectory() as scratch, listed([p for p in pieces if p.is_part()]) as manifest:
        record = os.path.join(scratch, "task.json")
        with open(record, "w", encoding="utf-8") as file:
            json.dump(task.record, file)
        counted = dict(run_job(MRCountSentences, cluster, ["--task", record], [manifest]))
    placed = []
    for _, of_file in groupby(pieces, key=lambda piece: piece.file):
        ordinal = 0
        for piece in of_file:
            placed.append(piece._replace(first=ordinal))
            ordinal += counted.get(f"{piece.file:06d}.{piece.number:06d}", 0)
        if piece.is_part() and not ordinal:
            raise InputError("contains no sentence; name a file that has one, or leave this one out.", piece.path)
    return placed
