"""Our training epochs in memory, in a process of their own: prints the processor's seconds of each as JSON.

    epoch_process.py PREPARED TASK EPOCHS [LEARNER]

`passes` are the kernel's passes over the shard alone, `epochs` whole ones: the weights fetched from the mixed vector,
the pass, the step emitted, mixed and applied. Both make the same errors, or the comparison would be of two things.
"""

import json
import sys
import time

from shard_loop import fresh_weights, load, one_epoch

from perceptron_core.settings import Settings
from perceptron_core.structures.sequence.model import SequenceModel
from perceptron_core.task_file import read_task
from perceptron_jobs.corpora.prepared import read_prepared


def main(folder: str, task_path: str, epochs: str, learner: str = "perceptron") -> None:
    task, prepared = read_task(task_path), read_prepared(folder)
    labels, record = prepared.labels(), task.record
    settings = Settings(learner, transitions=record["transitions"], start_stop=record["start_stop"])
    shard = load(task, labels, settings, prepared.path(0))
    model = SequenceModel(labels, settings, fresh_weights(), shard.numbers, task.allowed_transitions(labels))
    passes, errors = [], []
    for _ in range(int(epochs)):
        began = time.process_time()
        errors.append(sum(model.train(block)[0] for block in shard.blocks))
        passes.append(time.process_time() - began)
    weights, wholes, whole_errors = fresh_weights(), [], []
    for _ in range(int(epochs)):
        began = time.process_time()
        done = one_epoch(task, labels, settings, weights, [shard])
        wholes.append(time.process_time() - began)
        whole_errors.append(done.errors)
        weights = done.weights
    assert errors == whole_errors, "one shard is serial training"
    print(json.dumps({"passes": passes, "epochs": wholes, "errors": errors}))


if __name__ == "__main__":
    main(*sys.argv[1:])
