"""Chunk label encodings (IOB1, IOB2, IOBES): conversion between them, and which label may follow which.

A label is `O`, or a prefix and a type: `B-NP`, `I-A-B`, or a bare `B` where chunks have no type. Decoding is
as tolerant as conlleval: a misplaced `I-NP` or `E-NP` begins a chunk of its own, so every sequence of known
labels has a reading. This module knows nothing of files or scores; chunks are counted in `evaluation.metrics.spans`.

References: Tjong Kim Sang and Veenstra, "Representing Text Chunks", EACL 1999.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from perceptron_core.errors import UserError

AS_IS = "as-is"
ENCODINGS = (AS_IS, "iob1", "iob2", "iobes")

_PREFIXES = {"iob1": frozenset("BI"), "iob2": frozenset("BI"), "iobes": frozenset("BIES")}

Span = tuple[int, int, str]
"""First token, token after the last, and the label without its prefix (`-NP`; empty for a bare `B`)."""


def convert(labels: Sequence[str], source: str, target: str) -> list[str]:
    """The labels of one sentence in encoding `target`, given in encoding `source`.

    Ill-formed labels become well-formed, even where `source` and `target` are the same encoding.
    """
    _check_encoding(source)
    _check_encoding(target)
    if AS_IS in (source, target) or labels.count("O") == len(labels):
        return list(labels)
    converted = ["O"] * len(labels)
    previous_end, previous_kind = -1, ""
    for start, end, kind in _spans(labels, source):
        touches_its_like = start == previous_end and kind == previous_kind
        converted[start:end] = [prefix + kind for prefix in _encode(end - start, target, touches_its_like)]
        previous_end, previous_kind = end, kind
    return converted


def legal_transitions(
    labels: Sequence[str], encoding: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """(start, pair, stop): which labels may begin a sentence, follow each other, and end a sentence.

    All are in the order of `labels`; the middle one is `pair[previous, current]`. A set of labels may have no legal
    sequence at all (only `I-NP` in iob2); a set with `O` always has one.
    """
    _check_encoding(encoding)
    count = len(labels)
    everything = np.ones(count, dtype=bool)
    if encoding == AS_IS:
        return everything, np.ones((count, count), dtype=bool), everything.copy()

    parts = [_split(label, encoding) for label in labels]
    prefixes = np.array([prefix for prefix, _ in parts], dtype="U1")
    kinds = np.array([kind for _, kind in parts], dtype=object)
    in_chunk = prefixes != "O"
    same_chunk_type = (in_chunk[:, None] & in_chunk[None, :]) & (kinds[:, None] == kinds[None, :])
    if encoding == "iobes":
        unfinished = np.isin(prefixes, ("B", "I"))
        continues = np.isin(prefixes, ("I", "E"))
        pair = np.where(unfinished[:, None], continues & same_chunk_type, ~continues)
        return ~continues, pair, ~unfinished
    # The one prefix that needs a chunk of its type before it: to continue it, or to be told apart from it.
    dependent = prefixes == ("I" if encoding == "iob2" else "B")
    return ~dependent, ~dependent | same_chunk_type, everything


def _spans(labels: Sequence[str], encoding: str) -> Iterator[Span]:
    """The chunks of a sentence, from left to right.

    One reading serves all encodings: they differ in which prefixes occur, not in what a prefix means to a
    tolerant reader.
    """
    start, end, open_kind = 0, 0, ""  # the chunk last begun; start == end before there is one
    can_go_on = False
    for position, label in enumerate(labels):
        if label == "O":
            can_go_on = False
            continue
        prefix, kind = _split(label, encoding)
        if not can_go_on or kind != open_kind or prefix in ("B", "S"):
            if start < end:
                yield start, end, open_kind
            start, open_kind = position, kind
        end = position + 1
        can_go_on = prefix in ("B", "I")
    if start < end:
        yield start, end, open_kind


def _encode(length: int, encoding: str, touches_its_like: bool) -> str:
    """One prefix per token of a chunk; `touches_its_like`: it comes right after a chunk of the same type."""
    if encoding == "iobes":
        return "S" if length == 1 else "B" + "I" * (length - 2) + "E"
    begins_with_b = encoding == "iob2" or touches_its_like
    return ("B" if begins_with_b else "I") + "I" * (length - 1)


def _split(label: str, encoding: str) -> tuple[str, str]:
    """Prefix and the rest with its hyphen: ("B", "-NP"), ("O", "")."""
    prefix, kind = label[:1], label[1:]
    if label == "O" or (prefix in _PREFIXES[encoding] and (not kind or kind[0] == "-")):
        return prefix, kind
    known = ", ".join(f"{known_prefix}-…" for known_prefix in sorted(_PREFIXES[encoding]))
    raise UserError(
        f"The label {label!r} does not belong to the encoding {encoding}, whose labels are {known} and O. "
        f"Name the encoding of the data, or {AS_IS} for labels that are not chunks."
    )


def _check_encoding(name: str) -> None:
    if name not in ENCODINGS:
        raise UserError(f"Unknown label encoding {name!r}: use one of {', '.join(ENCODINGS)}.")


def looks_like_chunks(labels: Iterable[str]) -> bool:
    """Whether all of them are chunk labels: `O`, or one of B, I, E, S and a type."""
    return all(label == "O" or label[:2] in ("B-", "I-", "E-", "S-") for label in labels)


def count_begun_by_inside(labels: Sequence[str]) -> tuple[int, int]:
    """How many chunks of a sentence begin with `I`, as only in IOB1; and how many chunks it has."""
    inside = spans = 0
    for before, label in zip(("O", *labels), labels):
        begins_by_inside = label[:1] == "I" and (before == "O" or before[1:] != label[1:])
        inside += begins_by_inside
        spans += begins_by_inside or label[:1] == "B"
    return inside, spans
