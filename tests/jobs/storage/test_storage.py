"""The verbs of the storage layer, on this machine's files and on a real HDFS; how the NameNodes are found."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_core.errors import InputError, UserError
from perceptron_jobs.engines.hadoop import tag_of
from perceptron_jobs.storage import join, storage_of
from perceptron_jobs.storage.base import NotOurs

TEXT = "кот спит\n\n时间 flies\n".encode()


@pytest.fixture(params=["local", pytest.param("hdfs", marks=pytest.mark.hadoop)])
def folder(request, tmp_path) -> str:
    """An empty folder of each kind."""
    if request.param == "local":
        return str(tmp_path)
    request.getfixturevalue("hadoop")
    path = f"hdfs:///storage/{tmp_path.name}"
    storage_of(path).make_folder(path)
    return path


def get(path: str, start: int = 0) -> bytes:
    with storage_of(path).open(path, start) as file:
        return file.read()


# ---------------------------------------------------------------- reading and writing


def test_a_file_is_replaced_as_a_whole(folder):
    storage, path = storage_of(folder), join(folder, "кот 时间")
    for data in (TEXT, b"", TEXT * 2):
        storage.write(path, data)
        assert get(path) == data and storage.size(path) == len(data)
        assert storage.names(folder) == ["кот 时间"]  # nothing temporary is left
    with open(storage.fetch(path), "rb") as file:
        assert file.read() == TEXT * 2


def test_reading_begins_anywhere(folder):
    path = join(folder, "text")
    storage_of(folder).write(path, TEXT)
    for start in (0, 1, 5, len(TEXT) - 1, len(TEXT)):
        assert get(path, start) == TEXT[start:]


def test_what_is_there(folder):
    storage = storage_of(folder)
    inner, file = join(folder, "a", "b"), join(folder, "a", "b", "file")
    assert not storage.exists(inner) and not storage.is_folder(inner) and storage.size(inner) is None
    storage.make_folder(inner)
    storage.make_folder(inner)  # again: nothing happens
    storage.write(file, TEXT)
    assert storage.is_folder(inner) and storage.size(inner) is None and storage.exists(inner)
    assert not storage.is_folder(file) and storage.exists(file)
    assert storage.names(inner) == ["file"] and storage.names(folder) == ["a"]


def test_removing(folder):
    storage = storage_of(folder)
    storage.write(join(folder, "file"), TEXT)
    storage.make_folder(join(folder, "full"))
    storage.write(join(folder, "full", "file"), TEXT)
    for name in ("file", "full", "was never there"):
        storage.remove(join(folder, name))
    assert storage.names(folder) == []


def test_identity_tells_contents_apart(folder):
    storage = storage_of(folder)
    for name, data in (("a", TEXT), ("b", TEXT), ("c", TEXT[::-1])):
        storage.write(join(folder, name), data)
    a, b, c = (storage.identity(join(folder, name)) for name in "abc")
    assert a == b and a != c and a["bytes"] == c["bytes"] == len(TEXT)
    with pytest.raises(InputError, match="check the name"):
        storage.identity(join(folder, "missing"))


def test_a_reader_never_sees_half_a_file_nor_none(folder):
    storage, path = storage_of(folder), join(folder, "file")
    versions = [bytes([number]) * 100_000 for number in range(8)]
    storage.write(path, versions[0])
    seen, done = [], threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.append(storage.size(path) is not None and get(path))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    for version in versions:
        storage.write(path, version)
    done.set()
    reader.join(120)
    assert not reader.is_alive(), "the reader did not end within two minutes"
    assert set(seen) <= set(versions)


# ---------------------------------------------------------------- all or nothing


def test_a_new_folder_appears_whole(folder):
    storage, target = storage_of(folder), join(folder, "epoch")
    with storage.new_folder(target) as local:
        for name in ("weights", "empty"):
            Path(local, name).write_bytes(TEXT if name == "weights" else b"")
        assert not storage.exists(target)
    assert storage.names(target) == ["empty", "weights"] and get(join(target, "weights")) == TEXT
    assert storage.names(folder) == ["epoch"]


def test_a_block_that_fails_leaves_what_was_there(folder):
    storage, file, target = storage_of(folder), join(folder, "file"), join(folder, "epoch")
    storage.write(file, TEXT)
    with pytest.raises(ZeroDivisionError), storage.new_folder(target) as local:
        Path(local, "weights").write_bytes(TEXT)
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), storage.new_file(file):
        raise ZeroDivisionError
    assert storage.names(folder) == ["file"] and get(file) == TEXT


def test_a_new_folder_does_not_go_into_or_onto_one_that_is_there(folder):
    storage, target = storage_of(folder), join(folder, "epoch")
    storage.make_folder(target)
    storage.write(join(target, "weights"), TEXT)
    with pytest.raises(UserError, match="cannot write .*epoch"), storage.new_folder(target) as local:
        Path(local, "weights").write_bytes(b"other")
    assert storage.names(target) == ["weights"] and get(join(target, "weights")) == TEXT


# ---------------------------------------------------------------- holding a folder


def test_a_held_folder_is_held_from_others(folder):
    storage = storage_of(folder)
    hold = f"from perceptron_jobs.storage import storage_of\nwith storage_of({folder!r}).held({folder!r}): pass"
    with storage.held(folder):
        assert "is in use by another process" in run_python(hold)
    assert run_python(hold) == ""
    assert [name for name in storage.names(folder) if name != ".lock"] == []


def run_python(program: str) -> str:
    words = [sys.executable, "-c", program]
    return subprocess.run(words, stderr=subprocess.PIPE, text=True, cwd="/", timeout=120).stderr


@pytest.mark.hadoop
@pytest.mark.parametrize("content", [b"", b'{"owner": "host:1:x", "until": 0}'], ids=["empty", "run out"])
def test_the_lease_of_a_killed_process_is_taken(content, hadoop, tmp_path):
    folder = f"hdfs:///storage/{tmp_path.name}"
    storage = storage_of(folder)
    storage.write(f"{folder}/.lease", content)
    with storage.held(folder):
        assert storage.size(f"{folder}/.lease") > len(content)
    assert storage.names(folder) == []


@pytest.mark.hadoop
def test_who_has_lost_a_lease_stops_and_leaves_it_to_the_other(hadoop, tmp_path, monkeypatch):
    from perceptron_jobs.storage.lease import Lease

    monkeypatch.setattr(Lease, "SECONDS", 0.4)
    folder = f"hdfs:///storage/{tmp_path.name}"
    storage = storage_of(folder)
    storage.make_folder(folder)
    with pytest.raises(NotOurs, match="was taken over by another process"), storage.held(folder):
        storage.write(f"{folder}/.lease", b'{"owner": "other"}')
        threading.Event().wait(30)
    assert get(f"{folder}/.lease") == b'{"owner": "other"}'


# ---------------------------------------------------------------- HDFS out of order


def test_nobody_answers(monkeypatch, tmp_path):
    with socket.socket() as reserved:  # a port at which no server listens
        reserved.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PERCEPTRON_WEBHDFS", f"http://127.0.0.1:{reserved.getsockname()[1]}")
        monkeypatch.setattr("perceptron_jobs.storage.patience.PAUSES", (0.0,))
        path = "hdfs://nobody.example/x"
        storage = storage_of(path)
        for ask in (storage.size, storage.names, storage.make_folder, storage.remove, storage.fetch, storage.identity):
            with pytest.raises(UserError, match=r"cannot .* hdfs://nobody.example/x: HDFS does not answer at http://"):
                ask(path)


@pytest.mark.hadoop
def test_a_datanode_that_died_a_moment_ago(hadoop, tmp_path):
    """The NameNode does not know yet, and goes on sending clients there."""
    folder = f"hdfs:///storage/{tmp_path.name}"
    storage = storage_of(folder)
    storage.write(f"{folder}/before", TEXT)
    os.kill(hadoop.daemon("datanode2"), signal.SIGKILL)
    try:
        for number in range(6):
            storage.write(f"{folder}/{number}", TEXT)
            assert get(f"{folder}/{number}") == get(f"{folder}/before") == TEXT
    finally:
        hadoop.cluster("up")


# ---------------------------------------------------------------- where the NameNodes are

HA = {
    "fs.defaultFS": "hdfs://ns",
    "dfs.nameservices": "ns,other",
    "dfs.ha.namenodes.ns": "nn1, nn2",
    "dfs.namenode.http-address.ns.nn1": "one:9870",
    "dfs.namenode.http-address.ns.nn2": "two:9870",
    "dfs.namenode.https-address.ns.nn1": "one:9871",
    "dfs.namenode.https-address.ns.nn2": "two:9871",
}
ADDRESSES = {
    "nothing is known": ("", {}, "http://localhost:9870"),
    "by the default": ("", {"fs.defaultFS": "hdfs://master:8020"}, "http://master:9870"),
    "by the path": ("there:8020", {"fs.defaultFS": "hdfs://master:8020"}, "http://there:9870"),
    "all interfaces": (
        "",
        {"fs.defaultFS": "hdfs://m", "dfs.namenode.http-address": "0.0.0.0:50070"},
        "http://m:50070",
    ),
    "an address": ("", {"fs.defaultFS": "hdfs://m", "dfs.namenode.http-address": "web:1234"}, "http://web:1234"),
    "TLS": ("", {"dfs.http.policy": "HTTPS_ONLY", "dfs.namenode.https-address": "m:9871"}, "https://m:9871"),
    "high availability": ("", HA, "http://one:9870;http://two:9870"),
    "its name in the path": ("ns", {**HA, "fs.defaultFS": "file:///"}, "http://one:9870;http://two:9870"),
    "both": ("", {**HA, "dfs.http.policy": "HTTPS_ONLY"}, "https://one:9871;https://two:9871"),
}


@pytest.mark.parametrize("case", ADDRESSES)
def test_the_namenodes_addresses(case, monkeypatch):
    from perceptron_jobs.storage.namenodes import namenode_addresses

    monkeypatch.delenv("PERCEPTRON_WEBHDFS", raising=False)
    host, properties, expected = ADDRESSES[case]
    assert namenode_addresses(host, properties) == expected
    monkeypatch.setenv("PERCEPTRON_WEBHDFS", "http://a:1;http://b:2")
    assert namenode_addresses(host, properties) == "http://a:1;http://b:2"


def site(**properties: str) -> str:
    inner = "".join(f"<property><name>{n}</name><value> {v} </value></property>" for n, v in properties.items())
    return f'<?xml version="1.0"?><!-- кот --><configuration>{inner}</configuration>'


def test_the_configuration_of_hadoop(monkeypatch, tmp_path):
    from perceptron_jobs.storage.namenodes import connect, hadoop_configuration

    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    assert hadoop_configuration() == {}
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    assert hadoop_configuration() == {}
    (tmp_path / "core-site.xml").write_text(site(**{"fs.defaultFS": "hdfs://ns", "a": "1"}), encoding="utf-8")
    (tmp_path / "hdfs-site.xml").write_text(site(a="2", **{"dfs.ha.namenodes.ns": "x"}), encoding="utf-8")
    assert hadoop_configuration() == {"fs.defaultFS": "hdfs://ns", "a": "2", "dfs.ha.namenodes.ns": "x"}
    kerberos = {"hadoop.security.authentication": "kerberos", "fs.defaultFS": "hdfs://master"}
    (tmp_path / "core-site.xml").write_text(site(**kerberos), encoding="utf-8")
    monkeypatch.setitem(sys.modules, "hdfs.ext.kerberos", None)
    with pytest.raises(UserError, match=r"pip install 'hdfs\[kerberos\]'"):
        connect("")
    (tmp_path / "core-site.xml").write_text("<configuration>", encoding="utf-8")
    with pytest.raises(InputError, match=r"core-site\.xml: is not XML"):
        hadoop_configuration()


def test_where_the_extension_is_installed_kerberos_is_spoken(monkeypatch, tmp_path):
    """Its client is the `hdfs` package's own, with an authenticator that is asked for a ticket at the first request."""
    from perceptron_jobs.storage.namenodes import connect

    class Authenticator:
        def __init__(self, mutual_authentication: str) -> None:
            self.mutual_authentication = mutual_authentication

    package = ModuleType("requests_kerberos")
    package.HTTPKerberosAuth, package.OPTIONAL = Authenticator, "optional"
    monkeypatch.setitem(sys.modules, "requests_kerberos", package)
    monkeypatch.setitem(sys.modules, "hdfs.ext.kerberos", None)  # so that it is forgotten after the test
    del sys.modules["hdfs.ext.kerberos"]
    monkeypatch.delenv("PERCEPTRON_WEBHDFS", raising=False)
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    kerberos = {"hadoop.security.authentication": "kerberos", "fs.defaultFS": "hdfs://ns"}
    (tmp_path / "core-site.xml").write_text(site(**kerberos), encoding="utf-8")
    (tmp_path / "hdfs-site.xml").write_text(site(**HA), encoding="utf-8")
    client = connect("")
    assert type(client).__module__ == "hdfs.ext.kerberos" and type(client).__name__ == "KerberosClient"
    assert client.url == "http://one:9870;http://two:9870"
    assert isinstance(client._session.auth, Authenticator)
    (tmp_path / "core-site.xml").write_text(site(**{"fs.defaultFS": "hdfs://ns"}), encoding="utf-8")
    assert type(connect("")).__name__ == "InsecureClient"


def test_an_unknown_kind_of_storage():
    with pytest.raises(UserError, match=r"ftp:// is not known; use a local path, hdfs:// or s3://"):
        storage_of("ftp://host/file")


# ---------------------------------------------------------------- a run directory's mark on its jobs

names = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=("Cs", "Cc")), min_size=1)
names = names.filter(lambda name: name not in (".", ".."))  # which are refused


@settings(max_examples=50)
@given(names, names)
def test_jobs_are_marked_by_the_place_and_not_by_the_way_it_is_written(one, other):
    tag = tag_of(f"hdfs:///runs/{one}")
    assert tag == tag_of(f"hdfs:///runs/{one}/") == tag_of(f"hdfs://master:8020/runs/{one}")
    assert (tag == tag_of(f"hdfs:///runs/{other}")) == (one == other)
    assert tag.isascii() and tag == tag.lower() and len(tag) < 100  # YARN's rules
