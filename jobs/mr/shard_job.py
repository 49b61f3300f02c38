"""What the jobs over shards have in common: a map task reads one encoded shard; a reducer's key is a range of features.

    input     header, block …, trailer → the records of one encoded shard
    mapper    range      → {the shard's result for the features of that range}
    reducer   range      → {the results of all shards, combined}

The keys of features are split into --ranges equal ranges. Every shard sends one record to each range, even an empty
one, so the reducer of a range can see that none is missing. The number of ranges, and which reducer gets which, do not
change the result. If a map task finds a user's error, it reads its input to the end and sends the error as a record.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Optional

from perceptron_core import schema
from perceptron_core.errors import UserError
from perceptron_core.schema import Schema
from perceptron_core.training.mixing import check_complete
from perceptron_core.weights.records import from_record, to_record
from perceptron_core.weights.rows import Rows, split_ranges
from perceptron_core.wire import DamagedRecord
from perceptron_jobs.mr.job import Job
from perceptron_jobs.mr.protocol import ERROR, REDUCER, LineProtocol, error_record, pass_errors_on

Pairs = Iterator[tuple[str, Any]]

# Of what mappers send; the rows are checked when they are read.
ROWS: dict[str, Schema] = {"rows": schema.anything}
PLACED: dict[str, Schema] = {"shard": schema.whole(), "shards": schema.whole(1), "origin": schema.text(), **ROWS}
COUNT: Schema = schema.whole(most=2**48)  # so that sums over shards fit in 64 bits
WORKED: Schema = schema.row_of(schema.number(), schema.number())  # when the task began and ended


def place_among(chosen: Sequence[int], header: dict[str, Any]) -> dict[str, int]:
    """The place of a shard among those that the run trains on, and their number."""
    if header["shard"] not in chosen:
        raise DamagedRecord(f"the run does not train on the shard {header['shard']}; prepare the corpus again")
    return {"shard": chosen.index(header["shard"]), "shards": len(chosen)}


def received(
    records: Iterable[dict[str, Any]], labels: int, columns: Mapping[str, str]
) -> list[tuple[dict[str, Any], Rows]]:
    """What all shards sent for a range, in their order, with the rows; refuses what is damaged or not complete."""
    sent = sorted(records, key=lambda record: record["shard"])
    check_complete([(record["shard"], record["shards"], record["origin"]) for record in sent])
    return [(record, from_record(record["rows"], labels, columns)) for record in sent]


class ShardJob(Job, ABC):
    """A job over shards; a subclass says how to `begin`, `take` a record and `finish`, and how to `combine` a range."""

    error: Optional[UserError] = None
    SENT: ClassVar[Schema]  # what a mapper sends for a range

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
        """The shard has ended: its records for all ranges."""

    @abstractmethod
    def combine(self, key: str, records: Iterator[Any]) -> Pairs:
        """All shards' records of one range."""

    def by_range(self, rows: Rows, **about: Any) -> Pairs:
        for place, part in enumerate(split_ranges(rows, self.options.ranges)):
            yield f"{place:05d}", {**about, "rows": to_record(part)}

    def internal_protocol(self) -> LineProtocol:
        self.shuffled = LineProtocol()
        return self.shuffled

    def start_clock(self) -> None:
        """Note when this task began. If it has a process of its own, that includes the CPU time of its imports."""
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

    def checked(self, sent: Any) -> Any:
        problem = schema.fault(sent, self.__class__.SENT)
        if problem:
            raise DamagedRecord(f"what a mapper sent is damaged: {problem}")
        return sent

    def reducer_init(self) -> None:
        self.start_clock()

    def reducer(self, key: str, records: Iterator[Any]) -> Pairs:
        if key == ERROR:
            yield from pass_errors_on(key, records)
            return
        try:
            yield from self.combine(key, iter([self.checked(sent) for sent in records]))
        except DamagedRecord:  # a mapper's output, not the user's input: the task fails and is retried
            raise
        except UserError as error:
            yield error_record(error, order=1)  # an error of a mapper, if there is one, is its cause

    def reducer_final(self) -> Pairs:
        yield REDUCER, {"shuffled": self.shuffled.bytes_read, "worked": self.worked()}
