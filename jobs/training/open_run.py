"""A run while it is trained: what was asked for, where it is kept, what it is trained on, and who listens."""

from collections.abc import Sequence
from typing import NamedTuple

from perceptron_jobs.corpora.prepared import Prepared, blaming_damage
from perceptron_jobs.engines.over_shards import Output, run_over_shards
from perceptron_jobs.mr.shard_job import ShardJob
from perceptron_jobs.records.run_config import RunConfig
from perceptron_jobs.training.plan import Listener, TrainingPlan
from perceptron_jobs.training.run_dir import RunDir


class OpenRun(NamedTuple):
    plan: TrainingPlan
    directory: RunDir
    corpus: Prepared
    config: RunConfig
    listener: Listener

    def tokens(self) -> int:
        """Of the shards that the run trains on."""
        return sum(self.corpus.shards[shard].tokens for shard in self.config.chosen_shards)

    def most_features(self) -> int:
        """There are at most as many as all templates give for all tokens; how many are distinct is not known yet."""
        return self.tokens() * len(self.plan.task.features.templates)

    def job_file(self, name: str) -> str:
        """A file of the run directory, as a job takes it."""
        return self.plan.cluster.file(self.directory.file(name))

    def over_shards(self, job: type[ShardJob], arguments: Sequence[str], expected: int) -> Output:
        """Run a job on the run's shards; `expected`: about how many bytes it will shuffle."""
        cluster = self.plan.cluster
        inputs = [cluster.file(self.corpus.path(shard)) for shard in self.config.chosen_shards]
        with blaming_damage(self.corpus):
            return run_over_shards(
                job, cluster, ["--config", self.job_file("config.json"), *arguments], inputs, expected
            )
