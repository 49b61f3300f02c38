"""An experiment as its YAML file describes it: checked, and multiplied out into the cells of a grid."""

import argparse
import itertools
import math
import os
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, NoReturn, Optional

from perceptron_core.errors import InputError, shown
from perceptron_core.text_file import parse_yaml, read_text
from perceptron_jobs.experiment.cell import Axes, Cell, Corpus, as_list, without
from perceptron_jobs.experiment.makers import MAKERS
from perceptron_jobs.experiment.results import CURVES, MEASURES
from perceptron_jobs.experiment.uneven import SHUFFLED, UNEVEN
from perceptron_jobs.options.declarations import add_train
from perceptron_jobs.options.names import READY_EXPERIMENTS, READY_TASKS, find_task
from perceptron_jobs.options.spelling import as_arguments, option_names

KEYS = {
    "title": str,
    "source": str,  # the paper, and its table or figure
    "corpora": dict,  # name → task, train, dev, limit, make, full
    "seeds": list,
    "full_seeds": list,  # with --full
    "options": dict,  # of `perceptron train`, for every run
    "runs": dict,  # name → options, or lists of them, which are multiplied out
    "baseline": str,  # the run that efficiency and speed-up are measured against, drawn in every panel
    "table": dict,
    "figure": object,  # a dict, or a list of them, whose panels stand in one chart
    "papers": dict,  # name of the paper → row of the table → measure → number
}
CORPUS_KEYS = ("task", "train", "dev", "limit", "make", "full")
CURVE_AXES = ("epoch", "seconds")  # a run has many values of these, and one of any other axis

# What the grid itself decides; every other option of `perceptron train` may be given in a run.
DATA_OPTIONS = {"train", "prepared", "dev", "run_dir", "init_model", "seed"}
NUMBERS = {"shards", "threads", "minibatch", "processors"}  # are reckoned with
MOST_CELLS = 10_000
OF_THE_GRID = ("corpus", "deal", "processors")
RUNNER_OPTIONS = {"runner", "property", "conf", "cluster_id", "reducers", "quiet"}
NOT_IN_RUNS = DATA_OPTIONS | RUNNER_OPTIONS | {"average"}  # a run shows both, its last and its averaged weights


class Experiment(NamedTuple):
    name: str
    path: str
    content: dict[str, Any]
    cells: list[Cell]


def read_experiment(path: str, data: Optional[str], full: bool) -> Experiment:
    """The experiment, with its corpora below `data`; `full` lifts the limits and takes more seeds."""
    content = _load(path)
    reader = _Reader(path, content)
    reader.check()
    seeds = (full and content.get("full_seeds")) or content.get("seeds") or [1]
    cells = reader.cells(reader.corpora(data, full), seeds)
    reader.check_views(cells)
    return Experiment(os.path.splitext(os.path.basename(path))[0], path, content, cells)


def _load(path: str) -> dict[str, Any]:
    try:
        text = read_text(path)
    except InputError as error:
        ready = ", ".join(READY_EXPERIMENTS)
        raise InputError(f"{error.problem}; give a file, or a ready one: {ready}", path) from error
    content = parse_yaml(text, path)
    if not isinstance(content, dict):
        raise InputError(f"is not an experiment; it needs {', '.join(KEYS)}", path)
    return content


def names_of_row(row: tuple) -> list[str]:
    """The names of a row of the table: its first value, its first two values, …"""
    return [", ".join(map(str, row[: count + 1])) for count in range(len(row))]


class _TrainingOptions(argparse.ArgumentParser):
    """The options of `perceptron train`; a wrong one is told to `refuse`."""

    def __init__(self, refuse: Callable[[str], NoReturn]) -> None:
        super().__init__()
        self.refuse = refuse
        add_train(self)

    def error(self, message: str) -> NoReturn:
        self.refuse(message)


class _Reader:
    def __init__(self, path: str, content: dict[str, Any]) -> None:
        self.path, self.content = path, content

    def refuse(self, problem: str) -> NoReturn:
        raise InputError(problem, self.path)

    def known(self, where: str, given: Sequence[str], known: Sequence[str]) -> None:
        for name in given:
            if name not in known:
                self.refuse(f"{where}: `{name}` is not known; there are {', '.join(known)}")

    def mapping(self, where: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.refuse(f"{where}: must be names with their values, not {value!r}")
        return value

    def check(self) -> None:
        self.known("the experiment", list(self.content), list(KEYS))
        for name, value in self.content.items():
            if not isinstance(value, KEYS[name]):
                self.refuse(f"`{name}` must be a {KEYS[name].__name__}, not {value!r}")
        for name in ("title", "corpora", "runs"):
            if not self.content.get(name):
                self.refuse(f"`{name}` is missing")
        for name in ("corpora", "runs"):
            for inner, value in self.content[name].items():
                self.mapping(f"{name}: {inner}", value)
        if "baseline" in self.content:
            self.known("baseline", [self.content["baseline"]], list(self.content["runs"]))

    def corpora(self, data: Optional[str], full: bool) -> dict[str, Corpus]:
        """The corpora by their name in the file; those with `full: true` only if `full`."""
        found = {}
        for name, given in self.content["corpora"].items():
            self.known(f"corpora: {name}", list(given), CORPUS_KEYS)
            for key in ("task", "train", "dev"):
                if key not in given:
                    self.refuse(f"corpora: {name}: `{key}` is missing")
                names = [given[key]] if key == "task" else as_list(given[key])
                if not all(isinstance(path, str) for path in names):
                    self.refuse(f"corpora: {name}: `{key}` must be a name, not {given[key]!r}")
            limit = None if full else given.get("limit")
            if not isinstance(limit, (int, type(None))) or limit == 0:
                self.refuse(f"corpora: {name}: `limit` must be a number of sentences, not {limit!r}")
            task = given["task"] if given["task"] in READY_TASKS else self._beside(given["task"])
            train, dev = (
                tuple(os.path.join(data or "", path) for path in as_list(given[key])) for key in ("train", "dev")
            )
            self.known(f"corpora: {name}: make", [given["make"]] if "make" in given else [], list(MAKERS))
            if given.get("full", False) not in (True, False):
                self.refuse(f"corpora: {name}: `full` must be true or false, not {given['full']!r}")
            if given.get("full") and not full:
                continue
            full_name = f"{name}-{limit}" if limit else name
            found[name] = Corpus(full_name, find_task(task), train, dev, limit, given.get("make"))
        return found

    def _beside(self, path: str) -> str:
        return os.path.join(os.path.dirname(self.path), path)

    def cells(self, corpora: dict[str, Corpus], seeds: Sequence[int]) -> list[Cell]:
        parser = _TrainingOptions(self.refuse)
        allowed = sorted({*OF_THE_GRID, *option_names(parser)} - NOT_IN_RUNS)
        cells: list[Cell] = []
        for group, given in self.content["runs"].items():
            given = {
                name.replace("-", "_"): value for name, value in {**self.content.get("options", {}), **given}.items()
            }
            self.known(f"runs: {group}", list(given), allowed)
            lists = {"corpus": list(corpora), "deal": SHUFFLED, "shards": 1, **given}
            self.known(f"runs: {group}: corpus", as_list(lists["corpus"]), list(self.content["corpora"]))
            lists["corpus"] = [name for name in as_list(lists["corpus"]) if name in corpora]
            self.known(f"runs: {group}: deal", as_list(lists["deal"]), [SHUFFLED, *UNEVEN])
            axes = [*map(as_list, lists.values()), seeds]
            if len(cells) + math.prod(map(len, axes)) > MOST_CELLS:
                self.refuse(f"runs: {group}: there are more than {MOST_CELLS:,} trainings; leave out some values")
            for values in itertools.product(*axes):
                options = dict(zip([*lists, "seed"], values))
                for name in NUMBERS & set(options):
                    if type(options[name]) is not int:
                        self.refuse(f"runs: {group}: `{name}` must be a whole number, not {shown(options[name])}")
                parser.parse_args(["task", *as_arguments(without(options, *OF_THE_GRID))])
                cells.append(self._cell(group, options, corpora))
        return cells

    def _cell(self, group: str, options: Axes, corpora: dict[str, Corpus]) -> Cell:
        corpus, deal = corpora[options["corpus"]], options["deal"]
        try:
            hyphened = {name.replace("_", "-"): value for name, value in options.items()}
            run = group.format(**{**options, **hyphened, "corpus": corpus.name})
        except (KeyError, IndexError, ValueError) as error:
            self.refuse(f"runs: {group}: what stands in braces must be an option of the run ({error} is not)")
        processors, one_process = options.get("processors"), options["shards"] * options.get("threads", 1) == 1
        if processors and not (one_process and options.get("minibatch", 1) > 1):
            self.refuse(f"runs: {group}: `processors` decode a minibatch; give `minibatch`, without shards and threads")
        return Cell(run, group, corpus, deal, without(options, *OF_THE_GRID), processors)

    def check_views(self, cells: Sequence[Cell]) -> None:
        """Refuse a table or a figure that shows something unknown."""
        axes = sorted({name for cell in cells for name in cell.axes} - {"seed"})
        table = self.content.get("table", {})
        self.known("table", list(table), ("rows", "columns", "values"))
        if table:
            self.known("table: rows", as_list(table.get("rows")), axes)
            self.known("table: columns", [table["columns"]] if "columns" in table else [], axes)
            self.known("table: values", as_list(table.get("values")), list(MEASURES))
            self.check_places(table, cells)
        for figure in as_list(self.content.get("figure", [])):
            self.check_figure(self.mapping("figure", figure), cells, axes)
        row_names = (
            list(dict.fromkeys(name for cell in cells for name in names_of_row(cell.place(table)[0]))) if table else []
        )
        for paper, rows in self.content.get("papers", {}).items():
            self.known(f"papers: {paper}", list(self.mapping(f"papers: {paper}", rows)), row_names)
            for row, numbers in rows.items():
                where = f"papers: {paper}: {row}"
                self.known(where, list(self.mapping(where, numbers)), as_list(table.get("values")))

    def check_figure(self, figure: dict[str, Any], cells: Sequence[Cell], axes: Sequence[str]) -> None:
        self.known("figure", list(figure), ("x", "y", "panels", "lines", "only"))
        numeric = [name for name in axes if all(_is_number(cell.axes.get(name, 0)) for cell in cells)]
        measures = [name for name in MEASURES if name not in axes]
        self.known("figure: x", [figure.get("x", "")], [*CURVE_AXES, *numeric, *measures])
        self.known("figure: y", as_list(figure.get("y")), list(CURVES if figure["x"] in CURVE_AXES else MEASURES))
        for name in ("panels", "lines"):
            self.known(f"figure: {name}", [figure[name]] if name in figure else [], axes)
        self.known("figure: only", list(self.mapping("figure: only", figure.get("only", {}))), axes)

    def check_places(self, table: dict[str, Any], cells: Sequence[Cell]) -> None:
        """Refuse a table whose means would be over more than seeds."""
        first: dict[tuple, Cell] = {}
        for cell in cells:
            axes, others = cell.axes, first.setdefault(cell.place(table), cell).axes
            different = [name for name in {**axes, **others} if axes.get(name) != others.get(name) and name != "seed"]
            if different:  # shards and threads make the number of processors
                names = ", ".join([name for name in different if name != "processors"] or different)
                self.refuse(f"table: runs that differ in {names} share a place; add the option to `rows` or `columns`")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
