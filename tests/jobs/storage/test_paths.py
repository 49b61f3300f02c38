"""Names from somebody else's files lead nowhere: not out of a folder, not through a link, not to another bucket."""

import json
import os
import shutil

import pytest

from perceptron_core.errors import InputError, UserError
from perceptron_jobs.corpora.prepared import read_prepared
from perceptron_jobs.storage import join, storage_of
from perceptron_jobs.storage.base import inner_path
from perceptron_jobs.storage.s3 import S3Storage
from perceptron_jobs.storage.webhdfs import WebHdfsStorage


@pytest.mark.parametrize("folder", ["run", "hdfs:///run", "s3://bucket/run"])
@pytest.mark.parametrize("name", ["../other", "..", "a/../../b", "/etc/passwd", "/", "a\0b"])
def test_a_name_that_leads_out_of_its_folder(folder, name):
    with pytest.raises(UserError, match="leads out of the folder"):
        join(folder, name)
    assert join(folder, "..a", "b..", "c") == f"{folder}/..a/b../c"


@pytest.mark.parametrize("path", ["hdfs://host/run/../other", "s3://bucket/run/./x", "s3://bucket/..", "hdfs:///.."])
def test_dots_in_the_path_of_a_server(path):
    with pytest.raises(UserError, match="cannot stand in such a path"):
        inner_path(path)


def test_all_of_a_name_counts():
    """Cut at a `?` or `#`, the path would be another folder: the one above, to be removed, say."""
    assert WebHdfsStorage.inner("hdfs://host/runs/a?b#c") == "/runs/a?b#c"
    assert S3Storage.key("s3://bucket/runs/a?b#c/") == "runs/a?b#c"
    assert WebHdfsStorage.inner("hdfs://host") == WebHdfsStorage.inner("hdfs:///") == "/"
    assert isinstance(storage_of("s3://odd[name/x"), S3Storage)


def test_a_lock_that_is_a_link_is_not_followed(trained, corpus, perceptron, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    precious = tmp_path / "precious"
    precious.write_text("not to be lost")
    (run / ".lock").unlink()
    for target in (precious, tmp_path / "not there"):
        (run / ".lock").symlink_to(target)
        told = perceptron("train", corpus / "task.yaml", "--train", corpus / "train.txt", "--run-dir", run)
        assert told.code == 2 and f"{run / '.lock'}: is a symbolic link; remove it" in told.err
        (run / ".lock").unlink()
    assert precious.read_text() == "not to be lost" and not (tmp_path / "not there").exists()


def test_a_lock_is_not_cut_short(tmp_path):
    (tmp_path / ".lock").write_text("somebody's file")
    with storage_of(str(tmp_path)).held(str(tmp_path)):
        pass
    assert (tmp_path / ".lock").read_text() == "somebody's file"


def test_a_lock_that_is_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / ".lock")
    with pytest.raises(UserError), storage_of(str(tmp_path)).held(str(tmp_path)):
        raise UserError("it was held, or refused: it did not wait")


@pytest.mark.parametrize("file", ["../shard-00000-of-00003.gz", "/tmp/x.gz", "shard.gz", "a/shard-00000-of-00003.gz"])
def test_a_prepared_corpus_that_names_files_elsewhere(file, trained, perceptron, corpus, tmp_path):
    folder = shutil.copytree(trained / "prepared", tmp_path / "prepared")
    manifest = json.loads((folder / "prepared.json").read_text())
    manifest["shards"][0]["file"] = file
    (folder / "prepared.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="must be the name of a shard"):
        read_prepared(str(folder))
    told = perceptron("train", corpus / "task.yaml", "--prepared", folder, "--run-dir", tmp_path / "run")
    assert told.code == 2 and str(folder / "prepared.json") in told.err


def test_links_among_the_leftovers_of_a_run(trained, train, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    for name in (".epoch-0009.x.tmp", "round-1"):
        (run / name).symlink_to(tmp_path / "mine")
    train(run, "--shards", 3, "--mixing", "uniform", "--epochs", 3)
    assert (tmp_path / "mine" / "file").exists() and not (run / "round-1").is_symlink()
