"""Attributes: named functions of a word type, such as `suffix3` or `shape`.

An attribute turns a string into a string, or into None if it does not apply; then there is no feature. It
sees one word without its context, so it is computed once per type. The templates decide which attributes are used at
which positions (`templates.py`). Nothing is hashed here.

A "digit" is a decimal digit of any script; Unicode decides what is a letter, and its case.
"""

import difflib
import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Callable, Optional

from perceptron_core.errors import InputError, UserError

Attribute = Callable[[str], Optional[str]]

LONGEST_AFFIX = 9
LONG_WORD = 10

# Names with a meaning of their own in the template language.
RESERVED_NAMES = ("word", "label", "bias")


def identity(word: str) -> str:
    """The word itself."""
    return word


def lower(word: str) -> str:
    """The word in lower case."""
    return word.lower()


def shape(word: str) -> str:
    """Each upper-case letter as X, lower-case as x, digit as d, other letter as c; the rest as it is."""
    return "".join(map(_character_class, word))


def short_shape(word: str) -> str:
    """The shape with each run of one character collapsed into one: Obama and Of are both Xx."""
    return "".join(character for character, _ in itertools.groupby(shape(word)))


def digits(word: str) -> str:
    """The word with every digit replaced by 0: 1984 and 2001 are both 0000."""
    return "".join("0" if character.isdecimal() else character for character in word)


def has_digit(word: str) -> Optional[str]:
    """`yes` if the word has a digit."""
    return _yes_if(any(character.isdecimal() for character in word))


def has_hyphen(word: str) -> Optional[str]:
    """`yes` if the word has a hyphen (-)."""
    return _yes_if("-" in word)


def has_upper(word: str) -> Optional[str]:
    """`yes` if the word has an upper-case letter."""
    return _yes_if(any(character.isupper() for character in word))


def is_title(word: str) -> Optional[str]:
    """`yes` if each run of letters begins with its only upper-case letter: Paris, Jean-Luc, I."""
    return _yes_if(word.istitle())


def is_upper(word: str) -> Optional[str]:
    """`yes` if the word has letters with case and all are upper-case: NATO, U.S., B-52."""
    return _yes_if(word.isupper())


def length(word: str) -> str:
    """The number of characters, from 10 on as 10+."""
    return str(len(word)) if len(word) < LONG_WORD else f"{LONG_WORD}+"


def _character_class(character: str) -> str:
    if character.isupper():
        return "X"
    if character.islower():
        return "x"
    if character.isdecimal():
        return "d"
    return "c" if character.isalpha() else character


def _yes_if(condition: bool) -> Optional[str]:
    return "yes" if condition else None


def _prefix(size: int) -> Attribute:
    def prefix(word: str) -> Optional[str]:
        return word[:size] if len(word) >= size else None

    prefix.__doc__ = f"The first {_characters(size)}, if the word has as many."
    return prefix


def _suffix(size: int) -> Attribute:
    def suffix(word: str) -> Optional[str]:
        return word[-size:] if len(word) >= size else None

    suffix.__doc__ = f"The last {_characters(size)}, if the word has as many."
    return suffix


def _characters(count: int) -> str:
    return "character" if count == 1 else f"{count} characters"


def feature_of(name: str) -> Attribute:
    """The value of one morphological feature in a column like CoNLL-U's feats (`Case=Nom|Number=Sing`). A layered
    feature, `Number[abs]`, is called `Number-abs`, since brackets are for offsets."""
    layered = re.sub(r"-(.+)", r"[\1]", name)

    def feature(feats: str) -> Optional[str]:
        for pair in feats.split("|"):
            key, found, value = pair.partition("=")
            if found and key == layered:
                return value
        return None

    feature.__doc__ = f"The value of the feature {layered}."
    return feature


# Name → function; each function's docstring is the line that help texts show.
BUILT_IN: dict[str, Attribute] = {
    "identity": identity,
    "lower": lower,
    **{f"prefix{size}": _prefix(size) for size in range(1, LONGEST_AFFIX + 1)},
    **{f"suffix{size}": _suffix(size) for size in range(1, LONGEST_AFFIX + 1)},
    "shape": shape,
    "short_shape": short_shape,
    "digits": digits,
    "has_digit": has_digit,
    "has_hyphen": has_hyphen,
    "has_upper": has_upper,
    "is_title": is_title,
    "is_upper": is_upper,
    "length": length,
}


class AttributeSet:
    """The attributes a task knows: the built-in ones, its lookups (word → class) and the user's functions."""

    def __init__(self, lookups: Mapping[str, Mapping[str, str]], functions: Mapping[str, Attribute]) -> None:
        for name in [*lookups, *functions]:
            if name in BUILT_IN or name in RESERVED_NAMES:
                raise UserError(f"The attribute `{name}` would hide a built-in name; give it another name.")
            if name in lookups and name in functions:
                raise UserError(f"The attribute `{name}` is both a lookup and a function; rename one.")
        # A lookup's `get` is an attribute as it stands: the word's class, or None.
        classes = {name: lookup.get for name, lookup in lookups.items()}
        self._attributes: dict[str, Attribute] = {**BUILT_IN, **classes, **functions}

    def __contains__(self, name: str) -> bool:
        return name in self._attributes

    def names(self) -> list[str]:
        """All names, the built-in ones first."""
        return list(self._attributes)

    def get(self, name: str) -> Attribute:
        """The attribute with this name, or an attribute of another one, such as `suffix3(lower)`; a name in upper case
        is that of a morphological feature. Refuses an unknown name with the list of known ones."""
        outer, _, inner = name.partition("(")
        if inner:
            return _composed(self.get(outer), self.get(inner[:-1]))
        if name not in self._attributes and name[:1].isupper():
            return feature_of(name)
        if name not in self._attributes:
            hint = did_you_mean(name, self._attributes)
            raise UserError(f"There is no attribute `{name}`.{hint} The attributes are: {', '.join(self.names())}.")
        return self._attributes[name]


def _composed(outer: Attribute, inner: Attribute) -> Attribute:
    def attribute(word: str) -> Optional[str]:
        value = inner(word)
        return None if value is None else outer(value)

    return attribute


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence (after a space) that proposes the most similar known name, or nothing."""
    similar = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean `{similar[0]}`?" if similar else ""


def read_lookup(text: str, source: str) -> dict[str, str]:
    """Read a lookup: one `word TAB class` per line; a word without a class has the class `yes` (a gazetteer).

    Blank lines and lines that begin with `# ` are skipped; spaces around a field do not count.
    """
    classes: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("# "):
            continue
        fields = [field.strip(" ") for field in line.rstrip("\r").split("\t")]
        if len(fields) > 2:
            raise InputError(
                f"The line has {len(fields)} fields; write a word, or a word, a TAB and its class.",
                source,
                number,
            )
        word, word_class = fields if len(fields) == 2 else (fields[0], "yes")
        if not word or not word_class:
            raise InputError("A field is empty: write a word, or a word, a TAB and its class.", source, number)
        if classes.setdefault(word, word_class) != word_class:
            raise InputError(
                f"The word `{word}` is of class `{word_class}` here but `{classes[word]}` above; remove one.",
                source,
                number,
            )
    return classes
