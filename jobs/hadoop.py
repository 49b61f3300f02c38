"""Jobs on a Hadoop cluster: mrjob's hadoop runner, with its file operations by WebHDFS and its job shown as it runs.

mrjob starts a JVM for every file that it lists, copies, reads or removes; here only `hadoop jar` is left, so that an
epoch costs what Hadoop's own job costs.
"""

import logging
import os
import re
import signal
from collections.abc import Iterator
from subprocess import PIPE, STDOUT, Popen
from typing import Any, Callable, Optional

from mrjob.fs.composite import CompositeFilesystem
from mrjob.fs.hadoop import HadoopFilesystem
from mrjob.fs.local import LocalFilesystem
from mrjob.hadoop import HadoopJobRunner
from mrjob.logs.step import _interpret_hadoop_jar_command_stderr
from mrjob.parse import is_uri

from jobs.storage import Storage, join, storage_of

log = logging.getLogger("perceptron")

PROGRESS = re.compile(r"\s*map (?P<map>\d+)% reduce (?P<reduce>\d+)%")
TRACKING = re.compile(r"The url to track the job: (?P<url>\S+)")


class WebHdfsFilesystem(HadoopFilesystem):
    """mrjob's verbs, by our storage; it still finds the `hadoop` command."""

    def __init__(self, hadoop_bin: Optional[list[str]]) -> None:
        super().__init__(hadoop_bin)
        self._hadoop_version = "3.0.0"  # of the jobs' property names; asking would cost a JVM

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
        with open(src, "rb") as file:
            storage_of(path).write(path, file.read())

    def rm(self, path_glob: str) -> None:
        storage_of(path_glob).remove(path_glob)

    def touchz(self, path: str) -> None:
        storage_of(path).write(path, b"")

    def _cat_file(self, path: str) -> Iterator[bytes]:
        with storage_of(path).open(path) as file:
            yield from iter(lambda: file.read(1 << 20), b"")


class HadoopRunner(HadoopJobRunner):
    """mrjob's hadoop runner; `on_progress(map %, reduce %)` and `on_tracking(url)` hear of the job."""

    def on_progress(self, maps: int, reduces: int) -> None:
        """Hadoop says how far it is."""

    def on_tracking(self, url: str) -> None:
        """Where the job can be watched."""
        log.info("the job can be watched at %s", url)

    @property
    def fs(self) -> CompositeFilesystem:
        if self._fs is None:
            self._fs = CompositeFilesystem()
            self._fs.add_fs("hadoop", WebHdfsFilesystem(self._opts["hadoop_bin"] or None))
            self._fs.add_fs("local", LocalFilesystem())
        return self._fs

    def _run_hadoop(self, hadoop_args: list[str], env: dict[str, str], record_callback: Any) -> tuple[int, dict]:
        """`hadoop jar`, its messages read as they come; an interrupt ends it, and the YARN job with it."""
        self._application: Optional[str] = None
        with Popen(hadoop_args, stdout=PIPE, stderr=STDOUT, env=env, start_new_session=True) as process:
            try:
                told = _interpret_hadoop_jar_command_stderr(process.stdout, record_callback=self._hear)
                return process.wait(), told
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
        submitted = re.match(r"Submitted application (application_\d+_\d+)", message)
        if submitted:
            self._application = submitted[1]

    def kill_application(self, env: dict[str, str]) -> None:
        """End the job on the cluster: it would otherwise go on without us."""
        if self._application:
            job = self._application.replace("application", "job")
            with Popen([*self.get_hadoop_bin(), "job", "-kill", job], stdout=PIPE, stderr=STDOUT, env=env) as kill:
                kill.communicate()


def put_once(folder: str, name: str, make: Callable[[], bytes]) -> str:
    """A file whose name says its content: written if it is not there, and found there ever after."""
    storage: Storage = storage_of(folder)
    path = join(folder, name)
    if storage.size(path) is None:
        storage.make_folder(folder)
        storage.write(path, make())
    return path
