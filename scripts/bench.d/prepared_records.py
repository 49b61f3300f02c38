"""The shards of a prepared corpus, as records, for what is measured inside a process."""

import gzip

from perceptron_core.shards.records import Record
from perceptron_core.wire import decode_line
from perceptron_jobs.corpora.prepared import Prepared


def shard_records(prepared: Prepared) -> list[list[Record]]:
    """The records of every shard, as their mappers get them."""
    shards = []
    for number in range(len(prepared.shards)):
        with gzip.open(prepared.path(number)) as file:
            shards.append([decode_line(line) for line in file])
    return shards
