"""Keys, their tables, and lines: the compiled kernel against the reference, bit for bit, and against
the definitions."""

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perceptron_core.features.feature_set import FeatureSet, template_key, template_seed
from perceptron_core.features.templates import CRFPP, NAMES, Part, Template, boundary_value
from perceptron_core.hashing import extend_key, hash_string
from perceptron_core.kernels import reference

SEEDS = st.integers(0, 2**32 - 1)


def assert_same(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> None:
    """Equal types, shapes and bytes."""
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes(), (a, b)


@given(st.lists(st.none() | st.text(st.characters())))
@example([None, "", "Москва", "北京大学", "\ud800", "a\udfffb", "\0", "😀", "naïve"])
def test_hashes_are_equal(native: Any, strings: list[Optional[str]]) -> None:
    hashes = native.hash_strings(strings)
    assert_same([hashes], [reference.hash_strings(strings)])
    assert hashes.tolist() == [0 if s is None else hash_string(s) for s in strings]


def random_templates(random: np.random.Generator, columns: int, attributes: int) -> list[Template]:
    templates = []
    for number in range(int(random.integers(1, 6))):
        parts = tuple(
            Part(f"column{random.integers(columns)}", f"attribute{random.integers(attributes)}", int(offset))
            for offset in random.integers(-5, 6, int(random.integers(0, 4)))
        )
        text = f"U{number}:" + "/".join("%x[0,0]" for _ in parts)
        templates.append(
            Template(text, parts, False, CRFPP)
            if random.random() < 0.3
            else Template(" & ".join(["template", *map(str, parts)]) + str(number), parts, False, NAMES)
        )
    return templates


@settings(deadline=None, max_examples=60)
@given(SEEDS)
def test_composed_keys_are_equal_and_as_defined(native: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    columns, attributes = int(random.integers(1, 4)), int(random.integers(1, 4))
    features = FeatureSet(random_templates(random, columns, attributes), [f"column{c}" for c in range(columns)])
    lengths = random.integers(0, 5, int(random.integers(0, 5))).astype(np.int32)
    # a type's attribute is a string, or None, by which no feature fires
    texts = [
        [[None if random.random() < 0.2 else f"{c}.{a}.{i}" for a in range(len(names))] for i in range(3)]
        for c, names in enumerate(features.attributes)
    ]
    tables = [reference.hash_strings([text for row in rows for text in row]) for rows in texts]
    ids = [random.integers(0, 3, int(lengths.sum())).astype(np.int32) for _ in features.columns]

    program = features.program(features.templates)
    composed = native.compose_keys(program, lengths, ids, tables)
    assert_same(composed, reference.compose_keys(program, lengths, ids, tables))

    expected, begin = [], 0
    for length in lengths.tolist():
        for t in range(length):
            keys = [_key(features, template, {"": t}, [column[begin : begin + length] for column in ids], texts)
                    for template in features.templates]  # fmt: skip
            expected.append([key for key in keys if key])
        begin += length
    starts, keys = composed
    assert [keys[a:b].tolist() for a, b in zip(starts, starts[1:])] == expected


Texts = list[list[list[Optional[str]]]]


def _key(
    features: FeatureSet, template: Template, site: dict[str, int], ids: Sequence[np.ndarray], texts: Texts
) -> Optional[int]:
    """The key by its definition; None if one of its parts has no value. `site` has a position in the sentence for each
    anchor."""
    values: list[Optional[str]] = []
    for part in template.parts:
        at, c = site[part.anchor] + part.offset, features.columns.index(part.column)
        length = len(ids[c])
        if 0 <= at < length:
            values.append(texts[c][ids[c][at]][features.attributes[c].index(part.attribute)])
        else:
            values.append(boundary_value(template.style, at if at < 0 else at - length + 1))
    return None if None in values else template_key(template, values)


@settings(deadline=None, max_examples=60)
@given(SEEDS)
def test_a_site_has_a_position_for_every_anchor(seed: int) -> None:
    random = np.random.default_rng(seed)
    anchors = ["head", "child"]
    templates = [
        template._replace(parts=tuple(part._replace(anchor=str(random.choice(anchors))) for part in template.parts))
        for template in random_templates(random, 2, 2)
    ]
    features = FeatureSet(templates, ["column0", "column1"])
    texts: Texts = [
        [[None if random.random() < 0.2 else f"{c}.{a}.{i}" for a in range(len(names))] for i in range(3)]
        for c, names in enumerate(features.attributes)
    ]
    tables = [reference.hash_strings([text for row in rows for text in row]) for rows in texts]
    begin, length, sites = int(random.integers(0, 4)), int(random.integers(1, 6)), int(random.integers(0, 8))
    ids = [random.integers(0, 3, begin + length).astype(np.int32) for _ in features.columns]
    positions = begin + random.integers(0, length, (sites, 2))
    where = reference.Sites(positions, np.full(sites, begin), np.full(sites, begin + length))

    starts, keys = reference.compose_sites(features.program(templates, anchors), where, ids, tables)
    for i, (a, b) in enumerate(zip(starts, starts[1:])):
        site = dict(zip(anchors, (positions[i] - begin).tolist()))
        expected = [_key(features, template, site, [column[begin:] for column in ids], texts) for template in templates]
        assert keys[a:b].tolist() == [key for key in expected if key]


def test_a_key_depends_on_the_order_of_its_values() -> None:
    template = Template("word[0] & word[1]", (Part("word", "identity", 0), Part("word", "identity", 1)), False, NAMES)
    assert template_key(template, ["a", "b"]) != template_key(template, ["b", "a"])
    assert template_key(template, ["a", "b"]) == extend_key(
        extend_key(template_seed(template), hash_string("a")), hash_string("b")
    )


@settings(deadline=None, max_examples=40)
@given(SEEDS, st.integers(0, 3000), st.sampled_from([2**64, 2**12, 3]))
def test_key_tables_are_equal(native: Any, seed: int, size: int, spread: int) -> None:
    random = np.random.default_rng(seed)
    keys = random.integers(1, spread, size, dtype=np.uint64, endpoint=spread < 2**64)
    if seed % 2:
        keys = keys << np.uint64(40)  # equal low bits: one long run of probes
        keys[keys == 0] = 7
    compiled, plain = native.KeyTable(), reference.KeyTable()
    cuts = np.sort(random.integers(0, size + 1, 2)).tolist()
    for piece in np.split(keys, cuts):
        assert_same([compiled.intern(piece)], [plain.intern(piece)])
        assert len(compiled) == len(plain)
    assert_same([compiled.keys()], [plain.keys()])
    assert_same([compiled.keys(len(plain) // 2)], [plain.keys(len(plain) // 2)])
    others = np.append(keys[: size // 2], random.integers(1, 2**64, 20, dtype=np.uint64))
    assert_same([compiled.find(others)], [plain.find(others)])


@given(st.binary(max_size=40) | st.lists(st.sampled_from(b"\x1b\n\rnre a"), max_size=40).map(bytes))
def test_lines_are_equal(native: Any, data: bytes) -> None:
    line = native.escape_line_ends(data)
    assert line == reference.escape_line_ends(data) and not set(line) & set(b"\r\n")
    assert native.restore_line_ends(line) == reference.restore_line_ends(line) == data
    assert native.restore_line_ends(data) == reference.restore_line_ends(data)  # which may be no line of ours


@settings(deadline=None, max_examples=60)
@given(SEEDS, st.integers(0, 2), st.sampled_from([3, 2**63]))
def test_pooled_keys_are_equal_and_as_defined(native: Any, seed: int, constants: int, spread: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.integers(0, random.choice([4, 400]), int(random.integers(0, 6))).astype(np.int32)
    starts = np.append(0, np.cumsum(random.integers(0, 5, int(sizes.sum())))).astype(np.int32)
    keys = random.integers(1, spread, int(starts[-1]), dtype=np.uint64)
    if seed % 2:
        keys = keys << np.uint64(40)  # equal low bits: one long run of probes
    always = np.arange(1, constants + 1, dtype=np.uint64)
    pooled = native.pool_keys(sizes, starts, keys, always)
    assert_same(pooled, reference.pool_keys(sizes, starts, keys, always))
    word_ends = np.append(0, np.cumsum(sizes))
    for text, (a, b) in enumerate(zip(pooled[0], pooled[0][1:])):
        own = keys[starts[word_ends[text]] : starts[word_ends[text + 1]]].tolist()
        assert pooled[1][a:b].tolist() == [*dict.fromkeys(own), *always.tolist()]
        found = pooled[2][a : b - constants]
        assert keys[found].tolist() == list(dict.fromkeys(own)) and (pooled[2][b - constants : b] == -1).all()
