"""Files of a run are deleted, changed or truncated: the driver names them, and goes on with what is whole."""

import re

import pytest

from perceptron_jobs.storage import storage_of

pytestmark = [pytest.mark.hadoop, pytest.mark.faults]

SHARD = "shard-00001-of-00004.gz"


def _altered(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGES = {
    "deleted": (lambda data: None, "the shard is missing; prepare the corpus again"),
    "altered": (_altered, "the shard was altered since it was prepared; prepare the corpus again"),
    "truncated": (lambda data: data[:-20], "the shard was altered since it was prepared; prepare the corpus again"),
}


@pytest.fixture(scope="module")
def prepared_here(new_run):
    """A run whose shards were not written by the reducers of a job, but came through the client."""
    begun = new_run("hdfs:///runs/prepared-here")
    begun.goes_on()
    return begun


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("made_by", ["run", "prepared_here"], ids=["by the reducers", "by the client"])
def test_a_shard_between_two_drivers(made_by, how, damaged, request):
    run, (harm, problem) = request.getfixturevalue(made_by), DAMAGES[how]
    with damaged(f"{run.path}/prepared/{SHARD}", harm):
        run.fails(run.start(), 2, f"{run.path}/prepared/{SHARD}: {problem}")
    run.goes_on()


@pytest.mark.parametrize("runner, how", [*(("local", how) for how in DAMAGES), ("hadoop", "altered")])
def test_a_shard_between_two_epochs_of_one_driver(runner, how, damaged, run):
    harm, problem = DAMAGES[how]
    driver = run.start("-r", runner, "-Dmapreduce.map.maxattempts=1", epochs=2, stop_after_first=True)
    driver.wait_until_it_stops()
    with damaged(f"{run.path}/prepared/{SHARD}", harm):
        driver.wake()
        run.fails(driver, 2, f"{run.path}/prepared/{SHARD}: {problem}")
    run.goes_on()


def test_a_truncated_file_of_the_last_epoch(new_run):
    """No other epoch is kept, since there is no dev set: all are trained again, to the same bytes."""
    run = new_run("hdfs:///runs/truncated")
    run.goes_on("-r", "local")
    for name in ("weights", "average", "stats.json"):
        path = f"{run.path}/epoch-{run.last():04d}/{name}"
        with storage_of(path).open(path) as file:
            data = file.read()
        storage_of(path).write(path, data[:-20])
        driver = run.start("-r", "local")
        assert re.search(rf"{path}: .*damaged.*; epoch \d+ is dropped", run.ends_well(driver))
