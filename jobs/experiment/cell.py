"""One training of a grid: what it is asked for, its name, and its place in tables."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from perceptron_jobs.experiment.uneven import SHUFFLED

Axes = dict[str, Any]


class Corpus(NamedTuple):
    name: str  # with the limit in it, since a part of a corpus is another corpus
    task: str
    train: tuple[str, ...]
    dev: tuple[str, ...]
    limit: Optional[int]  # sentences
    make: Optional[str] = None  # what is made from the files, if they are not used as they are


class Cell(NamedTuple):
    """One training."""

    run: str  # its name in tables and figures
    group: str  # its name in the file, with {option} in it
    corpus: Corpus
    deal: str
    options: Axes  # of `perceptron train`, shards and seed among them
    processors: Optional[int] = None  # of a simulated team that decodes the run's minibatches

    @property
    def axes(self) -> Axes:
        """Everything by which a table's row or a figure's panel may be chosen."""
        processors = self.processors or self.options["shards"] * self.options.get("threads", 1)
        own = {"run": self.run, "corpus": self.corpus.name, "deal": self.deal, "processors": processors}
        return {**own, **self.options}

    def place(self, table: dict[str, Any]) -> tuple[tuple, Any]:
        """Its row and column in a table."""
        return tuple(self.axes.get(name) for name in as_list(table["rows"])), self.axes.get(table.get("columns", ""))

    @property
    def prepared_name(self) -> str:
        """The name of the prepared corpus; cells that differ only in how they learn and mix share it."""
        return "_".join([*self._dealt(), *_spelt(self.options, *self.preparing)])

    @property
    def preparing(self) -> list[str]:
        """The options that decide what is in the prepared corpus."""
        return [name for name in ("shards", "min_count", "seed") if name in self.options]

    @property
    def name(self) -> str:
        """The name of its run directory: all its options, so that other options give another run."""
        learning = sorted(set(self.asked) - {"shards", "seed"})
        return "_".join([*self._dealt(), *_spelt(self.options, "shards", *learning, "seed")])

    @property
    def asked(self) -> Axes:
        """The options that matter: a single shard has nothing to mix, so all strategies share that run."""
        return without(self.options, "mixing") if self.options["shards"] == 1 else self.options

    def _dealt(self) -> list[str]:
        return [self.corpus.name, *([] if self.deal == SHUFFLED else [self.deal])]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def without(options: Axes, *names: str) -> Axes:
    return {name: value for name, value in options.items() if name not in names}


def _spelt(options: Axes, *names: str) -> Iterator[str]:
    for name in names:
        flag, value = name.replace("_", "-"), options[name]
        if isinstance(value, bool):
            yield flag if value else f"no-{flag}"
        else:
            yield f"{flag}-{value}"
