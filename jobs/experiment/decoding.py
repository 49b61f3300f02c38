"""How long it takes to decode each sentence of a run's shard, and to update in a pass over it, with the run's last
weights."""

import gzip
import time
from typing import Any

import numpy as np

from perceptron_core.settings import Settings
from perceptron_core.structures.base import Block, Engine
from perceptron_core.task import Task
from perceptron_core.wire import decode_line
from perceptron_jobs.corpora.prepared import read_prepared
from perceptron_jobs.experiment.team import Decoding
from perceptron_jobs.training.run_dir import RunDir

REPEATS = 3  # the fastest counts, since interruptions are not a part of decoding


def measure(task: Task, run_dir: str, prepared: str) -> Decoding:
    run = RunDir(run_dir)
    last = run.weights(run.epochs()[-1])
    settings = Settings.from_record(last.settings)
    structure = task.structure(settings.decoder)
    memory = structure.memory()

    def fresh() -> Engine:
        return structure.engine(last.labels, settings, last.rows, memory)

    engine = fresh()
    blocks = _read(task, last.labels, read_prepared(prepared).path(0), engine)
    sentences = [block.between(i, i + 1) for block in blocks for i in range(block.examples())]
    # The cost of every call, however short the sentence; a task has it once per block.
    call = min(_seconds(engine, blocks[0].between(0, 0)) for _ in range(100))
    fastest = np.min([[_seconds(engine, sentence) for sentence in sentences] for _ in range(REPEATS)], axis=0)
    tokens = [sentence.tokens() for sentence in sentences]
    seconds = np.maximum(0.0, fastest - call)
    training = min(_training_seconds(fresh(), blocks) for _ in range(REPEATS))
    updates = max(0.0, training - float(seconds.sum()))
    return Decoding(tokens, [round(each, 8) for each in seconds.tolist()], updates)


def _read(task: Task, labels: list[str], path: str, engine: Engine) -> list[Block]:
    reader, blocks = task.shard_reader(labels), []
    with gzip.open(path) as file:
        for line in file:
            encoded = reader.take(*decode_line(line))
            if encoded is not None:
                blocks.append(engine.take(encoded, reader.tables()))
    return blocks


def _training_seconds(engine: Engine, blocks: list[Block]) -> float:
    engine.decode(blocks[0].between(0, 0))  # fetches the weights, which is not training
    began = time.perf_counter()
    for block in blocks:
        engine.train(block)
    engine.end_of_pass()
    return time.perf_counter() - began


def _seconds(engine: Engine, block: Any) -> float:
    began = time.perf_counter()
    engine.decode(block)
    return time.perf_counter() - began
