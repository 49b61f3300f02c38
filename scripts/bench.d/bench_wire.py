"""wire: encode, ship and reduce the steps of two shards of 500,000 features through mrjob local, against no data."""

from pathlib import Path

from bench import Bench, Goal, Row, Side, raw, report
from results import Outcome

FEATURES = 500_000
FLOOR = "the same job without data"
GOAL = Goal(at_most=1.3)


def run(bench: Bench) -> Outcome:
    folders = {
        "one weight per feature": _make(bench, FEATURES, 1),
        # As after most updates: the right label's and the wrong one's.
        "two weights per feature": _make(bench, FEATURES, 2),
        FLOOR: _make(bench, 0, 1),
    }
    taken = bench.alternate({name: _side(bench, folder) for name, folder in folders.items()})
    rows, reports = [], {}
    for name, goal in (("one weight per feature", GOAL), ("two weights per feature", None)):
        said = reports[name] = report(taken[name][0])
        row = Row(
            "wire",
            f"encode, ship and reduce 2 × {FEATURES:,} features, {name}, -r local",
            FLOOR,
            note=f"{name}: {said['shuffled'] / 2**20:.1f} MB to the reducer, {said['mixed']:,} mixed weights from it",
        )
        compared = bench.compare(row, GOAL, taken[name], taken[FLOOR])
        rows.append(compared if goal else compared._replace(goal="–", met=None))
    return Outcome(rows, raw={**raw(taken), "reports": reports})


def _make(bench: Bench, features: int, weights: int) -> Path:
    folder = bench.scratch / f"wire-{features}-{weights}"
    folder.mkdir()
    bench.process("wire_process", "make", folder, features, weights)
    return folder


def _side(bench: Bench, folder: Path) -> Side:
    return lambda turn: bench.process("wire_process", "run", folder)
