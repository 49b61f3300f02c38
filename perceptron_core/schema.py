"""What a record from a file must look like: declared once, and checked before anything else sees the record.

    HEADER = record({"version": whole(1, 9), "labels": list_of(text())}, may={"seed": whole()})
    check(content, HEADER, path, "prepare the corpus again")

Types, ranges and known names are checked here; what the values mean together is checked by those who use them. A schema
is a function of a value; it raises `Wrong`.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Callable, NoReturn, Optional, Union

from perceptron_core.errors import InputError, shown

Schema = Callable[[Any], None]

LARGEST = 2**63 - 1  # a larger whole number is in no file of ours


class Wrong(Exception):
    """A value is not as it must be."""

    def __init__(self, problem: str, place: str = "") -> None:
        super().__init__(problem)
        self.problem, self.place = problem, place

    def within(self, step: str) -> "Wrong":
        """The same, seen from what holds the value."""
        return Wrong(self.problem, step + self.place)

    def sentence(self) -> str:
        place = self.place.lstrip(".")
        return f"{f'`{place}`' if place else 'it'} {self.problem}"


def fault(value: Any, schema: Schema) -> Optional[str]:
    """What is wrong with the value; None if it is as the schema says."""
    try:
        schema(value)
    except Wrong as wrong:
        return wrong.sentence()
    return None


def check(value: Any, schema: Schema, source: str, remedy: str) -> Any:
    """The value, if it is as the schema says; otherwise an error that names the file and what to do."""
    found = fault(value, schema)
    if found:
        raise InputError(f"is damaged: {found}; {remedy}", source)
    return value


def read_json(data: Union[bytes, str], schema: Schema, source: str, remedy: str) -> Any:
    """What a JSON text says, if it is as the schema says."""
    try:
        content = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, a number of thousands of digits, …
        raise InputError(f"is damaged: {_reason(error)}; {remedy}", source) from None
    return check(content, schema, source, remedy)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _reason(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _refuse(value: Any, wanted: str) -> NoReturn:
    raise Wrong(f"is {shown(value)}, but must be {wanted}")


def whole(least: int = 0, most: int = LARGEST) -> Schema:
    def schema(value: Any) -> None:
        if type(value) is not int or not least <= value <= most:
            _refuse(value, f"a whole number from {least} to {most}")

    return schema


def number(least: float = -math.inf, most: float = math.inf) -> Schema:
    """A finite number, whole or not."""

    def schema(value: Any) -> None:
        if type(value) not in (int, float) or not math.isfinite(value) or not least <= value <= most:
            _refuse(value, f"a finite number from {least} to {most}")

    return schema


def text(pattern: str = "", what: str = "text") -> Schema:
    """Text that can be written as UTF-8; all of it matches the pattern, if there is one."""
    compiled = re.compile(pattern) if pattern else None

    def schema(value: Any) -> None:
        if type(value) is not str or not _is_text(value) or (compiled and not compiled.fullmatch(value)):
            _refuse(value, what)

    return schema


def _is_text(value: str) -> bool:
    try:
        return value.isascii() or bool(value.encode())
    except UnicodeEncodeError:  # half of a pair of surrogates
        return False


def one_of(*values: Any) -> Schema:
    def schema(value: Any) -> None:
        if not any(type(value) is type(known) and value == known for known in values):
            _refuse(value, f"one of {', '.join(map(str, values))}")

    return schema


def flag(value: Any) -> None:
    if type(value) is not bool:
        _refuse(value, "true or false")


def anything(value: Any) -> None:
    """For what is only compared or shown."""


def or_nothing(schema: Schema) -> Schema:
    """None, or what the schema says."""

    def either(value: Any) -> None:
        if value is not None:
            schema(value)

    return either


def list_of(item: Schema, least: int = 0, most: int = LARGEST, distinct: bool = False) -> Schema:
    def schema(value: Any) -> None:
        if type(value) is not list or not least <= len(value) <= most:
            _refuse(value, f"a list of {least} to {most}" if most < LARGEST else "a list")
        _each(enumerate(value), item)
        if distinct and len(set(value)) < len(value):
            _refuse(value, "a list in which nothing stands twice")

    return schema


def row_of(*items: Schema) -> Schema:
    """A list with one item for each of the schemas."""

    def schema(value: Any) -> None:
        if type(value) is not list or len(value) != len(items):
            _refuse(value, f"a list of {len(items)}")
        for number, (each, item) in enumerate(zip(value, items)):
            _each([(number, each)], item)

    return schema


def dict_of(item: Schema) -> Schema:
    """Any names, each with a value of this kind."""
    name = text(what="text, as all names are")

    def schema(value: Any) -> None:
        if type(value) is not dict:
            _refuse(value, "names with values")
        for key in value:
            name(key)
        _each(value.items(), item)

    return schema


def record(must: Mapping[str, Schema], may: Optional[Mapping[str, Schema]] = None) -> Schema:
    """The names that must be there, those that may be there, and no others."""
    known = {**must, **(may or {})}

    def schema(value: Any) -> None:
        if type(value) is not dict:
            _refuse(value, "names with values")
        for key in value:
            if type(key) is not str or key not in known:
                raise Wrong(f"has {shown(key)}, which is not known")
        for key in must:
            if key not in value:
                raise Wrong(f"has no `{key}`")
        for key, each in value.items():
            try:
                known[key](each)
            except Wrong as wrong:
                raise wrong.within(f".{key}") from None

    return schema


def _each(items: Any, schema: Schema) -> None:
    """Check the values of (key, value) pairs; the place is made only for an error, since there may be millions."""
    for key, value in items:
        try:
            schema(value)
        except Wrong as wrong:
            raise wrong.within(f"[{shown(key)}]") from None
