"""All of an experiment, in order: its corpora, its trainings, its table and its figure."""

import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from perceptron_core.atomic import written_atomically
from perceptron_core.schema import read_json
from perceptron_core.task import Task
from perceptron_core.task_file import read_task
from perceptron_jobs.experiment.cell import Cell, Corpus
from perceptron_jobs.experiment.clock import CAPTION, inputs, seconds_until
from perceptron_jobs.experiment.corpora import check_prepared, make, prepare_unevenly, training_files
from perceptron_jobs.experiment.decoding import measure
from perceptron_jobs.experiment.definition import Experiment
from perceptron_jobs.experiment.figure import draw
from perceptron_jobs.experiment.grid import Command, run_commands
from perceptron_jobs.experiment.png import write_png
from perceptron_jobs.experiment.results import Result
from perceptron_jobs.experiment.tables import as_csv, as_markdown, entries
from perceptron_jobs.experiment.team import DECODING_FILE, Decoding, make_team
from perceptron_jobs.experiment.uneven import UNEVEN
from perceptron_jobs.options.spelling import as_arguments
from perceptron_jobs.training.plan import Listener
from perceptron_jobs.training.run_dir import RunDir

DECODING = "decoding"  # the folder of the sentences' times


class Surroundings(NamedTuple):
    """Where and how the trainings run."""

    output: str
    jobs: int  # at a time
    runner: list[str]  # arguments of every `perceptron prepare` and `perceptron train`


def run_experiment(experiment: Experiment, where: Surroundings, listener: Listener) -> list[str]:
    """Train what is not trained yet; returns the names of the files that show the results."""
    return _Run(experiment, where, listener).all()


class _Run:
    def __init__(self, experiment: Experiment, where: Surroundings, listener: Listener) -> None:
        self.experiment, self.where, self.listener = experiment, where, listener
        self.cells: list[Cell] = list({cell.name: cell for cell in experiment.cells}.values())  # each run once
        self.simulated = {cell.name for cell in experiment.cells if cell.processors}
        self.dev: dict[Corpus, tuple[str, ...]] = {}
        self.tasks: dict[Corpus, Task] = {cell.corpus: read_task(cell.corpus.task) for cell in self.cells}

    def path(self, *names: str) -> str:
        return os.path.join(self.where.output, *names)

    def run_dir(self, cell: Cell) -> str:
        return self.path("runs", cell.name)

    def prepared(self, cell: Cell) -> str:
        return self.path("prepared", cell.prepared_name)

    def decoding(self, cell: Cell) -> str:
        return self.path(DECODING, f"{cell.name}.json")

    def all(self) -> list[str]:
        for folder in ("corpora", "prepared", "runs"):
            os.makedirs(self.path(folder), exist_ok=True)
        made = {corpus: make(corpus, self.path("corpora")) for corpus in self.tasks}
        self.dev = {corpus: made[corpus].dev for corpus in self.tasks}
        files = {
            corpus: training_files(made[corpus], task, self.path("corpora")) for corpus, task in self.tasks.items()
        }
        self._prepare(files)
        self._train()
        self._measure()
        return self._show([self._result(cell) for cell in self.experiment.cells])

    def _prepare(self, files: dict[Corpus, list[str]]) -> None:
        """Make the prepared corpora that are missing, each once for all cells that share it."""
        commands: dict[str, Command] = {}
        for cell in {cell.prepared_name: cell for cell in self.cells}.values():
            folder, task, train = self.prepared(cell), self.tasks[cell.corpus], files[cell.corpus]
            if os.path.exists(folder):
                check_prepared(folder, cell, task, train)
            elif cell.deal in UNEVEN:
                prepare_unevenly(cell, task, train, folder)
            else:
                dealing = as_arguments({name: cell.options[name] for name in cell.preparing})
                command = ["prepare", cell.corpus.task, "--train", *train, "--output", folder, *dealing, "--quiet"]
                commands[cell.prepared_name] = [*command, *self.where.runner]
        if commands:
            self.listener.note(f"preparing {_counted(len(commands), 'corpus', 'corpora')}")
        run_commands(commands, self.where.jobs, self.path("logs"), lambda name, seconds: None)

    def _train(self) -> None:
        waiting = {cell.name: cell for cell in self.cells if not self._is_done(cell)}
        done, count = len(self.cells) - len(waiting), len(self.cells)
        self.listener.note(
            f"{_counted(count, 'training', 'trainings')}, {done} done already; {self.where.jobs} at a time"
        )

        def ended(name: str, seconds: float) -> None:
            nonlocal done
            done += 1
            last = RunDir(self.run_dir(waiting[name])).written_history()[-1]
            dev = f", dev {last.dev.name} {100 * (last.dev.score or 0):.2f}" if last.dev else ""
            epochs = _counted(last.epoch, "epoch", "epochs")
            self.listener.note(f"[{done:{len(str(count))}}/{count}] {name}: {epochs}{dev}, {seconds:.1f} s")

        commands = {name: self._command(cell) for name, cell in waiting.items()}
        run_commands(commands, self.where.jobs, self.path("logs"), ended)

    def _measure(self) -> None:
        """Time the decoding for simulated processors, now that nothing else runs."""
        os.makedirs(self.path(DECODING), exist_ok=True)
        for cell in self.cells:
            if cell.name in self.simulated and not os.path.exists(self.decoding(cell)):
                self.listener.note(f"timing the decoding of {cell.name}")
                measured = measure(self.tasks[cell.corpus], self.run_dir(cell), self.prepared(cell))
                with written_atomically(self.decoding(cell)) as file:
                    file.write(json.dumps(measured._asdict()).encode())

    def _result(self, cell: Cell) -> Result:
        team = None
        if cell.processors:
            with open(self.decoding(cell), "rb") as file:
                record = read_json(file.read(), DECODING_FILE, self.decoding(cell), "remove it: it is made again")
            decoding = Decoding(**record)
            team = make_team(decoding, cell.options["minibatch"], cell.processors)
        return Result(cell, RunDir(self.run_dir(cell)).written_history(), self.run_dir(cell), team)

    def _command(self, cell: Cell) -> Command:
        command = ["train", cell.corpus.task, "--prepared", self.prepared(cell), "--dev", *self.dev[cell.corpus]]
        return [*command, "--run-dir", self.run_dir(cell), *as_arguments(cell.asked), "--quiet", *self.where.runner]

    def _is_done(self, cell: Cell) -> bool:
        """Whether it has ended, with the task as it is now; if the task is different, `perceptron train` says so."""
        run = RunDir(self.run_dir(cell))
        config = run.config() if os.path.exists(run.file("model")) else None
        if config is None:
            return False
        task = self.tasks[cell.corpus].for_decoder(config.settings["decoder"])
        return config.task == json.loads(json.dumps(task.portable()))

    def _show(self, results: Sequence[Result]) -> list[str]:
        content, name = self.experiment.content, self.experiment.name
        text = [f"# {content['title']}\n", *([f"Source: {content['source']}.\n"] if "source" in content else [])]
        written = [self._write("json", json.dumps(_simulation(results), indent=1) + "\n")]
        if "table" in content:
            found = entries(self.experiment, results)
            scores = {result.score_name for result in results}
            text.append(as_markdown(self.experiment, found, scores.pop() if len(scores) == 1 else "score"))
            written.append(self._write("csv", as_csv(self.experiment, found)))
        if "figure" in content:
            chart = draw(self.experiment, results)
            svg = self._write("svg", chart.svg())
            written.append(svg)
            png = self.path(f"{name}.png")
            problem = write_png(svg, chart.size(), png)
            if problem:
                self.listener.note(problem)
            else:
                written.append(png)
            text.append(f"![{content['title']}]({name}.svg)\n\n{chart.caption}\n")
        return [self._write("md", "\n".join(text)), *written]

    def _write(self, ending: str, text: str) -> str:
        path = self.path(f"{self.experiment.name}.{ending}")
        with written_atomically(path) as file:
            file.write(text.encode())
        return path


def _simulation(results: Sequence[Result]) -> dict[str, Any]:
    """What the clock was computed from, and its result; the times of single sentences are in separate files."""
    runs: dict[str, Any] = {}
    for result in results:
        history, cell = result.history, result.cell
        run = runs.setdefault(cell.name, {"epochs": inputs(history), "seconds": _rounded(seconds_until(history))})
        if result.team:
            run.setdefault("decoding", f"{DECODING}/{cell.name}.json")
            teams = run.setdefault("processors", {})
            teams[cell.processors] = {**result.team._asdict(), "seconds": _rounded(result.seconds_until())}
    return {"clock": CAPTION, "runs": runs}


def _rounded(seconds: Sequence[float]) -> list[float]:
    return [round(each, 3) for each in seconds]


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
