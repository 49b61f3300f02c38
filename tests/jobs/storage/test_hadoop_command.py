"""WebHDFS is closed: the `hadoop` command reaches a real HDFS, with the same bytes, identities and leases."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from perceptron_core.errors import UserError
from perceptron_jobs.storage import join, storage_of
from perceptron_jobs.storage.base import NotOurs
from perceptron_jobs.storage.hadoop_command import HadoopCommand, find_hadoop
from perceptron_jobs.storage.webhdfs import WebHdfsStorage
from perceptron_jobs.storage.webhdfs_client import WebHdfs
from waiting import read_line, started, wait_until

TEXT = "кот спит\n\n时间 flies\n".encode()
OPTIONS = ("--shards", "2", "--mixing", "uniform", "--stop-threshold", "0")


@pytest.fixture(scope="module")
def closed() -> Iterator[str]:
    """An address at which no server listens."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{reserved.getsockname()[1]}"


@pytest.fixture
def webhdfs(hadoop) -> WebHdfsStorage:
    """The cluster's HDFS by WebHDFS, which stays open here: preparing and checking things takes milliseconds."""
    storage = WebHdfsStorage("")
    assert isinstance(storage.client, WebHdfs)
    return storage


@pytest.fixture
def command(webhdfs, closed, monkeypatch) -> WebHdfsStorage:
    """The same HDFS, for a process that can no longer reach WebHDFS."""
    monkeypatch.setenv("PERCEPTRON_WEBHDFS", closed)
    monkeypatch.setattr("perceptron_jobs.storage._known", {})
    storage = storage_of("hdfs:///")
    assert isinstance(storage, WebHdfsStorage) and isinstance(storage.client, HadoopCommand)
    return storage


@pytest.fixture
def no_command(monkeypatch, tmp_path) -> None:
    """Neither WebHDFS nor a `hadoop` command, and no waiting for WebHDFS to come back."""
    for name in [name for name in os.environ if name.startswith("HADOOP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("perceptron_jobs.storage._known", {})
    monkeypatch.setattr("perceptron_jobs.storage.patience.PAUSES", (0.0,))


def get(storage: WebHdfsStorage, path: str, start: int = 0) -> bytes:
    with storage.open(path, start) as file:
        return file.read()


# ---------------------------------------------------------------- the verbs


@pytest.mark.hadoop
def test_files(command, webhdfs, tmp_path):
    folder = f"hdfs:///command/{tmp_path.name}/кот [1]{{*}}"
    file = join(folder, "时间 flies")
    for data in (TEXT, b"", TEXT * 2):  # the first makes the folder, too
        command.write(file, data)
        assert get(webhdfs, file) == data
    assert command.names(folder) == webhdfs.names(folder) == ["时间 flies"]
    assert [command.size(path) for path in (file, folder, join(folder, "none"))] == [len(TEXT) * 2, None, None]
    assert command.is_folder(folder) and not command.is_folder(file) and not command.exists(join(folder, "none"))
    assert command.names(file) == command.names(join(folder, "none")) == []
    for start in (0, 5, len(TEXT) * 2):
        assert get(command, file, start) == (TEXT * 2)[start:]
    assert command.identity(file) == webhdfs.identity(file)
    command.remove(folder)
    command.remove(folder)  # again: nothing happens
    assert webhdfs.names(f"hdfs:///command/{tmp_path.name}") == []


@pytest.mark.hadoop
def test_a_new_folder_appears_whole_and_not_onto_another(command, webhdfs, tmp_path):
    target = f"hdfs:///command/{tmp_path.name}/epoch"
    with command.new_folder(target) as local:  # which makes the folder above it, too
        Path(local, "weights").write_bytes(TEXT)
        Path(local, "empty").write_bytes(b"")
    assert webhdfs.names(target) == ["empty", "weights"] and get(webhdfs, join(target, "weights")) == TEXT
    with (
        pytest.raises(UserError, match="cannot write .*epoch: something is there"),
        command.new_folder(target) as local,
    ):
        Path(local, "weights").write_bytes(b"other")
    assert webhdfs.names(target) == ["empty", "weights"] and get(webhdfs, join(target, "weights")) == TEXT


@pytest.mark.hadoop
def test_what_hdfs_refuses_is_a_sentence(command, webhdfs, tmp_path):
    path = f"hdfs:///command/{tmp_path.name}"
    with pytest.raises(UserError, match=f"cannot read {path}: .*No such file or directory"):
        command.open(path)
    webhdfs.write(path, TEXT)
    with pytest.raises(UserError, match=f"cannot make the folder {path}: .*Is not a directory"):
        command.make_folder(path)


# ---------------------------------------------------------------- a lease

HOLD = """
import sys, time
from perceptron_jobs.storage import storage_of
from perceptron_jobs.storage.lease import Lease
Lease.SECONDS = 12.0
with storage_of(sys.argv[1]).held(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


def lease_end(storage: WebHdfsStorage, folder: str) -> float:
    """When the lease on a folder runs out; while it is being written there may be nothing to read."""
    return json.loads(get(storage, f"{folder}/.lease") or b"{}").get("until", 0)


@pytest.mark.hadoop
def test_a_second_driver_is_refused_until_the_first_is_dead_and_its_lease_has_run_out(
    command, webhdfs, corpus, perceptron, tmp_path
):
    folder = f"hdfs:///command/{tmp_path.name}"
    webhdfs.make_folder(folder)
    run = ("train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", folder)
    with started([sys.executable, "-c", HOLD, folder], stdout=subprocess.PIPE, cwd="/") as first:
        assert read_line("another process to hold the folder", first.stdout) == b"held\n"
        begun = json.loads(get(webhdfs, f"{folder}/.lease"))
        refused = perceptron(*run)
        assert refused.code == 2 and f"the run directory {folder} is in use by another process" in refused.err
        wait_until("the lease to be renewed", lambda: lease_end(webhdfs, folder) > begun["until"])
        first.send_signal(signal.SIGKILL)
    with pytest.raises(NotOurs), command.held(folder):
        pass
    time.sleep(12)
    with command.held(folder):
        assert webhdfs.names(folder) == [".lease"]
    assert webhdfs.names(folder) == []


# ---------------------------------------------------------------- training


@pytest.fixture(scope="module")
def expected(corpus, tmp_path_factory, must) -> bytes:
    """The model of two epochs, trained on this machine's files."""
    run = tmp_path_factory.mktemp("expected") / "run"
    must("train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", run, *OPTIONS, "--epochs", 2)
    return (run / "model").read_bytes()


@pytest.fixture
def train(webhdfs, corpus) -> list[str]:
    """The command without its run directory, the corpus being on HDFS."""
    webhdfs.write("hdfs:///command/train.txt", (corpus / "train.txt").read_bytes())
    return ["train", str(corpus / "task.yaml"), "--train", "hdfs:///command/train.txt", *OPTIONS]


@pytest.mark.hadoop
def test_a_run_begun_by_webhdfs_goes_on_by_the_command(webhdfs, train, expected, must, request):
    run = [*train, "--run-dir", "hdfs:///command/resumed"]
    must(*run, "--epochs", 1)
    request.getfixturevalue("command")
    assert "continuing after epoch 1" in must(*run, "--epochs", 2)
    assert get(webhdfs, "hdfs:///command/resumed/model") == expected
    names = webhdfs.names("hdfs:///command/resumed")
    assert "epoch-0002" in names and not [name for name in names if name.endswith(("_", ".tmp", ".lease"))]


@pytest.mark.hadoop
def test_closed_to_the_driver_and_to_the_tasks(hadoop, command, webhdfs, train, closed, expected, tmp_path):
    """The nodes have no PATH; a variable that YARN sets tells them where Hadoop is."""
    environment = {"PERCEPTRON_WEBHDFS": closed, "HADOOP_COMMON_HOME": hadoop.variables["HADOOP_HOME"]}
    (tmp_path / "mrjob.conf").write_text(json.dumps({"runners": {"hadoop": {"cmdenv": environment}}}))
    arguments = [*train, "--run-dir", "hdfs:///command/run", "--epochs", "2", "-r", "hadoop", "-c"]
    arguments.append(str(tmp_path / "mrjob.conf"))
    program = "import sys; from perceptron_jobs.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(words, capture_output=True, text=True, cwd="/", timeout=900)
    assert done.returncode == 0, done.stderr
    assert f"WebHDFS does not answer at {closed}; using the `hadoop` command instead, which is slower" in done.stderr
    assert get(webhdfs, "hdfs:///command/run/model") == expected


# ---------------------------------------------------------------- which way is taken


class NotFound(BaseHTTPRequestHandler):
    """A web server without WebHDFS."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *arguments: object) -> None:
        """Nothing on standard error."""


@pytest.fixture
def web_server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), NotFound) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,)).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.hadoop
def test_a_web_server_without_webhdfs(hadoop, web_server, monkeypatch):
    monkeypatch.setenv("PERCEPTRON_WEBHDFS", web_server)
    assert isinstance(WebHdfsStorage("").client, HadoopCommand)


@pytest.mark.hadoop
def test_kerberos_without_its_client_for_webhdfs(hadoop, monkeypatch, tmp_path, caplog):
    """The command here reaches the cluster, as one with a Kerberos ticket would."""
    wrapped, bin_folder = find_hadoop(), tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "hadoop").write_text(
        f'#!/bin/sh\nHADOOP_CONF_DIR={hadoop.variables["HADOOP_CONF_DIR"]} exec {wrapped} "$@"\n'
    )
    (bin_folder / "hadoop").chmod(0o755)
    properties = {"hadoop.security.authentication": "kerberos", "fs.defaultFS": "hdfs://master"}
    inner = "".join(f"<property><name>{n}</name><value>{v}</value></property>" for n, v in properties.items())
    (tmp_path / "core-site.xml").write_text(f"<configuration>{inner}</configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "hdfs.ext.kerberos", None)
    storage = WebHdfsStorage("")
    assert isinstance(storage.client, HadoopCommand) and storage.is_folder("hdfs:///")
    assert "the cluster requires Kerberos" in caplog.text and "using the `hadoop` command instead" in caplog.text


def test_neither_webhdfs_nor_a_command(no_command, closed, perceptron, monkeypatch):
    monkeypatch.setenv("PERCEPTRON_WEBHDFS", closed)
    refused = perceptron("predict", "hdfs:///run", "hdfs:///text")
    assert refused.code == 2
    assert f"HDFS does not answer at {closed}; is it up" in refused.err
    assert "put a `hadoop` command on the PATH, which is used instead" in refused.err


def test_neither_webhdfs_at_the_address_nor_a_command(no_command, web_server, perceptron, monkeypatch):
    monkeypatch.setenv("PERCEPTRON_WEBHDFS", web_server)
    refused = perceptron("predict", "hdfs:///run", "hdfs:///text")
    assert refused.code == 2
    assert f"cannot read hdfs:///text: there is no WebHDFS at {web_server}; " in refused.err


def test_a_command_that_does_not_work_is_not_used(no_command, closed, monkeypatch, tmp_path):
    (tmp_path / "hadoop").write_text("#!/bin/sh\necho 'stat: Call From here to there failed' >&2\nexit 1\n")
    (tmp_path / "hadoop").chmod(0o755)
    monkeypatch.setenv("PERCEPTRON_WEBHDFS", closed)
    assert isinstance(WebHdfsStorage("").client, WebHdfs)
