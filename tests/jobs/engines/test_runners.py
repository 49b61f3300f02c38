"""The same bytes, whatever runs the jobs: runner, number of reducers; and what it means to have many shards."""

import json
import re
import tempfile
import threading
from pathlib import Path

import pytest

from perceptron_core.errors import UserError
from perceptron_core.wire import DamagedRecord, decode_line
from perceptron_jobs.engines.runners import Cluster, run_job
from perceptron_jobs.mr.count_features import MRCountFeatures
from perceptron_jobs.mr.count_shards import MRCountShards
from perceptron_jobs.mr.sum_statistics import MRSumStatistics
from perceptron_jobs.mr.train_epoch import MRTrainEpoch
from runs import deciding

OPTIONS = ("--shards", 3, "--mixing", "uniform", "--epochs", 3)  # thirds: sums whose order would show
MIXINGS = ("uniform", "errors", "examples", "touched", "row")


@pytest.fixture(scope="module")
def inline(train, contents, tmp_path_factory) -> dict[str, bytes]:
    run = tmp_path_factory.mktemp("inline") / "run"
    train(run, *OPTIONS)
    return deciding(contents(run))


def test_the_run_has_what_is_compared(inline):
    shards = [f"prepared/shard-{number:05d}-of-00003" for number in range(3)]
    expected = {"config.json", "model", "epoch-0003/weights", "epoch-0003/average", "prepared/prepared.json"}
    assert expected | {f"{shard}.gz" for shard in shards} <= set(inline)


def test_inline_and_local_give_the_same_bytes(inline, train, contents, tmp_path):
    train(tmp_path / "run", *OPTIONS, "-r", "local", "--reducers", 2)
    assert deciding(contents(tmp_path / "run")) == inline


def test_minibatch_mira_on_both_by_any_number_of_threads(train, contents, tmp_path):
    options = (*OPTIONS, "--learner", "mira", "--k-best", 3, "--minibatch", 4)
    train(tmp_path / "inline", *options)
    for threads, runner in ((1, "inline"), (3, "inline"), (3, "local")):
        run = tmp_path / f"{runner}-{threads}"
        train(run, *options, "--threads", threads, "-r", runner)
        assert deciding(contents(run)) == deciding(contents(tmp_path / "inline"))


def test_threads_may_change_on_the_way(train, contents, tmp_path):
    """They do not affect the weights, so they are not a setting of the run."""
    for run, threads in (("changed", 3), ("same", 1)):
        train(tmp_path / run, *OPTIONS[:-1], 1, "--minibatch", 4)
        train(tmp_path / run, *OPTIONS, "--minibatch", 4, "--threads", threads)
    assert deciding(contents(tmp_path / "changed")) == deciding(contents(tmp_path / "same"))


@pytest.mark.parametrize("reducers", [1, 3, 5])
def test_the_number_of_reducers_changes_nothing(reducers, inline, train, contents, tmp_path):
    train(tmp_path / "run", *OPTIONS, "--reducers", reducers)
    assert deciding(contents(tmp_path / "run")) == inline
    epochs = [json.loads(line) for line in (tmp_path / "run" / "history.jsonl").read_text().splitlines()]
    assert {len(epoch["reducers"]) for epoch in epochs} == {reducers}


def test_a_run_may_change_its_runner_on_the_way(inline, train, contents, tmp_path):
    train(tmp_path / "run", *OPTIONS[:-1], 2, "--reducers", 4)
    train(tmp_path / "run", *OPTIONS, "-r", "local")
    assert deciding(contents(tmp_path / "run")) == inline


def test_prepare_on_local(inline, must, corpus, contents, tmp_path):
    halves = (corpus / "train.txt", corpus / "dev.txt")
    for runner in ("inline", "local"):
        options = ("--shards", 3, "--output", tmp_path / runner, "-r", runner)
        must("prepare", corpus / "task.yaml", "--train", *halves, *options)
    assert contents(tmp_path / "inline") == contents(tmp_path / "local")


def test_one_shard_is_serial_training_for_every_mixing(train, tmp_path):
    models = set()
    for mixing in MIXINGS:
        train(tmp_path / mixing, "--mixing", mixing, "--learner", "pa", "--epochs", 3)
        models.add((tmp_path / mixing / "model").read_bytes())
    assert len(models) == 1


def test_one_shard_of_minibatches_is_serial_for_every_mixing(train, tmp_path):
    for mixing in MIXINGS:
        options = ("--shards", 1, "--epochs", 3, "--learner", "mira", "--minibatch", 8)
        train(tmp_path / mixing, *options, "--mixing", mixing)
    assert len({(tmp_path / mixing / "model").read_bytes() for mixing in MIXINGS}) == 1


def test_shards_without_a_sentence(must, corpus, tmp_path):
    """Every file is dealt by itself, so the first sentences of several files may go to the same shard."""
    words = ("the DT B-NP", "кот NN B-VP")
    files = [tmp_path / f"{number}.txt" for number in range(6)]
    for number, file in enumerate(files):
        file.write_text(f"{words[number % 2]}\n", encoding="utf-8")
    given = (corpus / "task.yaml", "--train", *files, "--shards", 6)
    for mixing in MIXINGS:
        must("train", *given, "--run-dir", tmp_path / mixing, "--mixing", mixing)
        tagged = must("predict", tmp_path / mixing, *files[:2])
        assert [line.split()[2:] for line in tagged.split("\n") if line] == [["B-NP", "B-NP"], ["B-VP", "B-VP"]]
    said = must("prepare", *given, "--output", tmp_path / "p")
    assert re.search(r"[1-5] of the 6 shards have no sentence", said)


@pytest.mark.parametrize("command", ["train", "prepare"])
def test_more_shards_than_sentences_are_refused(command, perceptron, corpus, contents, tmp_path):
    (tmp_path / "two.txt").write_text("the DT B-NP\n\nкот NN B-VP\n", encoding="utf-8")
    where = {"train": "--run-dir", "prepare": "--output"}[command]
    outcome = perceptron(
        command, corpus / "task.yaml", "--train", tmp_path / "two.txt", "--shards", 5000, where, tmp_path / "out"
    )
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "perceptron: --shards 5000: the corpus has only 2 sentences; give at most 2\n"
    assert not list((tmp_path / "out").glob("**/*.gz"))


def test_one_shot_mixing_is_one_epoch_of_many_passes(train, must, corpus, tmp_path):
    train(tmp_path / "run", "--shards", 3, "--epochs", 1, "--local-epochs", 4, "--mixing", "uniform")
    (line,) = (tmp_path / "run" / "history.jsonl").read_text().splitlines()
    assert json.loads(line)["sentences"] == 200
    assert json.loads(must("evaluate", tmp_path / "run", corpus / "dev.txt", "--json"))["f1"] > 0.7


def test_a_shard_given_twice_or_not_at_all_is_refused(trained):
    """What a lost or repeated task output would do to the mixture."""
    shards = sorted(str(path) for path in (trained / "prepared").glob("*-of-00003.gz"))
    arguments = ["--config", str(trained / "config.json"), "--weights", str(trained / "epoch-0003" / "weights")]
    arguments += ["--epoch", "4", "--ranges", "2", "--mixing", "row"]
    assert len(list(run_job(MRTrainEpoch, Cluster(), arguments, shards))) > 2
    for inputs in (shards[:2], [*shards, shards[0]]):
        with pytest.raises(UserError, match="the shards are not whole"):
            list(run_job(MRTrainEpoch, Cluster(), arguments, inputs))


def test_a_line_that_was_altered_on_its_way_to_a_reducer_is_nobodys_mistake():
    """A user's mistake would not be tried again."""
    with pytest.raises(DamagedRecord, match="a line does not decode"):
        list(MRTrainEpoch([]).reducer("00000", map(decode_line, [b"garbage"])))


@pytest.mark.parametrize("sent", [None, {}, {"shard": 0}, {"shard": "0", "shards": 1, "origin": "", "rows": {}}])
@pytest.mark.parametrize("job", [MRTrainEpoch, MRCountShards, MRSumStatistics, MRCountFeatures])
def test_neither_is_a_record_that_a_mapper_did_not_send(job, sent):
    with pytest.raises(DamagedRecord, match="what a mapper sent is damaged: "):
        list(job([]).reducer("00000", iter([sent])))


def test_limits_go_to_the_tasks_of_a_cluster(monkeypatch):
    monkeypatch.setattr(Cluster, "_hadoop_arguments", lambda cluster: [])
    assert "--cmdenv" not in Cluster("hadoop").arguments()
    monkeypatch.setenv("PERCEPTRON_LIMITS", "line=9,labels=7")
    arguments = Cluster("hadoop").arguments()
    assert arguments[arguments.index("--cmdenv") + 1] == "PERCEPTRON_LIMITS=line=9,labels=7"
    assert "--cmdenv" not in Cluster("local").arguments(), "it has the environment already"


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_nothing_stays_in_the_folder_for_temporary_files(runner, trained, perceptron, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    good, bad = corpus / "dev.txt", corpus / "task.yaml"
    assert [perceptron("evaluate", trained, text, "-r", runner).code for text in (good, bad)] == [0, 2]
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join(60)  # as Python does before it ends
            assert not thread.is_alive(), f"{thread.name} did not end within a minute"
    assert list(tmp_path.iterdir()) == []


def test_an_mrjob_configuration_is_read(train, inline, contents, tmp_path):
    conf = tmp_path / "mrjob.conf"
    conf.write_text("runners:\n  inline:\n    cleanup: NONE\n    local_tmp_dir: " + str(tmp_path / "kept") + "\n")
    train(tmp_path / "run", *OPTIONS, "-c", conf)
    assert deciding(contents(tmp_path / "run")) == inline
    assert any(Path(tmp_path / "kept").iterdir())
