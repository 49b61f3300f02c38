"""What the jobs over shards have in common: a map task is one encoded shard, a reducer's key a range of the key space.

    input     header, block …, trailer → the records of one encoded shard
    mapper    range      → {what the shard has to say of that range}
    reducer   range      → {the shards' records of the range made one}

The key space is cut into --ranges equal ranges; every shard sends a record to each, empty or not, so the reducer of a
range has all that it needs. How many ranges there are, and which reducer gets which, does not change the result. A
user's error that a map task finds is kept until its input is read, travels as a record, and is not retried.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional

from perceptron_core.errors import UserError
from perceptron_core.weights.rows import Rows, split_ranges, to_record
from perceptron_core.wire import DamagedRecord
from perceptron_jobs.mr.job import Job
from perceptron_jobs.mr.protocol import ERROR, REDUCER, LineProtocol, error_record, pass_errors_on

Pairs = Iterator[tuple[str, Any]]


def place_among(chosen: Sequence[int], header: dict[str, Any]) -> dict[str, int]:
    """Where a shard stands among those that the run has chosen."""
    return {"shard": chosen.index(header["shard"]), "shards": len(chosen)}


class ShardJob(Job, ABC):
    """A job over shards; a subclass says how to `begin`, `take` a record and `finish`, and how to `combine` a range."""

    error: Optional[UserError] = None

    def add_args(self) -> None:
        self.add_passthru_arg("--ranges", type=int, default=1)

    @abstractmethod
    def begin(self) -> None:
        """A shard begins."""

    @abstractmethod
    def take(self, kind: str, record: dict[str, Any]) -> Optional[Iterable[tuple[str, Any]]]:
        """The shard's next record."""

    @abstractmethod
    def finish(self) -> Pairs:
        """The shard has ended: what it has to say."""

    @abstractmethod
    def combine(self, key: str, records: Iterator[Any]) -> Pairs:
        """All shards' records of one range."""

    def by_range(self, rows: Rows, **about: Any) -> Pairs:
        for number, part in enumerate(split_ranges(rows, self.options.ranges)):
            yield f"{number:05d}", {**about, "rows": to_record(part)}

    def internal_protocol(self) -> LineProtocol:
        self.shuffled = LineProtocol()
        return self.shuffled

    def start_clock(self) -> None:
        """Note when this task began: with its process, if that is the task's alone, by the CPU time of its imports."""
        alone = type(self).__module__ == "__main__"
        self.began = time.time() - (time.process_time() if alone else 0)

    def worked(self) -> list[float]:
        """When this task began, and now, when it ends."""
        return [self.began, time.time()]

    def mapper_init(self) -> None:
        self.start_clock()
        self.begin()

    def mapper(self, kind: str, record: dict[str, Any]) -> Pairs:
        if self.error is None:
            try:
                yield from self.take(kind, record) or ()
            except UserError as error:
                self.error = error

    def mapper_final(self) -> Pairs:
        try:
            if self.error is not None:
                raise self.error
            yield from self.finish()
        except UserError as error:
            yield error_record(error)

    def reducer_init(self) -> None:
        self.start_clock()

    def reducer(self, key: str, records: Iterator[Any]) -> Pairs:
        if key == ERROR:
            yield from pass_errors_on(key, records)
            return
        try:
            yield from self.combine(key, records)
        except DamagedRecord:  # what a mapper has written, not what the user has: the task fails, and is tried again
            raise
        except UserError as error:
            yield error_record(error, order=1)  # a mapper's error, if there is one, is the cause of it

    def reducer_final(self) -> Pairs:
        yield REDUCER, {"shuffled": self.shuffled.bytes_read, "worked": self.worked()}
