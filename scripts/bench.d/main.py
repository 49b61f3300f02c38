"""The command line of scripts/bench: makes the environment, runs the benchmarks that are named, writes the tables."""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from registry import BENCHMARKS

ROOT = Path(__file__).resolve().parent.parent.parent
ENTERED = "PERCEPTRON_BENCH_ENTERED"


def parse(given: Sequence[str]) -> argparse.Namespace:
    about = "\n".join(f"  {name:<9}{entry.about}" for name, entry in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        description="Measures ours against rivals on the same data, in turns, each time in a process of its own.",
        epilog=f"benchmarks:\n{about}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure (default: everything)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="how often, in turns (default 3)")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "bench", metavar="DIR", help="for the tables")
    default = os.environ.get("PERCEPTRON_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument(
        "--data", type=Path, default=Path(default), metavar="DIR", help="the corpora (default: $PERCEPTRON_DATA)"
    )
    parser.add_argument("--full", action="store_true", help="train slow rivals on whole corpora, too (hours)")
    arguments = parser.parse_args(given)
    for name in arguments.names:
        if name not in BENCHMARKS:
            parser.error(f"there is no benchmark {name}; choose from {', '.join(BENCHMARKS)}")
    if arguments.repeats < 1:
        parser.error("--repeats: give 1 or more")
    return arguments


def enter_environment() -> None:
    """Go on in .venv-bench, made and brought up to date, unless this is where we came in."""
    if os.environ.pop(ENTERED, None):
        return
    venv = Path(os.environ.get("PERCEPTRON_BENCH_VENV", ROOT / ".venv-bench")).absolute()
    done = subprocess.run(["bash", "-ec", '. scripts/lib.sh; install "$0"', str(venv)], cwd=ROOT)
    if done.returncode:
        sys.exit(done.returncode)
    os.environ.pop("PYTHONPATH", None)  # what is measured is the installed package
    os.environ[ENTERED] = "yes"
    python = str(venv / "bin" / "python")
    sys.stdout.flush()
    os.execv(python, [python, *sys.argv])


def run(names: Sequence[str], bench: Any) -> list[Any]:
    """The benchmarks' outcomes; what cannot be measured is in them as a row that says so."""
    from problems import Failed, Missing
    from results import HEADER, Outcome, Row, cells, table

    outcomes = []
    for name in names:
        entry = BENCHMARKS[name]
        bench.say(f"{name}: {entry.about}")
        try:
            outcome = importlib.import_module(entry.module).run(bench)
        except Missing as error:
            outcome = Outcome([Row(name, entry.about, "–", instead=f"missing: {error}")])
        except Failed as error:
            bench.failures.append(name)
            bench.say(f"{name}: {error}\n{error.words}")
            outcome = Outcome([Row(name, entry.about, "–", instead=f"failed: {error}")])
        outcomes.append(outcome)
        print("\n" + table(HEADER, [cells(row) for row in outcome.rows]) + "\n", flush=True)
    return outcomes


def main() -> int:
    arguments = parse(sys.argv[1:])
    enter_environment()
    import machine
    from bench import Bench
    from results import document

    names = arguments.names or list(BENCHMARKS)
    described = machine.describe()
    with tempfile.TemporaryDirectory(prefix="perceptron-bench-") as scratch:
        bench = Bench(arguments.data.absolute(), Path(scratch), arguments.repeats, full=arguments.full)
        outcomes = run(names, bench)
    versions = ", ".join(f"{name} {version}" for name, version in bench.versions.items()) or "none"
    remark = (
        f"{machine.sentence(described)}. Rivals: {versions}. Medians of {arguments.repeats} measurements in turns, "
        "with the lowest and the highest; a ratio is the median of the pairs'. Memory is the peak of the process tree."
    )
    content = {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": described,
        "rivals": bench.versions,
        "missing": bench.absent,
        "repeats": arguments.repeats,
        "benchmarks": {name: _plain(outcome._replace(figures={})) for name, outcome in zip(names, outcomes)},
    }
    text = document(outcomes, [remark])
    print("\n" + text)
    arguments.output.mkdir(parents=True, exist_ok=True)
    stem = "-".join(arguments.names) or "all"
    files = {f"{stem}.md": text, f"{stem}.json": json.dumps(content, indent=1, ensure_ascii=False) + "\n"}
    for name, written in {**files, **{n: svg for outcome in outcomes for n, svg in outcome.figures.items()}}.items():
        path = arguments.output / name
        path.write_text(written, encoding="utf-8")
        print(f"written: {path}")
    if bench.failures:
        print(f"scripts/bench: failed: {', '.join(bench.failures)}", file=sys.stderr)
    return 1 if bench.failures else 0


def _plain(value: Any) -> Any:
    """Named tuples as dicts, for JSON."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
