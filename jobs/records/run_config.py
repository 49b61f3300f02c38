"""A run's configuration: all that decides its weights. The driver writes it to config.json, and the jobs read it there.

The run's identity is a hash of the record, so its content and the order of its keys must stay as they are.
"""

import hashlib
import json
from typing import Any, NamedTuple, Optional

from perceptron_core.registry import MIXINGS
from perceptron_core.schema import LARGEST, anything, flag, list_of, one_of, or_nothing, read_json, record, text, whole
from perceptron_core.settings import SETTINGS, Settings
from perceptron_core.task_record import TASK, some_labels

VERSION = 1
LATER = ("rounds", "min_count")  # recorded only where they are not 1, so that other runs keep their identity
DAMAGED = "restore the run directory, or train it again"
SUMMED = "sum"  # the mixing of a learner that counts in one pass

SEED = whole(-LARGEST, LARGEST)
# What identifies a file by its storage; it is only compared and shown. An experiment also says how it has dealt them.
_IDENTITY = record({"bytes": whole()}, may={"sha256": text(), "s3": text(), "hdfs": anything, "deal": text()})
DATA = list_of(_IDENTITY)
CONFIG = record(
    {
        "version": one_of(VERSION),
        "task": TASK,
        "labels": some_labels,
        "settings": SETTINGS,
        "mixing": one_of(*MIXINGS, SUMMED),
        "shards": whole(1),
        "seed": SEED,
        "subsample": flag,
        "chosen_shards": list_of(whole()),
        "data": DATA,
        "init_model": or_nothing(text()),
        "run": text(),
    },
    may=dict.fromkeys(LATER, whole(1)),
)


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
        """The record is as CONFIG says."""
        return cls(**record)

    @classmethod
    def of_file(cls, path: str) -> "RunConfig":
        """The configuration as a task gets it."""
        with open(path, "rb") as file:
            return cls.from_record(read_json(file.read(), CONFIG, path, DAMAGED))
