"""The header and the trailer of a shard, as they must be, whoever made the file; see records.py."""

from typing import Any

from perceptron_core.errors import UserError, shown
from perceptron_core.schema import LARGEST, fault, one_of, record, text, whole
from perceptron_core.task_record import labels
from perceptron_core.wire import DamagedRecord

VERSION = 2

_COUNTS = {"sentences": whole(), "tokens": whole()}
HEADER = record(
    {
        "shard": whole(),
        "shards": whole(1),
        "seed": whole(-LARGEST, LARGEST),
        "features": text(),
        **_COUNTS,
        "version": one_of(VERSION),
        "labels": labels,
    }
)
TRAILER = record({"blocks": whole(), **_COUNTS})


def checked_header(content: Any) -> dict[str, Any]:
    """The header; refuses one of another version, or one that is none."""
    version = content.get("version", VERSION) if isinstance(content, dict) else VERSION
    if type(version) is int and version != VERSION:
        raise UserError(
            f"the shard has version {shown(version)}, but this program reads version {VERSION}; "
            "prepare the corpus again"
        )
    _refuse(fault(content, HEADER), "header")
    return content


def checked_trailer(content: Any) -> dict[str, Any]:
    _refuse(fault(content, TRAILER), "trailer")
    return content


def _refuse(problem: Any, what: str) -> None:
    if problem:
        raise DamagedRecord(f"the {what} of a shard is damaged: {problem}; prepare the corpus again")
