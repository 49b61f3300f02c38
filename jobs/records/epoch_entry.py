"""One epoch of a run: what was counted and how long it took. stats.json and history.jsonl hold such entries.

Runs of older versions lack some of it, so all but the number of the epoch may be missing.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional, Union

from perceptron_core.schema import anything, dict_of, list_of, number, or_nothing, record, text, whole

COUNTS = ("errors", "updates", "tokens", "wrong_tokens")

_SECONDS = number()  # the clocks of two nodes may disagree, so it may be negative
_SHARDS = list_of(record({"seconds": _SECONDS}, may={"sentences": or_nothing(whole()), "errors": or_nothing(whole())}))
_REDUCERS = or_nothing(list_of(_SECONDS))
_SCORE = number(0, 1)
_ENTRY = {
    "epoch": whole(),
    "sentences": whole(),
    **dict.fromkeys((*COUNTS, "shuffled", "weights"), or_nothing(whole())),
    "shards": _SHARDS,
    "reducers": _REDUCERS,
    "mixing": or_nothing(text()),
    "runner": or_nothing(text()),
    "dev": or_nothing(
        record({"score": _SCORE}, may={"name": text(r"[^\x00-\x1f\x7f-\x9f]*"), "last": _SCORE, "averaged": _SCORE})
    ),
    "seconds": or_nothing(_SECONDS),
    "phases": dict_of(_SECONDS),
    "rounds": list_of(record({"shards": _SHARDS, "phases": dict_of(_SECONDS)}, may={"reducers": _REDUCERS})),
}
ENTRY = record({"epoch": _ENTRY["epoch"]}, may=_ENTRY)  # a line of history.jsonl
STATS = record({"history": list_of(ENTRY)}, may=dict.fromkeys(_ENTRY, anything))  # of stats.json; the rest is a copy


class ShardEntry(NamedTuple):
    """One shard in an epoch; of a round only the seconds are known."""

    seconds: float
    sentences: Optional[int] = None
    errors: Optional[int] = None  # None: the learner makes no guesses

    def record(self) -> dict[str, Any]:
        if self.sentences is None:
            return {"seconds": self.seconds}
        return {"sentences": self.sentences, "errors": self.errors, "seconds": self.seconds}


class DevScores(NamedTuple):
    """The scores on the dev set, between 0 and 1."""

    name: Optional[str] = None  # of the metric: F1, accuracy
    last: Optional[float] = None  # of the last weights
    averaged: Optional[float] = None  # of the averaged weights
    score: Optional[float] = None  # the one that decides which epoch is best

    def record(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value is not None}


class RoundEntry(NamedTuple):
    """One round of the first epoch: a job of its own."""

    shards: Sequence[ShardEntry]
    phases: dict[str, float]
    reducers: Optional[Sequence[float]] = None

    def record(self) -> dict[str, Any]:
        return {"shards": [s.record() for s in self.shards], "reducers": self.reducers, "phases": self.phases}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "RoundEntry":
        return cls(_shards(record), record["phases"], record.get("reducers"))


class EpochEntry(NamedTuple):
    epoch: int
    sentences: int = 0  # all passes together
    errors: Optional[int] = None  # wrong sentences; None: the learner makes no guesses
    updates: Optional[int] = None
    tokens: Optional[int] = None
    wrong_tokens: Optional[int] = None
    shuffled: Optional[int] = None  # bytes from mappers to reducers
    shards: Sequence[ShardEntry] = ()
    reducers: Optional[Sequence[float]] = None  # seconds of each
    weights: Optional[int] = None  # that are not zero
    mixing: Optional[str] = None
    runner: Optional[str] = None
    dev: Optional[DevScores] = None
    seconds: Optional[float] = None
    phases: dict[str, float] = {}  # seconds of each, `dev` among them
    rounds: Sequence[RoundEntry] = ()  # of the first epoch, if it has several

    @property
    def error_rate(self) -> Optional[float]:
        """The share of wrong sentences."""
        return rate(self.errors, self.sentences)

    def rounds_or_itself(self) -> Sequence[Union[RoundEntry, "EpochEntry"]]:
        """What each of the epoch's jobs tells of its shards, reducers and phases."""
        return self.rounds or [self]

    def record(self) -> dict[str, Any]:
        """What the files hold; what is not known is left out."""
        record = {name: value for name, value in self._asdict().items() if name in COUNTS or _is_known(value)}
        if self.shards:
            record["shards"] = [shard.record() for shard in self.shards]
        if self.dev:
            record["dev"] = self.dev.record()
        if self.rounds:
            record["rounds"] = [part.record() for part in self.rounds]
        return record

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "EpochEntry":
        known = {name: record[name] for name in cls._fields if name in record}
        known["shards"] = _shards(record)
        known["dev"] = DevScores(**record["dev"]) if record.get("dev") else None
        known["rounds"] = [RoundEntry.from_record(part) for part in record.get("rounds", ())]
        return cls(**known)


History = list[EpochEntry]


def as_records(history: Sequence[EpochEntry]) -> list[dict[str, Any]]:
    return [entry.record() for entry in history]


def rate(errors: Optional[int], sentences: Optional[int]) -> Optional[float]:
    """errors / sentences; None where no errors are counted."""
    if errors is None:
        return None
    return errors / sentences if sentences else 0.0


def _is_known(value: Any) -> bool:
    return value is not None and not (isinstance(value, (tuple, list, dict)) and not value)


def _shards(record: dict[str, Any]) -> list[ShardEntry]:
    return [ShardEntry(**shard) for shard in record.get("shards", ())]
