"""-r emr, whole: moto keeps the buckets, clusters and steps; a thread plays EMR by running each step's own commands."""

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

import boto3
import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.emr.models import emr_backends
from moto.server import ThreadedMotoServer

from jobs.storage import storage_of
from jobs.storage.s3 import connect_by

pytestmark = pytest.mark.filterwarnings("ignore:Boto3 will no longer support Python")  # of 3.9

REGION = "us-east-1"
KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": REGION}
WHEEL = "mr_perceptron-0.1.0-cp39-cp39-linux_x86_64.whl"
READY = Path(__file__).resolve().parent.parent / "configs" / "mrjob.emr.conf"
TRAINING = ("--shards", 3, "--mixing", "uniform", "--epochs", 2)  # thirds: sums whose order would show
QUICK = ("--shards", 1, "--epochs", 1)


# ---------------------------------------------------------------- EMR, played by this machine


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

    def localise(self, s3: Any, folder: Path) -> None:
        """Put what the step names, and nothing else, into a task's directory."""
        for kind in ("-files", "-archives"):
            for listed in self.arguments[kind]:
                for uri, _, name in (entry.partition("#") for entry in listed.split(",")):
                    data = read(s3, uri)
                    if kind == "-files":
                        (folder / name).write_bytes(data)
                    else:
                        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                            archive.extractall(folder / name)

    def splits(self, s3: Any) -> Iterator[bytes]:
        """What each map task reads: a file, or where the step asks for it, a line."""
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
        self.created: list[dict[str, Any]] = []  # what RunJobFlow was asked for

    @property
    def clusters(self) -> dict[str, Any]:
        return emr_backends[DEFAULT_ACCOUNT_ID][REGION].clusters

    def run(self) -> None:
        while not self.done.wait(0.02):
            for cluster in list(self.clusters.values()):
                for waiting in [step for step in cluster.steps if step.state in ("PENDING", "RUNNING")]:
                    waiting.state, ended = "RUNNING", "FAILED"
                    try:
                        self.work(Step.read(waiting.jar, list(waiting.args)))
                        ended = "COMPLETED"
                    except TaskFailed as failure:
                        waiting.last_state_change_reason = str(failure)
                    except BaseException:  # a defect of the play itself must not leave the driver waiting
                        self.trouble = waiting.last_state_change_reason = traceback.format_exc()
                    cluster.state = "WAITING"  # first, since the driver may end the cluster once it sees the step's end
                    waiting.state = ended

    def work(self, step: Step) -> None:
        self.steps.append(step)
        self.watch(step)
        asked = int(step.pairs("-D").get("mapreduce.job.reduces", 1))
        outputs = [self.task(step, "-mapper", split) for split in step.splits(self.s3)]
        if step.arguments["-reducer"] and asked:
            lines = [line for output in reversed(outputs) for line in output.splitlines(keepends=True)]
            parts: list[list[bytes]] = [[] for _ in range(asked)]
            for line in lines:
                parts[partition(line, asked)].append(line)
            by_key = [sorted(part, key=lambda line: line.split(b"\t")[0]) for part in parts]
            outputs = [self.task(step, "-reducer", b"".join(part)) for part in by_key]
        bucket, _, key = step.arguments["-output"][0].partition("://")[2].partition("/")
        for number, output in enumerate(outputs):
            self.s3.put_object(Bucket=bucket, Key=f"{key.rstrip('/')}/part-{number:05d}", Body=output)
        self.s3.put_object(Bucket=bucket, Key=f"{key.rstrip('/')}/_SUCCESS", Body=b"")

    def task(self, step: Step, kind: str, data: bytes) -> bytes:
        (command,) = step.arguments[kind]
        python, *rest = shlex.split(command)
        assert python == "python3"
        variables = {"PATH": os.environ["PATH"], **KEYS, **step.pairs("-cmdenv")}
        with tempfile.TemporaryDirectory() as folder:
            step.localise(self.s3, Path(folder))
            line = [sys.executable, *rest] if not self.fails(step) else ["false"]
            ended = subprocess.run(line, input=data, capture_output=True, cwd=folder, env=variables)
        if ended.returncode:
            raise TaskFailed(f"a task exited with {ended.returncode}: {ended.stderr.decode()[-2000:]}")
        return ended.stdout


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


class World(NamedTuple):
    s3: Any
    emr: Emr
    conf: Path
    endpoint: str

    def configure(self, **more: object) -> Path:
        """A copy of the ready configuration, pointed at moto; JSON is YAML, too."""
        here = {f"{service}_endpoint": self.endpoint for service in ("emr", "s3", "iam", "ec2")}
        keys = {name.lower(): KEYS[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
        options = {**here, **keys, "cloud_tmp_dir": "s3://shelf/tmp/", "check_cluster_every": 0.05, **more}
        self.conf.write_text(json.dumps({"include": str(READY), "runners": {"emr": options}}))
        return self.conf

    def read(self, path: str) -> bytes:
        return read(self.s3, f"s3://shelf/{path}")

    def objects(self, prefix: str = "") -> list[str]:
        found = self.s3.list_objects_v2(Bucket="shelf", Prefix=prefix)
        return [entry["Key"] for entry in found.get("Contents", ())]


@pytest.fixture
def world(server: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """S3 with the corpus on it, EMR, the ready configuration, and a wheel where that looks for one."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / WHEEL).write_bytes(b"a wheel")
    session = boto3.Session()
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)
    s3 = session.client("s3", endpoint_url=server)
    s3.create_bucket(Bucket="shelf")
    for name in ("train.txt", "dev.txt"):
        s3.put_object(Bucket="shelf", Key=f"corpus/{name}", Body=(corpus / name).read_bytes())
    emr = Emr(s3)
    session.events.register(
        "provide-client-params.emr.RunJobFlow", lambda params, **_: emr.created.append(params) or params
    )
    world = World(s3, emr, tmp_path / "mrjob.conf", server)
    world.configure()
    emr.start()
    yield world
    emr.done.set()
    emr.join()
    connect_by()
    for key in world.objects():
        s3.delete_object(Bucket="shelf", Key=key)
    emr_backends[DEFAULT_ACCOUNT_ID][REGION].reset()
    assert emr.trouble is None, emr.trouble


@pytest.fixture(scope="module")
def inline(train: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("inline") / "run"
    train(run, *TRAINING)
    return run


@pytest.fixture
def on_emr(perceptron: Any, world: World, corpus: Path) -> Callable[..., Any]:
    def run(command: str, *arguments: object) -> Any:
        return perceptron(command, *arguments, "-r", "emr", "-c", world.conf)

    return run


@pytest.fixture
def train_on_emr(on_emr: Callable[..., Any], corpus: Path) -> Callable[..., Any]:
    def run(*options: object) -> Any:
        given = (corpus / "task.yaml", "--train", "s3://shelf/corpus/train.txt", "--run-dir", "s3://shelf/run")
        return on_emr("train", *given, *TRAINING, *options)  # of an option given twice, the last counts

    return run


# ---------------------------------------------------------------- training


def test_one_cluster_trains_the_model_that_inline_trains(
    world: World, train_on_emr: Callable[..., Any], on_emr: Callable[..., Any], must: Any, inline: Path, corpus: Path
) -> None:
    seen: dict[str, bytes] = {}
    world.emr.watch = lambda step: seen.update({key: world.read(key) for key in world.objects("tmp/")})
    outcome = train_on_emr("--reducers", 2)
    assert outcome.code == 0, outcome.err
    assert world.read("run/model") == (inline / "model").read_bytes()
    for name in ("weights", "average"):
        assert world.read(f"run/epoch-0002/{name}") == (inline / "epoch-0002" / name).read_bytes()

    ((cluster_id, cluster),) = world.emr.clusters.items()
    (asked,) = world.emr.created
    assert len(cluster.steps) == len(world.emr.steps) == 3  # prepare, and two epochs
    assert {step.state for step in cluster.steps} == {"COMPLETED"}
    assert cluster.state == "TERMINATED"
    assert cluster_id in outcome.err
    assert asked["AutoTerminationPolicy"] == {"IdleTimeout": 600}
    assert asked["Instances"]["KeepJobFlowAliveWhenNoSteps"] is True
    assert asked["ReleaseLabel"] == "emr-7.5.0"
    assert [fleet["InstanceFleetType"] for fleet in asked["Instances"]["InstanceFleets"]] == ["MASTER", "CORE"]

    (action,) = asked["BootstrapActions"]  # the wheel for the nodes' Python, sent once, not once an epoch
    script = seen[action["ScriptBootstrapAction"]["Path"].partition("shelf/")[2]].decode()
    assert re.search(rf"aws s3 cp s3://shelf/tmp/\S+/{WHEEL} ", script)
    assert re.search(rf"sudo python3 -m pip install boto3 \S*{WHEEL}", script)
    assert [data for key, data in seen.items() if key.endswith(WHEEL)] == [b"a wheel"]
    assert not [key for key in world.objects("tmp/") if "/logs/" not in key]

    shards = [f"s3://shelf/run/prepared/shard-{number:05d}-of-00003.gz" for number in range(3)]
    for number, epoch in enumerate(world.emr.steps[1:]):  # what is on S3 goes to the tasks by its name there
        assert sorted(epoch.arguments["-input"]) == shards
        assert f"s3://shelf/run/epoch-{number:04d}/weights#weights" in epoch.arguments["-files"][0].split(",")
        assert not epoch.arguments["-archives"]
        assert epoch.pairs("-D")["mapreduce.job.reduces"] == "2"

    assert train_on_emr().code == 0  # nothing is left to do
    assert len(world.emr.created) == 1
    scored = on_emr("evaluate", "s3://shelf/run", "s3://shelf/corpus/dev.txt")
    assert (scored.code, scored.out) == (0, must("evaluate", inline, corpus / "dev.txt")), scored.err


def test_a_failed_step_is_told_and_the_last_epoch_stays(
    world: World, train_on_emr: Callable[..., Any], inline: Path
) -> None:
    world.emr.fails = lambda step: "--epoch 2" in step.arguments["-mapper"][0]
    outcome = train_on_emr()
    assert outcome.code == 1
    assert re.search(r"perceptron: step s-\w+ on the EMR cluster j-\w+ .*FAILED: a task exited with 1", outcome.err)
    assert "s3://shelf/tmp/logs/j-" in outcome.err
    storage = storage_of("s3://shelf/run")
    assert [name for name in storage.names("s3://shelf/run") if name.startswith("epoch")] == ["epoch-0001"]
    assert not storage.exists("s3://shelf/run/model") and not storage.exists("s3://shelf/run/.lease")
    assert [cluster.state for cluster in world.emr.clusters.values()] == ["TERMINATED"]

    world.emr.fails = lambda step: False
    again = train_on_emr()
    assert again.code == 0, again.err
    assert world.read("run/model") == (inline / "model").read_bytes()
    assert len(world.emr.created) == 2
    assert len(world.emr.steps) == 4  # of epoch 1 nothing was done again


def test_an_interrupted_step_is_cancelled(world: World, train_on_emr: Callable[..., Any]) -> None:
    cancelled = []
    boto3.DEFAULT_SESSION.events.register(
        "provide-client-params.emr.CancelSteps", lambda params, **_: cancelled.append(params) or params
    )

    def interrupt(**_: Any) -> None:
        raise KeyboardInterrupt

    boto3.DEFAULT_SESSION.events.register("provide-client-params.emr.DescribeStep", interrupt)
    assert train_on_emr().code == 130
    (cluster,) = world.emr.clusters.values()
    assert [request["StepIds"] for request in cancelled] == [[step.id for step in cluster.steps]]
    assert cluster.state == "TERMINATED"


# ---------------------------------------------------------------- which cluster


def test_a_cluster_that_is_named_is_joined_and_left_running(world: World, train_on_emr: Callable[..., Any]) -> None:
    existing = boto3.client("emr", endpoint_url=world.endpoint).run_job_flow(
        Name="mine",
        ReleaseLabel="emr-7.5.0",
        Applications=[{"Name": "Hadoop"}],
        Instances={"KeepJobFlowAliveWhenNoSteps": True},
    )["JobFlowId"]
    world.emr.created.clear()
    world.configure(cluster_id=existing)
    outcome = train_on_emr(*QUICK)
    assert outcome.code == 0, outcome.err
    assert world.emr.created == []
    assert (len(world.emr.clusters[existing].steps), world.emr.clusters[existing].state) == (2, "WAITING")
    assert not [key for key in world.objects("tmp/") if key.endswith(WHEEL)]


def test_a_pooled_cluster_stays_for_the_next_command_but_not_for_ever(
    world: World, train_on_emr: Callable[..., Any], on_emr: Callable[..., Any]
) -> None:
    world.configure(pool_clusters=True, max_mins_idle=0.1, num_core_instances=1)
    outcome = train_on_emr(*QUICK)
    assert outcome.code == 0, outcome.err
    (cluster,) = world.emr.clusters.values()
    assert (len(cluster.steps), cluster.state) == (2, "WAITING")
    assert world.emr.created[0]["AutoTerminationPolicy"] == {"IdleTimeout": 60}  # the least that EMR takes
    assert any(key.endswith(WHEEL) for key in world.objects("tmp/"))  # for a node that joins later
    scored = on_emr("evaluate", "s3://shelf/run", "s3://shelf/corpus/dev.txt")
    assert scored.code == 0, scored.err
    assert (len(cluster.steps), cluster.state, len(world.emr.created)) == (3, "WAITING", 1)


def test_a_cluster_without_the_product_is_refused_before_it_costs(
    world: World, train_on_emr: Callable[..., Any]
) -> None:
    options = json.loads(world.configure().read_text())
    del options["include"]
    options["runners"]["emr"]["iam_instance_profile"] = options["runners"]["emr"]["iam_service_role"] = "role"
    world.conf.write_text(json.dumps(options))
    outcome = train_on_emr()
    assert outcome.code == 2
    assert "a new EMR cluster does not have mr-perceptron" in outcome.err and "`bootstrap`" in outcome.err
    assert world.emr.created == []


def test_what_emr_refuses_is_told(world: World, train_on_emr: Callable[..., Any]) -> None:
    world.configure(cluster_id="j-GONE")
    outcome = train_on_emr()
    assert outcome.code == 2
    assert "perceptron: EMR refused: " in outcome.err and "j-GONE" in outcome.err


# ---------------------------------------------------------------- predict, evaluate, prepare


def test_predict_and_evaluate(world: World, on_emr: Callable[..., Any], must: Any, inline: Path) -> None:
    for path in inline.rglob("*"):
        if path.is_file():
            name = path.relative_to(inline)
            world.s3.put_object(Bucket="shelf", Key=f"run/{name}", Body=path.read_bytes())
    dev, model = "s3://shelf/corpus/dev.txt", "s3://shelf/run/model"
    (local := world.conf.parent / "dev.txt").write_bytes(world.read("corpus/dev.txt"))

    tagged = on_emr("predict", model, dev, "--output", "s3://shelf/tagged.txt")
    assert tagged.code == 0, tagged.err
    assert world.read("tagged.txt").decode() == must("predict", inline, local)

    scored = on_emr("evaluate", model, dev)
    assert (scored.code, scored.out) == (0, must("evaluate", inline, local)), scored.err
    from_here = on_emr("evaluate", inline / "model", local)  # a file of this machine is put on S3 first
    assert (from_here.code, from_here.out) == (0, scored.out), from_here.err

    assert [cluster.state for cluster in world.emr.clusters.values()] == ["TERMINATED"] * 3
    assert all(asked["AutoTerminationPolicy"] for asked in world.emr.created)


def test_prepare_gives_the_shards_of_inline(
    world: World, on_emr: Callable[..., Any], inline: Path, corpus: Path
) -> None:
    given = (corpus / "task.yaml", "--train", "s3://shelf/corpus/train.txt", "--shards", 3)
    outcome = on_emr("prepare", *given, "--output", "s3://shelf/prepared")
    assert outcome.code == 0, outcome.err
    for path in sorted((inline / "prepared").glob("*.gz")):
        assert world.read(f"prepared/{path.name}") == path.read_bytes()


def test_a_mistake_in_the_corpus_is_told_as_everywhere(world: World, on_emr: Callable[..., Any], corpus: Path) -> None:
    world.s3.put_object(Bucket="shelf", Key="corpus/bad.txt", Body="кот NN B-NP\n时间 NN\n".encode())
    given = (corpus / "task.yaml", "--train", "s3://shelf/corpus/bad.txt", "--run-dir", "s3://shelf/bad")
    outcome = on_emr("train", *given)
    assert outcome.code == 2
    assert "s3://shelf/corpus/bad.txt:2" in outcome.err
    assert world.objects("bad/") == []
