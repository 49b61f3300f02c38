"""Shards that are not dealt as `perceptron prepare` deals them."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from perceptron_core.shards.dealing import deal
from perceptron_core.task_file import read_task
from perceptron_jobs.experiment import uneven
from perceptron_jobs.experiment.cell import Cell, Corpus
from perceptron_jobs.experiment.corpora import prepare_unevenly


def cell_of(corpus: Path, deal_name: str, shards: int) -> Cell:
    place = Corpus("phrases", str(corpus / "task.yaml"), (str(corpus / "train.txt"),), (), None)
    return Cell("run", "run", place, deal_name, {"shards": shards, "seed": 1})


@pytest.mark.parametrize("name", uneven.UNEVEN)
@pytest.mark.parametrize("shards", [1, 4, 10])
def test_a_deal_gives_every_sentence_to_one_shard(name, shards):
    lengths = [3, 1, 2, 9, 9, 1, 4]
    parts = uneven.UNEVEN[name](lengths, shards, 7)
    assert len(parts) == shards and sorted(np.concatenate(parts).tolist()) == list(range(7))


def test_the_deals_are_what_they_are_called():
    lengths = [5, 3, 4, 1, 2, 6]
    assert [part.tolist() for part in uneven.UNEVEN["in-order"](lengths, 3, 1)] == [[0, 1], [2, 3], [4, 5]]
    assert [part.tolist() for part in uneven.UNEVEN["sorted"](lengths, 3, 1)] == [[3, 4], [1, 2], [0, 5]]
    sizes = [len(part) for part in uneven.UNEVEN["unequal"]([1] * 2929, 10, 1)]
    assert sizes == [1000, 500, 333, 250, 200, 167, 143, 125, 111, 100]


def test_a_deal_like_that_of_prepare_builds_the_same_shards(corpus, must, monkeypatch, tmp_path):
    def like_prepare(lengths: Sequence[int], shards: int, seed: int) -> list[np.ndarray]:
        shard_of, places = deal(seed, 0, 0, len(lengths), shards)
        order = np.argsort(places, kind="stable")
        return [order[shard_of[order] == shard] for shard in range(shards)]

    monkeypatch.setitem(uneven.UNEVEN, "like-prepare", like_prepare)
    cell = cell_of(corpus, "like-prepare", 4)
    prepare_unevenly(cell, read_task(cell.corpus.task), cell.corpus.train, str(tmp_path / "dealt"))
    must("prepare", cell.corpus.task, "--train", *cell.corpus.train, "--shards", 4, "--output", tmp_path / "prepared")
    for path in (tmp_path / "prepared").glob("*.gz"):
        assert (tmp_path / "dealt" / path.name).read_bytes() == path.read_bytes()
    ours, theirs = (json.loads((tmp_path / f / "prepared.json").read_text()) for f in ("dealt", "prepared"))
    assert [{**entry, "deal": "like-prepare"} for entry in theirs.pop("data")] == ours.pop("data") and ours == theirs


def test_a_skewed_grid_is_trained_on_skewed_shards(write, corpus, must, tmp_path, history):
    runs = {"{deal}, {mixing}": {"shards": 4, "deal": ["unequal", "sorted"], "mixing": ["uniform", "examples"]}}
    table = {"rows": "deal", "columns": "mixing", "values": ["dev.last", "errors"]}
    path = write("skewed", seeds=[1], runs=runs, table=table, figure=None, baseline=None, papers=None)
    must("experiment", path, "--data", corpus, "--output", tmp_path)
    last = history(tmp_path, "phrases_unequal_shards-4_epochs-3_mixing-uniform_seed-1")[-1]
    assert [shard["sentences"] for shard in last["shards"]] == [24, 12, 8, 6]
    content = json.loads((tmp_path / "prepared" / "phrases_sorted_shards-4_seed-1" / "prepared.json").read_text())
    mean_lengths = [shard["tokens"] / shard["sentences"] for shard in content["shards"]]
    assert mean_lengths == sorted(mean_lengths) and mean_lengths[0] < mean_lengths[-1] / 2
    assert (tmp_path / "skewed.md").read_text().count("| deal | uniform | examples |") == 2
