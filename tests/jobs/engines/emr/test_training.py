"""-r emr, whole trainings: what is submitted, the model, and what is left when something fails."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable

import pytest

from perceptron_jobs.storage import storage_of

pytestmark = pytest.mark.filterwarnings("ignore:Boto3 will no longer support Python")  # of 3.9


def epochs() -> list[str]:
    return [name for name in storage_of("s3://shelf/run").names("s3://shelf/run") if name.startswith("epoch")]


def test_one_cluster_trains_the_model_that_inline_trains(
    world: Any, train_on_emr: Callable[..., Any], on_emr: Callable[..., Any], must: Any, inline: Path, corpus: Path
) -> None:
    outcome = train_on_emr("--reducers", 2)
    assert outcome.code == 0, outcome.err
    assert world.read("run/model") == (inline / "model").read_bytes()
    for name in ("weights", "average"):
        assert world.read(f"run/epoch-0002/{name}") == (inline / "epoch-0002" / name).read_bytes()

    ((cluster_id, cluster),) = world.emr.clusters.items()
    assert len(cluster.steps) == len(world.emr.steps) == 3  # prepare, and two epochs
    assert {step.state for step in cluster.steps} == {"COMPLETED"}
    assert cluster.state == "TERMINATED"
    watched = f"https://console.aws.amazon.com/emr/home?region=us-east-1#/clusterDetails/{cluster_id}"
    assert outcome.err.count(watched) == 1
    assert not [key for key in world.objects("tmp/") if "/logs/" not in key]

    shards = [f"s3://shelf/run/prepared/shard-{number:05d}-of-00004.gz" for number in range(4)]
    for number, epoch in enumerate(world.emr.steps[1:]):  # what is on S3 goes to the tasks by its name there
        assert sorted(epoch.arguments["-input"]) == shards
        assert epoch.files()["weights"] == f"s3://shelf/run/epoch-{number:04d}/weights"
        assert epoch.files()["config.json"] == "s3://shelf/run/config.json"
        assert not epoch.arguments["-archives"]
        assert epoch.pairs("-D")["mapreduce.job.reduces"] == "2"

    assert train_on_emr().code == 0  # nothing is left to do
    assert len(world.emr.created) == 1
    scored = on_emr("evaluate", "s3://shelf/run", "s3://shelf/corpus/dev.txt")
    assert (scored.code, scored.out) == (0, must("evaluate", inline, corpus / "dev.txt")), scored.err


def test_a_failed_step_is_told_and_the_last_epoch_stays(
    world: Any, train_on_emr: Callable[..., Any], inline: Path
) -> None:
    world.emr.fails = lambda step: "--epoch 2" in step.arguments["-mapper"][0]
    outcome = train_on_emr()
    assert outcome.code == 1
    assert re.search(r"perceptron: step s-\w+ on the EMR cluster j-\w+ .*FAILED\): a task exited with 1", outcome.err)
    assert "s3://shelf/tmp/logs/j-" in outcome.err
    assert epochs() == ["epoch-0001"]
    storage = storage_of("s3://shelf/run")
    assert not storage.exists("s3://shelf/run/model") and not storage.exists("s3://shelf/run/.lease")
    assert world.states() == ["TERMINATED"]

    world.emr.fails = lambda step: False
    again = train_on_emr()
    assert again.code == 0, again.err
    assert world.read("run/model") == (inline / "model").read_bytes()
    assert len(world.emr.created) == 2
    assert len(world.emr.steps) == 4  # of epoch 1 nothing was done again


def read_all(terminal: int, into: bytearray) -> None:
    while True:
        try:
            into += os.read(terminal, 1 << 16)
        except OSError:  # its other end is closed
            return


def test_a_killed_driver_leaves_its_last_epoch_to_go_on_from(
    world: Any, training: tuple[object, ...], train_on_emr: Callable[..., Any], inline: Path
) -> None:
    master, terminal = os.openpty()
    command = [
        sys.executable,
        "-m",
        "perceptron_jobs.cli.main",
        "train",
        *map(str, training),
        "-r",
        "emr",
        "-c",
        str(world.conf),
    ]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    shown = bytearray()
    reader = threading.Thread(target=read_all, args=(master, shown), daemon=True)
    reader.start()

    def kill(step: Any) -> None:
        if "--epoch 2" in step.arguments["-mapper"][0]:
            driver.kill()

    world.emr.watch = kill
    try:
        assert driver.wait(300) == -9
    finally:
        driver.kill()
    reader.join(60)
    assert not reader.is_alive(), "the terminal of a killed driver was not closed within a minute"
    os.close(master)
    assert re.search("\repoch 1 ─+ RUNNING\x1b", shown.decode()), shown.decode()

    world.emr.watch = lambda step: None
    assert epochs() == ["epoch-0001"]
    assert world.states() != ["TERMINATED"]  # no process is left to end it: EMR will, when it is idle
    refused = train_on_emr()
    assert (refused.code, len(world.emr.created)) == (2, 0)
    assert "s3://shelf/run is in use by another process" in refused.err
    lease = {"Bucket": "shelf", "Key": "run/.lease"}
    world.s3.put_object(**lease, Body=json.dumps({**json.loads(world.read("run/.lease")), "until": 1.0}).encode())
    again = train_on_emr()
    assert again.code == 0, again.err
    assert world.read("run/model") == (inline / "model").read_bytes()
    assert len(world.emr.steps) == 4  # prepare, epoch 1, and epoch 2 twice


def test_an_interrupted_step_is_cancelled(world: Any, train_on_emr: Callable[..., Any]) -> None:
    cancelled: list[dict[str, Any]] = []

    def interrupt(params: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    world.on_request("CancelSteps", cancelled.append)
    world.on_request("DescribeStep", interrupt)
    assert train_on_emr().code == 130
    (cluster,) = world.emr.clusters.values()
    assert [request["StepIds"] for request in cancelled] == [[step.id for step in cluster.steps]]
    assert cluster.state == "TERMINATED"
