"""The format of the jobs' records, for mrjob (see perceptron_core.wire), and how a task reports a user's error.

A task that finds a mistake in the input must not fail: Hadoop would retry it, and it would find the mistake again. So
it sends the message as a record under the key ERROR, and the driver raises it where the user sees it.
"""

from collections.abc import Iterator
from typing import Any

from perceptron_core.wire import decode_line, encode_file_line, encode_line

ERROR = "error"
REDUCER = "reducer"  # the key of the record that tells how much a reducer has read, and when
ERRORS_COUNTER = ("perceptron", "errors")  # the number of such records, for jobs whose output is not read

# On Hadoop, a job whose input lists pieces of files has one map task per line, which gets only that line.
PIECES_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
PIECES_JOBCONF = {"mapreduce.input.lineinputformat.linespermap": 1, "stream.map.input.ignoreKey": "true"}


class LineProtocol:
    """Counts the bytes that it reads: those that go from mappers to reducers are reported."""

    def __init__(self) -> None:
        self.bytes_read = 0

    def read(self, line: bytes) -> tuple[str, Any]:
        self.bytes_read += len(line) + 1
        return decode_line(line)

    def write(self, key: str, record: Any) -> bytes:
        return encode_line(key, record)


class ShardProtocol(LineProtocol):
    """The records of a prepared shard, as its file has them."""

    def write(self, key: str, record: Any) -> bytes:
        return encode_file_line(key, record)


def error_record(error: Exception, order: int = 0) -> tuple[str, dict[str, Any]]:
    """What a task sends instead of raising; of several errors, the user sees the one with the lowest order."""
    return ERROR, {"message": str(error), "order": order}


def pass_errors_on(key: str, records: Iterator[Any]) -> Iterator[tuple[str, Any]]:
    """What a reducer does with such records."""
    for record in records:
        yield key, record
