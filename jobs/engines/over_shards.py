"""The driver's side of a job over shards: into how many ranges the keys are split, and what comes back."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from perceptron_jobs.engines.runners import Cluster, run_job
from perceptron_jobs.mr.protocol import REDUCER
from perceptron_jobs.mr.shard_job import ShardJob

RANGE_BYTES = 64 << 20  # of the shuffle in one range, if the number of reducers is not given


class Output(NamedTuple):
    """What a job has put out."""

    ranges: list[Any]  # in order
    reducers: list[dict[str, Any]]

    def shuffled(self) -> int:
        """The bytes that went from mappers to reducers."""
        return sum(record["shuffled"] for record in self.reducers)


def run_over_shards(
    job: type[ShardJob], cluster: Cluster, arguments: Sequence[str], shards: Sequence[str], expected: int
) -> Output:
    """Run the job on the shards' files; `expected`: about how many bytes it will shuffle."""
    ranges = cluster.reducers or max(1, -(-expected // RANGE_BYTES))
    output = list(run_job(job, cluster, [*arguments, "--ranges", str(ranges)], shards))
    combined = sorted((pair for pair in output if pair[0] != REDUCER), key=lambda pair: pair[0])
    assert len(combined) == ranges, f"{len(combined)} of {ranges} ranges came back"
    return Output([record for _, record in combined], [record for key, record in output if key == REDUCER])
