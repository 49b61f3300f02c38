"""The other learners and tasks on a real HDFS and YARN give the bytes of an inline training."""

import pytest

from perceptron_jobs.storage import join, storage_of
from treebank import treebank

pytestmark = [pytest.mark.hadoop, pytest.mark.usefixtures("hadoop")]

HISTORY = """columns: [word, pos, chunk]
predict: chunk
features: ["word[0]", "label[-1]", "label[-2]", "label[-2] & label[-1]", "label[-1] & pos[0]"]
options: {decoder: greedy}
"""
TREES = """kind: tree
columns: [form, upos]
features: ["head.form & child.upos", "left.upos & between.upos & right.upos", "sibling.upos & child.upos"]
relations: ["child.form & head.upos & direction"]
options: {decoder: climb}
"""
TEXTS = "kind: classification\nfeatures: ['lower[0]', 'lower[0] & lower[1]']\n"


def get(path: str) -> bytes:
    with storage_of(path).open(path) as file:
        return file.read()


@pytest.fixture
def same(corpus, must, tmp_path):
    """Train inline, and on the cluster with two reducers and all files on HDFS."""

    def compare(name: str, *options: object, task=None, train=None, there=(), files=()) -> str:
        run, task, train = f"hdfs:///learners/{name}", task or corpus / "task.yaml", train or corpus / "train.txt"
        must("train", task, "--train", train, "--run-dir", tmp_path / "run", "--quiet", *options)
        copy = f"hdfs:///learners/{name}.txt"
        storage_of(copy).write(copy, train.read_bytes())
        where = ("--run-dir", run, "-r", "hadoop", "--reducers", 2, "--quiet", *there)
        must("train", task, "--train", copy, *options, *where)
        for file in ("model", *files):
            assert get(join(run, file)) == (tmp_path / "run" / file).read_bytes(), file
        return run

    return compare


def test_scaled_mixing_counts_and_ships_its_counts(same):
    """One more job before the first epoch, and one more file in the distributed cache."""
    same("scaled", "--shards", 4, "--mixing", "scaled", "--epochs", 2, files=["occurrences"])


@pytest.mark.parametrize("learner", ["naive-bayes", "rocchio"])
def test_learners_of_one_pass(same, learner):
    """The sums are the same, whichever task adds them; Rocchio's frequencies go through the distributed cache."""
    files = ["epoch-0001/weights", *(["idf"] if learner == "rocchio" else [])]
    same(learner, "--learner", learner, there=("--shards", 3), files=files)


def test_sparse_models(same):
    """Features are counted in prepare, by a job over the shards on HDFS, and in training."""
    options = ("--shards", 3, "--epochs", 2, "--min-count", 3, "--min-updates", 2)
    same("sparse", *options, files=["prepared/kept", "epoch-0002/weights"])


def test_minibatches_of_mira_by_several_threads(same):
    options = ("--shards", 2, "--rounds", 3, "--epochs", 2, "--learner", "mira", "--k-best", 3, "--minibatch", 4)
    same("mira", *options, there=("--threads", 3), files=["epoch-0002/average"])


def test_labels_before_as_features(same, corpus, must, tmp_path):
    (tmp_path / "task.yaml").write_text(HISTORY)
    run = same("history", "--shards", 2, "--epochs", 2, task=tmp_path / "task.yaml", files=["epoch-0002/average"])
    must("predict", run, "hdfs:///learners/history.txt", "-r", "hadoop", "--output", "hdfs:///learners/history.out")
    assert get("hdfs:///learners/history.out").decode() == must("predict", tmp_path / "run", corpus / "train.txt")


def test_classification(same, must, tmp_path):
    texts, task = tmp_path / "texts.txt", tmp_path / "task.yaml"
    task.write_text(TEXTS)
    cases = [
        ("spam", "buy now"),
        ("ham", "see you now"),
        ("eggs", "добро 今天"),
        ("spam", "now buy 今天"),
        ("ham", "you"),
    ]
    texts.write_text("".join(f"{label}\t{text} {number % 7}\n" for number in range(40) for label, text in cases))
    run = same("texts", "--shards", 3, "--epochs", 2, task=task, train=texts, files=["epoch-0002/average"])
    for command in ("predict", "evaluate"):
        there = must(command, run, "hdfs:///learners/texts.txt", "-r", "hadoop")
        assert there == must(command, tmp_path / "run", texts)


def test_trees(same, must, tmp_path):
    """A parser with siblings and relations; the run on this machine has stopped after an epoch, and goes on."""
    trees, task = tmp_path / "trees.conllu", tmp_path / "task.yaml"
    task.write_text(TREES)
    trees.write_text(treebank(3, 40), encoding="utf-8")
    options = ("--shards", 3, "--learner", "mira", "--aggressiveness", 0.1)
    must("train", task, "--train", trees, "--run-dir", tmp_path / "run", "--quiet", "--epochs", 1, *options)
    run = same("trees", *options, "--epochs", 2, task=task, train=trees, files=["epoch-0002/average"])
    there = must("predict", run, "hdfs:///learners/trees.txt", "-r", "hadoop")
    assert there == must("predict", tmp_path / "run", trees)
