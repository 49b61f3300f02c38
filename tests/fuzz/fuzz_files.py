"""Model files, the files of an epoch, and the JSON files of runs and prepared corpora; checksums are made anew."""

import json
import shutil
from functools import cache
from pathlib import Path
from random import Random

import material
from mutators import array, mutated, mutated_text
from perceptron_core.errors import UserError
from perceptron_core.evaluation.predictor import Predictor
from perceptron_core.task import Task
from perceptron_core.training.epoch import ShardEpoch
from perceptron_core.training.mixing import mix
from perceptron_core.weights.model_file import read_model
from perceptron_core.weights.text import format_weights
from perceptron_jobs.corpora.prepared import check_intact, read_prepared
from perceptron_jobs.models.apply import NamedModel
from perceptron_jobs.report import learning_curve, read_run, report_html
from perceptron_jobs.training.run_dir import RunDir
from pool import Target

JSON_FILES = ("config.json", "history.jsonl", "mistakes.json", "stats.json", "prepared.json")


@cache
def model_files() -> list[bytes]:
    models = [material.trained(name).model for name in material.TASKS]
    named = models[0]._replace(names={int(key): f"feature {key}" for key in models[0].rows.keys})
    return [material.model_bytes(model) for model in (*models, named)]


def damaged_header(random: Random, files: list[bytes]) -> bytes:
    header, arrays = material.take_apart(random.choice(files))
    _, body = material.body_of(arrays)
    try:
        return material.put_together(mutated(random, header), body)
    except (OverflowError, ValueError):  # an integer that msgpack has no form for
        return damaged_header(random, files)


def damaged_arrays(random: Random, files: list[bytes]) -> bytes:
    header, arrays = material.take_apart(random.choice(files))
    for _ in range(random.choice((1, 1, 2))):
        name = random.choice(list(arrays))
        arrays[name] = array(random, arrays[name])
    places, body = material.body_of(arrays)
    return material.put_together({**header, "arrays": places, "size": len(body)}, body)


def use_model(data: bytes, scratch: Path) -> None:
    """What predict, evaluate, inspect and export do with a model."""
    path = scratch / "model"
    path.write_bytes(data)
    model, which = NamedModel(str(path)).open()
    task = Task(model.task)
    sources = [name for name in material.TASKS if material.task(name).record["format"] == task.record["format"]]
    for whole in (True, False):
        predictor = Predictor(read_model(str(path), whole), which, task)
        for name in sources[:1]:
            sentences = list(task.read(str(material.folder() / f"{name}.txt"), "optional"))
            for guess in predictor.predict(sentences):
                task.as_output(guess)
    if model.names is not None:
        column = {"averaged": "averaged", "last": "weight"}[which]
        if all(key in model.names for key in model.rows.keys.tolist()):
            list(format_weights(model.rows, column, model.labels, model.names))


EPOCH_TASKS = ("pairs", "legal", "second", "many", "numbers")


@cache
def epoch_files() -> dict[str, list[bytes]]:
    known = [material.trained(name) for name in EPOCH_TASKS]
    files = {"w": [one.weights for one in known], "a": [one.average for one in known]}
    return {kind: [material.model_bytes(model) for model in models] for kind, models in files.items()}


def damaged_epoch(random: Random) -> bytes:
    """The number of the task, which of the two files, and the file."""
    number, kind = random.randrange(len(EPOCH_TASKS)), random.choice("wa")
    change = damaged_arrays if random.random() < 0.8 else damaged_header
    return f"{number}{kind}".encode() + change(random, [epoch_files()[kind][number]])


def continue_training(data: bytes, scratch: Path) -> None:
    """What a resumed run does: a mapper fetches the weights, a reducer mixes, the driver adds the average."""
    name, kind = EPOCH_TASKS[int(data[:1])], data[1:2].decode()
    run = RunDir(str(scratch / "run"))
    epoch = Path(run.epoch_dir(1))
    epoch.mkdir(parents=True, exist_ok=True)
    for file, key in (("weights", "w"), ("average", "a")):
        intact = epoch_files()[key][int(data[:1])]
        (epoch / file).write_bytes(data[2:] if kind == key else intact)
    if kind == "w":
        mapped = read_model(str(epoch / "weights"), whole=False)
        shard = ShardEpoch(material.plan_of(name), mapped.rows)
        for record in material.trained(name).shards[0]:
            shard.take(*record)
        shard.finish()
    standing = run.standing(1)
    mixed = mix("row", standing.weights.rows, material.trained(name).steps)
    standing.after(mixed, 2).model()


@cache
def json_files() -> dict[str, bytes]:
    run = material.run_dir()
    paths = {name: run / name for name in JSON_FILES[:3]}
    paths["stats.json"] = next(iter(sorted(run.glob("epoch-*/stats.json"), reverse=True)))
    paths["prepared.json"] = run / "prepared" / "prepared.json"
    return {name: path.read_bytes() for name, path in paths.items()}


def damaged_json(random: Random) -> bytes:
    """The name of the file in the first line, then the file."""
    name = random.choice(JSON_FILES)
    data = json_files()[name]
    if random.random() < 0.1:
        data = mutated_text(random, data, (b"NaN", b"[" * 3000, b'{"a":' * 3000, b"1" * 5000, b"1e999", b"Infinity"))
    elif name.endswith("l"):
        lines = mutated(random, [json.loads(line) for line in data.splitlines()])
        lines = lines if isinstance(lines, list) else [lines]
        data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    else:
        data = json.dumps(mutated(random, json.loads(data))).encode()
    return name.encode() + b"\n" + data


def use_json(data: bytes, scratch: Path) -> None:
    """What report and a resumed training read of a run."""
    name, _, content = data.partition(b"\n")
    copy = scratch / "run"
    if not copy.exists():
        shutil.copytree(material.run_dir(), copy)
    run = RunDir(str(copy))
    place = {
        "stats.json": Path(run.epoch_dir(run.epochs()[-1])) / "stats.json",
        "prepared.json": copy / "prepared" / "prepared.json",
    }.get(name.decode(), copy / name.decode())
    before = place.read_bytes()
    try:
        place.write_bytes(content)
        if name == b"prepared.json":
            check_intact(read_prepared(str(copy / "prepared")))
        config = run.config()
        if config is None:
            raise UserError("is not a run")
        config.training_settings()
        learning_curve(run.whole_history())
        report_html([read_run(run)])
    finally:
        place.write_bytes(before)


FILES = {
    "model-bytes": Target(lambda random: mutated_text(random, random.choice(model_files())), use_model),
    "model-header": Target(lambda random: damaged_header(random, model_files()), use_model),
    "model-arrays": Target(lambda random: damaged_arrays(random, model_files()), use_model),
    "epoch-files": Target(damaged_epoch, continue_training),
    "run-json": Target(damaged_json, use_json),
}
