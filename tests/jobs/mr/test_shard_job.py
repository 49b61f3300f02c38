"""What reducers get from mappers is checked: which shard sent it, what it counted, and its rows."""

from typing import Any

import numpy as np
import pytest

from perceptron_core.weights.model_file import Model
from perceptron_core.weights.records import to_record
from perceptron_core.weights.rows import empty, from_entries
from perceptron_core.wire import DamagedRecord
from perceptron_jobs.mr.count_features import MRCountFeatures
from perceptron_jobs.mr.shard_job import received
from perceptron_jobs.mr.train_epoch import MRTrainEpoch

STATS = {"examples": 4, "errors": 1, "updates": 1, "tokens": 9, "wrong_tokens": 2}


def record(shard: int, **changes: Any) -> dict[str, Any]:
    keys, labels = np.array([3, 5], np.uint64), np.array([0, 1], np.uint32)
    rows = from_entries(keys, labels, weight=np.ones(2, "f4"), lag=np.ones(2))
    counted = {"stats": STATS, "worked": [1.5, 2.5]}
    return {"shard": shard, "shards": 2, "origin": "here", "rows": to_record(rows), **counted, **changes}


@pytest.fixture(scope="module")
def reducer(tmp_path_factory: pytest.TempPathFactory) -> MRTrainEpoch:
    """Mixes the steps of shards, from no weights of two labels."""
    job = MRTrainEpoch(["--mixing", "uniform"])
    job.mixed = Model("weights", {}, ["a", "b"], {}, empty(weight="f4"))
    return job


def mixed(reducer: MRTrainEpoch, *records: Any) -> Any:
    ((key, record),) = reducer.reducer("00000", iter(records))
    return record


def test_what_all_shards_sent_comes_in_their_order(reducer: MRTrainEpoch) -> None:
    sent = mixed(reducer, record(1), record(0, stats={**STATS, "updates": 7}))
    assert sent["stats"] == [{**STATS, "updates": 7}, STATS]
    assert sent["rows"]["keys"].tolist() == [3, 5]


@pytest.mark.parametrize(
    "changes",
    [
        {"shard": "0"},
        {"shard": None},
        {"shards": 0},
        {"origin": 3},
        {"rows": None},
        {"rows": []},
        {"stats": {}},
        {"stats": {**STATS, "updates": -1}},
        {"stats": {**STATS, "updates": 2**60}},
        {"stats": [1]},
        {"worked": [1.5]},
        {"worked": [float("nan"), 1.5]},
        {"other": 1},
    ],
)
def test_a_damaged_record_is_refused(reducer: MRTrainEpoch, changes: dict[str, Any]) -> None:
    with pytest.raises(DamagedRecord):
        mixed(reducer, {**record(0), **changes}, record(1))


@pytest.mark.parametrize("whole", [None, 3, "text", [], {}])
def test_something_else_is_refused(reducer: MRTrainEpoch, whole: Any) -> None:
    with pytest.raises(DamagedRecord):
        mixed(reducer, whole)


def test_labels_that_there_are_not_are_refused() -> None:
    with pytest.raises(DamagedRecord, match="label beyond the 1 that there are"):
        received([record(0), record(1)], 1, {"weight": "f4", "lag": "f8"})


def test_a_missing_shard_is_told(reducer: MRTrainEpoch) -> None:
    assert "missing" in mixed(reducer, record(0))["message"]


def test_features_without_counts_are_refused() -> None:
    job = MRCountFeatures(["--least", "2"])
    keys = {"keys": np.array([3], np.uint64), "sizes": np.zeros(1, np.uint8), "labels": np.zeros(0, np.uint8)}
    counted = {"rows": {**keys, "values": {}, "counts": np.full(1, 2, np.uint8)}}
    assert [record.tolist() for _, record in job.reducer("0", iter([counted]))] == [[3]]
    for damaged in ({"rows": {**keys, "values": {}}}, {}, None, 3):
        with pytest.raises(DamagedRecord):
            list(job.reducer("0", iter([damaged])))
