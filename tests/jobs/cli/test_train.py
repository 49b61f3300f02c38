"""`perceptron prepare` and `perceptron train`: what every option does, seen from the outside."""

import gzip
import io
import json
import re
from pathlib import Path

import pytest

from perceptron_jobs.cli.terminal import Terminal
from perceptron_jobs.training.whole import open_model

HOW = {
    "pa": ["--learner", "pa"],
    "pa1": ["--learner", "pa1", "--aggressiveness", "0.1"],
    "pa2": ["--learner", "pa2", "--aggressiveness", "0.5"],
    "mira": ["--learner", "mira", "--k-best", "3", "--aggressiveness", "0.2"],
    "minibatch": ["--minibatch", "4"],
    "minibatch mira": ["--learner", "mira", "--minibatch", "4", "--threads", "2"],
    "viterbi": ["--decoder", "viterbi", "--update", "standard"],
    "greedy": ["--decoder", "greedy", "--update", "early"],
    "beam": ["--decoder", "beam", "--beam", "2"],
    "early": ["--decoder", "beam", "--beam", "2", "--update", "early"],
    "max-violation": ["--decoder", "beam", "--beam", "2", "--update", "max-violation"],
    **{mixing: ["--mixing", mixing] for mixing in ("uniform", "errors", "examples", "touched")},
    "row and no average": ["--no-average"],
}
RECORDED = {
    "pa1": {"learner": "pa1", "aggressiveness": 0.1},
    "mira": {"learner": "mira", "k_best": 3, "aggressiveness": 0.2},
    "minibatch mira": {"learner": "mira", "minibatch": 4, "aggressiveness": None},
    "greedy": {"decoder": "greedy", "update": "early"},
    "max-violation": {"decoder": "beam", "beam": 2, "update": "max-violation"},
    "row and no average": {"average": False},
}
EPOCH_LINE = r"epoch +\d+  errors \d+ \(\d+\.\d %\)  dev F1 \d+\.\d\d[+ ]  weights [\d,]+  shuffle [\d.]+ kB  \d+\.\d s"


def history(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def models(train, tmp_path_factory) -> dict[str, Path]:
    """One run for each way to learn."""
    runs = {}
    for name, options in HOW.items():
        runs[name] = tmp_path_factory.mktemp("how") / "run"
        train(runs[name], "--shards", 3, "--epochs", 4, *options)
    return runs


@pytest.mark.parametrize("name", HOW)
def test_every_way_to_learn_learns(name, models, corpus, must):
    score = json.loads(must("evaluate", models[name], corpus / "dev.txt", "--json"))
    assert score["f1"] > 0.7
    settings = json.loads((models[name] / "config.json").read_text())["settings"]
    assert {key: settings[key] for key in RECORDED.get(name, {})} == RECORDED.get(name, {})


def test_every_way_to_learn_gives_other_weights(models):
    assert len({(run / "model").read_bytes() for run in models.values()}) == len(HOW)


def test_a_line_an_epoch_and_where_the_model_is(train, corpus, tmp_path):
    lines = train(tmp_path / "run", "--epochs", 3, "--dev", corpus / "dev.txt").splitlines()
    assert all(re.fullmatch(EPOCH_LINE, line) for line in lines[:3])
    assert "+" in lines[0]  # the first dev score is the best so far
    assert lines[3] == "stopped: 3 epochs are done"
    assert re.fullmatch(r"model of epoch \d: .*/run/model", lines[4]) and len(lines) == 5


def test_without_dev_there_is_no_dev_score(train, tmp_path):
    assert "dev F1" not in train(tmp_path / "run", "--epochs", 1)


def test_quiet_is_silent(perceptron, corpus, tmp_path):
    task, text = corpus / "task.yaml", corpus / "train.txt"
    assert perceptron("prepare", task, "--train", text, "--output", tmp_path / "p", "--quiet") == (0, "", "")
    options = ("--prepared", tmp_path / "p", "--run-dir", tmp_path / "run", "--epochs", 2)
    assert perceptron("train", task, *options, "--quiet") == (0, "", "")
    assert len(history(tmp_path / "run")) == 2


def test_a_terminal_gets_a_progress_bar():
    class Tty(io.StringIO):
        def isatty(self) -> bool:
            return True

    out, bar = io.StringIO(), Tty()
    terminal = Terminal(False, out, bar)
    terminal.step("epoch 7", 200)
    terminal.progress(200)
    terminal.note("done")
    assert re.search(r"epoch 7 ━+ 100 %", bar.getvalue()) and out.getvalue() == "done\n"
    quiet = Tty()
    Terminal(True, io.StringIO(), quiet).step("epoch 7", 200)
    assert quiet.getvalue() == ""


def test_local_epochs_pass_over_the_shard_before_mixing(train, tmp_path):
    train(tmp_path / "run", "--epochs", 1, "--local-epochs", 3)
    (epoch,) = history(tmp_path / "run")
    assert epoch["sentences"] == 150
    train(tmp_path / "serial", "--epochs", 3)  # one shard: mixing after each pass changes nothing
    once, thrice = (
        open_model(str(tmp_path / name / "weights")).rows for name in ("run/epoch-0001", "serial/epoch-0003")
    )
    assert once.keys.tobytes() == thrice.keys.tobytes()
    assert once.values["weight"].tobytes() == thrice.values["weight"].tobytes()


def test_subsampling_trains_on_one_shard_chosen_by_the_seed(train, tmp_path):
    chosen = set()
    for seed in range(1, 6):
        run = tmp_path / f"run{seed}"
        train(run, "--epochs", 1, "--shards", 5, "--subsample", "--seed", seed)
        assert history(run)[0]["sentences"] == 10
        chosen.update(json.loads((run / "config.json").read_text())["chosen_shards"])
    assert len(chosen) > 1


def test_no_average_leaves_the_last_weights_as_they_are(train, must, perceptron, corpus, tmp_path):
    train(tmp_path / "both", "--epochs", 3)
    train(tmp_path / "last", "--epochs", 3, "--no-average")
    dev = corpus / "dev.txt"
    assert must("predict", tmp_path / "last", dev) == must("predict", tmp_path / "both", dev, "--weights", "last")
    refused = perceptron("predict", tmp_path / "last", dev, "--weights", "averaged")
    assert refused.code == 2 and "has no averaged weights" in refused.err and "--weights last" in refused.err


def test_the_seed_decides_and_nothing_else_does(train, tmp_path):
    for name, seed in (("one", 7), ("again", 7), ("other", 8)):
        train(tmp_path / name, "--epochs", 2, "--shards", 2, "--seed", seed)
    one, again, other = ((tmp_path / name / "model").read_bytes() for name in ("one", "again", "other"))
    assert one == again != other


def test_packed_corpora_and_several_files(must, corpus, contents, tmp_path):
    sentences = (corpus / "train.txt").read_text(encoding="utf-8").split("\n\n")
    halves = ["\n\n".join(part) + "\n" for part in (sentences[:20], sentences[20:])]
    for number, text in enumerate(halves):
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
        (tmp_path / f"{number}.gz").write_bytes(gzip.compress(text.encode()))
    models = {}
    for names in (("0.txt", "1.txt"), ("0.gz", "1.gz"), ("1.gz", "0.gz")):
        run = tmp_path / f"run-{names[0]}"
        files = [tmp_path / name for name in names]
        must("train", corpus / "task.yaml", "--train", *files, "--run-dir", run, "--epochs", 2, "--shards", 2)
        models[names[0]] = (run / "model").read_bytes()
        assert sum(epoch["sentences"] for epoch in history(run)) == 100
    assert models["0.txt"] == models["0.gz"] != models["1.gz"]


# ---------------------------------------------------------------- prepared corpora


def test_preparing_first_is_the_same_as_preparing_on_the_way(must, train, corpus, tmp_path):
    task = corpus / "task.yaml"
    options = ("--shards", 3, "--seed", 5)
    said = must("prepare", task, "--train", corpus / "train.txt", *options, "--output", tmp_path / "p")
    assert "50 sentences" in said and "6 labels in 3 shards" in said
    must("train", task, "--prepared", tmp_path / "p", "--run-dir", tmp_path / "one", "--epochs", 2)
    train(tmp_path / "two", "--epochs", 2, *options)
    assert (tmp_path / "one" / "model").read_bytes() == (tmp_path / "two" / "model").read_bytes()
    assert not (tmp_path / "one" / "prepared").exists()


@pytest.mark.parametrize("option", [("--shards", 4), ("--seed", 6)])
def test_options_that_contradict_the_prepared_corpus(option, must, perceptron, corpus, tmp_path):
    task = corpus / "task.yaml"
    must("prepare", task, "--train", corpus / "train.txt", "--shards", 3, "--seed", 5, "--output", tmp_path / "p")
    refused = perceptron("train", task, "--prepared", tmp_path / "p", "--run-dir", tmp_path / "run", *option)
    assert refused.code == 2 and f"was prepared with other {option[0][2:]}" in refused.err
    assert not (tmp_path / "run").exists()


def test_a_corpus_prepared_with_other_features(must, perceptron, corpus, tmp_path):
    must("prepare", corpus / "task.yaml", "--train", corpus / "train.txt", "--output", tmp_path / "p")
    (tmp_path / "other.yaml").write_text((corpus / "task.yaml").read_text() + "  - lower[0]\n")
    refused = perceptron("train", tmp_path / "other.yaml", "--prepared", tmp_path / "p", "--run-dir", tmp_path / "run")
    assert refused.code == 2 and "was prepared with other features" in refused.err
    assert not (tmp_path / "run").exists()


# ---------------------------------------------------------------- starting from another model


def test_init_model_goes_on_from_the_other_weights(train, tmp_path):
    train(tmp_path / "first", "--epochs", 3)
    for name, model in (("from run", tmp_path / "first"), ("from file", tmp_path / "first" / "model")):
        train(tmp_path / name, "--epochs", 2, "--init-model", model)
    train(tmp_path / "long", "--epochs", 5)
    last = (tmp_path / "long" / "epoch-0005" / "weights").read_bytes()  # 3 epochs and 2 more are 5
    assert (tmp_path / "from run" / "epoch-0002" / "weights").read_bytes() == last
    assert (tmp_path / "from file" / "epoch-0002" / "weights").read_bytes() == last


def test_init_model_with_a_grown_label_set(must, train, corpus, tmp_path):
    sentences = (corpus / "train.txt").read_text(encoding="utf-8").split("\n\n")
    fewer = "\n\n".join(sentence for sentence in sentences if "名" not in sentence)
    (tmp_path / "fewer.txt").write_text(fewer + "\n", encoding="utf-8")
    task = corpus / "task.yaml"
    must("train", task, "--train", tmp_path / "fewer.txt", "--run-dir", tmp_path / "first", "--epochs", 3)
    train(tmp_path / "grown", "--epochs", 1, "--init-model", tmp_path / "first")
    train(tmp_path / "scratch", "--epochs", 1)
    first, grown = open_model(str(tmp_path / "first")), open_model(str(tmp_path / "grown"))
    assert set(grown.labels) - set(first.labels) == {"B-名", "I-名"}
    assert grown.labels.index("I-NP") != first.labels.index("I-NP")  # so the weights had to be relabelled
    assert history(tmp_path / "grown")[0]["errors"] < history(tmp_path / "scratch")[0]["errors"]


# ---------------------------------------------------------------- stopping


def test_the_run_stops_when_the_training_score_is_steady(train, tmp_path):
    assert "on 3 epochs in a row" in train(tmp_path / "run", "--epochs", 20, "--stop-threshold", 1.0)
    assert len(history(tmp_path / "run")) == 4


def test_the_run_stops_when_the_training_set_is_separated(must, corpus, tmp_path):
    (tmp_path / "easy.txt").write_text("the DT B-NP\nкот NN I-NP\n\n喜欢 VB B-VP\n", encoding="utf-8")
    said = must("train", corpus / "task.yaml", "--train", tmp_path / "easy.txt", "--run-dir", tmp_path / "run")
    assert "stopped: the training set is separated" in said
    *others, last = history(tmp_path / "run")
    assert last["errors"] == 0 and all(epoch["errors"] for epoch in others) and len(others) < 9


def test_patience_keeps_and_uses_the_best_epoch(train, must, corpus, tmp_path):
    dev = corpus / "dev.txt"
    options = ("--shards", 3, "--mixing", "uniform")
    said = train(tmp_path / "run", *options, "--dev", dev, "--patience", 2, "--epochs", 20)
    scores = [epoch["dev"]["score"] for epoch in history(tmp_path / "run")]
    best = scores.index(max(scores)) + 1
    assert "the dev score has not improved for 2 epochs" in said and len(scores) == best + 2 < 20
    assert f"model of epoch {best}:" in said
    assert {path.name for path in (tmp_path / "run").glob("epoch-*")} == {f"epoch-{n:04d}" for n in (best, best + 2)}
    train(tmp_path / "short", *options, "--epochs", best)
    assert (tmp_path / "run" / "model").read_bytes() == (tmp_path / "short" / "model").read_bytes()
    assert must("predict", tmp_path / "run", dev) == must("predict", tmp_path / "short", dev)


def test_the_dev_score_is_what_evaluate_says(train, must, corpus, tmp_path):
    dev = corpus / "dev.txt"
    train(tmp_path / "run", "--dev", dev, "--epochs", 1)
    (epoch,) = history(tmp_path / "run")
    for which in ("averaged", "last"):
        score = json.loads(must("evaluate", tmp_path / "run", dev, "--json", "--weights", which))
        assert epoch["dev"][which] == pytest.approx(score["f1"], abs=1e-6)


def test_report_draws_the_learning_curve(trained, must, tmp_path):
    said = must("report", trained, "--svg", tmp_path / "curve.svg")
    assert "◀ best" in said
    assert (tmp_path / "curve.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("command", ["train", "prepare"])
def test_iob1_under_iob2_is_noticed(command, must, corpus, tmp_path):
    where = {"train": "--run-dir", "prepare": "--output"}[command]
    texts = {"iob1": "time NN I-NP\nflies NN I-NP\nlike IN B-NP\n\nkot NN I-VP\n", "iob2": "time NN B-NP\n\nx NN O\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        said = must(command, corpus / "task.yaml", "--train", tmp_path / f"{name}.txt", where, tmp_path / name)
        remedy = "`encoding: {input: iob1, train: iob2, output: iob2}`"
        assert ("iob1.txt: 2 of the first 3 spans begin with I-, as in IOB1" in said) == (name == "iob1")
        assert (remedy in said) == (name == "iob1")
