"""Our training epochs in memory, in a process of their own: prints the processor's seconds of each as JSON.

    epoch_process.py PREPARED TASK EPOCHS [LEARNER]

`passes` are the kernel's passes over the shard alone, `epochs` whole ones: the weights fetched from the mixed vector,
the pass, the step emitted, mixed and applied. Both make the same errors, or the comparison would be of two things.
"""

import json
import sys
import time

from prepared_records import shard_records

from perceptron_core.settings import Settings
from perceptron_core.task_file import read_task
from perceptron_core.training.in_memory import InMemory, Options
from perceptron_jobs.corpora.prepared import read_prepared


def main(folder: str, task_path: str, epochs: str, learner: str = "perceptron") -> None:
    task, prepared = read_task(task_path), read_prepared(folder)
    training = InMemory(task, shard_records(prepared), Options(Settings(learner, average=False)))
    before = training.standing.weights.rows
    training.shard_steps()  # decodes the shard, which then stays in memory
    (shard,) = training.resident
    assert shard is not None
    engine = training.structure.engine(training.labels, training.settings, before, shard.memory)
    passes, errors = [], []
    for _ in range(int(epochs)):
        began = time.process_time()
        errors.append(sum(engine.train(block).errors for block in shard.blocks))
        passes.append(time.process_time() - began)
    wholes, whole_errors = [], []
    for _ in range(int(epochs)):
        began = time.process_time()
        entry = training.epoch()
        wholes.append(time.process_time() - began)
        whole_errors.append(entry["errors"])
    assert errors == whole_errors, "one shard is serial training"
    print(json.dumps({"passes": passes, "epochs": wholes, "errors": errors}))


if __name__ == "__main__":
    main(*sys.argv[1:])
