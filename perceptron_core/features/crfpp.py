"""CRF++ template files, read as they are: `U05:%x[-1,0]/%x[0,0]`, `B01:%x[0,0]`, `B`.

The result is the same `Template` that the template language of `templates.py` gives, in the style `crf++`;
a feature is named by filling the values into the line. Lines that differ only in their macros (`U:%x[-1,0]`
and `U:%x[1,0]`) make the same features, a bag of words, as in CRF++. Lines that have the same beginning but differ
after it are refused: the name of a feature would not show which line it comes from.
"""

from collections.abc import Sequence

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.templates import (
    CRFPP,
    CRFPP_MACRO,
    Part,
    Template,
    check_number,
    literals,
    read_offset,
)


def parse_crfpp(text: str, source: str, columns: Sequence[str]) -> tuple[list[Template], bool]:
    """The templates of a CRF++ file over the input columns, and whether it asks for transitions.

    A `B` line without macros (`B`, but also `B01`) asks for transitions; a `U` line without macros is a
    constant, like a bias.
    """
    templates: list[Template] = []
    lines: list[int] = []
    transitions = False
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        template = _parse_line(line, columns, source, number)
        if template.bigram and not template.parts:
            if transitions:
                raise InputError(f"`{line}` asks for transitions a second time; remove it.", source, number)
            transitions = True
            continue
        for other, other_line in zip(templates, lines):
            if _confusable(template, other):
                raise InputError(
                    f"`{line}` begins like line {other_line}, so that their features could have the same names; "
                    "give each line an id of its own, such as `U07:`.",
                    source,
                    number,
                )
        templates.append(template)
        lines.append(number)
        check_number(templates, source)
    return templates, transitions


def _parse_line(line: str, columns: Sequence[str], source: str, number: int) -> Template:
    if line[0] not in "UB":
        raise InputError(
            f"`{line}` is not a CRF++ template; a line must begin with `U`, `B` or, for a comment, `#`.",
            source,
            number,
        )
    if "%" in CRFPP_MACRO.sub("", line):
        raise InputError(
            f"`{line}` has a `%` that is not part of a macro; write a macro as `%x[row,column]`, such as `%x[-1,0]`.",
            source,
            number,
        )
    if "\t" in line:
        raise InputError(f"`{line}` has a TAB, which a feature's name cannot hold; remove it.", source, number)
    parts = []
    for row, column in CRFPP_MACRO.findall(line):
        if len(column) > 9 or int(column) >= len(columns):
            raise InputError(
                f"`%x[{row},{column}]` asks for column {column}, but the input columns are numbered "
                f"0 to {len(columns) - 1}: {', '.join(columns)}.",
                source,
                number,
            )
        try:
            parts.append(Part(columns[int(column)], "identity", read_offset(row)))
        except UserError as error:
            raise InputError(f"`{line}`: {error}", source, number) from None
    # The text identifies the template, so `%x[-01,0]` must not differ from `%x[-1,0]`.
    normal = CRFPP_MACRO.sub(lambda macro: f"%x[{int(macro[1])},{int(macro[2])}]", line)
    return Template(normal, tuple(parts), line[0] == "B", CRFPP)


def _confusable(one: Template, other: Template) -> bool:
    """Whether different features of the two templates could have the same name."""
    if literals(one) == literals(other):  # equal names are equal features: a bag of words, or a repeated line
        return one.parts == other.parts
    short, long = sorted((one, other), key=lambda template: len(literals(template)[0]))
    head, long_head = literals(short)[0], literals(long)[0]
    # A value can be any text, also that with which the longer one continues; a constant has no value.
    return long_head.startswith(head) if short.parts else long_head == head
