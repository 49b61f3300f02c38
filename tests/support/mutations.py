"""Values as somebody who means harm would change them: structure is kept here and there, and broken elsewhere."""

import copy
import random
from typing import Any

JUNK: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 7, 255, 2**31, 2**32, 2**63 - 1, -(2**63), 10**12, 0.0, -0.5, 1e300),
    *("", "a", "0", "\0", "x\ty", "x\ny", "../x", "/etc/passwd", "имя", "a" * 300, "label", "identity", "suffix3((("),
    *("greedy", "viterbi", "beam", "iobes", "spans", "classes", "raw", "svmlight", "csv"),
    *([], [[]], {}, {"a": 1}, [None], [0, 1], ["a", "a"]),
]


def changed(value: Any, chance: random.Random, times: int = 1) -> Any:
    """A copy with one or more changes at random places."""
    value = copy.deepcopy(value)
    for _ in range(times):
        holder = {"all": value}
        _change(holder, chance)
        value = holder["all"]
    return value


def _change(holder: Any, chance: random.Random) -> None:
    """Walk down to a random place, and change what is there."""
    key: Any = "all"
    while True:
        inner = holder[key]
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner))) if isinstance(inner, list) else []
        if not keys or chance.random() < 0.15:
            break
        holder, key = inner, chance.choice(keys)
    how = chance.randrange(6)
    if how == 0 and key != "all":
        del holder[key]
    elif how == 1 and isinstance(holder[key], list):
        holder[key] += copy.deepcopy(holder[key]) or [copy.deepcopy(chance.choice(JUNK))]
    elif how == 2 and isinstance(holder[key], dict):
        holder[key][chance.choice(["a", "", "\0", "epoch", "labels"])] = copy.deepcopy(chance.choice(JUNK))
    elif how == 3 and isinstance(holder[key], list):
        chance.shuffle(holder[key])
    elif how == 4 and isinstance(holder[key], int):
        holder[key] = holder[key] + chance.choice([-2, -1, 1, 2, 256])
    else:
        holder[key] = copy.deepcopy(chance.choice(JUNK))
