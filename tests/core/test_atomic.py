"""Files and folders appear whole or not at all; links are not followed; the file that cannot be written is named."""

import os
from pathlib import Path

import pytest

from perceptron_core.atomic import (
    folder_made_atomically,
    make_folders,
    remove_folder,
    written_atomically,
    written_inside,
    written_to_device,
)
from perceptron_core.errors import UserError


def test_a_block_that_fails_leaves_nothing(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), written_atomically(str(tmp_path / "file")) as file:
        file.write(b"new")
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), folder_made_atomically(str(tmp_path / "folder")) as folder:
        with written_inside(os.path.join(folder, "a")) as file:
            file.write(b"new")
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["file"] and (tmp_path / "file").read_bytes() == b"old"


def test_permissions_are_those_of_the_user(tmp_path):
    before = os.umask(0o027)
    try:
        with written_atomically(str(tmp_path / "file")) as file:
            file.write(b"x")
        with folder_made_atomically(str(tmp_path / "folder")):
            pass
    finally:
        os.umask(before)
    assert [os.stat(tmp_path / name).st_mode & 0o777 for name in ("file", "folder")] == [0o640, 0o750]


def test_everything_is_on_the_disk_before_it_appears_and_its_name_afterwards(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(os.readlink(f"/proc/self/fd/{handle}")))
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append("rename"), replace(a, b)))
    with folder_made_atomically(str(tmp_path / "folder")) as folder:
        for name in ("a", "b"):
            Path(folder, name).write_text(name)
    assert sorted(done[:2]) == [f"{folder}/a", f"{folder}/b"] and done[2:] == [folder, "rename", str(tmp_path)]
    done.clear()
    with written_atomically(str(tmp_path / "file")) as file:
        file.write(b"x")
    assert ".file." in done[0] and done[1:] == ["rename", str(tmp_path)]
    done.clear()
    make_folders(str(tmp_path / "x" / "y"))
    assert sorted(done) == [str(tmp_path), str(tmp_path / "x")]


def test_a_link_to_a_folder_is_removed_and_not_the_folder(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    (tmp_path / ".link.tmp").symlink_to(tmp_path / "mine")
    for name in ("link", ".link.tmp"):
        remove_folder(str(tmp_path / name))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"] and (tmp_path / "mine" / "file").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_the_file_that_cannot_be_written_is_named():
    problem = "^cannot write /dev/full: No space left on device$"
    with pytest.raises(UserError, match=problem), written_to_device("/dev/full") as file:
        file.write(b"x")


def test_an_error_of_the_block_is_not_blamed_on_the_file(tmp_path):
    """It may be about another one: the temporary files of a job, say."""
    with pytest.raises(OSError, match="of another file") as raised, written_atomically(str(tmp_path / "file")):
        raise OSError(28, "of another file")
    assert not isinstance(raised.value, UserError)
    with pytest.raises(OSError, match="of another file"), folder_made_atomically(str(tmp_path / "folder")):
        raise OSError(28, "of another file")
    assert list(tmp_path.iterdir()) == []
