"""A run's configuration: all that decides its weights. The driver writes it to config.json, and the jobs read it there.

The run's identity is a hash of the record, so its content and the order of its keys must stay as they are.
"""

import hashlib
import json
from typing import Any, NamedTuple, Optional

from perceptron_core.settings import Settings

VERSION = 1
LATER = ("rounds", "min_count")  # recorded only where they are not 1, so that other runs keep their identity


class RunConfig(NamedTuple):
    task: dict[str, Any]  # its record, without options
    labels: list[str]
    settings: dict[str, Any]  # the record of perceptron_core.settings.Settings
    mixing: str
    shards: int
    seed: int
    subsample: bool
    chosen_shards: list[int]
    data: list[dict[str, Any]]  # size and checksum of each file
    init_model: Optional[str]  # a checksum of the weights that the run starts from
    rounds: int = 1
    min_count: int = 1
    version: int = VERSION
    run: str = ""  # the run's identity

    def training_settings(self) -> Settings:
        return Settings.from_record(self.settings)

    def identified(self) -> "RunConfig":
        """The same, with the run's identity in it."""
        record = {name: value for name, value in self.record().items() if name != "run"}
        return self._replace(run=hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:16])

    def record(self) -> dict[str, Any]:
        record = {"version": self.version, **self._asdict()}
        return {name: value for name, value in record.items() if name not in LATER or value != 1}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "RunConfig":
        """Raises TypeError if the record is not one of a configuration."""
        return cls(**record)
