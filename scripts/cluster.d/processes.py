"""The processes of a cluster: starting one daemon, finding all that belongs to the cluster, ending it.

A process is known by a variable in its environment, which its children inherit, tasks of YARN and mappers among
them. So nothing depends on a file of process ids, and a cluster whose start crashed can be taken down too.
"""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple, Optional

from configuration import MARK

DAEMON = "PERCEPTRON_CLUSTER_DAEMON"
PATIENCE = 10.0  # seconds between the request to end and the kill


class Process(NamedTuple):
    pid: int
    daemon: Optional[str]  # such as datanode1; None: a client, a task, or what they started


def environment(state: Path, conf: Path, daemon: Optional[str] = None) -> dict[str, str]:
    """The caller's environment without the settings of any other Hadoop, and with the mark of this cluster."""
    foreign = ("HADOOP_", "HDFS_", "YARN_", "MAPRED_", DAEMON)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    mark = {MARK: str(state), "HADOOP_CONF_DIR": str(conf)}
    return {**kept, **mark, **({DAEMON: daemon} if daemon else {})}


def start(daemon: str, launcher: Path, state: Path, conf: Path, log: Path) -> "subprocess.Popen[bytes]":
    """Starts one daemon, such as `nodemanager2`, with the configuration in `conf`; its output goes to `log`."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [launcher, daemon.rstrip("0123456789")],
            env=environment(state, conf, daemon),
            cwd=state,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C in the terminal is not meant for it
        )


def find(state: Path) -> list[Process]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                variables = (folder / "environ").read_bytes().split(b"\0")
            except OSError:  # it has just ended, or is somebody else's
                continue
            if os.fsencode(f"{MARK}={state}") in variables:
                prefix = os.fsencode(DAEMON + "=")
                names = [os.fsdecode(variable[len(prefix) :]) for variable in variables if variable.startswith(prefix)]
                found.append(Process(int(folder.name), names[0] if names else None))
    return found


def daemons(state: Path) -> dict[str, int]:
    """The daemons that run, by name."""
    named = [process for process in find(state) if process.daemon]
    # A NodeManager also starts commands, which inherit its name; only the daemon leads a session.
    return {process.daemon: process.pid for process in named if _leads_session(process.pid)}


def _leads_session(pid: int) -> bool:
    try:
        return os.getsid(pid) == pid
    except ProcessLookupError:
        return False


def stop(state: Path) -> int:
    """Ends every process of the cluster, waits until they are gone and returns how many there were."""
    asked: set[int] = set()
    deadline = time.monotonic() + PATIENCE
    while True:
        left = find(state)
        if not left:
            return len(asked)
        for process in left:
            # Only HDFS has something to save. The rest of YARN would first look for the part that ended before it.
            polite = process.daemon is not None and process.daemon.startswith(("namenode", "datanode"))
            kill = not polite or time.monotonic() > deadline
            if kill or process.pid not in asked:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL if kill else signal.SIGTERM)
        asked.update(process.pid for process in left)
        time.sleep(0.1)


def memory(pid: int) -> int:
    """Resident bytes; 0 if the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))
