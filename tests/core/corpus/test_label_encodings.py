"""Label encodings: conversions on worked examples and random spans, transitions against their definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.corpus.label_encodings import ENCODINGS, convert, legal_transitions
from perceptron_core.errors import UserError

CHUNK_ENCODINGS = [name for name in ENCODINGS if name != "as-is"]

# All that tells the encodings apart: neighbours of one type, single tokens, a hyphen in a type.
WORKED = {
    "iob1": ["I-NP", "I-NP", "B-NP", "I-A-B", "O", "I-人名", "B-人名", "I-ЛИЦ"],
    "iob2": ["B-NP", "I-NP", "B-NP", "B-A-B", "O", "B-人名", "B-人名", "B-ЛИЦ"],
    "iobes": ["B-NP", "E-NP", "S-NP", "S-A-B", "O", "S-人名", "S-人名", "S-ЛИЦ"],
}


def encode_naively(spans, length, encoding):
    """The definition of the encodings, token by token, over a set of (start, end, type)."""
    labels = ["O"] * length
    for start, end, kind in spans:
        after_its_like = any(other_end == start and other == kind for _, other_end, other in spans)
        for position in range(start, end):
            first, last = position == start, position == end - 1
            if encoding == "iob1":
                prefix = "B" if first and after_its_like else "I"
            elif encoding == "iob2":
                prefix = "B" if first else "I"
            else:
                prefix = {(True, True): "S", (True, False): "B", (False, True): "E"}.get((first, last), "I")
            labels[position] = f"{prefix}-{kind}"
    return labels


@st.composite
def spans_of_a_sentence(draw):
    spans, position = [], 0
    pieces = st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(["NP", "A-B", "ЛИЦ"]))
    for gap, length, kind in draw(st.lists(pieces, max_size=6)):
        spans.append((position + gap, position + gap + length, kind))
        position += gap + length
    return spans, position + draw(st.integers(0, 2))


@pytest.mark.parametrize("source,target", list(itertools.product(CHUNK_ENCODINGS, repeat=2)))
def test_worked_example_in_every_direction(source, target):
    assert convert(WORKED[source], source, target) == WORKED[target]


@given(spans_of_a_sentence(), st.sampled_from(CHUNK_ENCODINGS), st.sampled_from(CHUNK_ENCODINGS))
def test_conversion_keeps_the_spans(sentence, source, target):
    spans, length = sentence
    labels = encode_naively(spans, length, source)
    assert convert(labels, source, target) == encode_naively(spans, length, target)
    assert convert(convert(labels, source, target), target, source) == labels


@pytest.mark.parametrize(
    "source,ill_formed,as_iob2",
    [
        ("iob2", "I-NP I-NP O I-VP", "B-NP I-NP O B-VP"),
        ("iob2", "B-NP I-VP I-NP", "B-NP B-VP B-NP"),
        ("iob1", "B-NP I-NP O B-VP", "B-NP I-NP O B-VP"),
        ("iobes", "E-NP E-NP I-NP", "B-NP B-NP B-NP"),
        ("iobes", "I-NP E-NP B-VP S-VP", "B-NP I-NP B-VP B-VP"),
        ("iobes", "B-NP B-NP O I-NP", "B-NP B-NP O B-NP"),
        ("iobes", "S-NP I-NP B-NP E-VP", "B-NP B-NP B-NP B-VP"),
    ],
)
def test_ill_formed_labels_are_read_as_conlleval_reads_them(source, ill_formed, as_iob2):
    assert convert(ill_formed.split(), source, "iob2") == as_iob2.split()


def test_untyped_labels_convert():
    assert convert(list("BIEOSBE"), "iobes", "iob1") == list("IIIOIBI")


@pytest.mark.parametrize("labels", [[], ["O", "O"], ("O",)])
def test_nothing_to_convert_gives_a_new_list(labels):
    converted = convert(labels, "iob1", "iobes")
    assert converted == list(labels)
    assert converted is not labels


@pytest.mark.parametrize("source,target", [("as-is", "iob2"), ("iob2", "as-is"), ("as-is", "as-is")])
def test_as_is_changes_nothing(source, target):
    assert convert(("NN", "I-NP", ""), source, target) == ["NN", "I-NP", ""]


@pytest.mark.parametrize("label", ["NN", "", "X-NP", "BNP", "O-NP", "b-NP"])
@pytest.mark.parametrize("encoding", CHUNK_ENCODINGS)
def test_a_label_of_no_chunk_is_refused_by_name(label, encoding):
    with pytest.raises(UserError, match=f"label '{label}' does not belong to the encoding {encoding}"):
        convert(["O", label], encoding, "iob2")
    with pytest.raises(UserError, match=f"label '{label}' does not belong to the encoding {encoding}"):
        legal_transitions(["O", label], encoding)


def test_iobes_labels_are_refused_in_iob2():
    with pytest.raises(UserError, match="'S-PER'.* B-…, I-… and O"):
        convert(["S-PER"], "iob2", "iob1")


@pytest.mark.parametrize("source,target", [("bio", "iob2"), ("iob2", "bio")])
def test_an_unknown_encoding_is_refused_with_the_list(source, target):
    with pytest.raises(UserError, match="'bio'.*as-is, iob1, iob2, iobes"):
        convert(["O"], source, target)
    with pytest.raises(UserError, match="'bio'.*as-is, iob1, iob2, iobes"):
        legal_transitions(["O"], "bio")


def is_legal(previous, label, encoding):
    """Whether `label` may follow `previous`; None stands for the outside of the sentence, on either side."""
    before, kind_before = ("O", "") if previous in (None, "O") else previous.split("-", 1)
    now, kind = ("O", "") if label in (None, "O") else label.split("-", 1)
    same = kind_before == kind
    if encoding == "iob1":
        return now != "B" or (before in ("B", "I") and same)
    if encoding == "iob2":
        return now != "I" or (before in ("B", "I") and same)
    if encoding == "iobes":
        if before in ("B", "I"):
            return now in ("I", "E") and same
        return now not in ("I", "E")
    return True


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_transitions_are_those_of_the_definition(encoding):
    prefixes = "BIES" if encoding == "iobes" else "BI"
    labels = ["O"] + [f"{prefix}-{kind}" for kind in ("NP", "A-B", "人名") for prefix in prefixes]
    start, pair, stop = legal_transitions(labels, encoding)
    assert start.dtype == pair.dtype == stop.dtype == bool
    assert start.tolist() == [is_legal(None, label, encoding) for label in labels]
    assert stop.tolist() == [is_legal(label, None, encoding) for label in labels]
    assert pair.tolist() == [[is_legal(before, now, encoding) for now in labels] for before in labels]


@given(spans_of_a_sentence(), st.sampled_from(CHUNK_ENCODINGS))
def test_every_well_formed_sentence_is_legal(sentence, encoding):
    spans, length = sentence
    labels = encode_naively(spans, length, encoding)
    names = sorted(set(labels))
    start, pair, stop = legal_transitions(names, encoding)
    path = [names.index(label) for label in labels]
    assert all(pair[before, now] for before, now in zip(path, path[1:]))
    assert not path or (start[path[0]] and stop[path[-1]])


@pytest.mark.parametrize("encoding", CHUNK_ENCODINGS)
def test_every_legal_sequence_is_well_formed(encoding):
    """All sequences of three labels: only the legal ones stay the same when decoded and encoded again."""
    prefixes = "BIES" if encoding == "iobes" else "BI"
    labels = ["O"] + [f"{prefix}-{kind}" for kind in ("X", "Y") for prefix in prefixes]
    start, pair, stop = legal_transitions(labels, encoding)
    for path in itertools.product(range(len(labels)), repeat=3):
        legal = start[path[0]] and pair[path[0], path[1]] and pair[path[1], path[2]] and stop[path[2]]
        sequence = [labels[index] for index in path]
        assert legal == (convert(sequence, encoding, encoding) == sequence), sequence


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_transitions_of_no_labels(encoding):
    start, pair, stop = legal_transitions([], encoding)
    assert (start.shape, pair.shape, stop.shape) == ((0,), (0, 0), (0,))


def test_the_arrays_are_independent():
    """A decoder may write into one of them."""
    for encoding in ENCODINGS:
        start, pair, stop = legal_transitions(["O", "I-NP"], encoding)
        assert not np.shares_memory(start, stop)
        assert not np.shares_memory(start, pair)
