"""Model files: what is written comes back, equal content is equal bytes, and no damage goes unnoticed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perceptron_core.errors import InputError, UserError
from perceptron_core.evaluation.predictor import choose_weights
from perceptron_core.settings import Settings
from perceptron_core.weights.model_file import ALIGNMENT, MAGIC, Model, model_digest, read_model, write_model
from perceptron_core.weights.rows import empty, from_entries, select

TASK = {
    "format": "columns",
    "format_options": {},
    "columns": ["слово", "词"],
    "predict": "词",
    "encoding": {"input": "as-is", "train": "as-is", "output": "as-is"},
    "labels": None,
    "extractor": None,
    "python": None,
    "lookups": {"класс": {"кот": "животное"}},
    "transitions": None,
    "start_stop": True,
    "bias": False,
    "legal_transitions": False,
    "metric": "accuracy",
    "templates": [["слово[0]", [["слово", "identity", 0]], False, "names"]],
    "options": {"epochs": 3},
}
LABELS = ["a", "имя", "名", *map(str, range(300))]
SETTINGS = Settings(aggressiveness=0.1).record()


def rows_with(**columns: str) -> Any:
    keys = np.array([1, 2**63, 2**63, 2**64 - 1], np.uint64)
    labels = np.array([1, 300, 0, 2], np.uint32)
    return from_entries(keys, labels, **{name: np.array([0.5, -1 / 3, 1e-30, 4], d) for name, d in columns.items()})


MODELS = {
    "weights": Model("weights", TASK, LABELS, SETTINGS, rows_with(weight="f4")),
    "average": Model("average", TASK, LABELS, SETTINGS, rows_with(sum="f8"), epochs=7),
    "model": Model("model", TASK, LABELS, SETTINGS, rows_with(weight="f4", averaged="f4")),
    "named": Model("model", TASK, LABELS, SETTINGS, rows_with(weight="f4"), 0, {2**64 - 1: "word[0]=北京", 1: ""}),
    "empty": Model("weights", TASK, ["a"], SETTINGS, empty(weight="f4")),
}


def assert_same_models(a: Model, b: Model) -> None:
    assert a._replace(rows=None) == b._replace(rows=None)
    assert list(a.rows.values) == list(b.rows.values)
    for ours, theirs in zip((*a.rows[:3], *a.rows.values.values()), (*b.rows[:3], *b.rows.values.values())):
        assert ours.dtype == theirs.dtype and ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("kind", MODELS)
def test_models_come_back(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "модель")
    write_model(path, MODELS[kind])
    assert_same_models(read_model(path), MODELS[kind])
    assert [file.name for file in tmp_path.iterdir()] == ["модель"]  # nothing half-written stays behind


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 4999)),
        st.floats(width=32, allow_nan=False, allow_infinity=False),
    )
)
def test_any_rows_come_back(tmp_path: Path, entries: dict[tuple[int, int], float]) -> None:
    keys, labels = (np.array([entry[i] for entry in entries], kind) for i, kind in enumerate((np.uint64, np.uint32)))
    names = [str(label) for label in range(5000)]
    model = MODELS["weights"]._replace(
        labels=names, rows=from_entries(keys, labels, weight=np.array(list(entries.values()), "f4"))
    )
    write_model(str(tmp_path / "m"), model)
    assert_same_models(read_model(str(tmp_path / "m")), model)


def test_equal_content_is_equal_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "folder" / "second"
    second.parent.mkdir()
    swapped = {1: "", 2**64 - 1: "word[0]=北京"}
    write_model(str(first), MODELS["named"])
    write_model(str(second), MODELS["named"]._replace(names=swapped))
    assert first.read_bytes() == second.read_bytes()
    assert model_digest(str(first)) == model_digest(str(second))


def test_other_content_has_another_digest(tmp_path: Path) -> None:
    digests = set()
    changed = MODELS["weights"].rows.with_values(weight=np.array([0.5, 0.5, 0.5, 4], "f4"))
    for model in (*MODELS.values(), MODELS["weights"]._replace(rows=changed)):
        write_model(str(tmp_path / "m"), model)
        digests.add(model_digest(str(tmp_path / "m")))
    assert len(digests) == len(MODELS) + 1


def test_arrays_are_aligned_and_not_copied(tmp_path: Path) -> None:
    write_model(str(tmp_path / "m"), MODELS["model"])
    rows = read_model(str(tmp_path / "m")).rows
    for array in (rows.keys, *rows.values.values()):
        assert array.ctypes.data % ALIGNMENT == 0
        assert not array.flags.owndata and not array.flags.writeable


# ---------------------------------------------------------------- damage


@pytest.fixture(params=["named", "empty"])
def whole(request: pytest.FixtureRequest, tmp_path: Path) -> bytes:
    write_model(str(tmp_path / "whole"), MODELS[request.param])
    return (tmp_path / "whole").read_bytes()


def refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_model(str(path))
    assert caught.value.source == str(path)
    return str(caught.value)


def test_a_cut_model_is_refused(tmp_path: Path, whole: bytes) -> None:
    for size in {*range(0, len(whole), 37), *range(20), len(whole) - 1}:
        refused(tmp_path / "cut", whole[:size])
    assert "damaged" in refused(tmp_path / "longer", whole + b"\0")


def test_a_flipped_byte_is_refused(tmp_path: Path, whole: bytes) -> None:
    for at in range(len(whole)):
        altered = bytearray(whole)
        altered[at] ^= 0x10
        refused(tmp_path / "altered", bytes(altered))


def test_another_version_is_refused(tmp_path: Path, whole: bytes) -> None:
    message = refused(tmp_path / "old", MAGIC[:7] + b"\x02" + whole[8:])
    assert "version 2, this program reads 1; train it again" in message


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 something else", "слово\tимя\n".encode() * 9, bytes(100)])
def test_a_foreign_file_is_refused(tmp_path: Path, data: bytes) -> None:
    assert "not a model file" in refused(tmp_path / "foreign", data)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            read_model(str(path))


def test_an_unwritable_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot write"):
        write_model(str(tmp_path / "no such folder" / "m"), MODELS["weights"])


# ---------------------------------------------------------------- which weights


def test_weights_are_chosen_by_name() -> None:
    model = MODELS["model"]
    other = model.rows.with_values(weight=model.rows.values["weight"], averaged=np.zeros(4, "f4"))
    both = model._replace(rows=other)
    assert choose_weights(both, "averaged").values["weight"].tolist() == [0, 0, 0, 0]
    assert choose_weights(both, "last").values["weight"].tolist() == model.rows.values["weight"].tolist()
    with pytest.raises(UserError, match="no averaged weights, only its last ones; use --weights last"):
        choose_weights(MODELS["weights"], "averaged")


def test_rows_are_found_in_a_model_that_is_not_read_whole(tmp_path: Path) -> None:
    """300 features of 300 labels: starts and labels of the file are narrower than the kernels'."""
    random = np.random.default_rng(1)
    keys = np.repeat(np.sort(random.integers(1, 2**63, 300, dtype=np.uint64)), 3)
    labels = np.tile([0, 7, 299], 300).astype(np.uint32)
    rows = from_entries(keys, labels, weight=random.normal(size=900).astype(np.float32))
    model = MODELS["weights"]._replace(labels=[str(label) for label in range(300)], rows=rows)
    path = tmp_path / "m"
    write_model(str(path), model)
    sparing = read_model(str(path), whole=False).rows
    assert (sparing.starts.dtype, sparing.labels.dtype) == (np.uint16, np.uint16)
    wanted = np.array([0, 5, 6, 299])
    ours, theirs = select(sparing, wanted), select(rows, wanted)
    for mine, other in zip(ours[:3], theirs[:3]):
        assert np.array_equal(mine, other)
    assert ours.values["weight"].tobytes() == theirs.values["weight"].tobytes()
    content = bytearray(path.read_bytes())
    content[20] ^= 1  # in the header, which is always verified
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        read_model(str(path), whole=False)
