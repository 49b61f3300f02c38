"""The driver is killed before and after every change that it makes to its run directory, and another one goes on.

A process trains and kills itself right before the i-th change (so right after the one before it, too), for every i that
there is; another process goes on. All of them are forks of a program that has loaded everything once. The jobs run
inline: what is tried here is the storage. Most of the time is spent waiting for HDFS, so several such programs share
the work, each taking every fifth i.
"""

import contextlib
import subprocess
import sys

import pytest

from perceptron_jobs.storage import storage_of
from waiting import started

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(sys.platform != "linux", reason="which folder a change is made in is read from /proc"),
]

AT_ONCE = 5
KILLED_AT_EACH_CHANGE = """
import os, signal, sys
from hdfs import InsecureClient
import perceptron_jobs.cli.training, perceptron_jobs.training.driver, perceptron_jobs.storage.webhdfs
from perceptron_jobs.cli.main import main
from perceptron_jobs.storage import is_remote, storage_of
from perceptron_jobs.storage.lease import Lease

os.fsync = lambda descriptor: None  # a kill, unlike a power cut, loses nothing that was written
Lease.SECONDS = 3600.0  # so that it is never renewed: the changes are to be the same ones each time

def in_a_process(work):
    child = os.fork()
    if not child:
        try:
            os._exit(work())
        finally:
            os._exit(99)
    return os.waitpid(child, 0)[1]

class Killer:
    def __init__(self, folder, last):
        self.folder, self.left = folder, last

    def change(self):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch_hdfs(self):
        def watched(verb, **always):
            def change(*arguments, **named):
                self.change()
                return verb(*arguments, **named, **always)
            return change
        InsecureClient.write = watched(InsecureClient.write, replication=1)  # another copy would only take time
        for name in ("delete", "makedirs", "_rename"):
            setattr(InsecureClient, name, watched(getattr(InsecureClient, name)))

    def hear(self, event, arguments):
        if event == "open":
            path, _, flags = arguments
            place = -1 if flags & (os.O_WRONLY | os.O_RDWR) else None
        elif event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod"):
            path, *_, place = arguments
        else:
            return
        if place is None or isinstance(path, int):
            return
        base = "" if place == -1 else os.readlink("/proc/self/fd/%d" % place)
        if os.path.join(base, os.fsdecode(path)).startswith(self.folder):
            self.change()

def train_and_die(run, change):
    killer = Killer(run, change)
    killer.watch_hdfs() if is_remote(run) else sys.addaudithook(killer.hear)
    return main([*arguments, "--run-dir", run])

*arguments, folder, first, step = sys.argv[1:]
change, status = int(first), signal.SIGKILL
while os.WIFSIGNALED(status):
    run = folder + "/" + str(change)
    status = in_a_process(lambda: train_and_die(run, change))
    if is_remote(run):  # an hour later, when its lease has run out
        in_a_process(lambda: storage_of(run).remove(run + "/.lease") or 0)
    resumed = in_a_process(lambda: main([*arguments, "--run-dir", run]))
    print(change, "killed" if os.WIFSIGNALED(status) else status, resumed, flush=True)
    change += int(step)
"""


@pytest.mark.parametrize("where", ["local", pytest.param("hdfs", marks=pytest.mark.hadoop)])
def test_killed_before_and_after_every_change(where, corpus, options, expected, tmp_path, request):
    train, folder = str(corpus / "train.txt"), str(tmp_path)
    if where == "hdfs":
        train, folder = request.getfixturevalue("train_file"), "hdfs:///killed"
    given = [str(corpus / "task.yaml"), "--train", train, *options, "--epochs", "3", "--quiet", folder]
    words = [sys.executable, "-c", KILLED_AT_EACH_CHANGE, "train", *given]
    with contextlib.ExitStack() as stack:
        programs = [
            stack.enter_context(started([*words, str(first), str(AT_ONCE)], stdout=subprocess.PIPE, text=True, cwd="/"))
            for first in range(1, AT_ONCE + 1)
        ]
        told = "".join(program.communicate(timeout=900)[0] for program in programs)
    ended = sorted((int(change), how, resumed) for change, how, resumed in map(str.split, told.splitlines()))
    killed = ended[:-AT_ONCE]
    assert [how for _, how, _ in ended] == ["killed"] * len(killed) + ["0"] * AT_ONCE
    assert [change for change, _, _ in ended] == list(range(1, len(ended) + 1)) and len(killed) > 40
    storage = storage_of(folder)
    for change, _, resumed in ended:
        after, run = f"after a kill before change {change}", f"{folder}/{change}"
        assert resumed == "0", after
        left = {"config.json", "epoch-0003", "history.jsonl", "model", "prepared", "report.html"}
        assert set(storage.names(run)) - {".lock"} == left, after
        for name, data in expected(3).items():
            with storage.open(f"{run}/{name}") as file:
                assert file.read() == data, f"{name} {after}"
