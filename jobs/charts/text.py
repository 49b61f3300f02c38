"""Numbers and strings as charts and the report show them."""

import html
import re
from typing import Callable, NamedTuple

# What XML must not hold and no browser shows; a corpus may have it nevertheless.
UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
SPACE = "\u00a0"  # a unit stays with its number
SIZES = ((1e9, f"{SPACE}GB"), (1e6, f"{SPACE}MB"), (1e3, f"{SPACE}kB"))


def escape(text: object) -> str:
    """Text from anywhere, for HTML and SVG, also inside an attribute's quotes."""
    return html.escape(UNSHOWABLE.sub("\ufffd", str(text)))


class Unit(NamedTuple):
    """How a quantity is written: short beside an axis, in full elsewhere."""

    tick: Callable[[float], str]
    full: Callable[[float], str]


def _scaled(value: float, factors: tuple[tuple[float, str], ...], digits: str) -> str:
    factor, name = next((pair for pair in factors if abs(value) >= pair[0]), factors[-1])
    return f"{value / factor:{digits}}{name}"


def count(value: float) -> str:
    return f"{value:,.0f}"


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + "s" * (number != 1)


def capital(text: str) -> str:
    """`Accuracy` at the beginning of a title, but F1 as ever."""
    return text[:1].upper() + text[1:]


def percent(value: float) -> str:
    return f"{value:.2f}{SPACE}%"


def megabytes(value: float) -> str:
    return _scaled(value, SIZES, ".1f")


def seconds(value: float) -> str:
    if value < 600:
        digits = 3 if value < 0.1 else 2 if value < 10 else 1
        return f"{value:.{digits}f}{SPACE}s"
    hours, minutes = divmod(round(value / 60), 60)
    return f"{hours}{SPACE}h {minutes}{SPACE}min" if hours else f"{minutes}{SPACE}min"


COUNT = Unit(lambda value: _scaled(value, ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")), ".10g"), count)
PERCENT = Unit(lambda value: f"{value:.10g}{SPACE}%", percent)
SCORE = Unit(lambda value: f"{value:.10g}", lambda value: f"{value:.2f}")
BYTES = Unit(lambda value: _scaled(value, SIZES, ".10g") if value else "0", megabytes)
SECONDS = Unit(lambda value: f"{value:.10g}{SPACE}s", seconds)
