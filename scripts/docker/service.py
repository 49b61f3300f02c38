"""What a container of docker-compose.yml does: one daemon of the cluster.

service.py DAEMON           writes the configuration and becomes that daemon
service.py --configure      only writes the configuration, for clients
service.py --health DAEMON  exits with 0 if the daemon serves

The cluster is that of scripts/cluster, with a host for each daemon and Hadoop's usual ports instead of free ones.
"""

import os
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cluster.d"))

import artifacts  # noqa: E402  (the modules of scripts/cluster are not a package)
import class_archive  # noqa: E402
import processes  # noqa: E402
from cluster import Cluster  # noqa: E402
from configuration import NODE_SERVICES, SERVICES, Software  # noqa: E402

STATE = Path("/cluster")

# In the order in which configuration.py names the addresses.
PORTS = {
    "namenode": (8020, 9870),
    "resourcemanager": (8032, 8030, 8031, 8033, 8088),
    "historyserver": (10020, 10033, 19888),
    "datanode": (9866, 9867, 9864),
    "nodemanager": (8041, 8040, 13562, 8042),
}


def addresses(services: dict[str, tuple[str, ...]], host: str = "") -> dict[str, str]:
    """The addresses of these services, each on the host that has its name unless they share one."""
    return {
        name: f"{host or service}:{port}"
        for service, names in services.items()
        for name, port in zip(names, PORTS[service])
    }


def this_cluster() -> Cluster:
    """The cluster as this container sees it: the only node whose configuration it needs is itself."""
    return Cluster(STATE, addresses(SERVICES), [addresses(NODE_SERVICES, socket.gethostname())])


def software() -> Software:
    java = artifacts.find_java()
    archive = class_archive.path_for(java)
    return Software(java.home, artifacts.fetch(), archive if archive.exists() else None)


def daemon_name(service: str) -> str:
    return f"{service}1" if service in NODE_SERVICES else service


def become(daemon: str, cluster: Cluster) -> None:
    if daemon == "namenode":
        cluster.format()
    environment = processes.environment(STATE, cluster.conf_of(daemon_name(daemon)))
    os.execve(cluster.launcher, [str(cluster.launcher), daemon], environment)


def main(command: str, *daemon: str) -> int:
    cluster = this_cluster()
    if command == "--health":
        return 0 if cluster.serves(daemon_name(*daemon)) else 1
    cluster.write(software())
    if command != "--configure":
        become(command, cluster)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
