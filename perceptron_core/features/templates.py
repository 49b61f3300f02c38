r"""The template language, and the names of features.

A template says which values make a feature: `word[-1] & word[0]`, `suffix3[0]`, `prefix1(pos)[0]`,
`label[-1] & word[0]` (joined with the previous label), `bias`. `word[-2..2]` stands for five templates;
several ranges in one template run in parallel. This module parses templates, writes features as text and reads that
text back; it does not read sentences or hash anything. CRF++'s own files are parsed in `crfpp.py`.

Where a template asks for more than the previous label (`label[-2]`, `label[-2] & label[-1]`), or for nothing else
(`label[-1]`), labels are parts like those of any column, in all templates. What they mean is decided by the search:
token classification by a greedy one (structures/tokens), a second-order model by Viterbi or a beam
(structures/sequence).

A feature's name is the template's literal text with the values filled in, `word[-1]=of & word[0]=the` or
`U05:of/the`. It can be read back for any values, because they are escaped:

- a backslash is `\\`, TAB `\t`, newline `\n`, carriage return `\r`, any other line break `\u{...}` (hex);
- in the `names` style, `&` is `\&`;
- in the `crf++` style, the first character of the literal text that follows the value, if there is any:
  `/` is `\/`, `&` is `\&`, others are `\u{...}`. With this exception names are as CRF++ builds them;
- where in the `crf++` style two macros touch, or a backslash follows a macro, `\|` ends the value.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.attributes import AttributeSet, did_you_mean
from perceptron_core.limits import FARTHEST_OFFSET, MOST_PARTS, MOST_TEMPLATES

NAMES = "names"
CRFPP = "crf++"

CRFPP_MACRO = re.compile(r"%x\[(-?[0-9]+),([0-9]+)\]")

LABEL_COLUMN = "label"
BARE = "arc"  # the anchor of a part that is not read from a word: the structure makes its value

_LABEL = "label[-1]"
_NAME = r"[^\s\[\]()&=\\]+"
_OFFSET = r"[+-]?[0-9]+"
_PREVIOUS = re.compile(r"-0*1")
_PART = re.compile(
    rf"(?P<name>{_NAME})\s*(?:\(\s*(?P<argument>{_NAME})\s*\)\s*)?"
    rf"\[\s*(?P<first>{_OFFSET})\s*(?:\.\.\s*(?P<last>{_OFFSET})\s*)?\]"
)


class Part(NamedTuple):
    """One value of a feature: an attribute of a column, `offset` tokens from an anchor.

    A site is a place where templates apply; it has one position per anchor. In a sequence a site is a token, and its
    only anchor has no name.
    """

    column: str
    attribute: str
    offset: int
    anchor: str = ""

    def record(self) -> list[Any]:
        """The form in a task's record: the anchor is left out if it has no name."""
        return list(self if self.anchor else self[:3])


class Template(NamedTuple):
    """What makes a feature; `text` is its normal form, which identifies it and is hashed."""

    text: str
    parts: tuple[Part, ...]
    bigram: bool  # joined with the previous label
    style: str  # NAMES or CRFPP


class _Range(NamedTuple):
    column: str
    attribute: str
    offsets: range
    anchor: str = ""


def parse_templates(
    texts: Sequence[str],
    columns: Sequence[str],
    attributes: AttributeSet,
    source: str,
    anchors: Sequence[str] = (),
    bare: Sequence[str] = (),
) -> list[Template]:
    """Parse templates over the input columns (the first is the word), ranges expanded, in order.

    Where the structure's sites have anchors with names, every part begins with one: `head.word[0] & child.pos[-1]`, or
    `head.word` for the position itself. The structure may have values of its own, which are named by themselves
    (`bare`): `distance`."""
    vocabulary = _Vocabulary(columns, attributes, anchors, bare)
    for column in columns:
        if column == LABEL_COLUMN or not re.fullmatch(_NAME, column):
            raise InputError(
                f"The input column `{column}` must have another name: in templates `label` is the predicted "
                "label, and a name must not contain a space or any of [ ] ( ) & = \\.",
                source,
            )
    origins: dict[tuple[bool, tuple[Part, ...]], str] = {}
    templates: list[Template] = []
    history = any(map(_asks_for_history, texts))
    for text in texts:
        try:
            expanded = list(_expand(text, vocabulary, history))
        except UserError as error:
            raise InputError(f"In the template `{text}`: {error}", source) from None
        for template in expanded:
            # Templates that differ only in the order of their parts are equivalent.
            content = (template.bigram, tuple(sorted(template.parts)))
            if content in origins:
                raise InputError(
                    f"The template `{text}` repeats `{template.text}`, "
                    f"which `{origins[content]}` already gives; remove one.",
                    source,
                )
            origins[content] = text
            templates.append(template)
        check_number(templates, source)
    return templates


def check_number(templates: Sequence[Template], source: str) -> None:
    """Refuse more templates, or more parts, than anybody needs."""
    parts = sum(len(template.parts) for template in templates)
    if len(templates) > MOST_TEMPLATES or parts > MOST_PARTS:
        raise InputError(
            f"There are {len(templates):,} templates with {parts:,} parts; {MOST_TEMPLATES:,} templates and "
            f"{MOST_PARTS:,} parts are the limit.",
            source,
        )


def _asks_for_history(text: str) -> bool:
    """Whether a template uses labels in another way than to be joined with the previous one."""
    matches = [_PART.fullmatch(piece.strip()) for piece in text.split("&")]
    labels = [match for match in matches if match and match["name"] == LABEL_COLUMN and not match["argument"]]
    farther = any(
        not _PREVIOUS.fullmatch(offset) for match in labels for offset in (match["first"], match["last"] or "-1")
    )
    return bool(labels) and (farther or len(labels) == len(matches) == 1)


def read_offset(text: str) -> int:
    """An offset, which must not be too far away."""
    if len(text) > 9 or abs(int(text)) > FARTHEST_OFFSET:
        raise UserError(f"An offset must be from -{FARTHEST_OFFSET} to {FARTHEST_OFFSET}, not {text}.")
    return int(text)


class _Vocabulary(NamedTuple):
    """The names that a template may use."""

    columns: Sequence[str]
    attributes: AttributeSet
    anchors: Sequence[str]
    bare: Sequence[str] = ()


def _expand(text: str, vocabulary: _Vocabulary, history: bool) -> Iterator[Template]:
    pieces = [piece.strip() for piece in text.split("&")]
    if pieces == ["bias"]:
        yield Template("bias", (), False, NAMES)
        return
    ranges = [_parse_part(piece, vocabulary) for piece in pieces]
    labels = 0
    if not history:  # the previous label is not a value: the template is joined with it
        labels = sum(part.column == LABEL_COLUMN for part in ranges)
        ranges = [part for part in ranges if part.column != LABEL_COLUMN]
    if labels > 1:
        raise UserError(f"`{_LABEL}` is there {labels} times; once is enough.")
    lengths = {len(part.offsets) for part in ranges if len(part.offsets) > 1}
    if len(lengths) > 1:
        raise UserError(
            f"Its ranges run in parallel and must have the same length, but they have {sorted(lengths)} offsets."
        )
    for step in range(max(lengths, default=1)):
        # A part without a range has one offset, which stays the same at every step.
        parts = tuple(
            Part(part.column, part.attribute, part.offsets[step % len(part.offsets)], part.anchor) for part in ranges
        )
        if len(set(parts)) < len(parts):
            raise UserError("A part is there twice; once is enough.")
        names = [_LABEL] * labels + [_part_text(part, vocabulary.columns) for part in parts]
        yield Template(" & ".join(names), parts, labels == 1, NAMES)


def _parse_part(piece: str, vocabulary: _Vocabulary) -> _Range:
    """The part's column, attribute, offsets and anchor."""
    anchor = ""
    if piece in vocabulary.bare:
        return _Range(piece, "identity", range(1), BARE)
    if vocabulary.anchors:
        anchor, dot, rest = piece.partition(".")
        if not dot or anchor not in vocabulary.anchors:
            hint = did_you_mean(anchor, vocabulary.anchors) if dot else ""
            raise UserError(
                f"`{piece}` does not say where to look.{hint} Begin it with one of "
                f"{', '.join(f'`{name}.`' for name in vocabulary.anchors)}."
            )
        piece = rest if rest.endswith("]") else f"{rest}[0]"
    match = _PART.fullmatch(piece)
    if match is None:
        raise UserError(
            f"`{piece}` is not a part of a template; write a column or an attribute with an offset, such as "
            "`word[0]`, `suffix3[-1]`, `prefix1(pos)[0]` or `word[-2..2]`; `bias` must be a template by itself."
        )
    name, argument = match["name"], match["argument"]
    first = read_offset(match["first"])
    last = read_offset(match["last"]) if match["last"] else first
    if first > last:
        raise UserError(f"The range of `{piece}` is empty; write the smaller offset first.")
    if name == LABEL_COLUMN and argument is None:
        if last >= 0:
            raise UserError(f"Only the labels before a token can be used, such as `{_LABEL}` or `label[-2]`.")
        return _Range(LABEL_COLUMN, "identity", range(first, last + 1))
    column, attribute = _resolve(name, argument, vocabulary.columns, vocabulary.attributes)
    return _Range(column, attribute, range(first, last + 1), anchor)


def _resolve(name: str, argument: Optional[str], columns: Sequence[str], attributes: AttributeSet) -> tuple[str, str]:
    """The column and the attribute that `name` or `name(argument)` means; a column is preferred to an attribute."""
    if argument is not None:
        column = _find_column(argument, columns)
        if column is None and argument not in attributes:
            hint = did_you_mean(argument, [*columns, *attributes.names()])
            raise UserError(
                f"There is no column and no attribute `{argument}`.{hint} The columns are: {', '.join(columns)}."
            )
        attributes.get(name)  # refuses an unknown one
        return (columns[0], f"{name}({argument})") if column is None else (column, name)
    column = _find_column(name, columns)
    if column is not None:
        return column, "identity"
    if name in attributes:
        return columns[0], name
    hint = did_you_mean(name, ["word", *columns, *attributes.names()])
    raise UserError(
        f"There is no column and no attribute `{name}`.{hint} The columns are: {', '.join(columns)}. "
        f"The attributes are: {', '.join(attributes.names())}."
    )


def _find_column(name: str, columns: Sequence[str]) -> Optional[str]:
    if name in columns:
        return name
    return columns[0] if name == "word" else None


def _part_text(part: Part, columns: Sequence[str]) -> str:
    if part.anchor == BARE:
        return part.column
    if part.anchor:
        return f"{part.anchor}.{_part_text(part._replace(anchor=''), columns)}"
    if part.attribute == "identity":
        return f"{part.column}[{part.offset}]"
    if part.column == columns[0] and part.attribute not in columns:
        return f"{part.attribute}[{part.offset}]"
    return f"{part.attribute}({part.column})[{part.offset}]"


def boundary_value(style: str, distance: int) -> str:
    """The value of a position outside the sentence: -1 is just before its beginning, 1 just after its end."""
    if distance == 0:
        raise ValueError("a position outside the sentence has a distance other than 0")
    return f"_B{distance:+d}" if style == CRFPP else f"<{distance:+d}>"


_ESCAPES = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r", "&": r"\&", "/": r"\/"}
_UNESCAPES = {escape: character for character, escape in _ESCAPES.items()}
_ESCAPE = r"\\(?:[\\tnr&/]|u\{(?:10|[0-9a-f])?[0-9a-f]{1,4}\})"
_ALWAYS_ESCAPED = (
    "\\\t\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # the backslash, TAB, and all line breaks of str.splitlines
)
_END_OF_VALUE = r"\|"


def feature_name(template: Template, values: Sequence[str]) -> str:
    """The feature that the template makes of these values (one for each part), as text."""
    if len(values) != len(template.parts):
        raise ValueError(f"{len(values)} values for the {len(template.parts)} parts of `{template.text}`")
    head, *tails = literals(template)
    return head + "".join(_escape(value, _stop(template, tail)) + tail for value, tail in zip(values, tails))


def parse_feature_name(name: str, templates: Sequence[Template]) -> tuple[Template, tuple[str, ...]]:
    """The template and the values of a feature's name: the inverse of `feature_name`."""
    for template in templates:
        match = _name_pattern(template).fullmatch(name)
        if match is not None:
            return template, tuple(map(_unescape, match.groups()))
    known = ", ".join(f"`{template.text}`" for template in templates)
    raise UserError(f"The feature `{name}` does not match any of the templates: {known}.")


@functools.lru_cache(maxsize=2 * MOST_TEMPLATES)
def literals(template: Template) -> tuple[str, ...]:
    """The fixed text of a feature's name: before the first value, between the values, after the last one."""
    if template.style == CRFPP:
        # Every third piece, since the macro's row and column come between the literals.
        head, *tails = CRFPP_MACRO.split(template.text)[::3]
        tails = [_END_OF_VALUE + tail if tail[:1] in ("", "\\") else tail for tail in tails]
        if tails and tails[-1] == _END_OF_VALUE:
            tails[-1] = ""
        return (head, *tails)
    if not template.parts:
        return (template.text,)
    label = f"{_LABEL} & " if template.bigram else ""
    first, *others = template.text[len(label) :].split(" & ")
    return (f"{label}{first}=", *(f" & {other}=" for other in others), "")


@functools.lru_cache(maxsize=2 * MOST_TEMPLATES)
def _name_pattern(template: Template) -> "re.Pattern[str]":
    head, *tails = literals(template)
    pattern = re.escape(head)
    for tail in tails:
        plain = rf"[^\\{re.escape(_stop(template, tail))}]"
        pattern += rf"((?:{plain}|{_ESCAPE})*){re.escape(tail)}"
    return re.compile(pattern)


def _stop(template: Template, tail: str) -> str:
    """The character that would end a value too early if it stood in it as it is."""
    return "&" if template.style == NAMES else tail[:1]


def _escape(value: str, stop: str) -> str:
    special = _ALWAYS_ESCAPED + stop
    return "".join(_escaped(character) if character in special else character for character in value)


def _escaped(character: str) -> str:
    return _ESCAPES.get(character, f"\\u{{{ord(character):x}}}")


def _unescape(value: str) -> str:
    return re.sub(_ESCAPE, _unescaped, value)


def _unescaped(escape: "re.Match[str]") -> str:
    return chr(int(escape[0][3:-1], 16)) if escape[0].startswith("\\u") else _UNESCAPES[escape[0]]
