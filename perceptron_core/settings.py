"""The settings that decide how a shard is trained, apart from the data and the features."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from perceptron_core.errors import UserError
from perceptron_core.registry import ALL_LEARNERS, DECODERS, LEARNERS, ONE_PASS, SET_LEARNERS, UPDATES
from perceptron_core.schema import flag, number, one_of, or_nothing, record, whole

# Settings that were added later; a default is not recorded, so that models without them keep their bytes.
LATER = ("min_updates", "minibatch", "k_best")

LARGEST_COUNT = 10**9
_COUNT = whole(1, LARGEST_COUNT)
# The record of settings in models and runs.
SETTINGS = record(
    {
        "learner": one_of(*ALL_LEARNERS),
        "aggressiveness": or_nothing(number(0)),
        "decoder": one_of(*DECODERS),
        "beam": _COUNT,
        "update": one_of(*UPDATES),
        "local_epochs": _COUNT,
        "average": flag,
        "transitions": flag,
        "start_stop": flag,
    },
    may=dict.fromkeys(LATER, _COUNT),
)


class Settings(NamedTuple):
    learner: str = "perceptron"
    aggressiveness: Optional[float] = 1.0  # None: no cap (MIRA)
    decoder: str = "viterbi"
    beam: int = 8
    update: str = "standard"
    local_epochs: int = 1
    average: bool = True
    transitions: bool = True
    start_stop: bool = True
    min_updates: int = 1
    minibatch: int = 1
    k_best: int = 1

    def cap(self) -> float:
        """The aggressiveness as a number: how far one constraint may move the weights at most."""
        return math.inf if self.aggressiveness is None else self.aggressiveness

    def beam_width(self, labels: int) -> int:
        """How many states the search keeps after a token: a greedy search is a beam of one, Viterbi keeps all."""
        return {"viterbi": labels, "beam": self.beam, "greedy": 1}[self.decoder]

    def scoring(self, which: Mapping[str, bool]) -> "Settings":
        """The same settings, with or without weights for transitions, starts and stops."""
        return self._replace(transitions=which["transitions"], start_stop=which["start_stop"])

    def check(self) -> "Settings":
        """The same settings; raises a UserError that says which one is wrong."""
        for name, value, known in (
            ("learner", self.learner, (*LEARNERS, *ONE_PASS)),
            ("decoder", self.decoder, DECODERS),
            ("update", self.update, UPDATES),
        ):
            if value not in known:
                raise UserError(f"{name}: {value!r} is not known; choose one of {', '.join(known)}")
        if self.beam < 1:
            raise UserError(f"beam: {self.beam} must be 1 or more")
        if self.local_epochs < 1:
            raise UserError(f"local-epochs: {self.local_epochs} must be 1 or more")
        if self.min_updates < 1:
            raise UserError(f"min-updates: {self.min_updates} must be 1 or more")
        if self.aggressiveness is not None and not 0 < self.aggressiveness < math.inf:
            raise UserError(f"aggressiveness: {self.aggressiveness} must be a finite number greater than 0")
        if self.aggressiveness is None and self.learner in ("pa1", "pa2"):
            raise UserError(f"aggressiveness: {self.learner} needs a number greater than 0")
        self._check_sets()
        return self

    def _check_sets(self) -> None:
        """Check the settings that give several constraints at once: a minibatch, or the k best."""
        if self.minibatch < 1:
            raise UserError(f"minibatch: {self.minibatch} must be 1 or more")
        if self.minibatch > 1 and self.learner not in SET_LEARNERS:
            raise UserError(
                f"minibatch: the learner {self.learner} takes one sentence at a time; choose mira, "
                "which solves the same problem for all sentences of a minibatch, or leave out --minibatch"
            )
        if self.k_best < 1:
            raise UserError(f"k-best: {self.k_best} must be 1 or more")
        if self.k_best > 1 and self.learner != "mira":
            raise UserError(f"k-best: the learner {self.learner} uses only the best label sequence; choose mira")
        if self.k_best > 1 and self.decoder == "greedy":
            raise UserError("k-best: a greedy search keeps one label sequence; choose viterbi or beam as the decoder")

    def record(self) -> dict[str, Any]:
        """What runs and models keep; settings that were added later are left out where they have their default."""
        return {
            name: value
            for name, value in self._asdict().items()
            if name not in LATER or value != self._field_defaults[name]
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Settings":
        return cls(**{name: record[name] for name in cls._fields if name not in LATER or name in record})
