"""Hadoop's configuration files for a small cluster, on one machine or on hosts of their own.

Nothing here starts, chooses or looks up anything: addresses (`host:port`), folders and Java come as arguments.
"""

import shlex
from pathlib import Path
from typing import NamedTuple, Optional
from xml.sax.saxutils import escape

Settings = dict[str, object]

# What a process of this cluster, down to the mapper of a streaming job, has in its environment.
MARK = "PERCEPTRON_CLUSTER_OF"

# MB; also the application master's. YARN ends a task that takes more: its JVM (about 200), and the mapper or reducer.
TASK_MEMORY = 1024

SHUFFLE = "mapreduce.shuffle.port"  # the only one without a host: a NodeManager serves map outputs on all interfaces

# The services of the cluster and the number of addresses that each needs, in Hadoop's names for them.
SERVICES = {
    "namenode": ("dfs.namenode.rpc-address", "dfs.namenode.http-address"),
    "resourcemanager": (
        "yarn.resourcemanager.address",
        "yarn.resourcemanager.scheduler.address",
        "yarn.resourcemanager.resource-tracker.address",
        "yarn.resourcemanager.admin.address",
        "yarn.resourcemanager.webapp.address",
    ),
    "historyserver": (
        "mapreduce.jobhistory.address",
        "mapreduce.jobhistory.admin.address",
        "mapreduce.jobhistory.webapp.address",
    ),
}
NODE_SERVICES = {
    "datanode": ("dfs.datanode.address", "dfs.datanode.ipc.address", "dfs.datanode.http.address"),
    "nodemanager": (
        "yarn.nodemanager.address",
        "yarn.nodemanager.localizer.address",
        SHUFFLE,
        "yarn.nodemanager.webapp.address",
    ),
}
# Where a browser, or a test whether the daemon serves, finds it: always the last of its addresses.
WEB = {name: addresses[-1] for name, addresses in {**SERVICES, **NODE_SERVICES}.items()}


class Software(NamedTuple):
    """What every daemon, client and task runs."""

    java_home: Path
    lib: Path
    class_archive: Optional[Path]  # classes mapped into memory instead of being loaded one by one; None: there is none

    def java_options(self) -> str:
        # A JVM prints its own warnings to stdout, where they would be taken for a command's output.
        options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xlog:disable", "-Xlog:all=error:stderr"]
        options += ["--add-opens=java.base/java.lang=ALL-UNNAMED", "-Djava.net.preferIPv4Stack=true"]
        if self.class_archive:
            options += [f"-XX:SharedArchiveFile={self.class_archive}", "-Xshare:auto"]
        return " ".join(options)


class Node(NamedTuple):
    """A machine, or what stands for one, that keeps blocks and runs tasks."""

    host: str
    folder: Path
    addresses: dict[str, str]
    memory: int  # MB
    cores: int


def write(
    folder: Path,
    software: Software,
    addresses: dict[str, str],
    data: Path,
    logs: Path,
    nodes: int,
    node: Optional[Node] = None,
) -> None:
    """Writes a HADOOP_CONF_DIR: for the clients and the central daemons, or (with `node`) for the daemons of a node."""
    hdfs, yarn, mapred = _hdfs(addresses, data, nodes), _yarn(addresses, software, logs), _mapred(addresses, software)
    if node:
        hdfs.update(_datanode(node))
        yarn.update(_nodemanager(node))
        # Not in yarn-site.xml, which MapReduce's own defaults override.
        mapred[SHUFFLE] = node.addresses[SHUFFLE].rpartition(":")[2]
    core = {
        "fs.defaultFS": f"hdfs://{addresses['dfs.namenode.rpc-address']}",
        "hadoop.tmp.dir": (node.folder if node else data) / "tmp",
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, settings in (("core", core), ("hdfs", hdfs), ("yarn", yarn), ("mapred", mapred)):
        _replace(folder / f"{name}-site.xml", _xml(settings))
    _replace(folder / "capacity-scheduler.xml", _xml(_SCHEDULER))
    _replace(folder / "log4j.properties", _LOG4J)
    environment = {"JAVA_HOME": software.java_home, "HADOOP_LIB": software.lib, "HADOOP_LOG_DIR": logs}
    environment["HADOOP_JAVA_OPTIONS"] = software.java_options()
    lines = [f"export {name}={shlex.quote(str(value))}\n" for name, value in environment.items()]
    _replace(folder / "hadoop-env.sh", "".join(lines))


def _hdfs(addresses: dict[str, str], data: Path, nodes: int) -> Settings:
    return {
        **{name: addresses[name] for name in SERVICES["namenode"]},
        "dfs.namenode.name.dir": f"file://{data / 'namenode'}",
        "dfs.replication": min(2, nodes),
        "dfs.permissions.enabled": False,
        "dfs.webhdfs.enabled": True,
        "dfs.client.use.datanode.hostname": True,
        "dfs.namenode.datanode.registration.ip-hostname-check": False,
        "dfs.namenode.safemode.extension": 0,
        # A lost DataNode is noticed after 2 × recheck + 10 × heartbeat: 14 s, not ten minutes.
        "dfs.heartbeat.interval": 1,
        "dfs.namenode.heartbeat.recheck-interval": 2000,
    }


def _datanode(node: Node) -> Settings:
    return {
        **{name: node.addresses[name] for name in NODE_SERVICES["datanode"]},
        "dfs.datanode.hostname": node.host,
        "dfs.datanode.data.dir": f"file://{node.folder / 'blocks'}",
    }


def _yarn(addresses: dict[str, str], software: Software, logs: Path) -> Settings:
    return {
        **{name: addresses[name] for name in SERVICES["resourcemanager"]},
        "yarn.resourcemanager.scheduler.class": (
            "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"
        ),
        "yarn.scheduler.minimum-allocation-mb": 128,
        "yarn.application.classpath": f"{software.lib}/*",
        # mrjob looks for the traceback of a failed task in $HADOOP_LOG_DIR/userlogs, so all nodes log there.
        "yarn.nodemanager.log-dirs": logs / "userlogs",
        # Waiting is most of what a small job does.
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 100,
        "yarn.client.application-client-protocol.poll-interval-ms": 50,
        # Losses are noticed in seconds, so that a test of them does not take minutes.
        "yarn.nm.liveness-monitor.expiry-interval-ms": 10000,
        "yarn.am.liveness-monitor.expiry-interval-ms": 15000,
        "yarn.client.nodemanager-connect.max-wait-ms": 5000,
        "yarn.client.nodemanager-connect.retry-interval-ms": 1000,
        "yarn.resourcemanager.connect.retry-interval.ms": 1000,
        "yarn.resourcemanager.connect.max-wait.ms": 60000,
    }


def _nodemanager(node: Node) -> Settings:
    return {
        **{name: node.addresses[name] for name in NODE_SERVICES["nodemanager"] if name != SHUFFLE},
        "yarn.nodemanager.hostname": node.host,
        "yarn.nodemanager.local-dirs": node.folder / "local",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.resource.memory-mb": node.memory,
        "yarn.nodemanager.resource.cpu-vcores": node.cores,
        "yarn.nodemanager.vmem-check-enabled": False,
        # YARN itself looks how much memory a container takes, instead of relying on cgroups, which are not used here.
        "yarn.nodemanager.resource.memory.enforced": False,
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.9,
        "yarn.nodemanager.env-whitelist": f"JAVA_HOME,HADOOP_CONF_DIR,LANG,LC_ALL,TZ,{MARK}",
    }


def _mapred(addresses: dict[str, str], software: Software) -> Settings:
    settings: Settings = {
        **{name: addresses[name] for name in SERVICES["historyserver"]},
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": "$HADOOP_CONF_DIR",
        # The class archive holds for a class path that begins with Hadoop's jars; without this the job's come first.
        "mapreduce.job.classloader": True,
        # mrjob reads why a task failed from the job's history, in this format only.
        "mapreduce.jobhistory.jhist.format": "json",
        "yarn.app.mapreduce.am.resource.mb": TASK_MEMORY,
        "yarn.app.mapreduce.am.command-opts": "-Xmx384m",
        "mapreduce.map.memory.mb": TASK_MEMORY,
        "mapreduce.map.java.opts": "-Xmx256m",
        "mapreduce.reduce.memory.mb": TASK_MEMORY,
        "mapreduce.reduce.java.opts": "-Xmx256m",
        "mapreduce.task.io.sort.mb": 64,
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 100,
        "mapreduce.client.progressmonitor.pollinterval": 200,
        "mapreduce.client.completion.pollinterval": 200,
    }
    # The administrator's options stay in force when a job sets *.java.opts of its own.
    settings.update(dict.fromkeys(ADMIN_OPTIONS, software.java_options()))
    return settings


ADMIN_OPTIONS = (
    "yarn.app.mapreduce.am.admin-command-opts",
    "mapreduce.admin.map.child.java.opts",
    "mapreduce.admin.reduce.child.java.opts",
)

_SCHEDULER: Settings = {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": 100,
    # Two small jobs can run at once, and their masters never take all the room.
    "yarn.scheduler.capacity.maximum-am-resource-percent": 0.5,
    # Counts cores too, so that a job's memory settings do not decide how many tasks run at once.
    "yarn.scheduler.capacity.resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
    # One container per heartbeat spreads the tasks over the nodes, instead of filling one node first.
    "yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled": False,
    "yarn.scheduler.capacity.node-locality-delay": 10,
}

# mrjob reads job ids and counters in this format, and takes any other line of stderr for a failure.
_LOG4J = """\
log4j.rootLogger=INFO,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
log4j.logger.http.requests=WARN
"""


def _xml(settings: Settings) -> str:
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in settings.items()}
    lines = [
        f"  <property><name>{name}</name><value>{escape(text)}</value></property>\n" for name, text in texts.items()
    ]
    return '<?xml version="1.0"?>\n<configuration>\n' + "".join(lines) + "</configuration>\n"


def _replace(path: Path, text: str) -> None:
    """A client that starts at this moment reads the old file or the new one, never half of it."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
