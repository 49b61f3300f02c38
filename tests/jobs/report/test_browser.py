"""The report in a real browser: its figures are drawn, nothing is fetched, and nothing is logged as an error.

Chromium is spoken to by its debugging protocol through a pair of pipes: messages of JSON, each ended by a zero byte.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

PATIENCE = 120  # seconds for an answer; a busy machine takes its time
COMPLAINTS = {"Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"}
LOOK = """
Array.from(document.querySelectorAll('figure > svg'), svg => {
  const frame = svg.getBoundingClientRect();
  const shapes = Array.from(svg.querySelectorAll('.mark, .bar, .dot'));
  const boxes = shapes.map(shape => shape.getBoundingClientRect());
  return {
    title: svg.parentNode.querySelector('figcaption b').textContent,
    width: frame.width,
    height: frame.height,
    letters: Math.min(...Array.from(svg.querySelectorAll('text'), text => text.getBoundingClientRect().height)),
    marks: svg.querySelectorAll('.mark').length,
    bars: svg.querySelectorAll('.bar').length,
    dots: svg.querySelectorAll('.dot').length,
    empty: boxes.filter(box => box.width < 1).length,
    outside: boxes.filter(box => box.left < frame.left || box.right > frame.right
                                 || box.top < frame.top || box.bottom > frame.bottom).length,
    invisible: shapes.filter(shape => ['none', 'rgb(0, 0, 0)'].includes(getComputedStyle(shape).fill)).length,
  };
})
"""


class Browser:
    """A page in Chromium, its error messages and its requests."""

    def __init__(self, program: str, scratch: Path) -> None:
        there, self.requests = os.pipe()
        self.answers, back = os.pipe()
        # The protocol's pipes are the file descriptors 3 and 4.
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={scratch}",
        ]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{there} 4>&{back}', "bash", program, *options, "about:blank"],
            pass_fds=(there, back),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(there)
        os.close(back)
        self.unread, self.events, self.number, self.session = b"", [], 0, {}

    def attach(self) -> None:
        """Open a page and listen to it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _message(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.answers], [], [], max(0.0, until - time.monotonic()))
            part = os.read(self.answers, 1 << 20) if ready else b""
            assert part, f"Chromium does not answer (it ended with {self.process.poll()})"
            self.unread += part
        message, _, self.unread = self.unread.partition(b"\0")
        return json.loads(message)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters, **self.session}
        os.write(self.requests, json.dumps(request).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            assert time.monotonic() < end, f"Chromium did not answer {method} within {PATIENCE} seconds"
            message = self._message()
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def open(self, path: Path, width: int = 1280, scheme: str = "light") -> None:
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=path.as_uri())
        end = time.monotonic() + PATIENCE
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < end, f"{path} was not loaded within {PATIENCE} seconds"
            self.events.append(self._message())

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page; None if it is undefined."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def complaints(self) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event["method"] in COMPLAINTS]

    def fetched(self) -> set[str]:
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return {params["request"]["url"] for params in sent}

    def end(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(60)
        os.close(self.requests)
        os.close(self.answers)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        reason = "there is no chromium on the PATH; on Debian: apt install chromium"
        if os.environ.get("CI") or os.environ.get("PERCEPTRON_CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    browser = Browser(program, tmp_path_factory.mktemp("chromium"))
    try:
        browser.attach()
        yield browser
    finally:
        browser.end()


@pytest.fixture(scope="module")
def both(trained: Path, train: Callable[..., str], must: Callable[..., str], corpus: Path, tmp_path_factory) -> Path:
    """Two runs side by side: three shards and three epochs with a dev set, one shard and two epochs without."""
    folder = tmp_path_factory.mktemp("both")
    train(folder / "serial", "--epochs", 2)
    must("report", trained, folder / "serial", "--output", folder / "report.html")
    return folder / "report.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_figures_of_a_run_are_drawn(browser, trained, width, scheme):
    browser.open(trained / "report.html", width, scheme)
    history = [json.loads(line) for line in (trained / "history.jsonl").read_text().splitlines()]
    phases = [name for name in history[0]["phases"] if any(epoch["phases"][name] for epoch in history)]
    figures = {figure["title"]: figure for figure in browser.value(LOOK)}
    drawn = {title: (figure["marks"], figure["bars"], figure["dots"]) for title, figure in figures.items()}
    assert drawn == {
        "F1 on dev": (2 * 3, 0, 0),
        "Training errors": (3, 0, 0),
        "Weights": (3, 0, 0),
        "Shuffle": (3, 0, 0),
        "Seconds per epoch": (0, 3 * len(phases), 0),
        "Time of the shards": (0, 0, 3 * 3),
        "Errors of the shards": (0, 0, 3 * 3),
    }
    for title, figure in figures.items():
        assert figure["width"] > 250 and figure["height"] > 150 and figure["letters"] > 9, title
        assert figure["empty"] == figure["outside"] == figure["invisible"] == 0, title
    assert browser.complaints() == []
    assert browser.fetched() == {(trained / "report.html").as_uri()}


@pytest.mark.parametrize("width", [360, 1280])
def test_runs_side_by_side_are_drawn(browser, both, width):
    browser.open(both, width)
    figures = browser.value(LOOK)
    assert {figure["title"]: figure["marks"] for figure in figures[:5]} == {
        "F1 on dev": 2 * 3,
        "Training errors": 3 + 2,
        "Weights": 3 + 2,
        "Shuffle": 3 + 2,
        "Seconds per epoch": 3 + 2,
    }
    folded = browser.value("document.querySelectorAll('.runs > details').length")
    browser.value("document.querySelectorAll('details').forEach(part => { part.open = true })")
    drawn = [figure for figure in browser.value(LOOK) if figure["width"] > 200 and figure["height"] > 120]
    assert folded == 2 and len(drawn) == 5 + 7 + 4
    assert browser.complaints() == [] and browser.fetched() == {both.as_uri()}


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_is_no_wider_than_the_screen(browser, trained, both, width):
    for path in (trained / "report.html", both):
        browser.open(path, width)
        browser.value("document.querySelectorAll('details').forEach(part => { part.open = true })")
        assert browser.value("document.documentElement.scrollWidth") <= width


def test_light_and_dark(browser, trained):
    ground = {}
    for scheme in ("light", "dark"):
        browser.open(trained / "report.html", scheme=scheme)
        colour = browser.value("getComputedStyle(document.body).backgroundColor")
        ground[scheme] = sum(map(int, colour[4:-1].split(",")))
    assert ground["dark"] < 150 < 600 < ground["light"]


SHOWN_TREES = """
Array.from(document.querySelectorAll('svg.tree'), svg => {
  const frame = svg.getBoundingClientRect();
  const boxes = style => Array.from(svg.querySelectorAll(style), part => part.getBoundingClientRect());
  const words = boxes('.word').sort((a, b) => a.left - b.left);
  return {
    words: words.length,
    touching: words.filter((box, i) => i && box.left < words[i - 1].right).length,
    outside: boxes('text').filter(box => box.left < frame.left || box.right > frame.right
                                         || box.top < frame.top || box.bottom > frame.bottom).length,
    dashed: Array.from(svg.querySelectorAll('.arc.wrong'), arc => getComputedStyle(arc).strokeDasharray),
    scrolls: svg.parentNode.scrollWidth >= frame.width,
  };
})
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_trees_are_drawn(browser, trained, must, tmp_path, width, scheme):
    words = ["Мама", "vámonos", "https://example.org/a/long/address", "世界", "wwwwwwwwww", "iiiii", ".", "!", "nsubj"]
    gold = {"heads": [2, 0, 2, 3, 4, 5, 2, 2, 8], "relations": ["nsubj:pass", "root", *["obl:arg"] * 7]}
    guess = {"heads": [7, 1, 2, 6, 4, 3, 0, 2, 8], "relations": ["nsubj:pass", "root", *["acl:relcl"] * 7]}
    (run := tmp_path / "run").mkdir()
    shutil.copytree(trained, run, dirs_exist_ok=True)
    found = json.loads((run / "mistakes.json").read_text(encoding="utf-8"))
    found["trees"] = [{"words": words, "gold": gold, "guess": guess}] * 2
    (run / "mistakes.json").write_text(json.dumps(found), encoding="utf-8")
    must("report", run, "--output", tmp_path / "report.html")
    browser.open(tmp_path / "report.html", width, scheme)
    trees = browser.value(SHOWN_TREES)
    assert len(trees) == 2
    for tree in trees:
        assert tree["words"] == 9 and tree["touching"] == tree["outside"] == 0 and tree["scrolls"]
        assert len(tree["dashed"]) == 5 and "none" not in tree["dashed"]
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []


def test_what_the_data_says_is_shown_and_not_run(browser, must, tmp_path):
    evil = "<script>document.title='ours'</script>"
    lines = [f"{word} {label}" for word, label in zip([evil, "кот", "时间"] * 9, [evil, "名", "Сущ", "名"] * 9)]
    (tmp_path / "train.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "task.yaml").write_text("columns: [word, tag]\npredict: tag\nfeatures: ['word[0]']\n")
    files = ("--train", tmp_path / "train.txt", "--dev", tmp_path / "train.txt", "--run-dir", tmp_path / "run")
    must("train", tmp_path / "task.yaml", *files, "--epochs", 2)
    browser.open(tmp_path / "run" / "report.html")
    assert browser.value("document.title") == "run: training report"
    shown = browser.value("document.body.textContent")
    assert all(text in shown for text in (evil, "кот", "时间", "名", "Сущ"))
    assert browser.complaints() == []


def test_complaints_and_requests_would_be_heard(browser, tmp_path):
    (tmp_path / "page.html").write_text("<script>console.error('ouch'); nothing()</script><img src=missing.png>")
    browser.open(tmp_path / "page.html")
    told = json.dumps(browser.complaints())
    assert "ouch" in told and "nothing is not defined" in told and "missing.png" in told
    assert (tmp_path / "missing.png").as_uri() in browser.fetched()
