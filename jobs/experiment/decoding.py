"""How long it takes to decode each sentence of a run's shard, and to update in a pass over it, with the run's last
weights."""

import gzip
import time
from collections.abc import Iterator

import numpy as np

from perceptron_core.settings import Settings
from perceptron_core.shards.records import ShardReader
from perceptron_core.structures.sequence.model import FeatureBlock, FeatureNumbers, SequenceModel
from perceptron_core.structures.tokens import history
from perceptron_core.task import Task
from perceptron_core.wire import decode_line
from perceptron_jobs.corpora.prepared import read_prepared
from perceptron_jobs.experiment.team import Decoding
from perceptron_jobs.training.run_dir import RunDir

REPEATS = 3  # the fastest counts, since interruptions are not a part of decoding


def measure(task: Task, run_dir: str, prepared: str) -> Decoding:
    run = RunDir(run_dir)
    last = run.weights(run.epochs()[-1])
    numbers = FeatureNumbers()
    blocks = _read(task, last.labels, read_prepared(prepared).path(0), numbers)

    def fresh() -> SequenceModel:
        settings, allowed = Settings.from_record(last.settings), task.allowed_transitions(last.labels)
        made = SequenceModel(last.labels, settings, last.rows, numbers, allowed)
        made.fetch()
        return made

    model = fresh()
    sentences = [sentence for block in blocks for sentence in _sentences(block)]
    # The cost of every call, however short the sentence; a task has it once per block.
    call = min(_seconds(model, _part(blocks[0], 0, 0)) for _ in range(100))
    fastest = np.min([[_seconds(model, sentence) for sentence in sentences] for _ in range(REPEATS)], axis=0)
    tokens = [int(sentence.lengths.sum()) for sentence in sentences]
    seconds = np.maximum(0.0, fastest - call)
    training = min(_training_seconds(fresh(), blocks) for _ in range(REPEATS))
    updates = max(0.0, training - float(seconds.sum()))
    return Decoding(tokens, [round(each, 8) for each in seconds.tolist()], updates)


def _read(task: Task, labels: list[str], path: str, numbers: FeatureNumbers) -> list[FeatureBlock]:
    reader, blocks = ShardReader(task.features, task.fingerprint, labels), []
    with gzip.open(path) as file:
        for line in file:
            encoded = reader.take(*decode_line(line))
            if encoded is not None:
                lengths = history.instances(reader.features, encoded.lengths)
                blocks.append(numbers.number(lengths, encoded.labels, reader.keys(encoded)))
    return blocks


def _sentences(block: FeatureBlock) -> Iterator[FeatureBlock]:
    end = 0
    for length in block.lengths.tolist():
        begin, end = end, end + length
        yield _part(block, begin, end)


def _part(block: FeatureBlock, begin: int, end: int) -> FeatureBlock:
    """A block of one sentence, or of none: the tokens from `begin` to `end`."""
    starts, pair_starts = block.starts[begin : end + 1], block.pair_starts[begin : end + 1]
    return block._replace(
        lengths=np.array([end - begin] if end > begin else [], block.lengths.dtype),
        gold=block.gold[begin:end],
        starts=starts - starts[0],
        ids=block.ids[starts[0] : starts[-1]],
        pair_starts=pair_starts - pair_starts[0],
        pair_ids=block.pair_ids[pair_starts[0] : pair_starts[-1]],
        values=block.values[starts[0] : starts[-1]],  # none, where all are 1
    )


def _training_seconds(model: SequenceModel, blocks: list[FeatureBlock]) -> float:
    began = time.perf_counter()
    for block in blocks:
        model.train(block)
    model.end_of_pass()
    return time.perf_counter() - began


def _seconds(model: SequenceModel, block: FeatureBlock) -> float:
    began = time.perf_counter()
    model.kernel.decode(block)
    return time.perf_counter() - began
