"""The page: what it shows, that nothing in the data becomes markup, and that every training writes it."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from perceptron_jobs.records.epoch_entry import EpochEntry
from perceptron_jobs.records.run_config import RunConfig
from perceptron_jobs.report import report_html
from perceptron_jobs.report.content import RunContent, distinct_names
from perceptron_jobs.storage import open_file
from perceptron_jobs.storage.s3 import connect_by

VOID = {"meta", "link", "br"}
EVIL = "<script>alert('кот')</script>"
EXTRA = '"onmouseover="alert(1)'


class Page(HTMLParser):
    """All elements, and the text of each kind; tags have to be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, Any]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def count(self, tag: str, style: str = "") -> int:
        return sum(
            name == tag and (not style or style in attributes.get("class", "").split())
            for name, attributes in self.elements
        )


def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def history(trained: Path) -> list[EpochEntry]:
    return [EpochEntry.from_record(json.loads(line)) for line in (trained / "history.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def config(trained: Path) -> RunConfig:
    return RunConfig.from_record(json.loads((trained / "config.json").read_text()))


def test_a_training_leaves_a_report(trained, history, config):
    page = read(trained / "report.html")
    best = max(history, key=lambda epoch: epoch.dev.score)
    assert f"{100 * best.dev.averaged:.2f}" in page.text
    assert page.count("figure") == 7  # five curves, time and errors of the shards
    assert page.count("path", "mark") == (1 + 2 + 1 + 1) * 3 + 2  # those of the legend, too
    bars = sum(any(epoch.phases[name] for epoch in history) for name in history[0].phases)
    assert page.count("rect", "bar") == 3 * bars + bars
    assert page.count("circle", "dot") == 2 * 3 * 3
    for told in ("uniform", "pos[-1] & pos[0]", "suffix2[0]", config.data[0]["sha256"], config.run, "B-名"):
        assert told in page.text
    mistakes = json.loads((trained / "mistakes.json").read_text(encoding="utf-8"))["confusions"]
    assert mistakes and page.text.count("taken for") >= sum(1 + len(confusion["examples"]) for confusion in mistakes)
    assert mistakes[0]["examples"][0]["words"][0] in page.text


def test_the_strongest_features_are_those_that_inspect_shows(trained, must):
    page = read(trained / "report.html")
    for label in ("B-NP", "B-VP"):
        weight, _, name = must("inspect", trained, "--label", label, "--top", 1).split(maxsplit=2)
        assert name.strip() in page.text
        assert f"{'+' if float(weight) > 0 else '−'}{abs(float(weight)):.2f}" in page.text


def test_the_page_needs_nothing_but_itself(trained):
    page = read(trained / "report.html")
    addresses = [a[name] for _, a in page.elements for name in ("src", "href", "xlink:href", "srcset") if name in a]
    assert all(address.startswith("data:") for address in addresses)
    text = (trained / "report.html").read_text(encoding="utf-8")
    assert not re.findall(r"url\(|@import|<script", text)
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}  # a name, not fetched


def test_quiet_or_not_the_report_is_there(train, tmp_path):
    assert train(tmp_path / "run", "--epochs", 1, "--quiet") == ""
    assert "of the training sentences wrong in epoch 1" in read(tmp_path / "run" / "report.html").text


def test_the_same_run_gives_the_same_bytes(trained, corpus, train, must, contents, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    before = contents(run)
    train(run, "--shards", 3, "--mixing", "uniform", "--epochs", 3, "--dev", corpus / "dev.txt")
    train(run, "--shards", 3, "--mixing", "uniform", "--epochs", 3)  # without the dev file it still knows the mistakes
    assert contents(run) == before
    for name in ("a", "b"):
        must("report", run, "--output", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (run / "report.html").read_bytes()


def test_runs_side_by_side(trained, corpus, train, must, tmp_path):
    other = tmp_path / "other" / "run"
    train(other, "--shards", 2, "--mixing", "row", "--epochs", 2, "--learner", "pa1", "--dev", corpus / "dev.txt")
    assert must("report", trained, other, "--output", tmp_path / "both.html") == ""
    page = read(tmp_path / "both.html")
    assert "2 runs" in page.text and "other/run" in page.text
    differences = page.text[page.text.index("Differences") : page.text.index("Run by run")]
    for told in ("mixing uniform row", "shards 3 2", "learner perceptron pa1"):
        assert told in differences
    assert "seed" not in differences and "features" not in differences
    overlaid = (tmp_path / "both.html").read_text(encoding="utf-8").partition("Run by run")[0]
    assert [line.count('class="line') for line in overlaid.split("<figure")[1:]] == [4 + 4, 2 + 2, 2 + 2, 2 + 2, 2 + 2]


def test_several_runs_in_the_terminal(trained, corpus, must, perceptron, tmp_path):
    said = must("report", trained, trained)
    assert said.count("◀ best") == 2
    refused = perceptron("report", trained, trained, "--svg", tmp_path / "curve.svg")
    assert refused.code == 2 and "--svg draws the curve of one run" in refused.err
    assert perceptron("report", trained, corpus, "--output", tmp_path / "out.html").code == 2
    assert list(tmp_path.iterdir()) == []


def test_names_that_tell_runs_apart():
    assert distinct_names(["/a/run", "/b/run/"]) == ["a/run", "b/run"]
    assert distinct_names(["/a/x/run", "/b/x/run", "/b/y"]) == ["a/x/run", "b/x/run", "/b/y"]
    assert distinct_names(["hdfs:///runs/1", "s3://bucket/2"]) == ["1", "2"]
    assert distinct_names(["/a/run", "/a/run"]) == ["run", "run"]


# ---------------------------------------------------------------- what a run may lack


@pytest.mark.parametrize(
    "lacks", [("phases",), ("shards",), ("dev",), ("seconds", "phases"), ("weights", "shuffled"), ("runner",)]
)
def test_epochs_of_older_runs(lacks, history, config):
    older = [{name: value for name, value in epoch.record().items() if name not in lacks} for epoch in history]
    older = [EpochEntry.from_record(record) for record in older]
    for mixed in (older, [older[0], *history[1:]]):
        page = Page(report_html([RunContent("old", config, mixed, chosen_epoch=3)]))
        assert page.count("figure") >= 4
        Page(report_html([RunContent("old", config, mixed, 3), RunContent("new", config, history, 3)]))


def test_a_run_without_an_epoch(config):
    for runs in (1, 2):
        assert "No epoch is complete yet" in Page(report_html([RunContent("new", config, [])] * runs)).text


def test_a_run_whose_corpus_is_gone(trained, must, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    shutil.rmtree(run / "prepared")
    must("report", run, "--output", tmp_path / "report.html")
    page = read(tmp_path / "report.html")
    assert "Not shown" in page.text and "the prepared corpus it was trained on is not beside it" in page.text
    assert page.count("figure") == 7


def test_a_run_that_is_being_trained(trained, must, tmp_path):
    """Killed after an epoch appeared and before it was written down; or at its very beginning."""
    run = shutil.copytree(trained, tmp_path / "run")
    lines = (run / "history.jsonl").read_text().splitlines(keepends=True)
    (run / "history.jsonl").write_text("".join(lines[:-1]))
    must("report", run, "--output", tmp_path / "report.html")
    assert "3 epochs in figures" in read(tmp_path / "report.html").text
    for epoch in run.glob("epoch-*"):
        shutil.rmtree(epoch)
    must("report", run, "--output", tmp_path / "report.html")
    assert "No epoch is complete yet" in read(tmp_path / "report.html").text


def test_the_model_is_there_when_the_report_cannot_be_written(train, tmp_path):
    run = tmp_path / "run"
    (run / "report.html").mkdir(parents=True)  # in the way
    (run / "report.html" / "of mine").write_text("")
    said = train(run, "--epochs", 1)
    assert "the report could not be written" in said and "report.html" in said and f"{run / 'model'}" in said
    assert (run / "model").is_file()


def test_many_shards_and_epochs_stay_small(config):
    """A hundred shards, a hundred epochs: a page for a phone, not for a data centre."""
    shards = [{"sentences": 10, "errors": i % 7, "seconds": 0.01 * i} for i in range(100)]
    epoch = {"sentences": 1000, "errors": 300, "weights": 5, "shuffled": 6, "seconds": 7.0, "shards": shards}
    many = [EpochEntry.from_record({"epoch": number, **epoch}) for number in range(1, 101)]
    told = report_html([RunContent("many", config._replace(chosen_shards=list(range(100))), many, 100)])
    assert Page(told).count("circle", "dot") == 2 * 1500 and len(told) < 1_000_000


# ---------------------------------------------------------------- data that looks like a page


def test_nothing_in_the_data_becomes_part_of_the_page(must, tmp_path):
    words = [EVIL, EXTRA, "&amp;", "собака", "时间", "كلب"]
    labels = [EVIL, EXTRA, "名", "Сущ"]
    lines = [f"{word} {labels[(i * j) % 4]}" for i in range(12) for j, word in enumerate(words)]
    (tmp_path / "train.txt").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "dev.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "task.yaml").write_text("columns: [word, tag]\npredict: tag\nfeatures: ['word[0]', 'prefix3[-1]']\n")
    run = tmp_path / "<img src=x onerror=alert(1)>"
    files = ("--train", tmp_path / "train.txt", "--dev", tmp_path / "dev.txt")
    must("train", tmp_path / "task.yaml", *files, "--run-dir", run, "--shards", 2, "--epochs", 2)
    must("report", run, run, "--output", tmp_path / "both.html")
    for path in (run / "report.html", tmp_path / "both.html"):
        page = read(path)
        assert page.count("script") == page.count("img") == 0
        assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
        for told in (*words, *labels, run.name, f"word[0]={EVIL}"):
            assert told in page.text


# ---------------------------------------------------------------- wherever runs are kept


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {"ENDPOINT_URL_S3": f"http://{host}:{port}", "ACCESS_KEY_ID": "tester", "SECRET_ACCESS_KEY": "secret"}
    for name, value in {**settings, "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    connect_by()
    boto3.client("s3").create_bucket(Bucket="reports")
    yield "s3://reports/runs"
    server.stop()
    connect_by()


@pytest.mark.filterwarnings("ignore:Boto3 will no longer support Python")  # of 3.9
def test_on_s3(bucket, train, must, corpus, tmp_path):
    _trains_there(f"{bucket}/1", train, must, corpus, tmp_path)


@pytest.mark.hadoop
def test_on_hdfs(hadoop, train, must, corpus, tmp_path):
    _trains_there(f"hdfs:///reports-{os.getpid()}/1", train, must, corpus, tmp_path)


def _trains_there(run: str, train, must, corpus: Path, tmp_path: Path) -> None:
    train(run, "--shards", 2, "--epochs", 2, "--dev", corpus / "dev.txt")
    with open_file(f"{run}/report.html") as file:
        written = file.read()
    must("report", run, "--output", tmp_path / "report.html")
    assert (tmp_path / "report.html").read_bytes() == written
    assert Page(written.decode()).count("figure") == 7
