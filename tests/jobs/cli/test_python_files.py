"""A Python file that features need is run if the user names it, and never because a model does."""

from pathlib import Path

import pytest

COLUMNS = "columns: [word, pos, chunk]\npredict: chunk\n"

MINE = """\
open({trace!r}, "w").close()


def first(word):
    return word[:1]
"""
USING_A_MODEL = {
    "predict": ["dev.txt"],
    "evaluate": ["dev.txt"],
    "inspect": [],
    "export": ["--output", "weights.txt"],
    "report": ["--output", "report.html"],
}


@pytest.fixture
def with_python(train_task, folder, monkeypatch):
    """A run whose features need mine.py, which lies in the folder that is the current one, and in the run's."""
    mine = MINE.format(trace=str(folder / "was-run"))
    (folder / "mine.py").write_text(mine)
    run = train_task(COLUMNS + "python: mine.py\nfeatures: ['first[0]']\n")
    (run / "mine.py").write_text(mine)
    (folder / "was-run").unlink()
    monkeypatch.chdir(folder)
    return run


@pytest.mark.parametrize("command, more", USING_A_MODEL.items(), ids=USING_A_MODEL)
@pytest.mark.parametrize("named", ["mine.py", "beside the model"])
def test_no_command_runs_a_file_because_a_model_names_it(with_python, folder, perceptron, command, more, named):
    if named != "mine.py":
        (folder / "mine.py").unlink()
    done = perceptron(command, "run", *more)
    assert not (folder / "was-run").exists()
    if command == "report":  # all but the features is shown
        assert done.code == 0 and "give its path: --python FILE" in Path("report.html").read_text(encoding="utf-8")
    else:
        assert done.code == 2 and "mine.py (sha256 " in done.err and "give its path: --python FILE" in done.err


@pytest.mark.parametrize("command, more", USING_A_MODEL.items(), ids=USING_A_MODEL)
def test_the_python_file_that_the_user_names_is_run(with_python, folder, must, command, more):
    must(command, "run", *more, "--python", "mine.py")
    assert (folder / "was-run").exists()
    if command == "report":
        assert "first[0]=" in Path("report.html").read_text(encoding="utf-8")


def test_another_python_file_is_refused_and_not_run(with_python, folder, perceptron):
    (folder / "mine.py").write_text(MINE.format(trace=str(folder / "was-run")) + "# changed\n")
    changed = perceptron("predict", "run", "dev.txt", "--python", "mine.py")
    assert changed.code == 2 and "mine.py: is not the file that the features were made with" in changed.err
    missing = perceptron("predict", "run", "dev.txt", "--python", "none.py")
    assert missing.code == 2 and "none.py: there is no such file" in missing.err
    assert not (folder / "was-run").exists()
