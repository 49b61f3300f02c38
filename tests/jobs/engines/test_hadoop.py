"""The same commands on a real HDFS and YARN: two nodes, one and three reducers, and the bytes of an inline training."""

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from perceptron_jobs.storage import join, storage_of
from waiting import started, still_runs, wait_until

pytestmark = [pytest.mark.hadoop, pytest.mark.usefixtures("hadoop")]

OPTIONS = ("--shards", "4", "--mixing", "uniform", "--epochs", "3")


def put(local: Path, path: str) -> str:
    storage_of(path).write(path, local.read_bytes())
    return path


def get(path: str) -> bytes:
    with storage_of(path).open(path) as file:
        return file.read()


@pytest.fixture(scope="module")
def inline(corpus, tmp_path_factory, hadoop) -> Path:
    """The run with which the cluster's run is compared."""
    from perceptron_jobs.cli.main import main

    run = tmp_path_factory.mktemp("inline") / "run"
    files = ["--train", str(corpus / "train.txt"), "--dev", str(corpus / "dev.txt")]
    assert main(["train", str(corpus / "task.yaml"), *files, "--run-dir", str(run), *OPTIONS, "--quiet"]) == 0
    return run


@pytest.fixture(scope="module")
def on_hdfs(corpus, inline) -> str:
    """A run that was trained on the cluster with three reducers, all of it on HDFS."""
    from perceptron_jobs.cli.main import main

    train, dev = (put(corpus / name, f"hdfs:///corpus/{name}") for name in ("train.txt", "dev.txt"))
    where = ["--run-dir", "hdfs:///runs/three", "-r", "hadoop", "--reducers", "3", "--quiet"]
    assert main(["train", str(corpus / "task.yaml"), "--train", train, "--dev", dev, *OPTIONS, *where]) == 0
    return "hdfs:///runs/three"


def test_the_cluster_gives_the_bytes_of_an_inline_training(inline, on_hdfs):
    assert get(f"{on_hdfs}/model") == (inline / "model").read_bytes()
    for name in ("weights", "average"):
        (epoch,) = [path for path in storage_of(on_hdfs).names(on_hdfs) if path == "epoch-0003"]
        assert get(join(on_hdfs, epoch, name)) == (inline / epoch / name).read_bytes()


def test_one_reducer_and_local_paths_give_the_same(corpus, inline, must, tmp_path):
    """The corpus and the run directory are local; only the jobs run on the cluster."""
    files = ("--train", corpus / "train.txt", "--dev", corpus / "dev.txt")
    must(
        "train",
        corpus / "task.yaml",
        *files,
        "--run-dir",
        tmp_path / "run",
        *OPTIONS,
        "-r",
        "hadoop",
        "--reducers",
        "1",
    )
    assert (tmp_path / "run" / "model").read_bytes() == (inline / "model").read_bytes()


def test_one_shard_is_one_file_that_the_reducers_wrote(on_hdfs):
    names = storage_of(on_hdfs).names(f"{on_hdfs}/prepared")
    assert names == ["prepared.json", *(f"shard-{shard:05d}-of-00004.gz" for shard in range(4))]


def test_predict_and_evaluate_on_the_cluster(corpus, inline, on_hdfs, must):
    dev = "hdfs:///corpus/dev.txt"
    must("predict", on_hdfs, dev, "-r", "hadoop", "--output", "hdfs:///tagged.txt")
    assert get("hdfs:///tagged.txt").decode() == must("predict", inline, corpus / "dev.txt")
    assert must("evaluate", on_hdfs, dev, "-r", "hadoop") == must("evaluate", inline, corpus / "dev.txt")
    assert must("inspect", on_hdfs, "--top", 5) == must("inspect", inline, "--top", 5)


def test_a_users_mistake_found_by_a_task_is_told_as_anywhere(corpus, perceptron, tmp_path):
    broken = tmp_path / "broken.txt"
    broken.write_text("a D O\n\nb\n")
    path = put(broken, "hdfs:///corpus/broken.txt")
    refused = perceptron("train", corpus / "task.yaml", "--train", path, "--run-dir", "hdfs:///runs/no", "-r", "hadoop")
    assert refused.code == 2
    assert f"{path}:3: " in refused.err
    assert not storage_of("hdfs:///runs").exists("hdfs:///runs/no")


def test_another_process_is_kept_out_and_a_killed_one_is_not_missed(corpus, perceptron, must, monkeypatch):
    from perceptron_jobs.storage.lease import Lease

    run = ("train", corpus / "task.yaml", "--train", "hdfs:///corpus/train.txt", "--run-dir", "hdfs:///runs/held")
    held = storage_of("hdfs:///runs/held")
    held.make_folder("hdfs:///runs/held")
    with held.held("hdfs:///runs/held"):
        refused = perceptron(*run, "--epochs", 1)
        assert refused.code == 2 and "in use by another process" in refused.err
    lease = Lease(held.client, "/runs/held/.lease", "hdfs:///runs/held")
    monkeypatch.setattr(Lease, "SECONDS", 0.0)
    lease.take()  # and its process dies: nobody renews it
    monkeypatch.setattr(Lease, "SECONDS", 60.0)
    must(*run, "--epochs", 1)
    assert ".lease" not in held.names("hdfs:///runs/held")


def test_interrupted_from_the_keyboard_the_job_on_the_cluster_ends_too(corpus, hadoop, inline, on_hdfs, must, tmp_path):
    run = "hdfs:///runs/interrupted"
    files = ["--train", "hdfs:///corpus/train.txt", "--dev", "hdfs:///corpus/dev.txt"]
    command = ["train", str(corpus / "task.yaml"), *files, "--run-dir", run, *OPTIONS, "-r", "hadoop"]
    program = "import sys; from perceptron_jobs.cli.main import main; sys.exit(main(sys.argv[1:]))"
    said = tmp_path / "said"

    def second_job_runs() -> bool:  # the first job prepares, the second trains
        return said.read_text().count("the job can be watched at") == 2

    with said.open("w") as err, started([sys.executable, "-c", program, *command], stderr=err) as driver:
        wait_until("the second job of the training", second_job_runs, 300, still_runs(driver))
        time.sleep(2)
        driver.send_signal(2)
        assert driver.wait(120) == 130
    listed = subprocess.run(
        ["yarn", "application", "-list"], capture_output=True, text=True, check=True, timeout=120
    ).stdout
    assert "application_" not in listed
    must(*command)
    assert get(f"{run}/model") == (inline / "model").read_bytes()


def test_a_failing_task_shows_its_own_traceback(corpus, on_hdfs, tmp_path):
    """A node whose Python is not there, then a mapper that cannot load its model."""
    command = [
        sys.executable,
        "-c",
        "import sys; from perceptron_jobs.cli.main import main; sys.exit(main(sys.argv[1:]))",
    ]
    arguments = ["predict", on_hdfs, "hdfs:///corpus/dev.txt", "-r", "hadoop", "-D", "mapreduce.map.maxattempts=1"]
    broken = tmp_path / "mrjob.conf"
    broken.write_text("runners:\n  hadoop:\n    cmdenv: {PERCEPTRON_KERNEL: no-such-kernel}\n")
    done = subprocess.run([*command, *arguments, "-c", str(broken)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert "Traceback" in done.stderr and "no-such-kernel" in done.stderr
    with contextlib.suppress(FileNotFoundError):
        assert not list(tmp_path.glob("*.tmp"))


def test_the_users_own_features_travel_with_the_job(corpus, must, tmp_path):
    (tmp_path / "mine.py").write_text("def ending(word):\n    return word[-3:] or None\n", encoding="utf-8")
    task = (corpus / "task.yaml").read_text(encoding="utf-8") + "  - ending[0]\npython: mine.py\n"
    (tmp_path / "task.yaml").write_text(task, encoding="utf-8")
    models = []
    for runner, run in (("inline", str(tmp_path / "run")), ("hadoop", "hdfs:///runs/own-features")):
        options = ("--run-dir", run, "--shards", 2, "--mixing", "uniform", "--epochs", 1, "-r", runner)
        must("train", tmp_path / "task.yaml", "--train", corpus / "train.txt", *options)
        must("evaluate", run, corpus / "dev.txt", "--python", tmp_path / "mine.py", "-r", runner)
        models.append(get(join(run, "model")))
    assert models[0] == models[1]
