"""Jobs on a Hadoop cluster: mrjob's hadoop runner, with its file operations by WebHDFS and its job shown as it runs.

mrjob starts a JVM for every file that it lists, copies, reads or removes. Here only `hadoop jar` starts one, so that an
epoch costs no more than Hadoop's own job.
"""

import getpass
import hashlib
import logging
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from subprocess import PIPE, STDOUT, Popen
from typing import Any, Callable, Optional

from mrjob.cat import decompress
from mrjob.conf import load_opts_from_mrjob_conf
from mrjob.fs.composite import CompositeFilesystem
from mrjob.fs.hadoop import HadoopFilesystem
from mrjob.fs.local import LocalFilesystem
from mrjob.hadoop import HadoopJobRunner
from mrjob.logs.step import _interpret_hadoop_jar_command_stderr
from mrjob.parse import is_uri

from perceptron_core.errors import UserError
from perceptron_jobs.engines.private import PrivateFolder
from perceptron_jobs.storage import Storage, is_remote, join, storage_of
from perceptron_jobs.storage.base import inner_path

log = logging.getLogger("perceptron")

PROGRESS = re.compile(r"\s*map (?P<map>\d+)% reduce (?P<reduce>\d+)%")
TRACKING = re.compile(r"The url to track the job: (?P<url>\S+)")
FAILED = re.compile(r"Task Id : (?P<attempt>\w+), Status : FAILED\s*(?P<why>.*)")
UNFINISHED = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"

# On Linux the client ends with its driver, even if that is killed; otherwise it might still submit a job.
WITH_ITS_PARENT = (
    "import ctypes, os, signal, sys; ctypes.CDLL(None).prctl(1, signal.SIGKILL); os.execvp(sys.argv[1], sys.argv[1:])"
)


class WebHdfsFilesystem(HadoopFilesystem):
    """mrjob's file operations, by our storage; it still finds the `hadoop` command."""

    def __init__(self, hadoop_bin: Optional[list[str]]) -> None:
        super().__init__(hadoop_bin)
        self._hadoop_version = "3.0.0"  # decides the names of the jobs' properties; asking would start a JVM

    def can_handle_path(self, path: str) -> bool:
        return is_uri(path) and not path.startswith("file:")

    def ls(self, path_glob: str) -> Iterator[str]:
        storage = storage_of(path_glob)
        if storage.size(path_glob) is not None:
            yield path_glob
        elif storage.is_folder(path_glob):
            for name in storage.names(path_glob):
                yield from self.ls(join(path_glob, name))

    def du(self, path_glob: str) -> int:
        return sum(storage_of(path).size(path) or 0 for path in self.ls(path_glob))

    def exists(self, path_glob: str) -> bool:
        return storage_of(path_glob).exists(path_glob)

    def mkdir(self, path: str) -> None:
        storage_of(path).make_folder(path)

    def put(self, src: str, path: str) -> None:
        with storage_of(path).new_file(path) as local:
            shutil.copyfile(src, local)

    def rm(self, path_glob: str) -> None:
        storage_of(path_glob).remove(path_glob)

    def touchz(self, path: str) -> None:
        storage_of(path).write(path, b"")

    def _cat_file(self, path: str) -> Iterator[bytes]:
        with storage_of(path).open(path) as file:
            yield from decompress(file, path)


class HadoopRunner(PrivateFolder, HadoopJobRunner):
    """mrjob's hadoop runner; it calls `on_progress(map %, reduce %)` and `on_tracking(url)` while the job runs."""

    _fs: Optional[CompositeFilesystem]

    def on_progress(self, maps: int, reduces: int) -> None:
        """Called with the job's progress in percent."""

    def on_tracking(self, url: str) -> None:
        """Called with the address where the job can be watched."""
        log.info("the job can be watched at %s", url)

    @property
    def fs(self) -> CompositeFilesystem:
        if self._fs is None:
            systems = CompositeFilesystem()
            systems.add_fs("hadoop", WebHdfsFilesystem(self._opts["hadoop_bin"] or None))
            systems.add_fs("local", LocalFilesystem())
            self._fs = systems
        return self._fs

    def _run_hadoop(self, hadoop_args: list[str], env: dict[str, str], record_callback: Any) -> tuple[int, dict]:
        """Run `hadoop jar` and read its messages as they come; an interrupt ends it and the YARN job."""
        self._application: Optional[str] = None
        if sys.platform == "linux":
            hadoop_args = [sys.executable, "-IS", "-c", WITH_ITS_PARENT, *hadoop_args]
        with Popen(hadoop_args, stdout=PIPE, stderr=STDOUT, env=env, start_new_session=True) as process:
            try:
                output = _interpret_hadoop_jar_command_stderr(process.stdout, record_callback=self._hear)
                return process.wait(), output
            except BaseException:
                os.killpg(process.pid, signal.SIGTERM)
                self.kill_application(env)
                raise

    def _hear(self, record: dict[str, Any]) -> None:
        message = record["message"]
        progress, tracking = PROGRESS.match(message), TRACKING.match(message)
        if progress:
            self.on_progress(int(progress["map"]), int(progress["reduce"]))
        if tracking:
            self.on_tracking(tracking["url"])
        failed = FAILED.match(message)
        if failed:  # also if YARN ended the task, which then could not write why into its log
            log.info("%s failed: %s", failed["attempt"], failed["why"])
        submitted = re.match(r"Submitted application (application_\d+_\d+)", message)
        if submitted:
            self._application = submitted[1]

    def kill_application(self, env: dict[str, str]) -> None:
        """End the job on the cluster; otherwise it would continue without us."""
        if self._application:
            job = self._application.replace("application", "job")
            with Popen([*self.get_hadoop_bin(), "job", "-kill", job], stdout=PIPE, stderr=STDOUT, env=env) as kill:
                kill.communicate()


def tag_of(folder: str) -> str:
    """The tag of the jobs that work for a run directory, by which they are found after their driver was killed."""
    place = f"/{inner_path(folder)}" if is_remote(folder) else f"{socket.gethostname()}:{os.path.realpath(folder)}"
    return f"perceptron-{hashlib.sha256(place.rstrip('/').encode()).hexdigest()[:16]}"


def end_jobs(tag: str, conf: Optional[str]) -> list[str]:
    """End the applications with this tag that a killed driver has left, and remove their files; returns their names."""
    listed = _yarn(conf, "-list", "-appTags", tag, "-appStates", UNFINISHED)
    applications = re.findall(r"^\s*(application_\d+_\d+)\s", listed, re.MULTILINE)
    for application in applications:
        _yarn(conf, "-kill", application)
    folder = scratch_folder(tag)
    storage_of(folder).remove(folder)
    return applications


def scratch_folder(tag: str) -> str:
    """Where mrjob keeps the files of the jobs with this tag, so that those of a killed driver can be removed."""
    return f"{home_folder()}/jobs/{tag}"


def home_folder() -> str:
    """Where packed environments, uploaded corpora and jobs' files are kept on HDFS."""
    return f"hdfs:///user/{os.environ.get('HADOOP_USER_NAME') or getpass.getuser()}/.mr-perceptron"


def _yarn(conf: Optional[str], *arguments: str) -> str:
    """The output of `yarn application`; the command is searched beside the `hadoop` that runs the jobs."""
    given = [opts["hadoop_bin"] for _, opts in load_opts_from_mrjob_conf("hadoop", conf) if opts.get("hadoop_bin")]
    hadoop = given[-1] if given else WebHdfsFilesystem(None).get_hadoop_bin()
    command = shlex.split(hadoop)[0] if isinstance(hadoop, str) else hadoop[0]
    yarn = shutil.which("yarn", path=os.path.dirname(shutil.which(command) or "")) or shutil.which("yarn")
    if yarn is None:
        raise UserError("there is no `yarn` command to find jobs that a killed driver has left; put it on the PATH")
    done = subprocess.run([yarn, "application", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"`yarn application {' '.join(arguments)}` failed: {done.stderr.strip()}")
    return done.stdout


def put_once(folder: str, name: str, make: Callable[[str], object]) -> str:
    """A file whose name contains the hash of its content: made, at a local path, only if it is not there."""
    storage: Storage = storage_of(folder)
    path = join(folder, name)
    if storage.size(path) is None:
        storage.make_folder(folder)
        with storage.new_file(path) as local:
            make(local)
    return path
