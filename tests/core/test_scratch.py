"""The folder for temporary files: private, gone with its process, and said to be full when it is."""

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from perceptron_core import scratch
from waiting import read_line, started

HOLD = (
    "from perceptron_core import scratch\nwith scratch.private_folder() as folder: print(folder, flush=True); input()"
)


@pytest.fixture
def parent(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_private_and_goes_with_the_block(parent):
    with scratch.private_folder() as folder:
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700 and Path(folder).parent == parent
        assert tempfile.gettempdir() == os.environ["TMPDIR"] == folder
        Path(tempfile.mkdtemp(), "file").write_text("")
    assert list(parent.iterdir()) == [] and tempfile.gettempdir() == str(parent)
    assert os.environ.get("TMPDIR") != folder


def test_that_of_a_killed_process_is_removed_and_that_of_a_living_one_is_not(parent):
    hold = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "cwd": "/",
        "env": {**os.environ, "TMPDIR": str(parent)},
    }
    command = [sys.executable, "-c", HOLD]
    with started(command, **hold) as killed, started(command, **hold) as living:
        left, kept = (read_line("a folder", process.stdout).decode().strip() for process in (killed, living))
        Path(left, "secret").write_text("corpus")
        killed.kill()
        assert killed.wait(60) == -signal.SIGKILL and os.path.isdir(left)
        with scratch.private_folder() as own:
            assert {str(path) for path in parent.iterdir()} == {kept, own}
        living.communicate(b"\n", timeout=60)
    assert list(parent.iterdir()) == []


def test_folders_that_are_not_ours_stay(parent, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / ".lock").write_text("")
    (parent / "perceptron-link").symlink_to(elsewhere)
    (parent / "perceptron-plain").mkdir()
    (parent / "perceptron-linked-lock").mkdir()
    (parent / "perceptron-linked-lock" / ".lock").symlink_to(elsewhere / ".lock")
    (parent / "other").mkdir()
    (parent / "other" / ".lock").write_text("")
    before = sorted(parent.iterdir())
    with scratch.private_folder():
        pass
    assert sorted(parent.iterdir()) == before and (elsewhere / ".lock").exists()


def test_one_within_another(parent):
    with scratch.private_folder() as outer:
        with scratch.private_folder() as inner:
            assert os.path.dirname(inner) == outer
        with scratch.private_folder() as inner:
            assert os.path.isdir(outer) and os.path.isdir(inner)
        assert tempfile.gettempdir() == outer


def test_what_is_told(parent):
    full = OSError(errno.ENOSPC, "No space left on device")
    assert scratch.told(full) is None
    with scratch.private_folder() as folder:
        sentence = f"the folder for temporary files, {parent}, cannot be written: No space left on device; make room"
        assert str(scratch.told(full)).startswith(sentence)
        copied = OSError(errno.ENOSPC, "No space left on device", "corpus.txt", None, f"{folder}/copy")
        assert str(scratch.told(copied)).startswith(sentence)
        assert scratch.told(full, "run/model") is None
        assert scratch.told(OSError(errno.ENOSPC, "", "run/model")) is None
        assert scratch.told(OSError(errno.EINVAL, "Invalid argument")) is None
        os.unlink(f"{folder}/.lock")
        os.rmdir(folder)
        assert "was removed; give the command again" in str(scratch.told(FileNotFoundError(errno.ENOENT, "", folder)))


def test_a_folder_that_cannot_be_made(monkeypatch, tmp_path):
    from perceptron_core.errors import UserError

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    problem = r"temporary files, .*none, cannot be written: No such file.*set TMPDIR"
    with pytest.raises(UserError, match=problem), scratch.private_folder():
        pass
