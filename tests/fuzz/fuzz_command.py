"""scripts/fuzz: damaged inputs for as long as one likes; prints a table, and keeps the inputs that fail.

    scripts/fuzz                               # all targets, 2,000 cases each
    scripts/fuzz model-arrays --cases 100000   # one target
    scripts/fuzz --minutes 60                  # shared among the targets
    scripts/fuzz mapper-rows --input FILE      # once more what failed

Exit code 0 if every case worked or was refused with a sentence, 1 otherwise.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pool import Found, fuzz
from targets import TARGETS

ROW = "{:<18} {:>9} {:>9} {:>9} {:>11} {:>8} {:>6} {:>7}"
WITHOUT_END = 1 << 60


def main(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        "scripts/fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"any of: {', '.join(TARGETS)}")
    parser.add_argument("--cases", type=int, default=2000, help="per target (default: %(default)s)")
    parser.add_argument("--minutes", type=float, help="in all, instead of a number of cases")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case: other numbers, other cases")
    parser.add_argument("--kept", type=Path, help="the folder for inputs that fail (default: a new one)")
    parser.add_argument("--input", type=Path, help="run one input that was kept, in this process")
    arguments = parser.parse_args(given)
    unknown = [name for name in arguments.targets if name not in TARGETS]
    if unknown:
        parser.error(f"unknown target {unknown[0]}; there are {', '.join(TARGETS)}")
    names = arguments.targets or list(TARGETS)
    if arguments.input:
        with tempfile.TemporaryDirectory() as scratch:
            TARGETS[names[0]].run(arguments.input.read_bytes(), Path(scratch))
        return 0
    kept = arguments.kept or Path(tempfile.mkdtemp(prefix="fuzz-kept-"))
    print(ROW.format("target", "cases", "worked", "refused", "tracebacks", "crashes", "hangs", "per s"), flush=True)
    everything = [_run(name, arguments, kept, len(names)) for name in names]
    total = [sum(column) for column in zip(*(found[:6] for found in everything))]
    print(ROW.format("all", *(f"{count:,}" for count in total), ""))
    if all(found.is_clean() for found in everything):
        if not arguments.kept:
            kept.rmdir()
        return 0
    for message in (message for found in everything for message in found.messages):
        print(message)
    print(f"the inputs that failed are in {kept}")
    return 1


def _run(name: str, arguments: argparse.Namespace, kept: Path, shares: int) -> Found:
    began = time.monotonic()
    until = began + 60 * arguments.minutes / shares if arguments.minutes else None
    cases = WITHOUT_END if until else arguments.cases
    found = fuzz(name, TARGETS[name], cases, kept, arguments.first, until=until)
    rate = found.cases / max(1e-9, time.monotonic() - began)
    print(ROW.format(name, *(f"{count:,}" for count in found[:6]), f"{rate:,.0f}"), flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
