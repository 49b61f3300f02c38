"""Which shard a sentence goes to, and its place there.

Both depend only on the seed, the number of its file in the list, and its ordinal in the file; not on paths, on the
runner or on block boundaries. So every runner prepares the same shards. Of each S consecutive sentences every shard
gets one, by a seeded permutation, so that the sizes of the shards differ by one sentence per file at most. Within a
shard the sentences are in the order of a second seeded hash, that is, shuffled.
"""

import numpy as np

from perceptron_core.hashing import extend_key, extend_keys, hash_string


def _hashes(purpose: str, seed: int, file: int, ordinals: np.ndarray) -> np.ndarray:
    key = extend_key(extend_key(hash_string(purpose), hash_string(str(seed))), file + 1)
    return extend_keys(key, ordinals.astype(np.uint64))


def deal(seed: int, file: int, first: int, count: int, shards: int) -> tuple[np.ndarray, np.ndarray]:
    """(shard, place) of the sentences with ordinals first … first+count-1 of a file; a place is a sort key."""
    run, last_run = first // shards, (first + count - 1) // shards
    whole = np.arange(run * shards, (last_run + 1) * shards)
    order = np.argsort(_hashes("shard", seed, file, whole).reshape(-1, shards), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable").ravel()
    places = _hashes("place", seed, file, np.arange(first, first + count))
    begin = first - run * shards
    return ranks[begin : begin + count].astype(np.int32), places


def choose_shard(seed: int, shards: int) -> int:
    """The only shard that is trained on when a run is sub-sampled."""
    return extend_key(hash_string("subsample"), hash_string(str(seed))) % shards
