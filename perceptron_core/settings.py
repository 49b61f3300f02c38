"""What decides how a shard is trained, apart from the data and the features."""

from typing import Any, NamedTuple

from perceptron_core.decoders import DECODERS
from perceptron_core.errors import UserError
from perceptron_core.learners import LEARNERS, ONE_PASS
from perceptron_core.violations import UPDATES


class Settings(NamedTuple):
    learner: str = "perceptron"
    aggressiveness: float = 1.0
    decoder: str = "viterbi"
    beam: int = 8
    update: str = "standard"
    local_epochs: int = 1
    average: bool = True
    transitions: bool = True
    start_stop: bool = True
    min_updates: int = 1

    def beam_width(self, labels: int) -> int:
        """How many states the search keeps after a token: a greedy search is a beam of one, Viterbi keeps all."""
        return {"viterbi": labels, "beam": self.beam, "greedy": 1}[self.decoder]

    def check(self) -> "Settings":
        """Itself, or a UserError that says which setting is wrong."""
        for name, value, known in (
            ("learner", self.learner, (*LEARNERS, *ONE_PASS)),
            ("decoder", self.decoder, DECODERS),
            ("update", self.update, UPDATES),
        ):
            if value not in known:
                raise UserError(f"{name}: {value!r} is not known; choose one of {', '.join(known)}")
        if self.beam < 1:
            raise UserError(f"beam: {self.beam} states cannot be searched; give 1 or more")
        if self.local_epochs < 1:
            raise UserError(f"local-epochs: {self.local_epochs} passes teach nothing; give 1 or more")
        if self.min_updates < 1:
            raise UserError(f"min-updates: {self.min_updates} updates prove nothing; give 1 or more")
        if not self.aggressiveness > 0:
            raise UserError(f"aggressiveness: {self.aggressiveness} must be greater than 0")
        return self

    def record(self) -> dict[str, Any]:
        """What runs and models keep; a switch stands in it only where it is on, so that the others' bytes stay."""
        return {
            name: value for name, value in self._asdict().items() if name not in SWITCHES or value != SWITCHES[name]
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Settings":
        return cls(**{name: record[name] for name in cls._fields if name not in SWITCHES or name in record})


SWITCHES = {name: Settings._field_defaults[name] for name in ("min_updates",)}
