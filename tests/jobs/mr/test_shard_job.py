"""What reducers get from mappers is checked: which shard sent it, what it counted, and its rows."""

from typing import Any

import numpy as np
import pytest

from perceptron_core.errors import UserError
from perceptron_core.weights.records import to_record
from perceptron_core.weights.rows import from_entries
from perceptron_core.wire import DamagedRecord
from perceptron_jobs.mr.count_features import MRCountFeatures
from perceptron_jobs.mr.shard_job import received

COLUMNS = {"weight": "f4"}


def record(shard: int, **changes: Any) -> dict[str, Any]:
    rows = from_entries(np.array([3, 5], np.uint64), np.array([0, 1], np.uint32), weight=np.ones(2, "f4"))
    counted = {"stats": {"updates": 1, "examples": 4}, "worked": [1.5, 2.5]}
    return {"shard": shard, "shards": 2, "origin": "here", "rows": to_record(rows), **counted, **changes}


def test_what_all_shards_sent_comes_in_their_order() -> None:
    sent = received([record(1), record(0, stats={"updates": 7})], 2, COLUMNS)
    assert [(one.shard, one.shards, one.origin, len(one.rows.keys)) for one in sent] == [
        (0, 2, "here", 2),
        (1, 2, "here", 2),
    ]
    assert [one.stats for one in sent] == [{"updates": 7}, {"updates": 1, "examples": 4}]


@pytest.mark.parametrize(
    "changes",
    [
        {"shard": "0"},
        {"shard": None},
        {"shards": 0},
        {"origin": 3},
        {"rows": None},
        {"rows": []},
        {"stats": {"updates": -1}},
        {"stats": {"updates": 2**60}},
        {"stats": [1]},
        {"worked": [1.5]},
        {"worked": [float("nan"), 1.5]},
        {"other": 1},
    ],
)
def test_a_damaged_record_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DamagedRecord):
        received([{**record(0), **changes}, record(1)], 2, COLUMNS)


@pytest.mark.parametrize("whole", [None, 3, "text", [], {}])
def test_something_else_is_refused(whole: Any) -> None:
    with pytest.raises(DamagedRecord):
        received([whole], 2, COLUMNS)


def test_labels_that_there_are_not_are_refused() -> None:
    with pytest.raises(DamagedRecord, match="label beyond the 1 that there are"):
        received([record(0), record(1)], 1, COLUMNS)


def test_a_missing_shard_is_told() -> None:
    with pytest.raises(UserError, match="missing"):
        received([record(0)], 2, COLUMNS)


def test_features_without_counts_are_refused() -> None:
    job = MRCountFeatures(["--least", "2"])
    keys = {"keys": np.array([3], np.uint64), "sizes": np.zeros(1, np.uint8), "labels": np.zeros(0, np.uint8)}
    assert len(list(job.combine("0", iter([{"rows": {**keys, "values": {}, "counts": np.full(1, 2, np.uint8)}}])))) == 1
    for damaged in ({"rows": {**keys, "values": {}}}, {}, None, 3):
        with pytest.raises(DamagedRecord):
            list(job.combine("0", iter([damaged])))
