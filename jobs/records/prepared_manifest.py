"""What prepared.json says of a prepared corpus: how it was made, and what is in each of its files."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from perceptron_core.schema import anything, list_of, one_of, or_nothing, record, text, whole
from perceptron_core.task_record import labels
from perceptron_jobs.records.run_config import DATA, SEED

VERSION = 2

_SHARD_FILE = text(r"shard-[0-9]{5,9}-of-[0-9]{5,9}\.gz", "the name of a shard: shard-00000-of-00001.gz")
_WRITTEN = {"bytes": whole(), "sha256": or_nothing(text())}
PREPARED = record(
    {
        "version": one_of(VERSION),
        "features": text(),
        "seed": SEED,
        "data": DATA,
        "sentences": whole(),
        "tokens": whole(),
        "shards": list_of(
            record(
                {
                    "shard": whole(),
                    "sentences": whole(),
                    "tokens": whole(),
                    "labels": labels,
                    "file": _SHARD_FILE,
                    **_WRITTEN,
                },
                may={"hdfs": anything},
            ),
            least=1,
        ),
    },
    may={"min_count": whole(1), "kept": record({"features": whole(), **_WRITTEN})},
)


class PreparedShard(NamedTuple):
    shard: int  # its number
    sentences: int
    tokens: int
    labels: list[str]
    file: str
    bytes: int
    sha256: Optional[str]  # None: a reducer wrote it on HDFS, and `hdfs` is the checksum
    hdfs: Optional[str] = None

    def record(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if name != "hdfs" or value is not None}


class KeptFile(NamedTuple):
    """The file of the features that are frequent enough, if rare ones are left out."""

    features: int
    bytes: int
    sha256: Optional[str]
    hdfs: Optional[str] = None

    def record(self) -> dict[str, Any]:
        return {"features": self.features, "bytes": self.bytes, "sha256": self.sha256}


class Manifest(NamedTuple):
    features: str  # the fingerprint of the task's features
    seed: int
    data: list[dict[str, Any]]  # size and checksum of each corpus file
    sentences: int = 0
    tokens: int = 0
    shards: list[PreparedShard] = []
    min_count: int = 1
    kept: Optional[KeptFile] = None

    def with_shards(self, built: Iterable[PreparedShard], count: int) -> "Manifest":
        """The manifest, once all shards are there."""
        shards = sorted(built, key=lambda shard: shard.shard)
        assert [shard.shard for shard in shards] == list(range(count)), "the job did not build every shard once"
        sentences, tokens = sum(shard.sentences for shard in shards), sum(shard.tokens for shard in shards)
        return self._replace(shards=shards, sentences=sentences, tokens=tokens)

    def record(self) -> dict[str, Any]:
        record = {"version": VERSION, **self._asdict(), "shards": [shard.record() for shard in self.shards]}
        if self.min_count == 1:
            del record["min_count"]
        if self.kept is None:
            del record["kept"]
        else:
            record["kept"] = self.kept.record()
        return record

    def as_json(self) -> bytes:
        return json.dumps(self.record(), indent=1).encode()

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Manifest":
        """The record is as PREPARED says."""
        known = {name: value for name, value in record.items() if name != "version"}
        known["shards"] = [PreparedShard(**shard) for shard in record["shards"]]
        known["kept"] = KeptFile(**record["kept"]) if "kept" in record else None
        return cls(**known)
