"""What tasks share with the driver when they run in one process (mrjob's inline runner): decoded shards, progress.

A shard that this process decoded for the last epoch does not have to be unzipped, composed and numbered again. In any
other process the store is empty and every shard is read from its file; the results are the same.
"""

from typing import Callable, Optional

from perceptron_core.training.epoch import Resident

LIMIT = 192 << 20  # bytes of shards to keep; what does not fit is read from its file each time
ID_BYTES = 4  # of a feature of a token in a decoded shard, at least

_shards: dict[str, Resident] = {}
_listener: Optional[Callable[[int], None]] = None


def room() -> int:
    """How many bytes of shards may still be kept."""
    return max(0, LIMIT - sum(known.size() for known in _shards.values()))


def keep(name: str, shard: Resident) -> None:
    """Keep a shard, if there is room."""
    if name not in _shards and shard.size() <= room():
        _shards[name] = shard


def find(name: str) -> Optional[Resident]:
    return _shards.get(name)


def clear() -> None:
    """Forget all shards, at the end of a run."""
    _shards.clear()


def listen(listener: Optional[Callable[[int], None]]) -> None:
    """Set the function that is called with numbers of sentences as they are done, or None."""
    global _listener
    _listener = listener


def report(sentences: int) -> None:
    """Called by a task when it has trained on this number of further sentences."""
    if _listener is not None:
        _listener(sentences)
