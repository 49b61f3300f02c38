"""scripts/cluster with a real cluster: up, status, env, HDFS, a job on YARN, faults at its start, and down."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hdfs import InsecureClient

from repository import ROOT
from waiting import started, still_runs, wait_until

pytestmark = pytest.mark.hadoop

SCRIPT = ROOT / "scripts" / "cluster"
TEXT = "кот спит\n\n时间 flies\n"


class Daemon(NamedTuple):
    state: str
    pid: int
    megabytes: int
    web: str
    ports: list[int]


class Cluster(NamedTuple):
    """scripts/cluster with a state folder of its own."""

    state: Path

    def command(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(SCRIPT), *arguments],
            env={**os.environ, "PERCEPTRON_CLUSTER": str(self.state), **variables},
            capture_output=True,
            text=True,
            timeout=1800,  # a first start fetches Hadoop
        )

    def must(self, *arguments: str) -> str:
        done = self.command(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def daemons(self) -> dict[str, Daemon]:
        """What `status` says, by daemon."""
        rows = [line.split() for line in self.command("status").stdout.splitlines()[1:-1]]
        return {
            name: Daemon(state, 0 if pid == "-" else int(pid), int(megabytes), web, [int(port) for port in ports])
            for name, state, pid, megabytes, web, *ports in rows
        }

    def shell(self, script: str) -> str:
        """What bash prints for the script, in the environment that `env` gives."""
        script = f'set -euo pipefail\neval "$("{SCRIPT}" env)"\n{script}'
        variables = {**os.environ, "PERCEPTRON_CLUSTER": str(self.state)}
        done = subprocess.run(["bash", "-c", script], env=variables, capture_output=True, timeout=600)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def processes(self) -> list[int]:
        """The processes that have the cluster's folder in their command line, however they were started."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    line = (folder / "cmdline").read_bytes()
                except OSError:
                    continue
                if os.fsencode(self.state) in line:
                    found.append(int(folder.name))
        return found


@pytest.fixture(scope="module", autouse=True)
def _tools() -> None:
    missing = [name for name in ("java", "mvn") if shutil.which(name) is None]
    if missing:
        reason = f"no {' and no '.join(missing)} on the PATH; on Debian: apt install default-jdk-headless maven"
        if os.environ.get("CI") or os.environ.get("PERCEPTRON_CI"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of one node that serves."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster") / "state")
    try:
        cluster.must("up")
        yield cluster
    finally:
        cluster.command("down")


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster that a test may start and break."""
    cluster = Cluster(tmp_path / "state")
    yield cluster
    cluster.command("down")


def test_status_lists_every_daemon_and_they_fit_into_memory(cluster: Cluster) -> None:
    daemons = cluster.daemons()
    assert list(daemons) == ["namenode", "resourcemanager", "historyserver", "datanode1", "nodemanager1"]
    assert {daemon.state for daemon in daemons.values()} == {"serves"}
    assert 0 < sum(daemon.megabytes for daemon in daemons.values()) < 1500
    for daemon in daemons.values():
        for port in daemon.ports:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
    assert cluster.command("status").returncode == 0


def test_up_on_a_running_cluster_does_nothing(cluster: Cluster) -> None:
    before = {name: daemon.pid for name, daemon in cluster.daemons().items()}
    assert "is up already" in cluster.must("up")
    assert {name: daemon.pid for name, daemon in cluster.daemons().items()} == before
    refused = cluster.command("up", "--nodes", "2")
    assert refused.returncode == 1
    assert "has 1 node(s)" in refused.stderr


def test_files_put_by_the_command_and_by_webhdfs_are_the_same(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "текст").write_text(TEXT, encoding="utf-8")
    address = cluster.shell("echo $PERCEPTRON_WEBHDFS").strip()
    client = InsecureClient(address, user="tester")
    client.write("/by/webhdfs/文", TEXT.encode())
    client.write("/by/webhdfs/empty", b"")
    listed = cluster.shell(
        f"hadoop fs -put '{tmp_path}/текст' /by/command; hadoop fs -cat /by/webhdfs/文 /by/webhdfs/empty"
    )
    assert listed == TEXT
    with client.read("/by/command", encoding="utf-8") as reader:
        assert reader.read() == TEXT
    assert client.status("/by/command")["replication"] == 1


def test_a_command_that_finds_nothing_fails_with_one_line(cluster: Cluster) -> None:
    """mrjob takes any other line on stderr for a failure of HDFS."""
    done = cluster.shell("hadoop fs -ls /absent 2>&1 || echo code $?")
    assert done == "ls: `/absent': No such file or directory\ncode 1\n"


def test_mrjob_finds_what_it_needs(cluster: Cluster) -> None:
    script = """
    test "$(command -v hadoop)" = "$HADOOP_HOME/bin/hadoop"
    find -L "$HADOOP_HOME" -name 'hadoop-streaming*.jar' | wc -l
    test -d "$HADOOP_LOG_DIR" -a -f "$HADOOP_CONF_DIR/core-site.xml"
    hadoop version | head -1
    """
    jars, version = cluster.shell(script).split("\n")[:2]
    assert jars.strip() == "1"
    assert re.fullmatch(r"Hadoop 3\.\d+\.\d+", version)


def test_streaming_job_on_yarn(cluster: Cluster) -> None:
    client = InsecureClient(cluster.shell("echo $PERCEPTRON_WEBHDFS").strip(), user="tester")
    for i in range(4):
        client.write(f"/job/in/{i}", f"{i} кот\n".encode() if i else b"")
    script = """
    jar=$(find -L "$HADOOP_HOME" -name 'hadoop-streaming*.jar')
    hadoop jar "$jar" -D mapreduce.job.reduces=1 -input /job/in -output /job/out -mapper cat -reducer cat 2>&1
    yarn application -list -appStates FINISHED 2>/dev/null
    """
    console = cluster.shell(script)
    # What mrjob reads from the console.
    assert re.search(r"^[-0-9]+ [:,0-9]+ INFO mapreduce\.Job: Running job: job_\d+_\d+$", console, re.MULTILINE)
    assert re.search(r"^\t\tMap output records=3$", console, re.MULTILINE)
    application = re.search(r"Submitted application (application_\d+_\d+)", console)
    assert application and re.search(rf"^{application[1]}\s.*SUCCEEDED", console, re.MULTILINE)
    with client.read("/job/out/part-00000", encoding="utf-8") as reader:
        assert [line.rstrip() for line in reader.read().splitlines()] == ["1 кот", "2 кот", "3 кот"]
    # Where mrjob looks for the traceback of a failed task.
    logs = cluster.state / "logs" / "userlogs" / application[1]
    assert len(list(logs.glob("container_*/stderr"))) >= 5


def test_two_nodes_beside_another_cluster_lost_daemons_and_down(cluster: Cluster, stopped: Cluster) -> None:
    stopped.must("up", "--nodes", "2")
    daemons = stopped.daemons()
    assert {daemon.state for daemon in daemons.values()} == {"serves"}
    assert {"datanode2", "nodemanager2"} < set(daemons)
    ours = [port for daemon in daemons.values() for port in daemon.ports]
    theirs = [port for daemon in cluster.daemons().values() for port in daemon.ports]
    assert len({*ours, *theirs}) == len(ours) + len(theirs)
    client = InsecureClient(daemons["namenode"].web, user="tester")
    client.write("/kept", TEXT.encode())
    assert client.status("/kept")["replication"] == 2

    os.kill(daemons["resourcemanager"].pid, signal.SIGKILL)
    os.kill(daemons["nodemanager2"].pid, signal.SIGKILL)
    assert stopped.command("status").returncode == 1
    assert stopped.daemons()["resourcemanager"].state == "down"
    stopped.must("up")  # starts what is missing, on the same ports
    again = stopped.daemons()
    changed = {name for name in daemons if again[name].pid != daemons[name].pid}
    assert changed == {"resourcemanager", "nodemanager2"}
    assert all(again[name].ports == daemons[name].ports for name in daemons)

    stopped.must("down", "--keep")
    assert not stopped.processes()
    for port in ours:
        with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
            probe.connect(("127.0.0.1", port))
    stopped.must("up")
    with InsecureClient(stopped.daemons()["namenode"].web).read("/kept", encoding="utf-8") as reader:
        assert reader.read() == TEXT
    stopped.must("down")
    assert not stopped.processes()
    assert not stopped.state.exists()
    assert cluster.command("status").returncode == 0


def test_down_ends_hanging_tasks_too(cluster: Cluster) -> None:
    """The last test on the module's cluster: it is down afterwards."""
    InsecureClient(cluster.daemons()["namenode"].web, user="tester").write("/hang/in", b"x\n")
    script = """
    jar=$(find -L "$HADOOP_HOME" -name 'hadoop-streaming*.jar')
    exec hadoop jar "$jar" -input /hang/in -output /hang/out -mapper 'sleep 98765' 2>&1
    """
    with started(
        ["bash", "-c", f'eval "$("{SCRIPT}" env)"\n{script}'],
        env={**os.environ, "PERCEPTRON_CLUSTER": str(cluster.state)},
        stdout=subprocess.DEVNULL,
    ) as client:
        mappers = wait_until("a mapper that hangs", _mappers, alive=still_runs(client))
        cluster.must("down")
    assert not any(map(_is_mapper, mappers))
    assert not cluster.processes()


def _is_mapper(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().endswith(b"sleep\x0098765\0")
    except OSError:
        return False


def _mappers() -> list[int]:
    pids = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return [pid for pid in pids if _is_mapper(pid)]


def test_up_killed_and_a_daemon_that_dies(stopped: Cluster) -> None:
    variables = {**os.environ, "PERCEPTRON_CLUSTER": str(stopped.state)}
    log = stopped.state / "logs" / "namenode.log"
    with started([str(SCRIPT), "up"], env=variables, stdout=subprocess.DEVNULL) as up:
        wait_until("the NameNode to start", log.exists, 1800, still_runs(up))
        up.kill()
    assert stopped.processes()
    stopped.must("down", "--keep")
    assert not stopped.processes()

    (stopped.state / "data" / "namenode" / "current" / "VERSION").write_text("layoutVersion=broken\n")
    failed = stopped.command("up")
    assert failed.returncode == 1
    assert "The namenode ended with code 1" in failed.stderr
    assert "namenode.log" in failed.stderr
    assert "Failed to start namenode" in failed.stderr, failed.stderr
    assert not stopped.processes()
    stopped.must("down")
    assert not stopped.state.exists()


def test_missing_tools_are_named_with_the_remedy(stopped: Cluster, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("env", "bash", "dirname"):
        (tools / name).symlink_to(shutil.which(name) or name)
    (tools / "python3").symlink_to(os.path.realpath(sys.executable))
    without_java = {"PATH": str(tools), "JAVA_HOME": ""}
    refused = stopped.command("up", **without_java)
    assert refused.returncode == 2
    assert "no java on the PATH" in refused.stderr and "apt install default-jdk-headless maven" in refused.stderr
    (tools / "java").symlink_to(os.path.realpath(shutil.which("java") or "java"))
    refused = stopped.command("up", **without_java, PERCEPTRON_CACHE=str(tmp_path / "cache"))
    assert refused.returncode == 2
    assert "no mvn on the PATH" in refused.stderr and "apt install default-jdk-headless maven" in refused.stderr
    assert not stopped.state.exists()


def test_a_failed_download_is_not_taken_for_a_whole_one(stopped: Cluster, tmp_path: Path) -> None:
    tools, cache = tmp_path / "bin", tmp_path / "cache"
    tools.mkdir()
    maven = tools / "mvn"
    script = """#!/bin/sh
    for folder; do :; done  # the last argument
    mkdir -p "${folder#-DoutputDirectory=}"
    echo half >"${folder#-DoutputDirectory=}/a.jar"
    echo no network
    exit 1
    """
    maven.write_text(script)
    maven.chmod(0o755)
    variables = {"PATH": f"{tools}:{os.environ['PATH']}", "PERCEPTRON_CACHE": str(cache)}
    for _ in range(2):
        failed = stopped.command("up", **variables)
        assert failed.returncode == 1
        assert "Maven could not fetch Hadoop" in failed.stderr and "no network" in failed.stderr
    assert [path.name for path in cache.glob("hadoop-*")] == ["hadoop-3.4.2.partial"]


def test_a_folder_that_hadoop_cannot_use_is_refused(tmp_path: Path) -> None:
    refused = Cluster(tmp_path / "with spaces").command("up")
    assert refused.returncode == 1
    assert "set PERCEPTRON_CACHE or PERCEPTRON_CLUSTER" in refused.stderr


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear\n")
    cluster = Cluster(tmp_path)
    refused = cluster.command("up")
    assert refused.returncode == 1
    assert "has other things in it" in refused.stderr
    assert "There is no cluster" in cluster.must("down")
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    for command in ("status", "env"):
        refused = cluster.command(command)
        assert refused.returncode == 1 and refused.stdout == ""
        assert "start one by `scripts/cluster up`" in refused.stderr
