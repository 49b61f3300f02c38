"""A simulated EMR: moto keeps buckets, clusters and steps; a thread runs each step's own commands."""

import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import threading
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

import boto3
import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.emr.models import emr_backends

from perceptron_jobs.storage.s3 import connect_by
from repository import ROOT

REGION = "us-east-1"
KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": REGION}
WHEEL = "mr_perceptron-0.1.0-cp39-cp39-linux_x86_64.whl"
NODES_PYTHON = "/opt/perceptron/bin/python"
READY = ROOT / "configs" / "mrjob.emr.conf"
TRAINING = ("--shards", 4, "--mixing", "errors", "--epochs", 2)  # odd fractions: sums whose order would show


class TaskFailed(Exception):
    pass


class Step(NamedTuple):
    """A streaming step: its arguments by name, each of them a list."""

    arguments: dict[str, list[str]]

    @classmethod
    def read(cls, jar: str, words: list[str]) -> "Step":
        assert (jar, words[0]) == ("command-runner.jar", "hadoop-streaming")
        arguments: dict[str, list[str]] = defaultdict(list)
        for name, value in zip(words[1::2], words[2::2]):
            assert re.fullmatch("-[a-zA-Z]+", name), words
            arguments[name].append(value)
        return cls(arguments)

    def pairs(self, name: str) -> dict[str, str]:
        return dict(value.split("=", 1) for value in self.arguments[name])

    def files(self) -> dict[str, str]:
        """The files that the step needs in its tasks' directories: name → where it is on S3."""
        entries = [entry.partition("#") for listed in self.arguments["-files"] for entry in listed.split(",")]
        return {name: uri for uri, _, name in entries}

    def localise(self, s3: Any, folder: Path) -> None:
        """Put what the step names, and nothing else, into a task's directory."""
        for name, uri in self.files().items():
            (folder / name).write_bytes(read(s3, uri))
        for listed in self.arguments["-archives"]:
            for uri, _, name in (entry.partition("#") for entry in listed.split(",")):
                with tarfile.open(fileobj=io.BytesIO(read(s3, uri))) as archive:
                    archive.extractall(folder / name)

    def splits(self, s3: Any) -> Iterator[bytes]:
        """What each map task reads: a file, or one line if the step asks for that."""
        by_line = self.arguments["-inputformat"] == ["org.apache.hadoop.mapred.lib.NLineInputFormat"]
        for uri in self.arguments["-input"]:
            data = read(s3, uri)
            if uri.endswith(".gz"):
                data = gzip.decompress(data)
            if not by_line:
                yield data
                continue
            assert self.pairs("-D")["stream.map.input.ignoreKey"] == "true"
            yield from data.splitlines(keepends=True)


def read(s3: Any, uri: str) -> bytes:
    bucket, _, key = uri.partition("://")[2].partition("/")
    return s3.get_object(Bucket=bucket, Key=key)["Body"].read()


def partition(line: bytes, reducers: int) -> int:
    """As Hadoop's HashPartitioner does it."""
    code = 1
    for byte in line.split(b"\t")[0]:
        code = (31 * code + byte - 256 * (byte > 127)) & 0xFFFFFFFF
    return (code & 0x7FFFFFFF) % reducers


class Emr(threading.Thread):
    """Takes every step that was submitted, runs it here, and says how it ended."""

    def __init__(self, s3: Any) -> None:
        super().__init__(daemon=True)
        self.s3 = s3
        self.done = threading.Event()
        self.steps: list[Step] = []
        self.watch: Callable[[Step], None] = lambda step: None
        self.fails: Callable[[Step], bool] = lambda step: False
        self.trouble: Optional[str] = None
        self.created: list[dict[str, Any]] = []  # what RunJobFlow was asked for, by this process

    @property
    def clusters(self) -> dict[str, Any]:
        return emr_backends[DEFAULT_ACCOUNT_ID][REGION].clusters

    def run(self) -> None:
        while not self.done.wait(0.02):
            for cluster in list(self.clusters.values()):
                for waiting in [step for step in cluster.steps if step.state in ("PENDING", "RUNNING")]:
                    if cluster.state != "TERMINATED":
                        self.work_on(cluster, waiting)

    def work_on(self, cluster: Any, waiting: Any) -> None:
        waiting.state, ended = "RUNNING", "FAILED"
        try:
            self.work(Step.read(waiting.jar, list(waiting.args)))
            ended = "COMPLETED"
        except TaskFailed as failure:
            waiting.last_state_change_reason = str(failure)
        except BaseException:  # a defect of the simulation itself must not leave the driver waiting
            self.trouble = waiting.last_state_change_reason = traceback.format_exc()
        if cluster.state != "TERMINATED":
            cluster.state = "WAITING"  # first, since the driver may end the cluster once it sees the step's end
        waiting.state = ended

    def work(self, step: Step) -> None:
        self.steps.append(step)
        self.watch(step)
        asked = int(step.pairs("-D").get("mapreduce.job.reduces", 1))
        outputs = self.tasks(step, "-mapper", step.splits(self.s3))
        if step.arguments["-reducer"] and asked:
            lines = [line for output in reversed(outputs) for line in output.splitlines(keepends=True)]
            parts: list[list[bytes]] = [[] for _ in range(asked)]
            for line in lines:
                parts[partition(line, asked)].append(line)
            by_key = [sorted(part, key=lambda line: line.split(b"\t")[0]) for part in parts]
            outputs = self.tasks(step, "-reducer", map(b"".join, by_key))
        bucket, _, key = step.arguments["-output"][0].partition("://")[2].partition("/")
        for number, output in enumerate(outputs):
            self.s3.put_object(Bucket=bucket, Key=f"{key.rstrip('/')}/part-{number:05d}", Body=output)
        self.s3.put_object(Bucket=bucket, Key=f"{key.rstrip('/')}/_SUCCESS", Body=b"")

    def tasks(self, step: Step, kind: str, inputs: Iterable[bytes]) -> list[bytes]:
        """The tasks' output, in the order of their input; one task at a time per core."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(lambda data: self.task(step, kind, data), inputs))

    def task(self, step: Step, kind: str, data: bytes) -> bytes:
        """Run the step's command in a directory of its own; the nodes' Python is the one that this test has."""
        if self.done.is_set():
            raise TaskFailed("the test is over")
        (command,) = step.arguments[kind]
        python, *rest = shlex.split(command)
        assert python == NODES_PYTHON
        variables = {"PATH": os.environ["PATH"], **KEYS, **step.pairs("-cmdenv")}
        with tempfile.TemporaryDirectory() as folder:
            step.localise(self.s3, Path(folder))
            line = [sys.executable, *rest] if not self.fails(step) else ["false"]
            ended = subprocess.run(line, input=data, capture_output=True, cwd=folder, env=variables, timeout=300)
        if ended.returncode:
            raise TaskFailed(f"a task exited with {ended.returncode}: {ended.stderr.decode()[-2000:]}")
        return ended.stdout


class World(NamedTuple):
    """S3 with the corpus on it, EMR, the ready configuration, and a wheel where that looks for one."""

    s3: Any
    emr: Emr
    conf: Path
    endpoint: str

    def configure(self, **more: object) -> Path:
        """A copy of the ready configuration, pointed at moto; JSON is YAML, too."""
        here = {f"{service}_endpoint": self.endpoint for service in ("emr", "s3", "iam", "ec2")}
        keys = {name.lower(): KEYS[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
        options = {**here, **keys, "cloud_tmp_dir": "s3://shelf/tmp/", "check_cluster_every": 0.2, **more}
        self.conf.write_text(json.dumps({"include": str(READY), "runners": {"emr": options}}))
        return self.conf

    def client(self) -> Any:
        return boto3.client("emr", endpoint_url=self.endpoint)

    def on_request(self, operation: str, act: Callable[[dict[str, Any]], None]) -> None:
        """Have `act` called with the parameters of each such request of this process to EMR, before it is sent."""

        def hear(params: dict[str, Any], **_: Any) -> None:
            act(params)

        boto3.DEFAULT_SESSION.events.register(f"provide-client-params.emr.{operation}", hear)

    def states(self) -> list[str]:
        return [cluster.state for cluster in self.emr.clusters.values()]

    def read(self, path: str) -> bytes:
        return read(self.s3, f"s3://shelf/{path}")

    def objects(self, prefix: str = "") -> list[str]:
        found = self.s3.list_objects_v2(Bucket="shelf", Prefix=prefix)
        return [entry["Key"] for entry in found.get("Contents", ())]

    def upload(self, folder: Path) -> None:
        """The files of a run, as s3://shelf/run."""
        for path in folder.rglob("*"):
            if path.is_file():
                self.s3.put_object(Bucket="shelf", Key=f"run/{path.relative_to(folder)}", Body=path.read_bytes())


@pytest.fixture
def world(aws: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / WHEEL).write_bytes(b"a wheel")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", boto3.Session())
    s3 = boto3.client("s3", endpoint_url=aws)
    s3.create_bucket(Bucket="shelf")
    for name in ("train.txt", "dev.txt"):
        s3.put_object(Bucket="shelf", Key=f"corpus/{name}", Body=(corpus / name).read_bytes())
    world = World(s3, Emr(s3), tmp_path / "mrjob.conf", aws)
    world.on_request("RunJobFlow", world.emr.created.append)
    world.configure()
    connect_by(endpoint_url=aws)  # for a test that looks there itself
    world.emr.start()
    yield world
    world.emr.done.set()
    world.emr.join(300)
    assert not world.emr.is_alive(), "the simulated EMR did not end within five minutes"
    connect_by()
    for key in world.objects():
        s3.delete_object(Bucket="shelf", Key=key)
    emr_backends[DEFAULT_ACCOUNT_ID][REGION].reset()
    assert world.emr.trouble is None, world.emr.trouble


@pytest.fixture(scope="session")
def inline(train: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that those on EMR are compared with."""
    run = tmp_path_factory.mktemp("inline") / "run"
    train(run, *TRAINING)
    return run


@pytest.fixture
def on_emr(perceptron: Any, world: World) -> Callable[..., Any]:
    """Runs a command on EMR."""
    return lambda command, *arguments: perceptron(command, *arguments, "-r", "emr", "-c", world.conf)


@pytest.fixture
def training(corpus: Path) -> tuple[object, ...]:
    """The arguments of `train`; if an option is given twice, the last one counts."""
    data = ("--train", "s3://shelf/corpus/train.txt", "--run-dir", "s3://shelf/run")
    return (corpus / "task.yaml", *data, *TRAINING)


@pytest.fixture
def train_on_emr(on_emr: Callable[..., Any], training: tuple[object, ...]) -> Callable[..., Any]:
    return lambda *options: on_emr("train", *training, *options)
