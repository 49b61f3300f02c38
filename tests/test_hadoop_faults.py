"""What goes wrong on a cluster, done to the real processes of one: the weights stay what they are.

One run is trained further by each test, by an epoch, while something fails; the epoch must have the bytes of an
undisturbed training inline. Where the fault is one of the storage alone, the jobs run inline, which takes a second.
"""

import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, NamedTuple, Optional

import pytest

from jobs.hadoop import tag_of
from jobs.storage import join, storage_of

pytestmark = [pytest.mark.hadoop, pytest.mark.faults]

OPTIONS = ("--shards", "4", "--mixing", "uniform", "--stop-threshold", "0")
LEASE = 3.0  # seconds, not a minute: what a killed driver keeps the next one waiting
PROGRAM = f"""
import sys
from jobs.cli.main import main
from jobs.storage.lease import Lease
Lease.SECONDS = {LEASE}
sys.exit(main(sys.argv[1:]))
"""
MAPPER, REDUCER = ("train_epoch.py", "--mapper"), ("train_epoch.py", "--reducer")
MASTER, CLIENT = ("org.apache.hadoop.mapreduce.v2.app.MRAppMaster",), ("org.apache.hadoop.util.RunJar",)


def get(path: str) -> bytes:
    with storage_of(path).open(path) as file:
        return file.read()


# ---------------------------------------------------------------- processes of the cluster


def _read(pid: int, name: str) -> bytes:
    with contextlib.suppress(OSError):  # it has just ended, or is somebody else's
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


def _parent(pid: int) -> int:
    return int(_read(pid, "stat").rpartition(b")")[2].split()[1] or 0) if _read(pid, "stat") else 0


def found(hadoop, words: tuple[str, ...]) -> list[int]:
    """The processes of this cluster with these arguments; a shell that starts them has all in one argument."""
    mine, wanted = os.fsencode(str(hadoop.state)), {word.encode() for word in words}
    pids = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    named = [pid for pid in pids if wanted <= set(_read(pid, "cmdline").split(b"\0"))]
    return sorted(pid for pid in named if mine in _read(pid, "environ"))


def ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        yield pid
        pid = _parent(pid)


class Driver(NamedTuple):
    """A `perceptron train` in a process of its own, that was asked for one more epoch."""

    process: "subprocess.Popen[bytes]"
    epoch: int

    def wait_for(self, look: Callable[[], list[int]]) -> int:
        """The first process that is seen while the driver works."""
        while True:
            seen = look()
            if seen:
                return seen[0]
            assert self.process.poll() is None, self.process.stderr.read().decode()
            time.sleep(0.01)

    def end(self) -> tuple[int, str]:
        with self.process:
            _, said = self.process.communicate(timeout=200)
        return self.process.returncode, said.decode()


class Run(NamedTuple):
    """The run that all tests train further."""

    path: str
    arguments: list[str]
    expected: Callable[[int], dict[str, bytes]]

    def last(self) -> int:
        names = storage_of(self.path).names(self.path)
        return max(int(name[6:]) for name in names if re.fullmatch(r"epoch-\d+", name))

    def start(self, *options: object) -> Driver:
        epoch = self.last() + 1
        command = [*self.arguments, "--epochs", epoch, *options]
        words = [sys.executable, "-c", PROGRAM, *map(str, command)]
        return Driver(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/"), epoch)

    def is_right(self, epoch: int) -> None:
        """The epoch is the last one, and has the bytes of an undisturbed training."""
        assert self.last() == epoch
        folder = join(self.path, f"epoch-{epoch:04d}")
        for name, data in self.expected(epoch).items():
            assert get(join(folder, name)) == data, f"{name} of epoch {epoch}"

    def ends_well(self, driver: Driver) -> str:
        code, said = driver.end()
        assert code == 0, said
        self.is_right(driver.epoch)
        return said

    def goes_on(self, *options: object) -> str:
        """One more epoch, with nothing in the way."""
        return self.ends_well(self.start(*options))

    def fails(self, driver: Driver, code: int, *sentences: str) -> str:
        """The driver ends with this code and these words; the last complete epoch is what it was."""
        ended, said = driver.end()
        assert ended == code, said
        for sentence in sentences:
            assert sentence in said
        self.is_right(driver.epoch - 1)
        return said


@pytest.fixture(scope="module")
def expected(corpus, tmp_path_factory, must) -> Callable[[int], dict[str, bytes]]:
    """The files of an epoch, as an undisturbed training on this machine makes them."""
    run = tmp_path_factory.mktemp("undisturbed") / "run"
    known: list[dict[str, bytes]] = [{}]

    def files(epoch: int) -> dict[str, bytes]:
        while len(known) <= epoch:
            number = len(known)
            options = ("--train", corpus / "train.txt", "--run-dir", run, *OPTIONS, "--epochs", number)
            must("train", corpus / "task.yaml", *options)
            folder = run / f"epoch-{number:04d}"
            known.append({name: (folder / name).read_bytes() for name in ("weights", "average")})
        return known[epoch]

    return files


@pytest.fixture(scope="module")
def run(hadoop, corpus, expected) -> Run:
    path, train = "hdfs:///runs/faults", "hdfs:///faults/train.txt"
    storage_of(path).write(train, (corpus / "train.txt").read_bytes())
    arguments = ["train", str(corpus / "task.yaml"), "--train", train, "--run-dir", path, *OPTIONS]
    begun = Run(path, arguments, expected)
    words = [sys.executable, "-c", PROGRAM, *arguments, "--epochs", "1"]
    subprocess.run(words, check=True, cwd="/", stdout=subprocess.DEVNULL)
    begun.is_right(1)
    return begun


@pytest.fixture
def whole(hadoop) -> Iterator[None]:
    """All daemons are there again after the test."""
    yield
    hadoop.cluster("up")


ON_HADOOP = ("-r", "hadoop", "--reducers")


# ---------------------------------------------------------------- tasks


def test_a_killed_mapper_is_run_again(hadoop, run):
    driver = run.start(*ON_HADOOP, 1)
    os.kill(driver.wait_for(lambda: found(hadoop, MAPPER)), signal.SIGKILL)
    run.ends_well(driver)


def test_a_killed_reducer_is_run_again(hadoop, run):
    driver = run.start(*ON_HADOOP, 3)
    os.kill(driver.wait_for(lambda: found(hadoop, REDUCER)), signal.SIGKILL)
    run.ends_well(driver)


def test_a_killed_application_master_begins_again(hadoop, run):
    driver = run.start(*ON_HADOOP, 1)
    driver.wait_for(lambda: found(hadoop, MAPPER))
    os.kill(driver.wait_for(lambda: found(hadoop, MASTER)), signal.SIGKILL)
    run.ends_well(driver)


def test_a_mapper_that_hangs_is_replaced_after_the_time_out(hadoop, run):
    properties = (
        "mapreduce.task.timeout=10000",
        "mapreduce.task.timeout.check-interval-ms=500",
        "mapreduce.job.reduce.slowstart.completedmaps=1",  # a reducer that waits for the mapper would time out, too
    )
    driver = run.start(*ON_HADOOP, 1, *(f"-D{setting}" for setting in properties))
    os.kill(driver.wait_for(lambda: found(hadoop, MAPPER)), signal.SIGSTOP)
    run.ends_well(driver)


def test_a_mapper_that_is_too_slow_is_overtaken_by_another(hadoop, run):
    properties = ("mapreduce.map.speculative=true", "mapreduce.job.speculative.retry-after-no-speculate=500")
    driver = run.start(*ON_HADOOP, 3, *(f"-D{setting}" for setting in properties))
    os.kill(driver.wait_for(lambda: found(hadoop, MAPPER)), signal.SIGSTOP)
    run.ends_well(driver)


# ---------------------------------------------------------------- the driver


def applications(run: Run, states: str) -> list[str]:
    listed = ["yarn", "application", "-list", "-appTags", tag_of(run.path), "-appStates", states]
    said = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^application_\d+_\d+", said, re.MULTILINE)


def test_a_killed_driver_leaves_a_job_that_the_next_one_ends(hadoop, run):
    driver = run.start(*ON_HADOOP, 1)
    mapper = driver.wait_for(lambda: found(hadoop, MAPPER))
    os.kill(mapper, signal.SIGSTOP)  # the job is not to end by itself
    driver.process.kill()
    driver.end()
    (orphan,) = applications(run, "RUNNING")
    time.sleep(LEASE)
    run.goes_on(*ON_HADOOP, 1)
    assert orphan in applications(run, "KILLED")
    assert applications(run, "ACCEPTED,RUNNING") == []


def test_a_driver_killed_while_it_submits_takes_its_client_along(hadoop, run):
    driver = run.start(*ON_HADOOP, 1)
    driver.wait_for(lambda: found(hadoop, CLIENT))
    driver.process.kill()
    driver.end()
    while found(hadoop, CLIENT):
        time.sleep(0.01)
    assert applications(run, "SUBMITTED,ACCEPTED,RUNNING") == []
    time.sleep(LEASE)
    run.goes_on()


def test_a_second_driver_is_refused_and_a_sleeping_one_stops_when_another_took_over(hadoop, run):
    sleeper = run.start(*ON_HADOOP, 1)
    os.kill(sleeper.wait_for(lambda: found(hadoop, MAPPER)), signal.SIGSTOP)  # the job is not to end by itself
    run.fails(run.start(), 2, f"the run directory {run.path} is in use by another process")
    sleeper.process.send_signal(signal.SIGSTOP)
    time.sleep(LEASE)
    run.goes_on()
    sleeper.process.send_signal(signal.SIGCONT)
    code, said = sleeper.end()
    assert code == 2 and f"the run directory {run.path} was taken over by another process" in said
    run.is_right(sleeper.epoch)
    assert applications(run, "ACCEPTED,RUNNING") == []


# ---------------------------------------------------------------- daemons


def test_a_node_lost_in_mid_epoch(hadoop, run, whole):
    """Its NodeManager and all that ran there; the application master is on the other node, which goes on."""
    managers = [hadoop.daemon(name) for name in ("nodemanager1", "nodemanager2")]
    driver = run.start(*ON_HADOOP, 3)
    master = driver.wait_for(lambda: found(hadoop, MASTER))
    (safe,) = set(ancestors(master)) & set(managers)
    mapper = driver.wait_for(lambda: [pid for pid in found(hadoop, MAPPER) if safe not in ancestors(pid)])
    (lost,) = set(managers) - {safe}
    container = list(itertools.takewhile(lambda pid: pid != lost, ancestors(mapper)))
    for pid in (lost, *container):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.ends_well(driver)


def test_a_datanode_lost_in_mid_epoch(hadoop, run, whole):
    driver = run.start(*ON_HADOOP, 1)
    driver.wait_for(lambda: found(hadoop, MAPPER))
    os.kill(hadoop.daemon("datanode1"), signal.SIGKILL)
    run.ends_well(driver)
    run.goes_on()  # and while it is still away


def test_the_resourcemanager_restarts_between_epochs(hadoop, run, whole):
    os.kill(hadoop.daemon("resourcemanager"), signal.SIGKILL)
    hadoop.cluster("up")
    run.goes_on(*ON_HADOOP, 3)


def administer(*arguments: str) -> None:
    subprocess.run(["hdfs", "dfsadmin", *arguments], check=True, stdout=subprocess.DEVNULL)


def test_the_namenode_in_safe_mode(run, hadoop):
    administer("-safemode", "enter")
    try:
        run.fails(run.start(), 2, "Name node is in safe mode")
    finally:
        administer("-safemode", "leave")
    run.goes_on()


def test_hdfs_is_full(hadoop, run):
    driver = run.start(*ON_HADOOP, 1)
    driver.wait_for(lambda: found(hadoop, MAPPER))
    administer("-setSpaceQuota", "1", "/runs/faults")
    try:
        run.fails(driver, 2, f"cannot write {run.path}/epoch-", "The DiskSpace quota of /runs/faults is exceeded")
        run.fails(run.start(), 2, "cannot write to the run directory", "quota")
    finally:
        administer("-clrSpaceQuota", "/runs/faults")
    time.sleep(LEASE)
    run.goes_on()


# ---------------------------------------------------------------- files


@contextlib.contextmanager
def damaged(path: str, damage: Callable[[bytes], Optional[bytes]]) -> Iterator[None]:
    data, storage = get(path), storage_of(path)
    bad = damage(data)
    storage.remove(path) if bad is None else storage.write(path, bad)
    try:
        yield
    finally:
        storage.write(path, data)


def _altered(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    "damage, problem",
    [(lambda data: None, "the shard is missing"), (_altered, "prepare the corpus again")],
    ids=["deleted", "corrupted"],
)
def test_a_shard_between_epochs(damage, problem, run):
    shard = f"{run.path}/prepared/shard-00001-of-00004.gz"
    with damaged(shard, damage):
        run.fails(run.start(), 2, shard, problem)
    run.goes_on()


@pytest.mark.parametrize("name", ["weights", "average", "stats.json"])
def test_a_truncated_file_of_the_last_epoch(name, run):
    path = f"{run.path}/epoch-{run.last():04d}/{name}"
    with damaged(path, lambda data: data[:-20]):
        code, said = run.start().end()
        assert code == 2 and path in said and "damaged" in said
    run.goes_on()


# ---------------------------------------------------------------- a mapper that cannot do its work


def test_a_mapper_that_writes_garbage(run, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nif os.environ.get('mapreduce_task_ismap') == 'true': print('мусор and no record', flush=True)\n"
    )
    conf = {"upload_files": [str(tmp_path / "sitecustomize.py")], "cmdenv": {"PYTHONPATH": "."}}
    (tmp_path / "mrjob.conf").write_text(json.dumps({"runners": {"hadoop": conf}}))
    once = ("-Dmapreduce.reduce.maxattempts=1", "-c", tmp_path / "mrjob.conf")
    run.fails(run.start(*ON_HADOOP, 1, *once), 1, "a line does not decode", "perceptron: MRTrainEpoch failed")
    run.goes_on()


def test_a_mapper_that_runs_out_of_memory(run, tmp_path):
    (tmp_path / "mrjob.conf").write_text(json.dumps({"runners": {"hadoop": {"setup": ["ulimit -v 100000"]}}}))
    once = ("-Dmapreduce.map.maxattempts=1", "-c", tmp_path / "mrjob.conf")
    said = run.fails(run.start(*ON_HADOOP, 1, *once), 1, "/prepared/shard-0000", "perceptron: MRTrainEpoch failed")
    assert re.search("[Mm]emory", said)
    run.goes_on()


# ---------------------------------------------------------------- killed around every change of the storage

# For each i: a process trains and kills itself right before the i-th change that it makes on HDFS (so right after the
# one before it, too), another one goes on. Both are forks of this program, which has loaded everything once. Since all
# of them mostly wait for HDFS, several such programs share the work: i = first, first + AT_ONCE, first + 2 AT_ONCE …
AT_ONCE = 5
KILLED_AT_EACH_CHANGE = f"""
import os, signal, sys
from hdfs import InsecureClient
import jobs.cli.commands, jobs.driver
from jobs.cli.main import main
from jobs.storage import storage_of
import jobs.storage.webhdfs

def in_a_process(work):
    child = os.fork()
    if not child:
        try:
            os._exit(work())
        finally:
            os._exit(99)
    return os.waitpid(child, 0)[1]

def count_changes(last):
    done = 0
    def counted(verb):
        def change(*arguments, **named):
            nonlocal done
            done += 1
            if done == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return verb(*arguments, **named)
        return change
    for name in ("write", "delete", "makedirs", "_rename"):
        setattr(InsecureClient, name, counted(getattr(InsecureClient, name)))

def train_and_die(change, arguments):
    count_changes(change)
    return main(arguments)

*arguments, folder, first = sys.argv[1:]
change, status = int(first) - {AT_ONCE}, signal.SIGKILL
while os.WIFSIGNALED(status):
    change += {AT_ONCE}
    run = folder + "/" + str(change)
    status = in_a_process(lambda: train_and_die(change, [*arguments, "--run-dir", run]))
    # A minute later, when its lease has run out:
    in_a_process(lambda: storage_of(run).remove(run + "/.lease") or 0)
    resumed = in_a_process(lambda: main([*arguments, "--run-dir", run]))
    print(change, "killed" if os.WIFSIGNALED(status) else status, resumed, flush=True)
"""


def test_killed_before_and_after_every_change_on_hdfs(hadoop, corpus, tmp_path, must, run):
    files = ("--train", "hdfs:///faults/train.txt", *OPTIONS, "--epochs", "3", "--quiet")
    words = [sys.executable, "-c", KILLED_AT_EACH_CHANGE, "train", str(corpus / "task.yaml"), *files, "hdfs:///killed"]
    started = [
        subprocess.Popen([*words, str(first)], stdout=subprocess.PIPE, text=True, cwd="/")
        for first in range(1, AT_ONCE + 1)
    ]
    told = "".join(process.communicate()[0] for process in started)
    ended = sorted((int(change), how, resumed) for change, how, resumed in map(str.split, told.splitlines()))
    killed, undisturbed = ended[:-AT_ONCE], ended[-AT_ONCE:]
    assert [how for _, how, _ in ended] == ["killed"] * len(killed) + ["0"] * AT_ONCE
    assert [change for change, _, _ in ended] == list(range(1, len(ended) + 1)) and len(killed) > 40
    whole = get(f"hdfs:///killed/{undisturbed[0][0]}/model")
    storage = storage_of("hdfs:///killed")
    for change, _, resumed in ended:
        after, folder = f"after a kill before change {change}", f"hdfs:///killed/{change}"
        assert resumed == "0", after
        assert storage.names(folder) == ["config.json", "epoch-0003", "history.jsonl", "model", "prepared"], after
        assert get(f"{folder}/model") == whole, after
        for name, data in run.expected(3).items():
            assert get(f"{folder}/epoch-0003/{name}") == data, after
