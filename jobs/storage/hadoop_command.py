"""HDFS through `hadoop fs`, for where WebHDFS is closed. Every operation starts Java, which takes about a second.

To replace a file, the command takes three steps: it writes a new file beside the target (`NAME._COPYING_`), deletes the
target, and renames the new file. If the machine dies between the last two steps, the file is missing; this command has
no better way. Everything that a run replaces (history.jsonl, model, prepared_elsewhere.json, the lease) it writes again
when it continues; its configuration and its epochs are written once, and appear by a rename. The command reads a file,
not a pipe of this process, so it writes all of the file even if this process is killed.

A read that begins in the middle of a file skips what comes before, because `hadoop fs` cannot begin there.
"""

import io
import os
import posixpath
import re
import shutil
import subprocess
import tempfile
from typing import Any, BinaryIO, Optional

from hdfs.util import HdfsError
from mrjob.fs.hadoop import HadoopFilesystem

from perceptron_jobs.storage.hdfs_verbs import HdfsVerbs, Status

GLOB = re.compile(r"([\\*?\[\]{}])")  # what `hadoop fs` would take for a pattern
# What the command prints, and the exception that WebHDFS would name.
EXCEPTIONS = {"No such file or directory": "FileNotFoundException", "File exists": "FileAlreadyExistsException"}


def find_hadoop() -> Optional[str]:
    """The `hadoop` command, where mrjob looks for it: below HADOOP_HOME and the like, or on the PATH."""
    (command,) = HadoopFilesystem().get_hadoop_bin()
    return shutil.which(command)


class HadoopCommand(HdfsVerbs):
    def __init__(self, command: str, host: str) -> None:
        self.command, self.host = command, host

    def works(self) -> bool:
        try:
            return self.status("/") is not None
        except (HdfsError, OSError):
            return False

    def status(self, path: str) -> Optional[Status]:
        try:
            kind, length = self._run("stat", "%F/%b", self._name(path)).split("/")
        except HdfsError as error:
            if error.exception == "FileNotFoundException":
                return None
            raise
        return Status(kind == "directory", int(length))

    def names(self, folder: str) -> list[str]:
        try:
            listed = self._run("ls", "-C", self._name(folder)).splitlines()
        except HdfsError as error:
            if error.exception == "FileNotFoundException":
                return []
            raise
        within = [re.sub("^hdfs://[^/]*", "", path) for path in listed]
        return [posixpath.basename(path) for path in within if path != folder]  # a file lists itself

    def make_folder(self, folder: str) -> None:
        self._run("mkdir", "-p", self._name(folder))

    def open(self, path: str, start: int) -> "_Output":
        output = _Output([self.command, "fs", "-cat", self._name(path)])
        try:
            output.skip(start)
        except HdfsError:
            output.close()
            raise
        return output

    def checksum(self, path: str) -> str:
        return self._run("checksum", self._name(path)).split()[-1]

    def replace(self, path: str, source: BinaryIO) -> None:
        self._put(path, "-f", "-", stdin=source)

    def upload(self, local: str, folder: str) -> None:
        self._put(folder, local)

    def move(self, path: str, target: str) -> None:
        if self.status(target) is not None:  # `-mv` would put it into a folder
            raise HdfsError("something is there already", exception="FileAlreadyExistsException")
        self._run("mv", self._name(path), self._name(target))

    def remove(self, path: str) -> None:
        self._run("rm", "-r", "-f", "-skipTrash", self._name(path))

    def write(self, path: str, data: bytes, overwrite: bool) -> None:
        """Without -f the last step, a rename, succeeds for only one process."""
        with tempfile.TemporaryFile() as file:
            file.write(data)
            self._put(path, *(["-f"] if overwrite else []), "-", stdin=file)

    def read(self, path: str) -> Any:
        return self.open(path, 0)

    def delete(self, path: str) -> None:
        self.remove(path)

    def _put(self, target: str, *arguments: str, stdin: Optional[BinaryIO] = None) -> None:
        for again in (True, False):
            try:
                if stdin:
                    stdin.seek(0)  # this also writes what is still in its buffer
                self._run("put", *arguments, self._name(target), stdin=stdin)
                return
            except HdfsError as error:
                if error.exception != "FileNotFoundException" or not again:
                    raise
                self.make_folder(posixpath.dirname(target))  # as WebHDFS does by itself

    def _name(self, path: str) -> str:
        return f"hdfs://{self.host}" + GLOB.sub(r"\\\1", path)

    def _run(self, verb: str, *arguments: str, stdin: Optional[BinaryIO] = None) -> str:
        words = [self.command, "fs", f"-{verb}", *arguments]
        done = subprocess.run(words, stdin=stdin or subprocess.DEVNULL, capture_output=True, env=_environment())
        if done.returncode:
            raise _error(verb, done.stderr)
        return done.stdout.decode().strip("\n")


class _Output(io.RawIOBase):
    """The output of a command, as it comes; raises an error if the command fails."""

    def __init__(self, words: list[str]) -> None:
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe would have to be read meanwhile
        self._process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._complaints, env=_environment()
        )
        self._stdout: Any = self._process.stdout

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._stdout.readinto(buffer)
        if not count:
            self._check()
        return count

    def skip(self, count: int) -> None:
        """Skip `count` bytes, and wait for what follows."""
        while count:
            skipped = len(self._stdout.read(min(count, 1 << 20)))
            count = count - skipped if skipped else 0
        if not self._stdout.peek(1):
            self._check()

    def _check(self) -> None:
        if self._process.wait():
            self._complaints.seek(0)
            raise _error("cat", self._complaints.read())

    def close(self) -> None:
        if not self.closed:
            self._process.kill()  # the rest of its output is not needed
            self._process.wait()
            self._stdout.close()
            self._complaints.close()
        super().close()


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C.UTF-8"}  # otherwise Java reads non-ASCII letters in names as question marks


def _error(verb: str, complaints: bytes) -> HdfsError:
    """The command's own message (`put: …`), found among those of its log."""
    lines = complaints.decode(errors="replace").strip().splitlines() or ["the `hadoop` command failed"]
    own = [line for line in lines if line.startswith(f"{verb}: ")] or lines[-1:]
    exceptions = [name for text, name in EXCEPTIONS.items() if text in own[0]]
    return HdfsError(own[0].replace(f"{verb}: ", "", 1), exception=exceptions[0] if exceptions else "IOException")
