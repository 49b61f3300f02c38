"""A damaged epoch is not the end of a run: training and prediction go on with what is whole, and say so."""

import shutil

import pytest

from runs import deciding

OPTIONS = ("--shards", 3, "--mixing", "uniform", "--epochs", 4, "--stop-threshold", 0)
FILES = ["weights", "average", "stats.json"]
DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "altered": lambda path: path.write_bytes(path.read_bytes()[:-9] + b"\xff" + path.read_bytes()[-8:]),
    "empty": lambda path: path.write_bytes(b""),
    "deleted": lambda path: path.unlink(),
}


@pytest.fixture(scope="module")
def scored(train, corpus, tmp_path_factory):
    """A run whose best epoch is not its last."""
    run = tmp_path_factory.mktemp("scored") / "run"
    said = train(run, *OPTIONS, "--dev", corpus / "dev.txt")
    chosen = int(said.rpartition("model of epoch ")[2].partition(":")[0])
    assert (run / f"epoch-{chosen:04d}").is_dir() and (run / "epoch-0004").is_dir() and chosen < 4
    return run, chosen


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", FILES)
def test_training_goes_on_after_the_last_whole_epoch(name, how, scored, train, corpus, contents, tmp_path):
    undamaged, best = scored
    run = shutil.copytree(undamaged, tmp_path / "run")
    path = run / "epoch-0004" / name
    DAMAGES[how](path)
    said = train(run, *OPTIONS, "--dev", corpus / "dev.txt")
    assert said.startswith(f"{path}: ") and "; epoch 4 is dropped\n" in said
    assert f"continuing after epoch {best} of {run}" in said
    assert deciding(contents(run)) == deciding(contents(undamaged))


def test_if_no_epoch_is_whole_it_begins_again(scored, train, corpus, contents, tmp_path):
    undamaged, best = scored
    run = shutil.copytree(undamaged, tmp_path / "run")
    for epoch in (best, 4):
        DAMAGES["cut"](run / f"epoch-{epoch:04d}" / "weights")
    said = train(run, *OPTIONS, "--dev", corpus / "dev.txt")
    assert "epoch 4 is dropped" in said and f"epoch {best} is dropped" in said and "continuing" not in said
    assert deciding(contents(run)) == deciding(contents(undamaged))


def test_the_model_of_a_lost_best_epoch_stays(scored, train, corpus, tmp_path):
    undamaged, best = scored
    run = shutil.copytree(undamaged, tmp_path / "run")
    DAMAGES["altered"](run / f"epoch-{best:04d}" / "average")
    said = train(run, *OPTIONS, "--dev", corpus / "dev.txt")
    assert f"epoch {best} is dropped" in said and said.endswith(f"model of epoch {best}: {run / 'model'}\n")
    assert (run / "model").read_bytes() == (undamaged / "model").read_bytes()


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", FILES)
def test_prediction_takes_the_model_instead(name, how, scored, perceptron, corpus, contents, tmp_path):
    undamaged, best = scored
    run = shutil.copytree(undamaged, tmp_path / "run")
    path = run / f"epoch-{best:04d}" / name
    DAMAGES[how](path)
    before = contents(run)
    right = perceptron("predict", undamaged, corpus / "dev.txt")
    said = perceptron("predict", run, corpus / "dev.txt")
    assert said.code == 0 and said.out == right.out
    if name != "stats.json":  # the weights are whole, and the last epoch tells which is best
        assert str(path) in said.err and f"; using {run / 'model'} instead" in said.err
    assert contents(run) == before


def test_without_a_model_it_takes_the_last_whole_epoch(scored, perceptron, corpus, tmp_path):
    undamaged, best = scored
    run = shutil.copytree(undamaged, tmp_path / "run")
    DAMAGES["cut"](run / f"epoch-{best:04d}" / "weights")
    DAMAGES["cut"](run / "model")
    right = perceptron("evaluate", undamaged / "epoch-0004" / "weights", corpus / "dev.txt", "--json")
    said = perceptron("evaluate", run, corpus / "dev.txt", "--weights", "last", "--json")
    assert said.code == 0 and said.out == right.out and said.err.endswith("; using epoch 4 instead\n")
    DAMAGES["cut"](run / "epoch-0004" / "weights")
    refused = perceptron("evaluate", run, corpus / "dev.txt")
    assert refused.code == 2 and str(run / f"epoch-{best:04d}" / "weights") in refused.err


@pytest.mark.parametrize("name", ["epoch-0004/stats.json", "epoch-0004/weights", "history.jsonl"])
def test_other_commands_go_on(name, scored, must, tmp_path):
    undamaged, best = scored
    run = shutil.copytree(undamaged, tmp_path / "run")
    DAMAGES["cut"](run / name)
    assert must("inspect", run, "--top", 5) == must("inspect", undamaged, "--top", 5)
    assert must("report", run) == must("report", undamaged)
    must("report", run, "--output", tmp_path / "report.html")
    assert f"{best} of 4" in (tmp_path / "report.html").read_text(encoding="utf-8")
