"""Models, run directories, prepared corpora and task files as somebody else may have made them: each is used, or is
refused with a sentence. Checksums are right, so only what the values say can be wrong."""

import json
import os
import random
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import msgpack
import pytest
import yaml
from mutations import changed

from perceptron_core.corpus import Sentence
from perceptron_core.errors import InputError, UserError
from perceptron_core.evaluation.predictor import Predictor
from perceptron_core.shards.frame import checked_header
from perceptron_core.task import Task
from perceptron_core.task_file import read_task
from perceptron_core.weights.model_file import ALIGNMENT, read_model
from perceptron_core.wire import DamagedRecord, decode_line, encode_file_line, encode_line
from perceptron_jobs.corpora.prepared import check_intact, read_prepared
from perceptron_jobs.experiment.definition import read_experiment
from perceptron_jobs.models.feature_names import find_names
from perceptron_jobs.report import learning_curve, read_run, report_html
from perceptron_jobs.training.run_dir import RunDir
from repository import ROOT

CASES = 150  # of each kind


def refusals(use: Callable[[random.Random], None], cases: int = CASES) -> int:
    """How many of the cases are refused; any other exception than a UserError fails the test."""
    refused = 0
    for seed in range(cases):
        try:
            use(random.Random(seed))
        except UserError as error:
            assert len(str(error)) < 2_200, seed
            refused += 1
    return refused


# ---------------------------------------------------------------- models


def header_of(data: bytes) -> dict[str, Any]:
    return msgpack.unpackb(data[16 : 16 + int.from_bytes(data[8:12], "little")], strict_map_key=False)


def with_header(data: bytes, header: Any) -> bytes:
    """The model with another header, whose size and checksum are right."""
    size = 16 + int.from_bytes(data[8:12], "little")
    packed = header if isinstance(header, bytes) else msgpack.packb(header)
    arrays = data[size + -size % ALIGNMENT :]
    start = data[:8] + len(packed).to_bytes(4, "little") + zlib.crc32(packed).to_bytes(4, "little") + packed
    return start + bytes(-len(start) % ALIGNMENT) + arrays


def test_headers_of_models(trained: Path, tmp_path: Path) -> None:
    good = (trained / "model").read_bytes()
    path, prepared = tmp_path / "model", read_prepared(str(trained / "prepared"))
    assert with_header(good, header_of(good)) == good

    def use(chance: random.Random) -> None:
        path.write_bytes(with_header(good, changed(header_of(good), chance, chance.choice([1, 2]))))
        model = read_model(str(path))
        task = Task(model.task)
        sentence = Sentence(tuple(["кот", "flies"] for _ in task.format.inputs), None, 1)
        if task.kind == "sequence":
            list(Predictor(model, "averaged", task).predict([sentence]))
            find_names(model, task, prepared)

    assert CASES / 2 < refusals(use) < CASES


@pytest.mark.parametrize(
    "change",
    [
        lambda header: b"\xc1",
        lambda header: b"\x91" * 100_000,
        lambda header: b"",
        lambda header: [],
        lambda header: {**header, "labels": []},
        lambda header: {**header, "labels": ["a", "b\tc"]},
        lambda header: {**header, "labels": [f"L{i}" for i in range(70_000)]},
        lambda header: {**header, "task": {**header["task"], "python": {"file": "../x.py", "sha256": "0" * 64}}},
        lambda header: {**header, "arrays": [["keys", "|O", 1, 0, 0]]},
        lambda header: {**header, "arrays": [[*header["arrays"][0][:3], 2**60, 0], *header["arrays"][1:]]},
        lambda header: {**header, "arrays": header["arrays"][:2]},
        lambda header: {**header, "kind": "average"},
    ],
)
def test_a_header_that_is_refused(trained: Path, tmp_path: Path, change: Callable[[Any], Any]) -> None:
    good = (trained / "model").read_bytes()
    (tmp_path / "model").write_bytes(with_header(good, change(header_of(good))))
    with pytest.raises(InputError, match="damaged"):
        read_model(str(tmp_path / "model"))


# ---------------------------------------------------------------- run directories and prepared corpora


@pytest.fixture
def copied(trained: Path, tmp_path: Path) -> Iterator[Callable[[], Path]]:
    """Makes a copy of the run, whose files may be replaced but not changed."""

    def copy() -> Path:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        return shutil.copytree(trained, tmp_path / "run", copy_function=os.link)

    yield copy


def show(run: Path) -> None:
    directory = RunDir(str(run))
    if directory.config() is not None:
        report_html([read_run(directory)])
        learning_curve(directory.whole_history())


@pytest.mark.parametrize("name", ["config.json", "epoch-0003/stats.json", "mistakes.json", "prepared/prepared.json"])
def test_json_files(copied: Callable[[], Path], name: str) -> None:
    def use(chance: random.Random) -> None:
        run = copied()
        content = json.loads((run / name).read_text(encoding="utf-8"))
        (run / name).unlink()
        (run / name).write_text(json.dumps(changed(content, chance, chance.choice([1, 2]))), encoding="utf-8")
        if name.startswith("prepared"):
            check_intact(read_prepared(str(run / "prepared")))
        show(run)

    # A damaged epoch is not the end of a run: what is whole is shown instead.
    assert (0 if "epoch" in name else 1) <= refusals(use, 40) < 40


def test_lines_of_the_history(copied: Callable[[], Path]) -> None:
    def use(chance: random.Random) -> None:
        run = copied()
        lines = [json.loads(line) for line in (run / "history.jsonl").read_text(encoding="utf-8").splitlines()]
        (run / "history.jsonl").unlink()
        lines[1] = changed(lines[1], chance)
        (run / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        show(run)

    assert refusals(use, 40) == 0  # the epochs' folders have it, too


def test_a_prepared_corpus_names_only_its_own_shards(copied: Callable[[], Path]) -> None:
    path = copied() / "prepared" / "prepared.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    for name in ("../shard-00000-of-00003.gz", "/etc/passwd", "shard-00000-of-00003.gz/../x"):
        path.unlink()
        content["shards"][0]["file"] = name
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(InputError, match=r"`shards\[0\].file` is .*must be the name of a shard"):
            read_prepared(str(path.parent))


def test_headers_of_shards() -> None:
    good = {
        "shard": 0,
        "shards": 1,
        "seed": 1,
        "features": "f",
        "sentences": 2,
        "tokens": 3,
        "version": 2,
        "labels": ["A"],
    }
    assert checked_header(good) == good
    assert refusals(lambda chance: checked_header(changed(good, chance)) and None) > CASES / 2


# ---------------------------------------------------------------- task files and experiments


@pytest.mark.parametrize("folder, read", [("configs", read_task), ("configs/experiments", read_experiment)])
def test_yaml_files(tmp_path: Path, folder: str, read: Callable[..., Any]) -> None:
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted((ROOT / folder).glob("*.yaml"))]
    more = () if read is read_task else ("data", False)

    def use(chance: random.Random) -> None:
        content = changed(chance.choice(files), chance, chance.choice([1, 2, 3]))
        (tmp_path / "x.yaml").write_text(yaml.dump(content, allow_unicode=True), encoding="utf-8")
        read(str(tmp_path / "x.yaml"), *more)

    assert CASES / 2 < refusals(use) < CASES


# ---------------------------------------------------------------- lines between tasks


def test_the_key_is_part_of_the_checksum() -> None:
    line = encode_line("00001", {"a": 1})
    assert decode_line(line) == ("00001", {"a": 1})
    with pytest.raises(DamagedRecord, match="checksum"):
        decode_line(b"00002" + line[5:])
    assert decode_line(encode_file_line("block", {"a": 1})) == ("block", {"a": 1})
    assert encode_file_line("block", {"a": 1}) != encode_line("block", {"a": 1})
