"""One cluster on this machine: its folder, its ports, and whether its daemons serve.

STATE/cluster.json   the nodes, their size, and every address
STATE/hadoop         HADOOP_HOME: bin, lib (the jars), etc/hadoop (HADOOP_CONF_DIR)
STATE/data           what the NameNode keeps;  STATE/node1, node2 …  a node's configuration, blocks and task folders
STATE/logs           HADOOP_LOG_DIR: one log a daemon, and userlogs
"""

import json
import os
import random
import shutil
import socket
import subprocess
import urllib.request
from pathlib import Path
from typing import NamedTuple, Optional

import configuration
import processes
from configuration import NODE_SERVICES, SERVICES, WEB, Node, Software
from errors import ClusterError

HOST = "127.0.0.1"
# Below the ports that the system gives to outgoing connections, any of which could take a daemon's place in a restart.
PORTS = range(20000, 32000)
LAUNCHER = Path(__file__).resolve().parent / "hadoop"

_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open  # a proxy cannot reach the loopback


class Cluster(NamedTuple):
    state: Path
    addresses: dict[str, str]
    nodes: list[dict[str, str]]  # the addresses of each node

    @property
    def home(self) -> Path:
        return self.state / "hadoop"

    @property
    def conf(self) -> Path:
        return self.home / "etc" / "hadoop"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def launcher(self) -> Path:
        return self.home / "bin" / "hadoop"

    def daemons(self) -> list[str]:
        return [*SERVICES, *(f"{service}{i + 1}" for i in range(len(self.nodes)) for service in NODE_SERVICES)]

    def addresses_of(self, daemon: str) -> list[str]:
        service, addresses = self._service(daemon)
        return [addresses[name] for name in {**SERVICES, **NODE_SERVICES}[service]]

    def web(self, daemon: str) -> str:
        service, addresses = self._service(daemon)
        return f"http://{addresses[WEB[service]]}"

    def conf_of(self, daemon: str) -> Path:
        service, _ = self._service(daemon)
        return self._node_folder(daemon[len(service) :]) / "conf" if service in NODE_SERVICES else self.conf

    def log_of(self, daemon: str) -> Path:
        return self.logs / f"{daemon}.log"

    def _service(self, daemon: str) -> tuple[str, dict[str, str]]:
        service = daemon.rstrip("0123456789")
        return service, self.nodes[int(daemon[len(service) :]) - 1] if service in NODE_SERVICES else self.addresses

    def _node_folder(self, number: object) -> Path:
        return self.state / f"node{number}"

    # ------------------------------------------------------------ writing

    def write(self, software: Software) -> None:
        """Writes everything that the daemons and clients read."""
        for folder in (self.home / "bin", self.home / "share/webapps/hdfs", self.home / "share/webapps/datanode"):
            folder.mkdir(
                parents=True, exist_ok=True
            )  # the jars lack the web pages of HDFS, which does not start without
        for name in ("hadoop", "hdfs", "mapred", "yarn"):
            shutil.copy(LAUNCHER, self.home / "bin" / name)
        lib = self.home / "lib"
        if not lib.is_symlink():
            lib.symlink_to(software.lib)
        self.logs.mkdir(exist_ok=True)
        size = len(self.nodes)
        cores = max(2, (os.cpu_count() or 1) // size)
        common = (software, self.addresses, self.state / "data", self.logs, size)
        configuration.write(self.conf, *common)
        for number, addresses in enumerate(self.nodes, start=1):
            folder = self._node_folder(number)
            # Masters mostly wait, so there is room for two of them beside the tasks that keep the cores busy.
            host = addresses[WEB["nodemanager"]].partition(":")[0]
            node = Node(host, folder, addresses, memory=2048 * cores, cores=cores + 2)
            configuration.write(folder / "conf", *common, node=node)

    def format(self) -> None:
        """Makes an empty HDFS, unless there is one."""
        if not (self.state / "data/namenode/current/VERSION").exists():
            self.run("namenode", "-format", "-force", "-nonInteractive", log="format")

    def run(self, *command: object, log: str, options: str = "") -> None:
        """Runs a command of the launcher that belongs to the cluster's own start."""
        environment = {**processes.environment(self.state, self.conf), "HADOOP_OPTS": options}
        with self.log_of(log).open("wb") as output:
            words = [str(word) for word in (self.launcher, *command)]
            code = subprocess.run(
                words, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            ).returncode
        if code != 0:
            raise ClusterError(f"`{' '.join(words)}` failed; its last words:\n{self.tail(log)}")

    def tail(self, daemon: str, lines: int = 40) -> str:
        log = self.log_of(daemon)
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        return f"--- {log}\n" + "\n".join(text.splitlines()[-lines:])

    # ------------------------------------------------------------ asking

    def serves(self, daemon: str) -> bool:
        """Whether it answers and, for those that others register with, whether all its nodes are there."""
        if daemon == "namenode":
            state = self._ask(daemon, "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState")
            beans = state.get("beans") if state else None
            return bool(beans) and beans[0]["NumLiveDataNodes"] >= len(self.nodes) and not self._safe_mode()
        if daemon == "resourcemanager":
            metrics = self._ask(daemon, "/ws/v1/cluster/metrics")
            return bool(metrics) and metrics["clusterMetrics"]["activeNodes"] >= len(self.nodes)
        page = {"historyserver": "/ws/v1/history/info", "nodemanager": "/ws/v1/node/info", "datanode": "/jmx?qry=none"}
        return self._ask(daemon, page[self._service(daemon)[0]]) is not None

    def _safe_mode(self) -> bool:
        info = self._ask("namenode", "/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo")
        return not info or not info["beans"] or bool(info["beans"][0]["Safemode"])

    def _ask(self, daemon: str, path: str) -> Optional[dict]:
        request = urllib.request.Request(self.web(daemon) + path, headers={"Accept": "application/json"})
        try:
            with _open(request, timeout=2) as answer:
                return json.load(answer)
        except (OSError, ValueError):  # not there yet, or not in working order yet
            return None


# ---------------------------------------------------------------- making and finding one


def create(state: Path, size: int) -> Cluster:
    """A cluster in an empty or a new folder, on ports that are free."""
    if state.is_dir() and any(state.iterdir()):
        raise ClusterError(f"{state} has other things in it; set PERCEPTRON_CLUSTER to a folder of its own.")
    state.mkdir(parents=True, exist_ok=True)
    return _on_free_ports(state, size)


def load(state: Path) -> Optional[Cluster]:
    """The cluster in this folder, if there is one."""
    try:
        saved = json.loads((state / "cluster.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Cluster(state, saved["addresses"], saved["nodes"])


def with_free_ports(cluster: Cluster) -> Cluster:
    """The same cluster, on other ports if somebody took one of its own while it was down."""
    taken = [
        a for daemon in cluster.daemons() for a in cluster.addresses_of(daemon) if not _free(int(a.rpartition(":")[2]))
    ]
    return _on_free_ports(cluster.state, len(cluster.nodes)) if taken else cluster


def _on_free_ports(state: Path, size: int) -> Cluster:
    candidates = random.sample(PORTS, len(PORTS))
    free = (f"{HOST}:{port}" for port in candidates if _free(port))
    central = {name: next(free) for names in SERVICES.values() for name in names}
    nodes = [{name: next(free) for names in NODE_SERVICES.values() for name in names} for _ in range(size)]
    text = json.dumps({"addresses": central, "nodes": nodes}, indent=2)
    fresh = state / "cluster.json.new"
    fresh.write_text(text + "\n", encoding="utf-8")
    fresh.replace(state / "cluster.json")
    return Cluster(state, central, nodes)


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # as the daemons do: closed connections do not count
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
