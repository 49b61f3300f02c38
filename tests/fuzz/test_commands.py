"""Hostile files with right checksums, through the commands: exit code 2 and a sentence, as for any other damage."""

import gzip
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import material
from perceptron_core.wire import decode_line, encode_line


def _set(array: np.ndarray, at: int, value: int) -> np.ndarray:
    changed = array.copy()
    changed[at] = value
    return changed


ARRAYS: dict[str, Callable[[material.Arrays], dict[str, np.ndarray]]] = {
    "keys reversed": lambda arrays: {"keys": arrays["keys"][::-1].copy()},
    "a label far beyond": lambda arrays: {"labels": _set(arrays["labels"], 0, 255)},
    "starts that lead outside": lambda arrays: {"starts": _set(arrays["starts"], 1, 60000)},
    "starts that fall": lambda arrays: {"starts": arrays["starts"][::-1].copy()},
    "fewer weights": lambda arrays: {"value:weight": arrays["value:weight"][:-9]},
    "no keys": lambda arrays: {"keys": arrays["keys"][:0]},
    "a weight that is no number": lambda arrays: {"value:averaged": arrays["value:averaged"] * np.float32("nan")},
}


@pytest.mark.parametrize("damage", ARRAYS)
def test_a_hostile_model_is_refused(damage: str, perceptron: Any, trained: Path, corpus: Path, tmp_path: Path) -> None:
    header, arrays = material.take_apart((trained / "model").read_bytes())
    places, body = material.body_of({**arrays, **ARRAYS[damage](arrays)})
    model = tmp_path / "model"
    model.write_bytes(material.put_together({**header, "arrays": places, "size": len(body)}, body))
    for command in (("predict", model, corpus / "dev.txt"), ("evaluate", model, corpus / "dev.txt")):
        outcome = perceptron(*command)
        assert (outcome.code, outcome.out) == (2, "")
        assert f"{model}: the weights are damaged: " in outcome.err and outcome.err.count("\n") == 1


BLOCKS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "a type far beyond": lambda block: {"ids": [_set(block["ids"][0], 0, 200), *block["ids"][1:]]},
    "a label far beyond": lambda block: {"labels": _set(block["labels"], 0, 200)},
    "longer sentences": lambda block: {"lengths": _set(block["lengths"], 0, 250)},
    "sizes of words": lambda block: {"word_sizes": block["lengths"]},
    "no types": lambda block: {"new": [new[:0] for new in block["new"]]},
}


@pytest.mark.parametrize("damage", BLOCKS)
def test_a_hostile_shard_is_refused(damage: str, perceptron: Any, trained: Path, corpus: Path, tmp_path: Path) -> None:
    prepared = tmp_path / "prepared"
    shutil.copytree(trained / "prepared", prepared)
    manifest = json.loads((prepared / "prepared.json").read_bytes())
    file = prepared / manifest["shards"][0]["file"]
    records = [decode_line(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    changed = [(kind, {**block, **BLOCKS[damage](block)} if kind == "block" else block) for kind, block in records]
    file.write_bytes(gzip.compress(b"".join(encode_line(*record) + b"\n" for record in changed)))
    size, digest = file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest()
    manifest["shards"][0].update(bytes=size, sha256=digest)
    (prepared / "prepared.json").write_text(json.dumps(manifest))
    run = tmp_path / "run"
    outcome = perceptron("train", corpus / "task.yaml", "--prepared", prepared, "--run-dir", run, "--epochs", 1)
    assert outcome.code == 2 and "prepare the corpus again" in outcome.err
    assert not (run / "epoch-0001").exists()
