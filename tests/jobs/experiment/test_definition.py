"""What an experiment's file may say, what is refused, and that the ready ones are sound."""

import configparser
from pathlib import Path

import pytest

from perceptron_core.errors import InputError
from perceptron_jobs.experiment.definition import read_experiment
from perceptron_jobs.options.names import READY_EXPERIMENTS, find_experiment
from repository import ROOT

BAD = {
    "an unknown key": ({"titel": "x"}, "the experiment: `titel` is not known; there are title, source"),
    "no runs": ({"runs": None}, "`runs` is missing"),
    "a key of another type": ({"seeds": 3}, "`seeds` must be a list, not 3"),
    "runs that are none": ({"runs": {"serial": 3}}, "runs: serial: must be names with their values, not 3"),
    "an unknown option": ({"runs": {"serial": {"shard": 3}}}, "runs: serial: `shard` is not known"),
    "an option of the grid's own": ({"options": {"run-dir": "x"}}, "`run_dir` is not known"),
    "a value that train refuses": (
        {"runs": {"serial": {"mixing": ["sum"]}}},
        "argument --mixing: invalid choice: 'sum'",
    ),
    "no average": ({"options": {"average": False}}, "`average` is not known"),
    "an unknown deal": ({"runs": {"serial": {"deal": "cut"}}}, "deal: `cut` is not known; there are shuffled, unequal"),
    "an unknown corpus": ({"runs": {"serial": {"corpus": "ptb"}}}, "corpus: `ptb` is not known; there are phrases"),
    "a corpus without dev": ({"corpora": {"p": {"task": "pos", "train": "x"}}}, "corpora: p: `dev` is missing"),
    "a limit that is none": ({"phrases": {"limit": "all"}}, "`limit` must be a number of"),
    "a corpus that is half full": ({"phrases": {"full": "half"}}, "`full` must be true or false, not 'half'"),
    "a corpus made of nothing": ({"phrases": {"make": "topics"}}, "make: `topics` is not known; there are genres"),
    "a file that is none": ({"phrases": {"train": 3}}, "`train` must be a name, not 3"),
    "a name of nothing": ({"runs": {"{mixture}": {}}}, "what stands in braces must be an option of the run"),
    "an unknown baseline": ({"baseline": "sereal"}, "baseline: `sereal` is not known; there are serial, {mixing}"),
    "an unknown measure": ({"table": {"rows": "run", "values": "f1"}}, "table: values: `f1` is not known"),
    "an unknown axis": ({"table": {"rows": "learner", "values": "errors"}}, "table: rows: `learner` is not known"),
    "an unknown x": ({"figure": {"x": "time", "y": "errors"}}, "figure: x: `time` is not known; there are epoch"),
    "no curve": ({"figure": {"x": "epoch", "y": "speedup"}}, "figure: y: `speedup` is not known"),
    "an x that is no number": (
        {"figure": {"x": "run", "y": "errors"}},
        "figure: x: `run` is not known; there are epoch",
    ),
    "lines of nothing": (
        {"figure": {"x": "shards", "y": "errors", "lines": "learner"}},
        "figure: lines: `learner` is not known",
    ),
    "a part of nothing": ({"figure": {"x": "epoch", "y": "errors", "only": {"beam": 1}}}, "only: `beam` is not known"),
    "figures that are none": ({"figure": ["errors"]}, "figure: must be names with their values, not 'errors'"),
    "processors without a minibatch": (
        {"runs": {"serial": {"processors": 2}}},
        "runs: serial: `processors` decode a minibatch; give `minibatch`, without shards and threads",
    ),
    "a row of no paper": ({"papers": {"X": {"parallel": {}}}}, "papers: X: `parallel` is not known"),
}


@pytest.mark.parametrize("why", BAD)
def test_a_mistake_in_the_file_is_told_before_anything_is_trained(why, write, corpus, perceptron, tmp_path):
    changes, sentence = BAD[why]
    path = write("bad", **{"baseline": None, "papers": None, **changes})
    refused = perceptron("experiment", path, "--data", corpus, "--output", tmp_path / "out")
    assert refused.code == 2 and sentence in refused.err
    assert refused.err.startswith(f"perceptron: {path}: ") and not (tmp_path / "out").exists()


def test_runs_that_differ_in_more_than_the_seed_do_not_share_a_row(done, write, corpus, perceptron):
    output, _ = done
    path = write("pooled", table={"rows": "run", "values": "errors"}, papers=None)
    refused = perceptron("experiment", path, "--data", corpus, "--output", output)
    assert refused.code == 2 and "table: runs that differ in shards share a place" in refused.err


def test_a_training_that_is_refused_ends_the_grid_with_its_sentence(write, corpus, perceptron, tmp_path):
    (tmp_path / "broken.txt").write_text("a DT B-NP\nb NN\n")
    path = write("broken", phrases={"train": str(tmp_path / "broken.txt")})
    refused = perceptron("experiment", path, "--data", corpus, "--output", tmp_path / "out")
    assert refused.code == 2 and "phrases_shards-1_seed-" in refused.err and "broken.txt:2" in refused.err


@pytest.mark.parametrize("limit", [None, 20])
def test_a_corpus_that_has_changed_is_refused(limit, write, corpus, must, perceptron, tmp_path):
    text = (corpus / "train.txt").read_text(encoding="utf-8")
    mine = tmp_path / "train.txt"
    mine.write_text(text, encoding="utf-8")
    path = write("changed", phrases={"train": str(mine), "limit": limit}, seeds=[1], runs={"serial": {}})
    must("experiment", path, "--data", corpus, "--output", tmp_path / "out")
    mine.write_text(text.replace("the", "that"), encoding="utf-8")
    refused = perceptron("experiment", path, "--data", corpus, "--output", tmp_path / "out")
    assert refused.code == 2 and "was made of another corpus" in refused.err


def test_where_the_corpora_are_has_to_be_said(perceptron, monkeypatch, tmp_path):
    monkeypatch.delenv("PERCEPTRON_DATA", raising=False)
    refused = perceptron("experiment", "mixing", "--output", tmp_path)
    assert refused.code == 2 and "--data DIR, or PERCEPTRON_DATA" in refused.err
    refused = perceptron("experiment", "mixin", "--data", tmp_path, "--output", tmp_path)
    assert refused.code == 2 and "give a file, or a ready one: ner-strategies" in refused.err


def test_a_large_corpus_may_be_left_out_unless_all_is_wanted(write, corpus):
    large = {"task": "task.yaml", "train": "large.txt", "dev": "dev.txt", "full": True}
    small = {"task": "task.yaml", "train": "train.txt", "dev": "dev.txt"}
    runs = {"everywhere": {}, "named": {"corpus": ["small", "large"], "epochs": 2}}
    table = {"rows": ["corpus", "run"], "values": "errors"}
    path = write("sizes", corpora={"small": small, "large": large}, runs=runs, baseline=None, papers=None, table=table)

    def corpora(full):
        return [cell.corpus.name for cell in read_experiment(str(path), str(corpus), full).cells]

    assert corpora(False) == ["small", "small"] * 2 and corpora(True) == ["small", "small", "large", "large"] * 2


def test_a_wrong_file_is_named(tmp_path):
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(InputError, match="is not an experiment"):
        read_experiment(str(tmp_path / "list.yaml"), None, False)


# ---------------------------------------------------------------- the ready ones


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", READY_EXPERIMENTS)
def test_the_ready_experiments_are_sound(name, full):
    experiment = read_experiment(find_experiment(name), "corpora", full)
    assert experiment.name == name and experiment.content["source"]
    assert {cell.options["seed"] for cell in experiment.cells} == ({1, 2, 3} if full else {1})
    assert all(cell.corpus.limit is None or not full for cell in experiment.cells)
    assert "table" in experiment.content and "figure" in experiment.content


def test_a_corpus_has_the_same_meaning_in_all_ready_experiments():
    """They may be run into one folder, where corpora are prepared by name."""
    meanings: dict[str, set[tuple]] = {}
    for name in READY_EXPERIMENTS:
        for cell in read_experiment(find_experiment(name), "corpora", False).cells:
            meanings.setdefault(cell.corpus.name, set()).add(cell.corpus)
    assert len(meanings) > 9 and all(len(different) == 1 for different in meanings.values())


def test_the_ready_experiments_are_installed_with_the_package():
    setup = configparser.ConfigParser()
    assert setup.read(ROOT / "setup.cfg")
    patterns = setup["options.package_data"]["perceptron_jobs.configs"].split(", ")
    packed = {path.name: path for pattern in patterns for path in (ROOT / "configs").glob(pattern)}
    for name in READY_EXPERIMENTS:
        found = Path(find_experiment(name))  # in the tree, or where the package was installed
        assert found.read_bytes() == packed[found.name].read_bytes()


def test_a_strategy_is_added_by_its_name_alone(tmp_path):
    text = Path(find_experiment("mixing")).read_text(encoding="utf-8")
    assert text.count("[uniform, errors, scaled, touched, row") == 1
    (tmp_path / "more.yaml").write_text(text.replace("[uniform, errors, ", "[uniform, errors, examples, "))
    before = {cell.run for cell in read_experiment(find_experiment("mixing"), "", False).cells}
    after = {cell.run for cell in read_experiment(str(tmp_path / "more.yaml"), "", False).cells}
    assert after - before == {"examples"}
