"""Damage that keeps the form: of plain data with arrays in it, and of text. All is drawn from one seeded generator.

Data is damaged at random places: a number becomes an extreme one, a list loses an item, an array gets another type …
Text is damaged by lines, words and bytes.
"""

from random import Random
from typing import Any, Callable

import numpy as np

INTEGERS = (0, 1, -1, 2, 3, 7, 63, 64, 65, 127, 128, 255, 256, 65535, 65536, 10**6, 2**31 - 1, 2**31, 2**32 - 1, 2**32)
LARGE = (2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, -(2**31), -(2**31) - 1, -(2**63), -(10**30))
FLOATS = (0.0, -0.0, 1.0, 0.5, -1.5, 1e-45, 3e38, -3e38, 1e300, float("inf"), float("-inf"), float("nan"))
TYPES = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8")
STRINGS = (
    "",
    " ",
    "a",
    "O",
    "B-NP",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "é",
    "名",
    "\ud800",
    "../x",
    "/etc/passwd",
    "%s",
    "{}",
    "0",
)
STRINGS += (
    "-1",
    "1e9",
    "nan",
    "true",
    "null",
    "word[0]",
    "label[-1]",
    "\u2028",
    "<b>",
    "x" * 300,
    "viterbi",
    "classification",
)


def mutated(random: Random, value: Any) -> Any:
    """The value with one change or a few; what was given stays as it is."""
    for _ in range(1 + int(random.expovariate(1.2))):
        value = _changed(random, value)
    return value


def _changed(random: Random, value: Any) -> Any:
    """The value with one change, in it or somewhere inside."""
    if random.random() < 0.03:
        return anything(random)
    if isinstance(value, dict) and value and random.random() < 0.85:
        name = random.choice(list(value))
        return {**value, name: _changed(random, value[name])}
    if isinstance(value, (list, tuple)) and value and random.random() < 0.8:
        at = random.randrange(len(value))
        return [*value[:at], _changed(random, value[at]), *value[at + 1 :]]
    for kind, change in CHANGES.items():
        if isinstance(value, kind):
            return change(random, value)
    return anything(random)


def anything(random: Random) -> Any:
    """A value of any type."""
    kinds: list[Callable[[], Any]] = [
        lambda: None,
        lambda: random.random() < 0.5,
        lambda: random.choice(INTEGERS + LARGE[:4]),
        lambda: random.choice(FLOATS),
        lambda: random.choice(STRINGS),
        list,
        dict,
        lambda: [anything(random) for _ in range(random.randrange(4))],
        lambda: {random.choice(STRINGS): anything(random)},
    ]
    return random.choice(kinds)()


def _integer(random: Random, value: int) -> Any:
    if random.random() < 0.5:
        return value + random.choice((-2, -1, 1, 2, 8))
    return random.choice((*INTEGERS, *INTEGERS, *LARGE, -value, value * 2, float(value), str(value)))


def _string(random: Random, value: str) -> Any:
    choice = random.randrange(5)
    at = random.randrange(len(value) + 1)
    if choice == 0:
        return random.choice(STRINGS)
    if choice == 1:
        return value[:at]
    if choice == 2:
        return value[:at] + random.choice(STRINGS) + value[at:]
    if choice == 3:
        return value[::-1]
    return value * random.choice((2, 3, 40))


def _list(random: Random, value: Any) -> list[Any]:
    items = list(value)
    choice, at = random.randrange(7), random.randrange(len(items) + 1)
    if choice == 0:
        return []
    if choice == 1:
        return items[:at] + items[at + 1 :]
    if choice == 2:
        return items[:at] + items[at : at + 1] * 2 + items[at + 1 :]
    if choice == 3:
        return items[::-1]
    if choice == 4:
        return [*items[:at], anything(random), *items[at:]]
    if choice == 5:
        return items * random.choice((2, 30))
    random.shuffle(items)
    return items


def _dict(random: Random, value: dict[Any, Any]) -> dict[Any, Any]:
    items = dict(value)
    choice = random.randrange(4) if items else 0
    if choice == 0:
        return {**items, random.choice((*STRINGS, *items)): anything(random)}
    name = random.choice(list(items))
    if choice == 1:
        del items[name]
    elif choice == 2:
        items[random.choice(STRINGS)] = items.pop(name)
    else:
        items[name] = items[random.choice(list(items))]
    return items


def array(random: Random, value: np.ndarray) -> np.ndarray:
    """Another array: other numbers, another size, another order, or another type."""
    changed, choice = value.copy(), random.randrange(13)
    if choice <= 5 and len(changed):
        for _ in range(random.choice((1, 1, 2, len(changed)))):
            _set(random, changed, random.randrange(len(changed)))
    elif choice == 6:
        return changed[::-1].copy()
    elif choice == 7:
        return changed[: random.randrange(len(changed) + 1)].copy()
    elif choice == 8:
        return np.append(changed, changed[: random.choice((1, 2, len(changed)))])
    elif choice == 9 and len(changed) > 1:
        one, other = random.sample(range(len(changed)), 2)
        changed[[one, other]] = changed[[other, one]]
    elif choice == 10:
        with np.errstate(all="ignore"):
            return changed.astype(random.choice(TYPES))
    elif choice == 11:
        return np.frombuffer(changed.tobytes()[: changed.nbytes // 8 * 8], random.choice(TYPES)).copy()
    elif choice == 12 and len(changed):
        changed[:] = changed[random.randrange(len(changed))]
    return changed


def _set(random: Random, numbers: np.ndarray, at: int) -> None:
    """Give one number of an array another value, most often one near by."""
    if numbers.dtype.kind == "f":
        with np.errstate(all="ignore"):
            numbers[at] = random.choice((*FLOATS, float(numbers[at]) * 1e30))
        return
    limits = np.iinfo(numbers.dtype)
    near = int(numbers[at]) + random.choice((-2, -1, 1, 2, 100))
    wanted = near if random.random() < 0.6 else random.choice((*INTEGERS, *LARGE, limits.max, limits.min))
    numbers[at] = min(max(wanted, limits.min), limits.max)


CHANGES: dict[Any, Callable[[Random, Any], Any]] = {
    bool: lambda random, value: random.choice((not value, *INTEGERS[:4], None)),
    int: _integer,
    float: lambda random, value: random.choice((*FLOATS, -value, value * 1e30, int(value) if abs(value) < 1e9 else 0)),
    str: _string,
    list: _list,
    tuple: _list,
    dict: _dict,
    np.ndarray: array,
}


def mutated_text(random: Random, text: bytes, words: tuple[bytes, ...] = ()) -> bytes:
    """The text with a few changes by lines, words and bytes; `words` are those that mean something in it."""
    for _ in range(1 + int(random.expovariate(0.6))):
        text = _changed_text(random, text, words)
    return text


def _changed_text(random: Random, text: bytes, words: tuple[bytes, ...]) -> bytes:
    choice, at = random.randrange(9), random.randrange(len(text) + 1)
    more = random.choice((*words, *(word.encode("utf-8", "surrogatepass") for word in STRINGS)))
    if choice <= 1:
        return text[:at] + more + text[at + random.choice((0, 0, 1, len(more))) :]
    if choice == 2:
        return text[:at] + bytes([random.randrange(256)]) + text[at + 1 :]
    if choice == 3:
        return text[:at] + text[at + random.choice((1, 2, 5, 20)) :]
    if choice == 4:
        return text[:at]
    if choice == 5:
        end = at + random.choice((1, 2, 10, 30))
        return text[:at] + text[at:end] * random.choice((2, 3, 50)) + text[end:]
    lines = text.split(b"\n")
    line = random.randrange(len(lines))
    if choice == 6:
        del lines[line]
    elif choice == 7:
        lines.insert(random.randrange(len(lines) + 1), lines[line])
    else:
        fields = lines[line].split(random.choice((b" ", b"\t", b",", b":")))
        field = random.randrange(len(fields))
        fields[field] = more
        lines[line] = random.choice((b" ", b"\t", b": ")).join(fields)
    return b"\n".join(lines)
