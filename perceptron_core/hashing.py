"""64-bit feature keys: a hash of a string, and the mixing of hashes into a key.

There is no table of features: the key of a feature is computed only from its template and its values, so it is the
same on every node and in every run. Zero is reserved for "no value"; no string and no mix of values hashes to it.

The string hash is FNV-1a (Fowler, Noll & Vo) finished by the mixer of SplitMix64 (Steele, Lea & Flood 2014),
which spreads FNV's weak high bits. The compiled kernel computes the same numbers.
"""

from typing import Union

import numpy as np

MASK = 0xFFFFFFFFFFFFFFFF
FNV_OFFSET = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
GOLDEN = 0x9E3779B97F4A7C15

Keys = np.ndarray  # uint64


def scramble(x: int) -> int:
    """SplitMix64's finaliser: a bijection on 64 bits in which every input bit affects every output bit."""
    x ^= x >> 30
    x = (x * 0xBF58476D1CE4E5B9) & MASK
    x ^= x >> 27
    x = (x * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def scramble_array(x: Keys) -> Keys:
    """`scramble` for an array of uint64."""
    x = x ^ (x >> np.uint64(30))
    x = x * np.uint64(0xBF58476D1CE4E5B9)
    x = x ^ (x >> np.uint64(27))
    x = x * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def hash_string(text: str) -> int:
    """The 64-bit hash of a string's UTF-8 bytes (lone surrogates included, as Python decodes them)."""
    h = FNV_OFFSET
    for byte in text.encode("utf-8", "surrogatepass"):
        h = ((h ^ byte) * FNV_PRIME) & MASK
    return scramble(h) or 1


def extend_key(key: int, value: int) -> int:
    """The key that `key` becomes when `value` joins it; the order of joining matters."""
    return scramble(((key + GOLDEN) & MASK) ^ value) or 1


def extend_keys(keys: Union[Keys, int], values: Keys) -> Keys:
    """`extend_key`, element by element."""
    start = np.asarray(keys, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed = scramble_array((start + np.uint64(GOLDEN)) ^ values)
    return np.where(mixed == 0, np.uint64(1), mixed)
