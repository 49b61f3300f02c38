"""What a run looks like in a terminal: one line per epoch, and a progress bar if the terminal can show one."""

import sys
import time
from typing import Optional, TextIO

from perceptron_jobs.records.epoch_entry import EpochEntry
from perceptron_jobs.training.plan import Listener

BAR = 32
CLEAR = "\x1b[K"  # the rest of the line


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"


def epoch_line(entry: EpochEntry, best: Optional[float]) -> str:
    """`epoch  3  errors 398 (4.5 %)  dev F1 89.41+  weights 7,460,262  shuffle 1.3 MB  4.1 s`; + is a new best."""
    parts = [f"epoch {entry.epoch:3}"]
    if entry.errors is not None:
        parts.append(f"errors {entry.errors:,} ({100 * (entry.error_rate or 0):.1f} %)")
    score = _score(entry)
    if score is not None and entry.dev:
        mark = "+" if best is None or score > best else " "
        parts.append(f"dev {entry.dev.name} {100 * score:.2f}{mark}")
    parts += [f"weights {entry.weights:,}", f"shuffle {megabytes(entry.shuffled or 0)}", f"{entry.seconds:.1f} s"]
    if entry.runner not in ("inline", "local"):
        parts.append(f"({', '.join(f'{name} {seconds:.1f}' for name, seconds in entry.phases.items())})")
    return "  ".join(parts)


def _score(entry: EpochEntry) -> Optional[float]:
    return entry.dev.score if entry.dev else None


class Terminal(Listener):
    def __init__(self, quiet: bool, out: Optional[TextIO] = None, bar: Optional[TextIO] = None) -> None:
        self.quiet, self.out, self.bar = quiet, out or sys.stdout, bar or sys.stderr
        self.show_bar = not quiet and self.bar.isatty()
        self.best: Optional[float] = None
        self.what, self.total, self.shown_at = "", 0, 0.0

    def note(self, text: str) -> None:
        self._say(text)

    def step(self, what: str, total: int) -> None:
        self.what, self.total, self.shown_at = what, total, 0.0
        self.progress(0)

    def progress(self, done: int, state: str = "") -> None:
        now = time.monotonic()
        if not self.show_bar or (now - self.shown_at < 0.1 and done < self.total):
            return
        self.shown_at = now
        share = done / self.total if self.total else 0.0
        filled = int(BAR * share)
        figures = state or (f"{100 * share:3.0f} %" if self.total else "…")
        self.bar.write(f"\r{self.what} {'━' * filled}{'─' * (BAR - filled)} {figures}{CLEAR}")
        self.bar.flush()

    def epoch(self, entry: EpochEntry) -> None:
        self._say(epoch_line(entry, self.best))
        self.best = max(self.best or 0.0, _score(entry) or 0.0) if entry.dev else self.best

    def clear(self) -> None:
        """Remove the bar."""
        if self.show_bar:
            self.bar.write(f"\r{CLEAR}")
            self.bar.flush()

    def _say(self, text: str) -> None:
        self.clear()
        if not self.quiet:
            print(text, file=self.out, flush=True)
