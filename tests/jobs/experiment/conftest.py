"""A tiny grid, and one that is trained; what its runs have learned."""

import json
from pathlib import Path
from typing import Any, Callable

import pytest
import yaml

CORPUS = {"task": "task.yaml", "train": "train.txt", "dev": "dev.txt"}
GRID = {
    "title": "Tiny <grid>",
    "source": "A paper & its Fig. 1",
    "corpora": {"phrases": CORPUS},
    "seeds": [1, 2],
    "options": {"epochs": 3},
    "runs": {"serial": {"shards": 1}, "{mixing}": {"shards": [1, 3], "mixing": ["uniform", "row"]}},
    "baseline": "serial",
    "table": {"rows": ["run", "shards"], "values": ["dev.last", "dev.averaged", "errors", "epochs"]},
    "figure": {"x": "epoch", "y": ["errors", "dev.averaged"], "panels": "shards"},
    "papers": {"Someone 1999": {"serial": {"dev.last": 85.8}}},
}


@pytest.fixture
def write(corpus: Path) -> Callable[..., Path]:
    """An experiment's file beside the corpus' task: write(path's stem, what differs from GRID…); `phrases` is what
    differs in its corpus."""

    def make(name: str, **changes: Any) -> Path:
        path = corpus / f"{name}.yaml"
        if "phrases" in changes:
            changes["corpora"] = {"phrases": {**CORPUS, **changes.pop("phrases")}}
        content = {key: value for key, value in {**GRID, **changes}.items() if value is not None}
        path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return path

    return make


@pytest.fixture(scope="session")
def done(corpus: Path, must: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """GRID, trained: the output folder and what was said; tests only read it."""
    path = corpus / "grid.yaml"
    path.write_text(yaml.safe_dump(GRID, sort_keys=False), encoding="utf-8")
    output = tmp_path_factory.mktemp("done")
    return output, must("experiment", path, "--data", corpus, "--output", output)


@pytest.fixture(scope="session")
def history() -> Callable[[Path, str], list[dict[str, Any]]]:
    """The epochs of a run of the grid."""

    def read(output: Path, run: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (output / "runs" / run / "history.jsonl").read_text().splitlines()]

    return read


@pytest.fixture(scope="session")
def learned(history: Callable[..., Any]) -> Callable[[Path], dict[str, list[Any]]]:
    """What the runs have learned, epoch by epoch, without the times."""

    def read(output: Path) -> dict[str, list[Any]]:
        return {
            run.name: [(epoch["errors"], epoch["weights"], epoch["dev"]) for epoch in history(output, run.name)]
            for run in sorted((output / "runs").iterdir())
        }

    return read
