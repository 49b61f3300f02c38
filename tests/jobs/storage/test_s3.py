"""S3, simulated by moto: files, and folders that exist only with their manifest."""

import functools
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import boto3
import pytest

from perceptron_core.errors import InputError, UserError
from perceptron_jobs.storage import base_name, is_remote, open_file, parent, storage_of
from perceptron_jobs.storage.lease import Lease
from perceptron_jobs.storage.s3 import MANIFEST, MEMBER, S3Storage, client, connect_by
from waiting import wait_until

pytestmark = pytest.mark.filterwarnings("ignore:Boto3 will no longer support Python")  # of 3.9

RUN = "s3://shelf/runs/кот"
EPOCH = f"{RUN}/epoch-0007"
FILES = {"weights": b"\x00" * 1000, "stats.json": b'{"\xe6\x97\xb6": 1}', "empty": b""}


@pytest.fixture
def s3(aws: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """boto3's own client, with which the tests look at objects and change them; the bucket `shelf` is empty."""
    for name, value in {
        "AWS_ENDPOINT_URL_S3": aws,
        "AWS_ACCESS_KEY_ID": "tester",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    connect_by()
    own = boto3.client("s3")
    own.create_bucket(Bucket="shelf")
    yield own
    for name in keys(own):
        own.delete_object(Bucket="shelf", Key=name)
    connect_by()


def keys(s3: Any) -> list[str]:
    return [entry["Key"] for entry in s3.list_objects_v2(Bucket="shelf").get("Contents", ())]


@pytest.fixture
def storage(s3: Any) -> S3Storage:
    storage = storage_of(EPOCH)
    assert isinstance(storage, S3Storage)
    return storage


def publish(storage: S3Storage, folder: str = EPOCH) -> None:
    with storage.new_folder(folder) as local:
        for name, data in FILES.items():
            Path(local, name).write_bytes(data)


def key(path: str) -> str:
    return path.partition("shelf/")[2]


# ---------------------------------------------------------------- files


def test_a_file_is_written_read_measured_and_removed(storage: S3Storage) -> None:
    path = f"{RUN}/名 #1.txt"
    assert storage.size(path) is None and not storage.exists(path)
    storage.write(path, "кот спит".encode())
    assert storage.size(path) == 15
    with storage.open(path) as file:
        assert file.read().decode() == "кот спит"
    with storage.open(path, 7) as file:
        assert file.read().decode() == "спит"
    with storage.open(path, 15) as file:
        assert file.read() == b""
    assert Path(storage.fetch(path)).read_bytes().decode() == "кот спит"
    assert base_name(storage.fetch(path)) == "名 #1.txt"
    storage.write(path, b"")
    assert storage.size(path) == 0
    storage.remove(path)
    storage.remove(path)
    assert not storage.exists(path)


def test_equal_content_has_equal_identity(storage: S3Storage) -> None:
    for name, data in {"a": b"same", "b": b"same", "c": b"else"}.items():
        storage.write(f"{RUN}/{name}", data)
    first, second, third = (storage.identity(f"{RUN}/{name}") for name in "abc")
    assert first == second != third
    assert first["bytes"] == 4


@pytest.mark.parametrize("verb", ["open", "fetch", "identity"])
def test_what_is_not_there_is_named(verb: str, storage: S3Storage) -> None:
    with pytest.raises(InputError, match="absent.*there is no such file"):
        getattr(storage, verb)(f"{RUN}/absent")


def test_a_new_file_appears_only_if_the_block_ends_well(storage: S3Storage) -> None:
    with pytest.raises(KeyError), storage.new_file(f"{RUN}/model") as local:
        Path(local).write_bytes(b"half")
        raise KeyError
    assert storage.size(f"{RUN}/model") is None
    with storage.new_file(f"{RUN}/model") as local:
        Path(local).write_bytes(b"whole")
    assert open_file(f"{RUN}/model").read() == b"whole"


def test_a_bucket_that_is_not_there(storage: S3Storage) -> None:
    with pytest.raises(UserError, match=r"s3://nowhere/run: .*The specified bucket does not exist"):
        storage_of("s3://nowhere/run").make_folder("s3://nowhere/run")


# ---------------------------------------------------------------- folders


def test_folders_hold_files_and_folders(storage: S3Storage) -> None:
    assert storage.is_folder("s3://shelf") and not storage.is_folder(RUN)
    storage.make_folder(RUN)
    storage.make_folder(RUN)
    assert storage.is_folder(RUN) and storage.is_folder(f"{RUN}/") and storage.is_folder(parent(RUN))
    assert storage.names(RUN) == []
    assert storage.size(RUN) is None
    storage.write(f"{RUN}/config.json", b"{}")
    storage.make_folder(f"{RUN}/inner")
    publish(storage)
    assert storage.names(RUN) == ["config.json", "epoch-0007", "inner"]
    assert storage.names(f"{RUN}/absent") == []
    storage.remove(RUN)
    assert not storage.exists(RUN)
    assert storage.names(parent(RUN)) == []


def test_a_published_folder_holds_what_was_put_into_it(storage: S3Storage, s3: Any) -> None:
    publish(storage)
    assert storage.is_folder(EPOCH)
    assert storage.names(EPOCH) == sorted(FILES)
    for name, data in FILES.items():
        assert storage.size(f"{EPOCH}/{name}") == len(data)
        assert storage.open(f"{EPOCH}/{name}").read() == data
        assert Path(storage.fetch(f"{EPOCH}/{name}")).read_bytes() == data
    manifest = json.loads(s3.get_object(Bucket="shelf", Key=key(f"{EPOCH}/{MANIFEST}"))["Body"].read())
    assert {name: file["bytes"] for name, file in manifest["files"].items()} == {n: len(d) for n, d in FILES.items()}


def assert_absent(storage: S3Storage) -> None:
    assert not storage.is_folder(EPOCH) and not storage.exists(EPOCH)
    assert storage.names(EPOCH) == []
    assert storage.names(RUN) == []
    assert not any(storage.exists(f"{EPOCH}/{name}") for name in FILES)
    for read in (storage.open, storage.fetch, storage.identity):
        with pytest.raises(InputError, match="there is no such file"):
            read(f"{EPOCH}/weights")


def test_without_its_manifest_a_folder_is_not_there(storage: S3Storage, s3: Any) -> None:
    storage.make_folder(RUN)
    publish(storage)
    s3.delete_object(Bucket="shelf", Key=key(f"{EPOCH}/{MANIFEST}"))
    assert key(f"{EPOCH}/weights") in keys(s3)
    assert_absent(storage)
    publish(storage)
    assert storage.names(RUN) == ["epoch-0007"]


@pytest.mark.parametrize("damage", ["missing", "shorter", "manifest"])
def test_a_manifest_that_does_not_match_makes_no_folder(damage: str, storage: S3Storage, s3: Any) -> None:
    storage.make_folder(RUN)
    publish(storage)
    if damage == "missing":
        s3.delete_object(Bucket="shelf", Key=key(f"{EPOCH}/stats.json"))
    elif damage == "shorter":
        s3.put_object(Bucket="shelf", Key=key(f"{EPOCH}/stats.json"), Body=b"{}", Metadata=MEMBER)
    else:
        s3.put_object(Bucket="shelf", Key=key(f"{EPOCH}/{MANIFEST}"), Body=b'{"files": ')
    assert_absent(storage)


def test_a_file_altered_within_its_size_is_refused(storage: S3Storage, s3: Any) -> None:
    publish(storage)
    altered = {"Key": key(f"{EPOCH}/weights"), "Body": b"\x01" * 1000, "Metadata": MEMBER}
    s3.put_object(Bucket="shelf", **altered)
    with pytest.raises(InputError, match="was altered since it was written"):
        storage.fetch(f"{EPOCH}/weights")


class Killed(BaseException):
    """What ends a process; no code of ours may hide it."""


def dying_after(requests: int, verb: Callable[..., Any]) -> Callable[..., Any]:
    """The verb, which works for this number of requests; the next call ends the process."""
    left = iter(range(requests))

    def run(*arguments: Any, **named: Any) -> Any:
        if next(left, None) is None:
            raise Killed
        return verb(*arguments, **named)

    return run


@pytest.mark.parametrize("requests", range(len(FILES) + 1))
def test_killed_while_publishing(requests: int, storage: S3Storage, s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    storage.make_folder(RUN)
    dying = dying_after(requests, lambda verb, *given, **named: verb(*given, **named))
    monkeypatch.setattr(client(), "upload_file", functools.partial(dying, client().upload_file), raising=False)
    monkeypatch.setattr(storage, "write", functools.partial(dying, storage.write))
    with pytest.raises(Killed):
        publish(storage)
    monkeypatch.undo()
    assert sum(name.startswith(key(EPOCH)) for name in keys(s3)) == requests
    assert_absent(storage)


@pytest.mark.parametrize("requests", [0, 1])
def test_killed_while_removing(requests: int, storage: S3Storage, s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    storage.make_folder(RUN)
    publish(storage)
    monkeypatch.setattr(S3Storage, "_delete", dying_after(requests, S3Storage._delete))
    with pytest.raises(Killed):
        storage.remove(EPOCH)
    monkeypatch.undo()
    assert key(f"{EPOCH}/weights") in keys(s3)
    if requests:
        assert_absent(storage)
    else:
        assert storage.names(EPOCH) == sorted(FILES)


def test_a_corpus_put_there_by_hand_needs_no_manifest(storage: S3Storage, s3: Any) -> None:
    s3.put_object(Bucket="shelf", Key="corpus/train.txt", Body="кот NN\n".encode())
    assert storage.size("s3://shelf/corpus/train.txt") == 10
    assert storage.open("s3://shelf/corpus/train.txt").read().decode() == "кот NN\n"
    storage.remove("s3://shelf/corpus")
    assert keys(s3) == ["corpus/train.txt"]


def test_more_than_can_be_removed_at_once(storage: S3Storage, s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perceptron_jobs.storage.s3.DELETED_AT_ONCE", 2)
    storage.make_folder(RUN)
    for number in range(5):
        storage.write(f"{RUN}/{number}", b"")
    storage.remove(RUN)
    assert keys(s3) == ["runs/"]


# ---------------------------------------------------------------- the lease


def test_a_folder_is_held_by_one_process(storage: S3Storage, s3: Any) -> None:
    storage.make_folder(RUN)
    with storage.held(RUN):
        with pytest.raises(UserError, match=f"{RUN} is in use by another process"), storage.held(RUN):
            pass
        assert f"{key(RUN)}/.lease" in keys(s3)
    assert f"{key(RUN)}/.lease" not in keys(s3)
    with storage.held(RUN):
        pass


def test_the_lease_of_a_killed_process_runs_out(storage: S3Storage, s3: Any) -> None:
    storage.make_folder(RUN)
    place = {"Bucket": "shelf", "Key": f"{key(RUN)}/.lease"}
    s3.put_object(**place, Body=json.dumps({"owner": "gone", "until": 1.0}).encode())
    with storage.held(RUN):
        assert json.loads(s3.get_object(**place)["Body"].read())["owner"] != "gone"


def test_a_lease_is_renewed_while_it_is_held(storage: S3Storage, s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lease, "SECONDS", 0.4)
    storage.make_folder(RUN)
    place = {"Bucket": "shelf", "Key": f"{key(RUN)}/.lease"}

    def until() -> float:
        return json.loads(s3.get_object(**place)["Body"].read())["until"]

    with storage.held(RUN):
        first = until()
        wait_until("the lease to be renewed", lambda: until() > first, 10)


# ---------------------------------------------------------------- what is missing


def test_without_boto3_the_user_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "perceptron_jobs.storage.s3")
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(UserError, match=r"pip install 'mr-perceptron\[emr\]'"):
        importlib.import_module("perceptron_jobs.storage.s3")


def test_other_schemes_are_refused_with_those_that_are_known() -> None:
    assert is_remote("ftp://x/y")
    with pytest.raises(UserError, match="ftp:// is not known; use a local path, hdfs:// or s3://"):
        storage_of("ftp://x/y")


def test_names_that_lead_out_of_their_folder(s3, storage):
    """Whoever may write to the bucket can give objects such names, and such a manifest."""
    storage.make_folder(RUN)
    for name in ("runs/кот/../x", "runs/кот/./y", "runs/кот/..", "runs/кот/z"):
        s3.put_object(Bucket="shelf", Key=name, Body=b"")
    assert storage.names(RUN) == ["z"]
    publish(storage)
    described = {"bytes": 0, "sha256": ""}
    for bad in ("../model", "..", "/etc/passwd", ""):
        s3.put_object(
            Bucket="shelf",
            Key=f"{storage.key(EPOCH)}/{MANIFEST}",
            Body=json.dumps({"files": {bad: described}}).encode(),
        )
        assert not storage.is_folder(EPOCH)
    for path in ("s3://shelf/runs/../other", f"{RUN}/.."):
        with pytest.raises(UserError, match="cannot stand in such a path"):
            storage.remove(path)
