"""What every benchmark works with: the corpora, the rivals, a folder to write in, and measuring in turns."""

import json
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, Optional

from arithmetic import Goal, paired_ratios, spread
from attribute_strings import write_features
from measure import Measurement, measure
from problems import Failed, Missing
from results import Row
from rivals import RIVALS, Rival

from perceptron_core.task_file import read_task

HERE = Path(__file__).resolve().parent
CONFIGS = HERE.parent.parent / "configs"
PERCEPTRON = Path(sys.prefix) / "bin" / "perceptron"

Side = Callable[[int], Measurement]  # measures once; gets the number of the turn, from 0


class Bench:
    def __init__(
        self, data: Path, scratch: Path, repeats: int, rivals: Mapping[str, Rival] = RIVALS, full: bool = False
    ) -> None:
        self.data, self.scratch, self.repeats, self.rivals, self.full = data, scratch, repeats, rivals, full
        self.versions: dict[str, str] = {}
        self.absent: dict[str, str] = {}  # rival → why it is not there
        self.failures: list[str] = []
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self._began:6.0f} s] {text}", flush=True)

    def corpus(self, name: str) -> Path:
        path = self.data / name
        if not path.is_file():
            raise Missing(f"there is no corpus {path}; say with --data or PERCEPTRON_DATA where the corpora are")
        return path

    def has(self, rival: str) -> bool:
        """Whether the rival is there; it is installed if it is not."""
        if rival not in self.versions and rival not in self.absent:
            try:
                self.say(f"looking for {rival}")
                self.versions[rival] = self.rivals[rival].install()
            except Missing as error:
                self.absent[rival] = str(error)
                self.say(f"{rival} is missing: {error}")
        return rival in self.versions

    # ------------------------------------------------------------ commands

    def process(self, name: str, *arguments: object) -> Measurement:
        """Measure one of the processes in this folder."""
        return measure([sys.executable, HERE / f"{name}.py", *arguments])

    def perceptron(self, *arguments: object) -> Measurement:
        return measure([PERCEPTRON, *arguments])

    def train(self, task: Path, run: Path, epochs: int, *options: object) -> Measurement:
        """`perceptron train` from the beginning, for exactly this number of epochs."""
        shutil.rmtree(run, ignore_errors=True)
        taken = self.perceptron(
            "train", task, "--run-dir", run, "--epochs", epochs, "--stop-threshold", 0, "--quiet", *options
        )
        trained = len(history(run))
        if trained != epochs:
            raise Failed(f"the training stopped after {trained} of {epochs} epochs, so it cannot be compared")
        return taken

    def score(self, tagged: Path) -> float:
        """Of a tagged file whose last columns are gold and guess: F1 of chunks, or the accuracy of other labels."""
        scores = json.loads(self.perceptron("evaluate", "--predicted", tagged, "--json").output)
        return scores["f1"] if "f1" in scores else scores["accuracy"]

    def scores(self, gold: Path, parsed: Path) -> dict[str, Any]:
        """What `evaluate` says of parsed trees."""
        return json.loads(self.perceptron("evaluate", gold, parsed, "--json").output)

    def features(self, task: Path) -> Path:
        """The task's features, for rivals."""
        path = self.scratch / f"{task.stem}.features.json"
        write_features(read_task(str(task)).record, path)
        return path

    # ------------------------------------------------------------ measuring and comparing

    def alternate(self, sides: Mapping[str, Side]) -> dict[str, list[Measurement]]:
        """All sides in turns, `repeats` times; a rival that is missing or fails is left out and noted in `absent`."""
        taken: dict[str, list[Measurement]] = {name: [] for name in sides if name not in self.rivals or self.has(name)}
        for turn in range(self.repeats):
            for name in list(taken):
                try:
                    one = sides[name](turn)
                except Failed as error:
                    if name not in self.rivals:
                        raise
                    self.absent[name] = f"it failed, {error}"
                    self.say(f"{name}: {error}\n{error.words}")
                    del taken[name]
                    continue
                taken[name].append(one)
                times = f"{one.seconds:.2f} s ({one.processor:.2f} of the processor)"
                self.say(f"{turn + 1}/{self.repeats} {name}: {times}, {one.peak / 2**20:.0f} MB")
        return taken

    def compare(
        self,
        row: Row,
        goal: Optional[Goal],
        ours: Sequence[Measurement],
        theirs: Optional[Sequence[Measurement]],
        value: Callable[[Measurement], float] = lambda one: one.seconds,
    ) -> Row:
        """The row with what was measured: how many times less than theirs ours is; for a goal of the form `at most`,
        what part of theirs it is."""
        our_values = [value(one) for one in ours]
        row = row._replace(
            goal=goal.text() if goal else "–", ours=spread(our_values), memory=(peak(ours), row.memory[1])
        )
        if not theirs:
            return row._replace(instead=f"missing: {self.absent[row.rival]}")
        their_values = [value(one) for one in theirs]
        at_most = goal is not None and goal.at_most is not None
        above, below = (our_values, their_values) if at_most else (their_values, our_values)
        ratio = paired_ratios(above, below)
        met = goal.met(ratio.median) if goal else None
        return row._replace(theirs=spread(their_values), ratio=ratio, met=met, memory=(peak(ours), peak(theirs)))


def history(run: Path) -> list[dict[str, Any]]:
    """What a run's history.jsonl says of each epoch."""
    return [json.loads(line) for line in (run / "history.jsonl").read_text(encoding="utf-8").splitlines()]


def peak(taken: Sequence[Measurement]) -> float:
    return spread([one.peak for one in taken]).median


def report(one: Measurement) -> dict[str, Any]:
    """What a process of ours said in its last line."""
    return json.loads(one.output.splitlines()[-1])


def raw(taken: Mapping[str, Sequence[Measurement]]) -> dict[str, object]:
    return {name: [_plain(one) for one in ones] for name, ones in taken.items()}


def _plain(one: Measurement) -> dict[str, float]:
    return {"seconds": one.seconds, "processor": one.processor, "peak": one.peak}
