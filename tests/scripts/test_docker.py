"""docker-compose.yml, on a real engine: a first up, the demo on the containers' Hadoop, more nodes, down and up again.

Where no engine answers, PERCEPTRON_START_DOCKERD=1 lets the tests start one (as root; see scripts/docker/engine), whose
base image debootstrap makes if it has none: then everything but the pull of that image is what a user's build does.
"""

import json
import os
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from repository import ROOT
from waiting import wait_until

pytestmark = pytest.mark.docker

ENGINE = ROOT / "scripts" / "docker" / "engine"
CERTIFICATES = Path("/usr/local/share/ca-certificates")  # where an administrator of Debian puts additional ones
BUILT = {"namenode": "mr-perceptron-node", "client": "mr-perceptron-client"}  # the services that have a build
DAEMONS = {"namenode", "datanode", "resourcemanager", "nodemanager", "historyserver"}
PROJECT = "perceptron-test"
WEB_INTERFACES = {"namenode": "9870/tcp", "resourcemanager": "8088/tcp", "historyserver": "19888/tcp"}
TEXT = "кот спит\n\n时间 flies\n"
NO_ENGINE = "no Docker engine answers; start one, or set PERCEPTRON_START_DOCKERD=1 (as root, on Debian with docker.io)"
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


def _output(*command: object, cwd: Path = ROOT) -> str:
    words = [str(word) for word in command]
    # The time is ample: it is there for an engine that hangs.
    done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=1800)
    assert done.returncode == 0, f"{command}: {done.stdout[-5000:]}\n{done.stderr[-5000:]}"
    return done.stdout


class Compose(NamedTuple):
    """The cluster of a copy of the tree, under a project name of its own."""

    command: list[str]
    tree: Path

    def __call__(self, *arguments: object) -> str:
        return _output(*self.command, "-p", PROJECT, *arguments, cwd=self.tree)

    def client(self, script: str) -> str:
        return self("exec", "-T", "client", "bash", "-euo", "pipefail", "-c", script)

    def containers(self, service: str) -> list[str]:
        return self("ps", "-q", service).split()

    def web(self, service: str, port: int, path: str) -> dict:
        """The content of a page that a service publishes on this machine."""
        address = self("port", service, port).strip()
        assert address.startswith("127.0.0.1:")
        request = urllib.request.Request(f"http://{address}{path}", headers={"Accept": "application/json"})
        with _open(request, timeout=30) as answer:
            return json.load(answer)

    def wait_for_nodes(self, wanted: int) -> None:
        def nodes() -> int:
            return self.web("resourcemanager", 8088, "/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"]

        wait_until(f"{wanted} active nodes", lambda: nodes() == wanted)


def _compose_commands() -> list[list[str]]:
    candidates = (["docker", "compose"], ["docker-compose"])
    usable = [command for command in candidates if shutil.which(command[0])]
    return [c for c in usable if subprocess.run([*c, "version"], capture_output=True, timeout=60).returncode == 0]


@pytest.fixture(scope="module")
def engine() -> Iterator[bool]:
    """A Docker engine that answers; true if the tests started it."""
    own = os.environ.get("PERCEPTRON_START_DOCKERD") == "1"
    with pytest.MonkeyPatch.context() as patch:
        try:
            if own:
                variable = re.fullmatch(r"export DOCKER_HOST=(\S+)\n", _output(ENGINE, "up"))
                assert variable
                patch.setenv("DOCKER_HOST", variable[1])
            info = ["docker", "info"]
            answers = shutil.which("docker") and not subprocess.run(info, capture_output=True, timeout=60).returncode
            problem = "" if answers else NO_ENGINE
            if answers and not _compose_commands():
                problem = "there is neither `docker compose` nor docker-compose; on Debian: apt install docker-compose"
            if problem and (os.environ.get("CI") or os.environ.get("PERCEPTRON_CI")):
                pytest.fail(problem)
            if problem:
                pytest.skip(problem)
            yield own
        finally:
            if own:
                _output(ENGINE, "down")


@pytest.fixture(scope="module")
def tree(engine: bool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what .dockerignore lets through, with the certificates and jars of this machine."""
    tree = tmp_path_factory.mktemp("docker") / "tree"
    tree.mkdir()
    admitted = re.findall("^!(.*)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    for name in (*admitted, ".dockerignore", "docker-compose.yml"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / name).exists():
            shutil.copy2(ROOT / name, tree / name)
    extra = tree / "scripts" / "docker" / "extra"
    if CERTIFICATES.is_dir():
        shutil.copytree(CERTIFICATES, extra / "certificates", dirs_exist_ok=True)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mr-perceptron")
    for jars in Path(os.environ.get("PERCEPTRON_CACHE") or cache).glob("hadoop-*[0-9]/lib"):
        shutil.copytree(jars, extra / "cache" / jars.parent.name / "lib", dirs_exist_ok=True)
    if engine:  # its containers do not reach the Internet
        builds = {service: {"build": {"network": "host"}} for service in BUILT}
        (tree / "docker-compose.override.yml").write_text(json.dumps({"services": builds}))
    return tree


@pytest.fixture(scope="module")
def compose(tree: Path) -> Iterator[Compose]:
    """The cluster, running."""
    compose = Compose(_compose_commands()[0], tree)
    with pytest.MonkeyPatch.context() as patch:
        for service in ("NAMENODE", "RESOURCEMANAGER", "HISTORYSERVER"):
            patch.setenv(f"{service}_WEB_PORT", "0")  # any port that is free
        # Without images `up` builds them, as a user's first one does; what they are made of stays cached.
        remove = ["docker", "image", "rm", "--force", "--no-prune", *BUILT.values()]
        subprocess.run(remove, capture_output=True, timeout=600)
        try:
            compose("up", "-d")
            yield compose
        finally:
            compose("down", "-v")


def test_every_compose_takes_the_file(tree: Path) -> None:
    for command in _compose_commands():
        services = _output(*command, "config", "--services", cwd=tree).split()
        assert set(services) == DAEMONS | {"client"}


def test_up_returns_when_all_serve_with_two_nodemanagers(compose: Compose) -> None:
    for service in DAEMONS:
        containers = compose.containers(service)
        assert len(containers) == (2 if service == "nodemanager" else 1)
        health = _output("docker", "inspect", "-f", "{{.State.Health.Status}}", *containers).split()
        assert set(health) == {"healthy"}, service
    compose.wait_for_nodes(2)
    beans = compose.web("namenode", 9870, "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState")["beans"]
    assert beans[0]["NumLiveDataNodes"] == 1
    assert compose.web("historyserver", 19888, "/ws/v1/history/info")["historyInfo"]["hadoopVersion"].startswith("3.")


def test_the_web_interfaces_are_published_on_the_loopback_and_nothing_else_is(compose: Compose) -> None:
    for service in (*DAEMONS, "client"):
        published = _output("docker", "inspect", "-f", "{{json .NetworkSettings.Ports}}", *compose.containers(service))
        bindings = {port: b for line in published.splitlines() for port, b in (json.loads(line) or {}).items() if b}
        assert list(bindings) == ([WEB_INTERFACES[service]] if service in WEB_INTERFACES else [])
        assert {binding["HostIp"] for b in bindings.values() for binding in b} <= {"127.0.0.1"}


@pytest.mark.parametrize("service", sorted(DAEMONS))
def test_the_health_check_tells_a_daemon_that_hangs(compose: Compose, service: str) -> None:
    script = """
import os, signal, subprocess, sys
check = [sys.executable, "/opt/mr-perceptron/scripts/docker/service.py", "--health", sys.argv[1]]
os.kill(-1, signal.SIGSTOP)  # all but this process and the container's first one
print(subprocess.run(check).returncode)
os.kill(-1, signal.SIGCONT)
"""
    assert compose("exec", "-T", service, "python3", "-c", script, service) == "1\n"


def test_only_the_client_has_the_product_and_it_is_compiled(compose: Compose) -> None:
    version = compose.client("cd /; python -c 'import perceptron_core.kernels.native'; perceptron --version")
    assert re.fullmatch(r"perceptron \d+\.\d+\.\d+\n", version)
    import_product = "import importlib.util as u, sys; sys.exit(u.find_spec('perceptron_core') is not None)"
    compose("exec", "-T", "nodemanager", "python3", "-c", import_product)


def test_demo_on_the_cluster_gives_the_bytes_of_inline_and_local(compose: Compose) -> None:
    shown = compose("run", "--rm", "-T", "client", "scripts/demo", "-r", "hadoop")
    assert "installing the package" not in shown
    assert re.search(r"^accuracy +9\d\.\d\d%$", shown, re.MULTILINE)
    script = """
    cd demo-output
    for runner in inline local; do
        perceptron train pos --train corpus/train.txt --dev corpus/dev.txt --shards 2 --epochs 10 \\
            --run-dir $runner -r $runner >/dev/null
        cmp run/model $runner/model
        cmp run/epoch-0010/weights $runner/epoch-0010/weights
        cmp run/epoch-0010/average $runner/epoch-0010/average
    done
    wc -c <run/model
    """
    assert int(compose.client(script)) > 10_000


def test_a_third_nodemanager_and_a_run_on_hdfs(compose: Compose) -> None:
    compose("up", "-d", "--scale", "nodemanager=3")
    assert len(compose.containers("nodemanager")) == 3
    compose.wait_for_nodes(3)
    script = """
    cd /tmp
    python /opt/mr-perceptron/scripts/make_demo_corpus.py corpus >/dev/null
    options='--shards 6 --epochs 1 --mixing uniform'
    hadoop fs -put corpus/train.txt /train.txt 2>/dev/null
    perceptron train pos --train hdfs:///train.txt --run-dir hdfs:///run $options -r hadoop --reducers 3 >/dev/null
    perceptron train pos --train corpus/train.txt --run-dir run $options >/dev/null
    hadoop fs -cat /run/model 2>/dev/null | cmp - run/model
    hadoop fs -ls -R /run 2>/dev/null
    """
    assert "/run/epoch-0001/weights" in compose.client(script)


def test_hdfs_outlives_the_containers(compose: Compose) -> None:
    compose.client(f"echo -n '{TEXT}' | hadoop fs -put - /kept")
    compose("down")
    compose("up", "-d")
    assert compose.client("hadoop fs -cat /kept 2>/dev/null") == TEXT
    compose.wait_for_nodes(2)


def test_down_v_leaves_nothing(compose: Compose) -> None:
    def left() -> dict[str, list[str]]:
        kinds = {"container": ["-a"], "volume": [], "network": []}
        ours = f"label=com.docker.compose.project={PROJECT}"
        return {k: _output("docker", k, "ls", "-q", *all_, "--filter", ours).split() for k, all_ in kinds.items()}

    assert all(left().values())
    compose("down", "-v")
    assert left() == {"container": [], "volume": [], "network": []}
