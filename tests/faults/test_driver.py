"""The driver is killed, sleeps, or meets a second driver."""

import os
import signal

import pytest

from perceptron_jobs.storage import storage_of

pytestmark = [pytest.mark.hadoop, pytest.mark.faults]

# No second attempt of a mapper that is held, so that the job does not end by itself.
HELD = ("-r", "hadoop", "--reducers", "1", "-Dmapreduce.map.speculative=false")


def test_a_killed_driver_leaves_a_job_that_the_next_one_ends(processes, run):
    driver = run.start(*HELD)
    os.kill(driver.wait_for(processes.mappers), signal.SIGSTOP)
    driver.kill()
    (orphan,) = processes.applications(run.path, "RUNNING")
    run.lease_ends()
    assert f"ended {orphan}, a job of this run whose driver was killed" in run.goes_on(*HELD)
    assert orphan in processes.applications(run.path, "KILLED")
    assert processes.applications(run.path, "ACCEPTED", "RUNNING") == []


def test_a_driver_killed_while_it_submits_takes_its_client_along(processes, run):
    driver = run.start(*HELD)
    client = driver.wait_for(processes.clients)
    driver.kill()
    processes.wait_until_ended(client)
    assert processes.applications(run.path, "NEW", "SUBMITTED", "ACCEPTED", "RUNNING") == []
    run.lease_ends()
    run.goes_on()


def test_a_second_driver_is_refused_and_a_sleeping_one_stops_when_another_took_over(processes, run):
    sleeper = run.start(*HELD)
    os.kill(sleeper.wait_for(processes.mappers), signal.SIGSTOP)
    run.fails(run.start(), 2, f"the run directory {run.path} is in use by another process")
    sleeper.process.send_signal(signal.SIGSTOP)
    run.lease_ends()
    run.goes_on()
    sleeper.wake()
    code, said = sleeper.end()
    assert code == 2 and f"the run directory {run.path} was taken over by another process" in said
    run.is_right(sleeper.epoch)
    assert processes.applications(run.path, "ACCEPTED", "RUNNING") == []


def test_nothing_of_all_this_is_left_in_the_run_directory(run):
    run.goes_on()
    left = {"config.json", f"epoch-{run.last():04d}", "history.jsonl", "model", "prepared", "report.html"}
    assert set(storage_of(run.path).names(run.path)) == left
