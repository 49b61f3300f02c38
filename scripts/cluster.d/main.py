"""The command line of scripts/cluster: up, down, status, env."""

import argparse
import contextlib
import fcntl
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

import artifacts
import class_archive
import cluster as clusters
import processes
from cluster import Cluster
from configuration import Software
from errors import ClusterError

TIMEOUT = 120.0  # seconds for the daemons to serve; they take about ten


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/cluster", description="A Hadoop cluster on this machine.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="up | down | status | env")
    up_options = commands.add_parser("up", help="start it, and wait until it serves")
    up_options.add_argument("--nodes", type=int, metavar="N", help="DataNodes and NodeManagers (1, or as before)")
    down_options = commands.add_parser("down", help="stop it and remove all that it kept")
    down_options.add_argument("--keep", action="store_true", help="keep HDFS and the logs for the next up")
    commands.add_parser("status", help="list the daemons; the exit code is 0 if all of them serve")
    commands.add_parser("env", help='print what a shell needs: eval "$(scripts/cluster env)"')
    options = parser.parse_args()
    try:
        if not sys.platform.startswith("linux"):
            raise ClusterError("scripts/cluster runs on Linux; elsewhere use docker compose.", code=2)
        if options.command == "up":
            return up(state_folder(), options.nodes)
        if options.command == "down":
            return down(state_folder(), options.keep)
        return status(state_folder()) if options.command == "status" else env(state_folder())
    except ClusterError as error:
        print(f"scripts/cluster: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return 130


def state_folder() -> Path:
    given = os.environ.get("PERCEPTRON_CLUSTER")
    return Path(given).resolve() if given else artifacts.cache_folder() / "cluster"


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two starts at once would fetch the same jars and might choose the same ports."""
    folder = artifacts.cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ---------------------------------------------------------------- up


def up(state: Path, size: Optional[int]) -> int:
    if size is not None and size < 1:
        raise ClusterError("--nodes must be at least 1.")
    for folder in (state, artifacts.cache_folder()):
        if not re.fullmatch(r"[\w.+@=/-]+", str(folder), re.ASCII):
            reason = "Hadoop's paths can have only letters of ASCII, digits and the marks . _ - + @ ="
            raise ClusterError(f"{reason}; set PERCEPTRON_CACHE or PERCEPTRON_CLUSTER to a folder other than {folder}.")
    java = artifacts.find_java()
    with one_at_a_time():
        began = time.monotonic()
        cluster = clusters.load(state)
        if cluster and size not in (None, len(cluster.nodes)):
            raise ClusterError(
                f"The cluster in {state} has {len(cluster.nodes)} node(s); run `scripts/cluster down` first."
            )
        running = processes.daemons(state)
        if cluster and set(running) == set(cluster.daemons()) and all(map(cluster.serves, running)):
            print(f"The cluster in {state} is up already.")
            return 0
        archive = class_archive.path_for(java)
        software = Software(java.home, artifacts.fetch(), archive if archive.exists() else None)
        if cluster is None and running:
            raise ClusterError(
                f"Daemons of a cluster whose folder {state} is gone still run; run `scripts/cluster down`."
            )
        if cluster is None:
            cluster = clusters.create(state, size or 1)
        elif not running:
            cluster = clusters.with_free_ports(cluster)
        try:
            cluster.write(software)
            start_missing(cluster, running)
            if software.class_archive is None:
                print("making the class archive (once, less than a minute) ...", flush=True)
                software = with_class_archive(cluster, software, archive)
        except (ClusterError, KeyboardInterrupt):
            if not running:  # what ran before must not suffer from a daemon that does not start again
                processes.stop(state)
            raise
        print(f"The cluster in {state} is up after {time.monotonic() - began:.0f} s; see `scripts/cluster status`.")
        print('In a shell that is to use it: eval "$(scripts/cluster env)"')
    return 0


def start_missing(cluster: Cluster, running: dict[str, int]) -> None:
    """Starts the daemons that do not run, and waits until all of them serve."""
    started = {}

    def start(*daemons: str) -> None:
        for daemon in daemons:
            if daemon not in running:
                conf, log = cluster.conf_of(daemon), cluster.log_of(daemon)
                started[daemon] = processes.start(daemon, cluster.launcher, cluster.state, conf, log)

    def wait(*daemons: str) -> None:
        deadline = time.monotonic() + TIMEOUT
        waiting = list(daemons)
        while waiting:
            for daemon, process in started.items():
                if process.poll() is not None:
                    raise ClusterError(f"The {daemon} ended with code {process.returncode}:\n{cluster.tail(daemon)}")
            if time.monotonic() > deadline:
                tails = "\n".join(map(cluster.tail, waiting))
                raise ClusterError(f"{', '.join(waiting)} did not serve within {TIMEOUT:.0f} s.\n{tails}")
            time.sleep(0.1)
            waiting = [daemon for daemon in waiting if not cluster.serves(daemon)]

    names = cluster.daemons()
    hdfs = [name for name in names if name.startswith(("namenode", "datanode"))]
    start(*(name for name in names if name.startswith(("resourcemanager", "nodemanager"))))
    cluster.format()
    start(*hdfs)
    wait("namenode")
    start("historyserver")  # last, since it waits ten seconds if it finds no HDFS
    wait(*names)


def with_class_archive(cluster: Cluster, software: Software, archive: Path) -> Software:
    """Makes the class archive and lets the cluster's clients and jobs use it from now on."""
    try:
        class_archive.build(cluster, software, archive)
    except ClusterError as error:
        print(f"There is no class archive, so jobs start slower: {error}", file=sys.stderr)
        return software
    software = software._replace(class_archive=archive)
    cluster.write(software)
    return software


# ---------------------------------------------------------------- down, status, env


def down(state: Path, keep: bool) -> int:
    ended = processes.stop(state)
    known = clusters.load(state) is not None
    if known and not keep:
        shutil.rmtree(state)
    if known or ended:
        print(f"The cluster in {state} is down" + (" and its folder kept." if keep else "."))
    else:
        print(f"There is no cluster in {state}.")
    return 0


def existing(state: Path) -> Cluster:
    cluster = clusters.load(state)
    if cluster is None:
        raise ClusterError(f"There is no cluster in {state}; start one by `scripts/cluster up`.")
    return cluster


def status(state: Path) -> int:
    cluster = existing(state)
    running = processes.daemons(state)
    row = "{:<16} {:<8} {:>8} {:>7}  {:<24} {}"
    print(row.format("daemon", "state", "pid", "MB", "web", "ports"))
    all_serve, total = True, 0
    for daemon in cluster.daemons():
        pid = running.get(daemon)
        serves = pid is not None and cluster.serves(daemon)
        condition = "serves" if serves else "waits" if pid else "down"
        all_serve &= serves
        megabytes = processes.memory(pid) // 2**20 if pid else 0
        total += megabytes
        ports = " ".join(address.rpartition(":")[2] for address in cluster.addresses_of(daemon))
        print(row.format(daemon, condition, pid or "-", megabytes, cluster.web(daemon), ports))
    print(row.format("total", "", "", total, "", "").rstrip())
    return 0 if all_serve else 1


def env(state: Path) -> int:
    cluster = existing(state)
    variables = {
        "HADOOP_HOME": cluster.home,
        "HADOOP_CONF_DIR": cluster.conf,
        "HADOOP_LOG_DIR": cluster.logs,
        "PERCEPTRON_WEBHDFS": cluster.web("namenode"),
        "PERCEPTRON_CLUSTER": cluster.state,
    }
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(str(value))}")
    print(f'export PATH={shlex.quote(str(cluster.home / "bin"))}:"$PATH"')
    return 0


if __name__ == "__main__":
    sys.exit(main())
