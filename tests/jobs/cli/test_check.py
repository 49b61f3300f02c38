"""`perceptron check`: every file is read, each has its line, and damage means exit code 2."""

import json
import shutil
from pathlib import Path

import boto3
import pytest

from perceptron_jobs.storage.s3 import connect_by


def files_of(said: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in said.splitlines())


@pytest.fixture(scope="module")
def run(train, corpus, tmp_path_factory) -> Path:
    """Of everything: rare features left out, scaled mixing, an epoch that is the best and one that is the last."""
    run = tmp_path_factory.mktemp("checked") / "run"
    options = ("--shards", 2, "--mixing", "scaled", "--min-count", 2, "--epochs", 4, "--stop-threshold", 0)
    train(run, *options, "--dev", corpus / "dev.txt")
    return run


def checkable(run: Path) -> list[Path]:
    return [p for p in sorted(run.rglob("*")) if p.is_file() and p.name not in (".lock", "report.html")]


def test_every_file_of_a_run_has_its_line(run, must):
    files = checkable(run)
    assert len(files) > 12 and {"occurrences", "kept", "mistakes.json"} <= {path.name for path in files}
    assert files_of(must("check", run)) == {str(path): "ok" for path in files}


def test_models_and_prepared_corpora(run, must):
    said = files_of(must("check", run / "model", run / "epoch-0004" / "average", run / "prepared"))
    assert len(said) == 2 + 4 and set(said.values()) == {"ok"}


def _altered(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x80]) + data[middle + 1 :]


HARMS = {"cut": lambda data: data[:-20], "altered": _altered, "empty": lambda data: b""}
WITHOUT_CHECKSUM = ("history.jsonl", "mistakes.json")  # altered, they may still be JSON; they decide nothing


@pytest.mark.parametrize("how", HARMS)
def test_damage_is_found_in_every_file(how, run, perceptron, tmp_path):
    for path in checkable(run):
        if how == "altered" and path.name in WITHOUT_CHECKSUM:
            continue
        copy = shutil.copytree(run, tmp_path / "run")
        damaged = copy / path.relative_to(run)
        damaged.write_bytes(HARMS[how](path.read_bytes()))
        told = perceptron("check", copy)
        found = {name: problem for name, problem in files_of(told.out).items() if problem != "ok"}
        assert told.code == 2 and str(damaged) in found, path
        assert told.err == f"perceptron: {len(found)} of {len(files_of(told.out))} files are damaged, see above\n"
        assert "Traceback" not in told.out
        shutil.rmtree(copy)


@pytest.mark.parametrize("name", ["config.json", "epoch-0004/stats.json", "epoch-0004/weights", "epoch-0004/average"])
def test_what_is_missing_is_named(name, run, perceptron, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run")
    (copy / name).unlink()
    told = perceptron("check", copy)
    assert told.code == 2 and files_of(told.out)[str(copy / name)] != "ok"


def test_files_in_each_others_place(run, perceptron, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run")
    shutil.copy(run / "model", copy / "epoch-0004" / "weights")
    told = perceptron("check", copy)
    assert told.code == 2 and "epoch-0004/weights: is a file of the kind model, not weights" in told.out


def test_a_shard_that_is_not_what_the_manifest_says(run, perceptron, tmp_path):
    copy = shutil.copytree(run / "prepared", tmp_path / "prepared")
    manifest = json.loads((copy / "prepared.json").read_text())
    manifest["shards"][1]["sentences"] += 1
    (copy / "prepared.json").write_text(json.dumps(manifest))
    told = perceptron("check", copy)
    assert told.code == 2 and "does not hold what prepared.json says" in told.out


def test_what_is_none_of_these(corpus, perceptron, tmp_path):
    assert "there is no such file or folder" in perceptron("check", tmp_path / "none").err
    assert "is neither a run directory" in perceptron("check", tmp_path).err
    told = perceptron("check", corpus / "train.txt")
    assert told.code == 2 and "this is not a model file of mr-perceptron" in told.out


def test_on_s3(aws, run, perceptron, monkeypatch):
    names = {"AWS_ENDPOINT_URL_S3": aws, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    for name, value in {**names, "AWS_DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(name, value)
    connect_by()
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket="checked")
    for folder in ("run/", "run/prepared/", "run/epoch-0004/"):
        s3.put_object(Bucket="checked", Key=folder)
    for path in checkable(run):
        s3.put_object(Bucket="checked", Key=f"run/{path.relative_to(run)}", Body=path.read_bytes())
    told = perceptron("check", "s3://checked/run")
    assert told.code == 0 and "s3://checked/run/epoch-0004/weights: ok\n" in told.out
    s3.put_object(Bucket="checked", Key="run/epoch-0004/weights", Body=(run / "model").read_bytes()[:-1])
    told = perceptron("check", "s3://checked/run")
    assert told.code == 2 and "s3://checked/run/epoch-0004/weights: the model file is damaged" in told.out
    connect_by()
