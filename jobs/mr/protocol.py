"""mrjob's view of perceptron_core.wire: one line is a key and a record; and how a task reports a user's error.

A mistake in the input is no fault of the task that finds it: retrying would find it again. So the task sends the
sentence as a record under the key ERROR, and the driver raises it where the user is.
"""

from collections.abc import Iterator
from typing import Any

from perceptron_core.wire import decode_line, encode_line

ERROR = "error"
REDUCER = "reducer"  # the record by which a reducer tells of itself
ERRORS_COUNTER = ("perceptron", "errors")  # how many such records there are, where nobody reads the output

# On Hadoop, a job whose input lists pieces of files has one map task a line, and is given the line alone.
PIECES_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
PIECES_JOBCONF = {"mapreduce.input.lineinputformat.linespermap": 1, "stream.map.input.ignoreKey": "true"}


class LineProtocol:
    """Counts what it reads, because the bytes that cross from mappers to reducers are worth knowing."""

    def __init__(self) -> None:
        self.bytes_read = 0

    def read(self, line: bytes) -> tuple[str, Any]:
        self.bytes_read += len(line) + 1
        return decode_line(line)

    def write(self, key: str, record: Any) -> bytes:
        return encode_line(key, record)


def error_record(error: Exception, order: int = 0) -> tuple[str, dict[str, Any]]:
    """What a task sends instead of raising; of several, the user is shown the lowest in order."""
    return ERROR, {"message": str(error), "order": order}


def pass_errors_on(key: str, records: Iterator[Any]) -> Iterator[tuple[str, Any]]:
    """A reducer's part in it."""
    for record in records:
        yield key, record
