"""hadoop: what an epoch costs on a cluster beyond its compute, against a streaming job of `cat` and `cat`.

Both have the same JVM flags, map tasks and reduce tasks, on a cluster of scripts/cluster that is started for it. An
epoch's compute is what its slowest mapper and its reducers worked, by their own clocks.
"""

import contextlib
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from arithmetic import Goal
from bench import CONFIGS, HERE, Bench, Row, raw
from measure import Measurement, measure
from problems import Missing
from results import Detail, Outcome

from perceptron_jobs.training.phases import PHASES
from perceptron_jobs.training.run_dir import RunDir

SHARDS, REDUCERS = 4, 1
AT_LEAST = 5  # measurements of each, whatever --repeats says, because a single job's time says little
GOAL = Goal(at_most=1.15)
CLUSTER = HERE.parent / "cluster"
RUN = "hdfs:///bench/run"


def run(bench: Bench) -> Outcome:
    missing = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    if missing:
        raise Missing(f"there is no {' and no '.join(missing)} on the PATH; on Debian: default-jdk-headless and maven")
    bench.repeats = max(bench.repeats, AT_LEAST)
    with _cluster(bench):
        return _measure(bench)


def _measure(bench: Bench) -> Outcome:
    bench.say("preparing, and an epoch and a job that warm the nodes' caches (not measured)")
    _epochs(bench, 1)
    _cat(bench, 0)
    taken = bench.alternate(
        {"epoch": lambda turn: _overhead(bench, turn + 2), "cat": lambda turn: _cat(bench, turn + 1)}
    )
    row = Row(
        "hadoop",
        f"an epoch beyond its compute, {SHARDS} maps, {REDUCERS} reduce, on scripts/cluster",
        "cat/cat job",
        note="the memory is that of the client's processes, not of the cluster's",
    )
    history = [entry.phases for entry in RunDir(RUN).written_history()[1:]]
    lines = [[number, *(f"{phases[name]:.1f}" for name in PHASES)] for number, phases in enumerate(history, start=2)]
    detail = Detail("hadoop, where an epoch's seconds go:", ["epoch", *PHASES], lines)
    compared = bench.compare(row, GOAL, taken["epoch"], taken["cat"])
    return Outcome([compared], [detail], {**raw(taken), "phases": history})


def _epochs(bench: Bench, epochs: int) -> Measurement:
    """Train until there are `epochs` epochs."""
    return bench.perceptron(
        "train",
        CONFIGS / "chunking.yaml",
        "--train",
        bench.corpus("conll2000/train.txt.gz"),
        "--run-dir",
        RUN,
        "--shards",
        SHARDS,
        "--reducers",
        REDUCERS,
        "--epochs",
        epochs,
        "--stop-threshold",
        0,
        "-r",
        "hadoop",
        "--quiet",
    )


def _overhead(bench: Bench, epoch: int) -> Measurement:
    """One more epoch: its seconds without the compute of its slowest mapper and its reducers."""
    taken = _epochs(bench, epoch)
    entry = RunDir(RUN).written_history()[-1]
    compute = max(shard.seconds for shard in entry.shards) + entry.phases["reduce"]
    return taken._replace(seconds=(entry.seconds or 0.0) - compute)


def _cat(bench: Bench, number: int) -> Measurement:
    """A streaming job that does nothing, with as many tasks."""
    inputs = bench.scratch / "cat"
    if not inputs.exists():
        inputs.mkdir()
        for part in range(SHARDS):
            (inputs / f"part-{part}").write_text("a\tb\n")
        measure(["hadoop", "fs", "-put", inputs, "hdfs:///bench/cat"])
    jar = glob.glob(os.path.join(os.environ["HADOOP_HOME"], "**", "hadoop-streaming-*.jar"), recursive=True)[0]
    flags = ["-D", f"mapreduce.job.reduces={REDUCERS}"]
    paths = ["-input", "hdfs:///bench/cat", "-output", f"hdfs:///bench/out-{number}"]
    return measure(["hadoop", "jar", jar, *flags, *paths, "-mapper", "cat", "-reducer", "cat"])


@contextlib.contextmanager
def _cluster(bench: Bench) -> Iterator[None]:
    """A cluster of its own, whose variables are in the environment while the block runs."""
    before = dict(os.environ)
    # Not below the scratch folder: the paths of Hadoop's sockets and files must not get too long.
    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as folder:
        os.environ["PERCEPTRON_CLUSTER"] = os.path.join(folder, "cluster")
        minor = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        os.environ["PERCEPTRON_NODE_PYTHON"] = str(Path(sys.base_prefix) / "bin" / minor)
        bench.say("starting a cluster of two nodes")
        began = time.monotonic()
        measure([CLUSTER, "up", "--nodes", 2])
        bench.say(f"up after {time.monotonic() - began:.0f} s")
        try:
            told = subprocess.run(
                ["bash", "-c", f'eval "$("{CLUSTER}" env)"; env -0'], capture_output=True, check=True
            ).stdout.decode()
            os.environ.update(line.split("=", 1) for line in told.split("\0") if "=" in line)
            yield
        finally:
            subprocess.run([CLUSTER, "down"], stdout=subprocess.DEVNULL, check=True)
            os.environ.clear()
            os.environ.update(before)
