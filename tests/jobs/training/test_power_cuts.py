"""The power fails while a run is trained: what was told to the user is there afterwards, and the run goes on."""

import shutil
import sys
from pathlib import Path

import pytest
from power import Disk, File, Folder, State, restore

from perceptron_core.errors import UserError
from perceptron_jobs.cli.terminal import Terminal
from perceptron_jobs.corpora.prepared import check_intact, read_prepared
from perceptron_jobs.training.run_dir import RunDir, fetch_model
from perceptron_jobs.training.whole import damage
from runs import deciding

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="which file an fsync is for is read from /proc")

RESUMED = 90  # of all different states; each takes a training


class Recorded:
    """All states that a power cut could leave behind, and for each the last epoch that the user had been told of."""

    def __init__(self) -> None:
        self.told = 0
        self.states: dict[tuple, tuple[State, int]] = {}

    def look(self, states) -> None:
        for state in states:
            key = tuple(sorted(state.items()))
            self.states[key] = (state, max(self.told, self.states.get(key, (state, 0))[1]))


@pytest.fixture
def record(corpus, tmp_path, train):
    def run(patch: pytest.MonkeyPatch, deaf_to: tuple[type, ...] = ()) -> Recorded:
        recorded, folder = Recorded(), tmp_path / "disk"
        folder.mkdir()
        tell = Terminal.epoch

        def told(terminal, entry) -> None:
            tell(terminal, entry)
            recorded.told = entry.epoch

        patch.setattr(Terminal, "epoch", told)
        disk = Disk(folder, recorded.look, deaf_to)
        disk.watch(patch)
        options = ("--shards", 2, "--mixing", "uniform", "--rounds", 2, "--stop-threshold", 0, "--epochs", 3)
        train(folder / "run", *options, "--dev", corpus / "dev.txt")
        recorded.told = 4  # the run has ended: its model is there
        disk.moment()
        patch.undo()
        return recorded

    return run


def problems(folder: Path, told: int) -> list[str]:
    """What is wrong with a run after a power cut, if the user had been told of so many epochs."""
    if not (folder / "run").is_dir():
        return ["the run directory is lost"] if told else []
    run = RunDir(str(folder / "run"))
    found = [str(damage(run, epoch)) for epoch in run.epochs() if damage(run, epoch)]
    if told and (max(run.epochs(), default=0) < min(told, 3) or run.config() is None):
        found.append(f"epoch {told} is lost")
    if run.epochs() and max(run.epochs()) and run.chosen_epoch() not in run.epochs():
        found.append("the best epoch is lost")
    if (folder / "run" / "prepared").is_dir():
        check_intact(read_prepared(run.file("prepared")))
    if (folder / "run" / "model").exists() or told == 4:
        fetch_model(run.file("model"))
    return found


def test_nothing_that_was_told_is_lost(record, corpus, train, contents, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        recorded = record(patch)
    expected = deciding(contents(tmp_path / "disk" / "run"))
    states = list(recorded.states.values())
    assert len(states) > 150 and {told for _, told in states} == {0, 1, 2, 3, 4}
    for number, (state, told) in enumerate(states):
        folder = tmp_path / "after"
        folder.mkdir()
        restore(state, folder)
        assert problems(folder, told) == [], f"after a cut that left {sorted(state)}"
        if number % (len(states) // RESUMED) == 0:
            options = ("--shards", 2, "--mixing", "uniform", "--rounds", 2, "--stop-threshold", 0, "--epochs", 3)
            train(folder / "run", *options, "--dev", corpus / "dev.txt")
            assert deciding(contents(folder / "run")) == expected, f"after a cut that left {sorted(state)}"
            assert [entry.epoch for entry in RunDir(str(folder / "run")).written_history()] == [1, 2, 3]
        shutil.rmtree(folder)


@pytest.mark.parametrize("deaf_to", [File, Folder])
def test_without_fsync_something_is_lost(deaf_to, record, tmp_path, monkeypatch):
    """The test above can fail."""
    with monkeypatch.context() as patch:
        recorded = record(patch, (deaf_to,))
    lost = 0
    for state, told in list(recorded.states.values())[::10]:
        restore(state, tmp_path / "after")
        try:
            lost += bool(problems(tmp_path / "after", told))
        except UserError:
            lost += 1
        shutil.rmtree(tmp_path / "after", ignore_errors=True)
    assert lost > 10
