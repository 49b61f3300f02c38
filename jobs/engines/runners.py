"""Running a job from the driver on any of mrjob's runners; shows its progress and raises users' errors here."""

import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, Optional

from mrjob.conf import load_opts_from_mrjob_conf
from mrjob.job import MRJob
from mrjob.step import StepFailedException
from yaml import YAMLError

from perceptron_core.corpus import Piece
from perceptron_core.errors import InputError, UserError
from perceptron_core.limits import VARIABLE as LIMITS
from perceptron_core.wire import decode_line, encode_line
from perceptron_jobs.engines.errors import JobFailed
from perceptron_jobs.engines.output import lines_of, parts_of, raise_errors
from perceptron_jobs.engines.this_machine import InlineRunner, LocalRunner, TasksDone, ignore
from perceptron_jobs.mr.protocol import ERRORS_COUNTER
from perceptron_jobs.storage import absolute, base_name, is_remote, storage_of

TAGS = "mapreduce.job.tags="


class Cluster(NamedTuple):
    """Where jobs run, and how."""

    runner: str = "inline"
    conf: Optional[str] = None  # an mrjob configuration file
    reducers: Optional[int] = None
    properties: tuple[str, ...] = ()  # name=value, for Hadoop: memory, time-outs, queue, priority …
    emr: Optional[Any] = None  # the EMR cluster for all jobs, if they run there
    tag: Optional[str] = None  # marks the jobs on Hadoop, so that a later driver can find them
    cluster_id: Optional[str] = None  # of an EMR cluster that is there already
    progress: TasksDone = ignore  # is told how far a job is

    @contextmanager
    def opened(self) -> Iterator["Cluster"]:
        """Itself, checked; an EMR cluster that is started for its jobs ends with the block."""
        checked = self.check()
        with checked.emr or nullcontext():
            yield checked

    def check(self) -> "Cluster":
        """Itself, or a UserError if mrjob cannot read its configuration; for EMR, with one cluster for all jobs."""
        try:
            if self.conf:
                load_opts_from_mrjob_conf(self.runner, self.conf)
        except (OSError, YAMLError) as error:
            problem = getattr(error, "strerror", None) or " ".join(str(error).split())
            raise InputError(
                f"is not an mrjob configuration: {problem}; check the file given by -c", str(self.conf)
            ) from error
        if self.runner != "emr":
            if self.cluster_id:
                raise UserError("--cluster-id names a cluster of Amazon EMR; add -r emr, or leave it out")
            return self
        from perceptron_jobs.engines.emr import EmrCluster, connect_storage  # only now: it loads boto3

        connect_storage(self.conf)
        return self._replace(emr=EmrCluster(self.conf, self.cluster_id))

    def of_run(self, run_dir: str) -> "Cluster":
        """The same, with all its jobs tagged as those of a run directory."""
        if self.runner != "hadoop":
            return self
        from perceptron_jobs.engines.hadoop import tag_of

        return self._replace(tag=tag_of(run_dir))

    def end_jobs(self) -> list[str]:
        """End jobs with our tag that still run because their driver was killed; returns their names."""
        if self.tag is None:
            return []
        from perceptron_jobs.engines.hadoop import end_jobs

        return end_jobs(self.tag, self.conf)

    def file(self, path: str) -> str:
        """A file as the jobs take it: its path, or if they run on this machine, a local copy."""
        return storage_of(path).fetch(absolute(path)) if self.runner in ("inline", "local") else absolute(path)

    def reachable(self, path: str) -> str:
        """A path that the tasks can read; a local file is copied to the cluster, unless the same content is there."""
        if self.runner in ("inline", "local") or is_remote(path):
            return path
        from perceptron_jobs.engines.hadoop import home_folder, put_once

        if self.runner == "emr":
            from perceptron_jobs.engines.emr import uploads

            folder = uploads(self.conf)
        else:
            folder = f"{home_folder()}/uploads"
        name = f"{storage_of(path).identity(path)['sha256'][:16]}-{base_name(path)}"

        return put_once(folder, name, lambda local: shutil.copyfile(path, local))

    def arguments(self) -> list[str]:
        arguments = ["-r", self.runner, "--cleanup-on-failure", "LOCAL_TMP"]  # also when the user interrupts
        if self.runner == "local":
            # Tasks find mrjob where this process does. Otherwise it packs itself for each job, and leaves lock files.
            arguments.append("--no-bootstrap-mrjob")
        if self.runner == "hadoop":
            arguments += self._hadoop_arguments()
        if self.emr:
            arguments += ["--cluster-id", self.emr.id()]
        if self.runner in ("hadoop", "emr") and os.environ.get(LIMITS):
            arguments += ["--cmdenv", f"{LIMITS}={os.environ[LIMITS]}"]
        if self.conf:
            arguments += ["-c", os.path.abspath(self.conf)]
        if self.reducers:
            arguments += ["-D", f"mapreduce.job.reduces={self.reducers}"]
        for setting in self.properties:
            arguments += ["-D", setting]
        if self.tag:
            from perceptron_jobs.engines.hadoop import scratch_folder

            given = [setting.partition("=")[2] for setting in self.properties if setting.startswith(TAGS)]
            arguments += ["-D", f"{TAGS}{','.join([self.tag, *given])}"]
            arguments += ["--hadoop-tmp-dir", scratch_folder(self.tag)]
        return arguments

    def _hadoop_arguments(self) -> list[str]:
        """The product is sent as one archive, and nodes only need a Python of this minor version; unless the
        configuration names an environment that they have already (`python_bin`)."""
        from perceptron_jobs.engines.environment import environment_name, pack_environment, start_command
        from perceptron_jobs.engines.hadoop import home_folder, put_once

        arguments = ["--no-bootstrap-mrjob", "--no-check-input-paths"]
        if any(opts.get("python_bin") for _, opts in load_opts_from_mrjob_conf("hadoop", self.conf)):
            return arguments
        archive = put_once(home_folder(), environment_name(), lambda local: Path(local).write_bytes(pack_environment()))
        python = os.environ.get("PERCEPTRON_NODE_PYTHON", f"python{sys.version_info[0]}.{sys.version_info[1]}")
        arguments += ["--archives", f"{archive}#env", "--cmdenv", "PYTHONPATH=env"]
        return [*arguments, "--python-bin", python, "--task-python-bin", start_command(python)]


def _runner_class(name: str, tasks_done: TasksDone) -> type:
    """The runner, which tells `tasks_done` how far it is; on a cluster in percent."""
    if name == "emr":
        from perceptron_jobs.engines.emr import EmrRunner

        def on_state(runner: EmrRunner, state: str) -> None:
            tasks_done(0, 100, state)

        return type("Runner", (EmrRunner,), {"on_state": on_state})
    if name == "hadoop":
        from perceptron_jobs.engines.hadoop import HadoopRunner  # only now: it loads `requests`

        def on_progress(runner: HadoopRunner, maps: int, reduces: int) -> None:
            tasks_done((maps + reduces) // 2, 100, f"map {maps} %, reduce {reduces} %")

        return type("Runner", (HadoopRunner,), {"on_progress": on_progress})
    return type(
        "Runner", ({"inline": InlineRunner, "local": LocalRunner}[name],), {"tasks_done": staticmethod(tasks_done)}
    )


@contextmanager
def _finished(
    job_class: type[MRJob], cluster: Cluster, arguments: Sequence[str], inputs: Sequence[str]
) -> Iterator[Any]:
    """mrjob's runner once the job is done; its output goes with the block."""
    logging.getLogger("mrjob").setLevel(logging.ERROR)  # it warns of every missing configuration file
    job = job_class([*cluster.arguments(), *arguments, *inputs])
    runner_class = _runner_class(cluster.runner, cluster.progress)
    job._runner_class = lambda: runner_class
    with job.make_runner() as runner:
        try:
            runner.run()
        except StepFailedException as error:
            reason = re.sub(r"Command '.*'", "the command", str(error), flags=re.DOTALL)
            raise JobFailed(f"{job_class.__name__} failed; what the failing task said is above ({reason})") from error
        yield runner


def job_lines(
    job_class: type[MRJob], cluster: Cluster, arguments: Sequence[str], inputs: Sequence[str]
) -> Iterator[bytes]:
    """Run the job and yield its output lines, one at a time; a user's error that a task found is raised before."""
    with _finished(job_class, cluster, arguments, inputs) as runner, tempfile.TemporaryDirectory() as scratch:
        parts = parts_of(runner, scratch)
        raise_errors(parts)
        yield from lines_of(parts)


def run_job(
    job_class: type[MRJob], cluster: Cluster, arguments: Sequence[str], inputs: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """Run the job and yield its output records."""
    yield from map(decode_line, job_lines(job_class, cluster, arguments, inputs))


def run_in_place(job_class: type[MRJob], cluster: Cluster, arguments: Sequence[str], inputs: Sequence[str]) -> None:
    """Run the job and leave its output where it is; it is read only if the tasks have counted a user's errors."""
    with _finished(job_class, cluster, arguments, inputs) as runner, tempfile.TemporaryDirectory() as scratch:
        group, name = ERRORS_COUNTER
        if any(counters.get(group, {}).get(name) for counters in runner.counters()):
            raise_errors(parts_of(runner, scratch))


@contextmanager
def listed(pieces: Sequence[Piece]) -> Iterator[str]:
    """A file that lists pieces as a job's input; mappers read their pieces themselves, since sentences span lines."""
    with tempfile.NamedTemporaryFile("wb", suffix=".pieces") as manifest:
        for piece in pieces:
            manifest.write(encode_line("piece", piece._asdict()) + b"\n")
        manifest.flush()
        yield manifest.name
