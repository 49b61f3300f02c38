"""What the tests of the kernels share: random problems, and what a kernel makes of them."""

import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, Optional

import numpy as np
import pytest

from perceptron_core.kernels import reference
from perceptron_core.settings import Settings
from perceptron_core.structures.sequence import reference as reference_finders
from perceptron_core.structures.sequence import second_order


class Block(NamedTuple):
    """Sentences as the finders take them."""

    lengths: np.ndarray
    gold: np.ndarray
    starts: np.ndarray
    ids: np.ndarray
    pair_starts: np.ndarray
    pair_ids: np.ndarray
    values: np.ndarray = reference.ALL_ONE
    triple_starts: np.ndarray = np.zeros(0, np.int32)  # of second-order models
    triple_ids: np.ndarray = np.zeros(0, np.int32)
    skip_starts: np.ndarray = np.zeros(0, np.int32)
    skip_ids: np.ndarray = np.zeros(0, np.int32)


class Kernel(NamedTuple):
    """One of the two kernels: its banks and trainer, and the structure's finders."""

    core: Any
    finders: Any

    def banks(self, labels: int, count: int = 3) -> list[Any]:
        """Empty ones, dense at once."""
        return [self.core.Bank(labels, 0) for _ in range(count)]

    def trainer(self, labels: int, emissions: Any, pairs: Any, chosen: Settings) -> Any:
        """Of a first-order model in which all transitions are allowed."""
        allowed = np.ones((labels + 2, labels), np.uint8)
        transitions = self.core.Bank(labels, 0)
        finder = self.finders.SequenceFinder(labels, emissions, pairs, transitions, chosen, allowed)
        return self.core.Trainer(finder, chosen)


class Problem(NamedTuple):
    """Sentences, and the weights that training starts from."""

    labels: int
    dense_from: int
    features: int
    pairs: int
    block: Block
    emission_weights: np.ndarray
    pair_weights: np.ndarray
    transition_weights: np.ndarray
    allowed: np.ndarray
    steps: Optional[tuple[np.ndarray, np.ndarray]] = None  # of the features and of the pairs


class Switches(NamedTuple):
    transitions: bool = True
    start_stop: bool = True
    with_pairs: bool = True
    forbidden: bool = True
    dense: bool = True


def random_weights(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Zeros, halves (which tie) and awkward fractions."""
    choice = random.integers(0, 3, shape)
    halves, fractions = random.integers(-3, 4, shape) / 2, random.normal(size=shape)
    return np.where(choice == 0, 0, np.where(choice == 1, halves, fractions)).astype(np.float32)


def random_ids(random: np.random.Generator, tokens: int, most: int, kinds: int) -> tuple[np.ndarray, np.ndarray]:
    """Up to `most` of the numbers below `kinds` for each token, repeated ones, too: (starts, ids)."""
    sizes = random.integers(0, most + 1, tokens) if kinds else np.zeros(tokens, int)
    starts = np.append(0, np.cumsum(sizes)).astype(np.int32)
    return starts, random.integers(0, max(kinds, 1), int(starts[-1])).astype(np.int32)


def random_problem(random: np.random.Generator, switches: Any, labels: int, sentences: int = 5) -> Problem:
    switches = Switches(*switches)
    features, pairs = 6, 3 if switches.with_pairs else 0
    lengths = random.integers(0, 5, sentences).astype(np.int32)  # an empty sentence among them is passed over
    tokens = int(lengths.sum())
    gold = random.integers(0, labels, tokens).astype(np.int32)
    block = Block(lengths, gold, *random_ids(random, tokens, 4, features), *random_ids(random, tokens, 2, pairs))
    allowed = np.ones((labels + 2, labels), np.uint8)
    if switches.forbidden:
        allowed = (random.random(allowed.shape) < random.choice([0.1, 0.7])).astype(np.uint8)
    loaded = random_weights(random, (labels + 2, labels))
    if not switches.transitions:
        loaded[:labels] = 0
    if not switches.start_stop:
        loaded[labels:] = 0
    return Problem(
        labels,
        0 if switches.dense else 1 + labels // 4,
        features,
        pairs,
        block,
        random_weights(random, (features, labels)),
        random_weights(random, (pairs * labels, labels)),
        loaded,
        allowed,
    )


def entries_of(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix as (starts, labels, values), without zeros, as banks load it."""
    there = [np.flatnonzero(row).astype(np.uint32) for row in weights]
    starts = np.append(0, np.cumsum([len(labels) for labels in there])).astype(np.int64)
    values = np.concatenate([np.zeros(0, np.float32), *(row[row != 0] for row in weights)])
    return starts, np.concatenate([np.zeros(0, np.uint32), *there]), values.astype(np.float32)


def loaded_bank(bank: Any, weights: np.ndarray) -> Any:
    """The bank, with the rows of this matrix."""
    bank.reserve(len(weights))
    numbers = np.arange(len(weights), dtype=np.int32)
    counts = numbers % (bank.min_updates + 1)  # from new to relevant
    bank.load(numbers, *entries_of(weights), counts)
    return bank


def touched(bank: Any, features: int) -> list[np.ndarray]:
    entries = bank.touched_entries(np.arange(features, dtype=np.int32)[::-1].copy())
    return [*entries, *([bank.counted(entries[0])] if bank.min_updates > 1 else [])]


def first_order_banks(kernel: Kernel, problem: Problem, chosen: Settings) -> list[Any]:
    """Emissions, pairs and transitions."""
    made = []
    for pairs, weights in enumerate((problem.emission_weights, problem.pair_weights)):
        bank = kernel.core.Bank(problem.labels, problem.dense_from, chosen.min_updates)
        if problem.steps is not None:
            bank.step_sizes = problem.steps[pairs]
            bank.rows_per_step_size = problem.labels if pairs else 1
        made.append(loaded_bank(bank, weights))
    return [*made, loaded_bank(kernel.core.Bank(problem.labels, 0), problem.transition_weights)]


def train_and_decode(
    kernel: Kernel, problem: Problem, chosen: Settings, threads: int = 1, cuts: Sequence[int] = ()
) -> dict[str, list[np.ndarray]]:
    """Everything that a kernel says about the problem after two passes over it; cut into blocks at these sentences."""
    banks = first_order_banks(kernel, problem, chosen)
    finder = kernel.finders.SequenceFinder(problem.labels, *banks, chosen, problem.allowed)
    said = passes(kernel.core.Trainer(finder, chosen), problem.block, threads, cuts)
    for name, bank, weights in zip(("emissions", "pairs", "transitions"), banks, problem[5:8]):
        said[name] = touched(bank, len(weights))
    return said


def passes(trainer: Any, block: Block, threads: int, cuts: Sequence[int]) -> dict[str, list[np.ndarray]]:
    """Two passes over the block: what is decoded before and after them, and what they counted."""
    before = trainer.decode(block)
    trainer.use_threads(threads)
    counts = []
    for _ in range(2):
        blocks = [trainer.train(piece) for piece in cut_block(block, cuts)]
        counts.append([*np.sum(blocks, axis=0), trainer.flush()])
    return {"decoded": [before, trainer.decode(block)], "counts": [np.array(counts)]}


def cut_block(block: Block, cuts: Sequence[int]) -> list[Block]:
    """The same sentences in several blocks."""
    pieces = []
    bounds = [0, *cuts, len(block.lengths)]
    for first, last in zip(bounds, bounds[1:]):
        begin, end = int(block.lengths[:first].sum()), int(block.lengths[:last].sum())
        values = block.values[block.starts[begin] : block.starts[end]]
        piece = block._replace(lengths=block.lengths[first:last], gold=block.gold[begin:end], values=values)
        for prefix in ("", "pair_", "triple_", "skip_"):
            starts, ids = getattr(block, prefix + "starts"), getattr(block, prefix + "ids")
            if len(starts):
                cut = {prefix + "starts": starts[begin : end + 1] - starts[begin]}
                piece = piece._replace(**cut, **{prefix + "ids": ids[starts[begin] : starts[end]]})
        pieces.append(piece)
    return pieces


def assert_same(ours: dict[str, list[np.ndarray]], theirs: dict[str, list[np.ndarray]]) -> None:
    """Equal types, shapes and bytes."""
    assert ours.keys() == theirs.keys()
    for name, arrays in ours.items():
        bits, others = ([(a.dtype, a.shape, a.tobytes()) for a in each] for each in (arrays, theirs[name]))
        assert bits == others, (name, arrays, theirs[name])


class Kernels(NamedTuple):
    """Both, for comparison."""

    native: Kernel
    reference: Kernel

    def agree(self, problem: Problem, chosen: Settings, work: Any = train_and_decode) -> dict[str, list[np.ndarray]]:
        compiled, plain = (work(kernel, problem, chosen) for kernel in self)
        assert_same(compiled, plain)
        return compiled


@pytest.fixture(scope="session")
def kernels(native: ModuleType) -> Kernels:
    from perceptron_core.structures.sequence import native as native_finders

    finders = SimpleNamespace(
        SequenceFinder=reference_finders.SequenceFinder, SecondOrderFinder=second_order.SecondOrderFinder
    )
    return Kernels(Kernel(native, native_finders), Kernel(reference, finders))


@pytest.fixture(scope="session")
def problems() -> ModuleType:
    """This module."""
    return sys.modules[__name__]
