"""An experiment as its YAML file describes it, checked, and multiplied out into the cells of a grid."""

import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, Optional

import yaml

from jobs.cli.main import find_task
from jobs.cli.options import READY_EXPERIMENTS, READY_TASKS, as_arguments, make_parsers, option_names
from jobs.experiment.deals import DEALS, SHUFFLED
from jobs.experiment.results import CURVES, MEASURES
from perceptron_core.errors import InputError

KEYS = {
    "title": str,
    "source": str,  # the paper, and its table or figure
    "corpora": dict,  # name → task, train, dev, limit
    "seeds": list,
    "full_seeds": list,  # with --full
    "options": dict,  # of `perceptron train`, for every run
    "runs": dict,  # name → options, or lists of them, which are multiplied out
    "baseline": str,  # the run that efficiency and speed-up are measured against, drawn in every panel
    "table": dict,
    "figure": dict,
    "papers": dict,  # name of the paper → row of the table → measure → number
}
CORPUS_KEYS = ("task", "train", "dev", "limit")
X_AXES = ("epoch", "seconds", "shards")

# What the grid itself sees to; every other option of `perceptron train` may be given in a run.
DATA_OPTIONS = {"train", "prepared", "dev", "run_dir", "init_model", "seed"}
RUNNER_OPTIONS = {"runner", "property", "conf", "cluster_id", "reducers", "quiet"}
NOT_IN_RUNS = DATA_OPTIONS | RUNNER_OPTIONS | {"average"}  # a run shows both, its last and its averaged weights

Axes = dict[str, Any]


class Corpus(NamedTuple):
    name: str  # with the limit in it: a part of a corpus is another corpus
    task: str
    train: tuple[str, ...]
    dev: tuple[str, ...]
    limit: Optional[int]  # sentences


class Cell(NamedTuple):
    """One training."""

    run: str  # its name in tables and figures
    group: str  # its name in the file, with {option} in it
    corpus: Corpus
    deal: str
    options: Axes  # of `perceptron train`, shards and seed among them

    @property
    def axes(self) -> Axes:
        """All by which a table's row or a figure's panel may be chosen."""
        return {"run": self.run, "corpus": self.corpus.name, "deal": self.deal, **self.options}

    def place(self, table: dict[str, Any]) -> tuple[tuple, Any]:
        """Its row and column in a table."""
        return tuple(self.axes.get(name) for name in as_list(table["rows"])), self.axes.get(table.get("columns"))

    @property
    def prepared_name(self) -> str:
        """Of the prepared corpus, which all cells share that differ only in how they learn and mix."""
        return "_".join([*self._dealt(), *_spelt(self.options, "shards", "seed")])

    @property
    def name(self) -> str:
        """Of its run directory: all that it is asked for, so that another request is another run."""
        learning = sorted(set(self.asked) - {"shards", "seed"})
        return "_".join([*self._dealt(), *_spelt(self.options, "shards", *learning, "seed")])

    @property
    def asked(self) -> Axes:
        """The options that matter: one shard alone has nothing to mix, so all strategies share that run."""
        return _without(self.options, "mixing") if self.options["shards"] == 1 else self.options

    def _dealt(self) -> list[str]:
        return [self.corpus.name, *([] if self.deal == SHUFFLED else [self.deal])]


class Experiment(NamedTuple):
    name: str
    path: str
    content: dict[str, Any]
    cells: list[Cell]


def _spelt(options: Axes, *names: str) -> Iterator[str]:
    for name in names:
        flag, value = name.replace("_", "-"), options[name]
        if isinstance(value, bool):
            yield flag if value else f"no-{flag}"
        else:
            yield f"{flag}-{value}"


def find_experiment(name: str) -> str:
    """The path of an experiment's file, or of the ready one with this name."""
    if name not in READY_EXPERIMENTS or os.path.exists(name):
        return name
    return os.path.join(os.path.dirname(find_task(READY_TASKS[0])), "experiments", f"{name}.yaml")


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
        with open(path, encoding="utf-8") as file:
            content = yaml.safe_load(file)
    except OSError as error:
        ready = ", ".join(READY_EXPERIMENTS)
        raise InputError(f"cannot be read: {error.strerror}; give a file, or a ready one: {ready}", path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"is no YAML: {' '.join(str(error).split())}", path) from error
    if not isinstance(content, dict):
        raise InputError(f"holds no experiment; it needs {', '.join(KEYS)}", path)
    return content


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


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
            self.refuse(f"{where}: names with their values are wanted, not {value!r}")
        return value

    def check(self) -> None:
        self.known("the experiment", list(self.content), list(KEYS))
        for name, value in self.content.items():
            if not isinstance(value, KEYS[name]):
                self.refuse(f"`{name}` has to be a {KEYS[name].__name__}, not {value!r}")
        for name in ("title", "corpora", "runs"):
            if not self.content.get(name):
                self.refuse(f"`{name}` is missing")
        for name in ("corpora", "runs"):
            for inner, value in self.content[name].items():
                self.mapping(f"{name}: {inner}", value)
        if "baseline" in self.content:
            self.known("baseline", [self.content["baseline"]], list(self.content["runs"]))

    def corpora(self, data: Optional[str], full: bool) -> dict[str, Corpus]:
        """The corpora by their name in the file."""
        found = {}
        for name, given in self.content["corpora"].items():
            self.known(f"corpora: {name}", list(given), CORPUS_KEYS)
            for key in ("task", "train", "dev"):
                if key not in given:
                    self.refuse(f"corpora: {name}: `{key}` is missing")
                if not all(isinstance(path, str) for path in as_list(given[key])):
                    self.refuse(f"corpora: {name}: `{key}` has to be a name, not {given[key]!r}")
            limit = None if full else given.get("limit")
            if not isinstance(limit, (int, type(None))) or limit == 0:
                self.refuse(f"corpora: {name}: `limit` has to be a number of sentences, not {limit!r}")
            task = given["task"] if given["task"] in READY_TASKS else self._beside(given["task"])
            train, dev = (
                tuple(os.path.join(data or "", path) for path in as_list(given[key])) for key in ("train", "dev")
            )
            found[name] = Corpus(f"{name}-{limit}" if limit else name, find_task(task), train, dev, limit)
        return found

    def _beside(self, path: str) -> str:
        return os.path.join(os.path.dirname(self.path), path)

    def cells(self, corpora: dict[str, Corpus], seeds: Sequence[int]) -> list[Cell]:
        parser = make_parsers().commands["train"]
        parser.error = self.refuse  # type: ignore[method-assign]
        allowed = sorted({"corpus", "deal"} | (option_names("train") - NOT_IN_RUNS))
        cells = []
        for group, given in self.content["runs"].items():
            given = {
                name.replace("-", "_"): value for name, value in {**self.content.get("options", {}), **given}.items()
            }
            self.known(f"runs: {group}", list(given), allowed)
            lists = {"corpus": list(corpora), "deal": SHUFFLED, "shards": 1, **given}
            self.known(f"runs: {group}: corpus", as_list(lists["corpus"]), list(corpora))
            self.known(f"runs: {group}: deal", as_list(lists["deal"]), [SHUFFLED, *DEALS])
            for values in itertools.product(*map(as_list, lists.values()), seeds):
                options = dict(zip([*lists, "seed"], values))
                parser.parse_args(["task", *as_arguments(_without(options, "corpus", "deal"))])
                cells.append(self._cell(group, options, corpora))
        return cells

    def _cell(self, group: str, options: Axes, corpora: dict[str, Corpus]) -> Cell:
        corpus, deal = corpora[options["corpus"]], options["deal"]
        try:
            run = group.format(**{**options, "corpus": corpus.name})
        except (KeyError, IndexError, ValueError) as error:
            self.refuse(f"runs: {group}: what stands in braces has to be an option of the run ({error} is none)")
        return Cell(run, group, corpus, deal, _without(options, "corpus", "deal"))

    def check_views(self, cells: Sequence[Cell]) -> None:
        """Refuse a table or a figure of something that is not there."""
        axes = sorted({name for cell in cells for name in cell.axes} - {"seed"})
        table, figure = self.content.get("table", {}), self.content.get("figure", {})
        self.known("table", list(table), ("rows", "columns", "values"))
        self.known("figure", list(figure), ("x", "y", "panels"))
        if table:
            self.known("table: rows", as_list(table.get("rows")), axes)
            self.known("table: columns", [table["columns"]] if "columns" in table else [], axes)
            self.known("table: values", as_list(table.get("values")), list(MEASURES))
            self.check_places(table, cells)
        if figure:
            self.known("figure: x", [figure.get("x")], X_AXES)
            self.known("figure: y", as_list(figure.get("y")), list(MEASURES if figure["x"] == "shards" else CURVES))
            self.known("figure: panels", [figure["panels"]] if "panels" in figure else [], axes)
        row_names = sorted({str(cell.axes.get(as_list(table.get("rows"))[0])) for cell in cells})
        for paper, rows in self.content.get("papers", {}).items():
            self.known(f"papers: {paper}", list(self.mapping(f"papers: {paper}", rows)), row_names)
            for row, numbers in rows.items():
                where = f"papers: {paper}: {row}"
                self.known(where, list(self.mapping(where, numbers)), as_list(table.get("values")))

    def check_places(self, table: dict[str, Any], cells: Sequence[Cell]) -> None:
        """Refuse a table that would take the mean over more than seeds."""
        first: dict[tuple, Cell] = {}
        for cell in cells:
            axes, others = cell.axes, first.setdefault(cell.place(table), cell).axes
            different = [name for name in {**axes, **others} if axes.get(name) != others.get(name) and name != "seed"]
            if different:
                names = ", ".join(different)
                self.refuse(f"table: runs that differ in {names} share a place; name it in `rows` or `columns`")


def _without(options: Axes, *names: str) -> Axes:
    return {name: value for name, value in options.items() if name not in names}
