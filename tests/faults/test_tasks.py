"""Mappers, reducers and the application master fail: Hadoop runs them again, or the driver says why it cannot go on."""

import json
import os
import re
import signal

import pytest

pytestmark = [pytest.mark.hadoop, pytest.mark.faults]

ONE_REDUCER, THREE_REDUCERS = ("-r", "hadoop", "--reducers", "1"), ("-r", "hadoop", "--reducers", "3")
ONCE = ("-Dmapreduce.map.maxattempts=1", "-Dmapreduce.reduce.maxattempts=1")


LITTLE_MEMORY = "import resource; resource.setrlimit(resource.RLIMIT_AS, (100 << 20, 100 << 20))"
MUCH_MEMORY = "import time; hoard = b'x' * (600 << 20); time.sleep(600)"  # YARN looks every three seconds


@pytest.fixture
def in_mappers(tmp_path):
    """Options that make the mappers' Python first run a line, if the condition holds."""

    def write(line: str, condition: str = "True") -> tuple[str, str]:
        module = tmp_path / "sitecustomize.py"
        module.write_text(
            "from os import environ\n"
            "task, attempt = environ.get('mapreduce_task_id', ''), environ.get('mapreduce_task_attempt_id', '')\n"
            f"if '_m_' in task and ({condition}):\n    {line}\n",
            encoding="utf-8",
        )
        settings = {"upload_files": [str(module)], "cmdenv": {"PYTHONPATH": "."}}
        (tmp_path / "mrjob.conf").write_text(json.dumps({"runners": {"hadoop": settings}}))
        return "-c", str(tmp_path / "mrjob.conf")

    return write


# ---------------------------------------------------------------- run again


def test_a_mapper_that_exits_is_run_again(processes, run, in_mappers):
    """The first attempt has too little memory."""
    poor = in_mappers(LITTLE_MEMORY, "attempt.endswith('_m_000001_0')")
    job = processes.job(run.goes_on(*THREE_REDUCERS, *poor))["job"]
    assert (job["failedMapAttempts"], job["successfulMapAttempts"]) == (1, 4)


def test_a_killed_mapper_is_run_again(processes, run):
    driver = run.start(*ONE_REDUCER)
    os.kill(driver.wait_for(processes.mappers), signal.SIGKILL)
    assert processes.job(run.ends_well(driver))["job"]["failedMapAttempts"] == 1


def test_a_killed_reducer_is_run_again(processes, run):
    driver = run.start(*THREE_REDUCERS)
    os.kill(driver.wait_for(processes.reducers), signal.SIGKILL)
    assert processes.job(run.ends_well(driver))["job"]["failedReduceAttempts"] == 1


def test_a_killed_application_master_begins_again(processes, run):
    driver = run.start(*ONE_REDUCER)
    driver.wait_for(processes.mappers)
    os.kill(driver.wait_for(processes.masters), signal.SIGKILL)
    attempts = processes.job(run.ends_well(driver), "jobattempts")["jobAttempts"]["jobAttempt"]
    assert attempts[-1]["id"] == 2


def test_a_mapper_that_hangs_is_replaced_after_the_time_out(processes, run):
    properties = (
        "mapreduce.task.timeout=10000",
        "mapreduce.task.timeout.check-interval-ms=500",
        "mapreduce.map.speculative=false",
        "mapreduce.job.reduce.slowstart.completedmaps=1",  # a reducer that waits for the mapper would time out, too
    )
    driver = run.start(*ONE_REDUCER, *(f"-D{setting}" for setting in properties))
    os.kill(driver.wait_for(processes.mappers), signal.SIGSTOP)
    assert processes.job(run.ends_well(driver))["job"]["failedMapAttempts"] >= 1


def test_a_mapper_that_is_too_slow_is_overtaken_by_another(processes, run):
    properties = ("mapreduce.map.speculative=true", "mapreduce.job.speculative.retry-after-no-speculate=500")
    driver = run.start(*THREE_REDUCERS, *(f"-D{setting}" for setting in properties))
    os.kill(driver.wait_for(processes.mappers), signal.SIGSTOP)
    assert processes.job(run.ends_well(driver))["job"]["killedMapAttempts"] >= 1


# ---------------------------------------------------------------- no attempt can do its work


def test_a_mapper_that_writes_garbage(run, in_mappers):
    noisy = in_mappers("print('мусор and no record', flush=True)")
    run.fails(run.start(*ONE_REDUCER, *ONCE, *noisy), 1, "a line does not decode", "perceptron: MRTrainEpoch failed")
    run.goes_on()


def test_a_mapper_that_runs_out_of_memory(run, in_mappers):
    poor = in_mappers(LITTLE_MEMORY, "task.endswith('_m_000001')")
    driver = run.start(*ONE_REDUCER, *ONCE, *poor)
    said = run.fails(driver, 1, "/prepared/shard-0000", "perceptron: MRTrainEpoch failed")
    assert re.search("[Mm]emory", said), said
    run.goes_on()


def test_a_mapper_that_yarn_ends_because_it_takes_more_memory_than_it_was_given(run, in_mappers):
    greedy = in_mappers(MUCH_MEMORY, "task.endswith('_m_000001')")
    properties = ("mapreduce.map.memory.mb=512", "mapreduce.map.maxattempts=2", "mapreduce.map.speculative=false")
    driver = run.start(*ONE_REDUCER, *greedy, *(f"-D{setting}" for setting in properties))
    run.fails(driver, 1, "beyond the 'PHYSICAL' memory limit", "perceptron: MRTrainEpoch failed")
    run.goes_on()
