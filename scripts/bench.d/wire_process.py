"""The steps of two shards on their way through mrjob's local runner, in a process of its own.

wire_process.py make FOLDER FEATURES WEIGHTS   the steps; half of the features are in both shards
wire_process.py run  FOLDER                    the job, and its output as the driver reads it; prints counts as JSON
"""

import json
import sys
from pathlib import Path

import numpy as np
from wire_job import MRWire

from perceptron_core.settings import Settings
from perceptron_core.task_file import read_task
from perceptron_core.weights.model_file import Model, write_model
from perceptron_core.weights.records import from_record
from perceptron_core.weights.rows import concatenate, empty
from perceptron_core.wire import encode_line
from perceptron_jobs.engines.runners import Cluster, run_job
from perceptron_jobs.mr.train_epoch import MIXED, REDUCER

SHARDS = 2
LABELS = 23
TASK = Path(__file__).resolve().parent / "chunking19.yaml"


def make(folder: Path, features: int, weights: int) -> None:
    choose = np.random.default_rng(1)
    common = choose.integers(0, 2**64, features // 2, np.uint64)
    for shard in range(SHARDS):
        own = choose.integers(0, 2**64, features - len(common), np.uint64)
        keys = np.sort(np.concatenate([common, own]))
        labels = choose.integers(0, LABELS // weights, (features, 1)) * weights + np.arange(weights)
        np.savez(
            folder / f"{shard}.npz",
            keys=keys,
            starts=weights * np.arange(features + 1),
            labels=labels.astype(np.uint32).ravel(),
            weight=choose.choice([-1, 1], weights * features).astype(np.float32),
            lag=choose.random(weights * features),
        )
        record = {"file": str((folder / f"{shard}.npz").resolve()), "shard": shard}
        (folder / f"{shard}.line").write_bytes(encode_line("step", record) + b"\n")
    labels, settings = [str(label) for label in range(LABELS)], Settings().record()
    task = read_task(str(TASK)).record
    config = {"task": task, "labels": labels, "settings": settings, "chosen_shards": [0, 1]}
    (folder / "config.json").write_text(json.dumps(config))
    write_model(str(folder / "weights"), Model("weights", task, labels, settings, empty(weight="f4")))


def run(folder: Path) -> None:
    arguments = ["--config", str(folder / "config.json"), "--weights", str(folder / "weights"), "--epoch", "1"]
    arguments += ["--mixing", "row"]
    inputs = [str(folder / f"{shard}.line") for shard in range(SHARDS)]
    output = list(run_job(MRWire, Cluster("local"), arguments, inputs))
    mixed = concatenate([from_record(record["rows"], LABELS, MIXED) for key, record in output if key != REDUCER])
    shuffled = sum(record["shuffled"] for key, record in output if key == REDUCER)
    print(json.dumps({"shuffled": shuffled, "mixed": len(mixed.labels)}))


if __name__ == "__main__":
    command, folder, *rest = sys.argv[1:]
    {"make": make, "run": run}[command](Path(folder), *map(int, rest))
