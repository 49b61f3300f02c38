"""Nodes and daemons are lost, or refuse to serve."""

import contextlib
import itertools
import os
import signal
import subprocess

import pytest

pytestmark = [pytest.mark.hadoop, pytest.mark.faults]

ONE_REDUCER, THREE_REDUCERS = ("-r", "hadoop", "--reducers", "1"), ("-r", "hadoop", "--reducers", "3")


def test_a_node_lost_in_mid_epoch(hadoop, processes, run, whole):
    """Its NodeManager and all its processes end; the application master is on the other node, which keeps running."""
    managers = {hadoop.daemon(name) for name in ("nodemanager1", "nodemanager2")}
    properties = (
        "mapreduce.map.memory.mb=1536",  # so large that no node can take them all
        "mapreduce.job.reduce.slowstart.completedmaps=1",  # reducers that wait would leave no room on the other node
    )
    driver = run.start(*THREE_REDUCERS, *(f"-D{setting}" for setting in properties))
    master = driver.wait_for(processes.masters)
    (safe,) = managers.intersection(processes.ancestors(master))
    (lost,) = managers - {safe}
    mapper = driver.wait_for(lambda: [pid for pid in processes.mappers() if lost in processes.ancestors(pid)])
    container = list(itertools.takewhile(lambda pid: pid != lost, processes.ancestors(mapper)))
    for pid in (lost, *container):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    job = processes.job(run.ends_well(driver))["job"]
    assert job["failedMapAttempts"] + job["killedMapAttempts"] >= 1


def test_a_datanode_lost_in_mid_epoch(hadoop, processes, run, whole):
    driver = run.start(*ONE_REDUCER)
    driver.wait_for(processes.mappers)
    os.kill(hadoop.daemon("datanode1"), signal.SIGKILL)
    run.ends_well(driver)
    run.goes_on()  # and while it is still away


def test_the_resourcemanager_restarts_between_epochs(hadoop, run, whole):
    driver = run.start(*THREE_REDUCERS, epochs=2, stop_after_first=True)
    driver.wait_until_it_stops()
    os.kill(hadoop.daemon("resourcemanager"), signal.SIGKILL)
    driver.wake()  # its next job waits for the ResourceManager
    hadoop.cluster("up")
    run.ends_well(driver)


def _administer(*arguments: str) -> None:
    subprocess.run(["hdfs", "dfsadmin", *arguments], check=True, stdout=subprocess.DEVNULL, timeout=120)


def test_the_namenode_in_safe_mode(run):
    _administer("-safemode", "enter")
    try:
        run.fails(run.start(), 2, "Name node is in safe mode")
    finally:
        _administer("-safemode", "leave")
    run.goes_on()


def test_hdfs_is_full(processes, run):
    driver = run.start(*ONE_REDUCER, "-Dmapreduce.map.speculative=false")
    mapper = driver.wait_for(processes.mappers)
    os.kill(mapper, signal.SIGSTOP)  # so that HDFS is full before the epoch is published
    _administer("-setSpaceQuota", "1", "/runs/faults")
    try:
        os.kill(mapper, signal.SIGCONT)
        run.fails(driver, 2, f"cannot write {run.path}/epoch-", "The DiskSpace quota of /runs/faults is exceeded")
        run.fails(run.start(), 2, "cannot write to the run directory", "quota")
    finally:
        _administer("-clrSpaceQuota", "/runs/faults")
    run.goes_on()
