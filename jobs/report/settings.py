"""A run's configuration and its data, in words."""

import hashlib
from typing import Any

from perceptron_jobs.charts.text import count
from perceptron_jobs.records.run_config import RunConfig
from perceptron_jobs.report.content import RunContent
from perceptron_jobs.report.elements import Html, code, joined, pairs, section, table


def configuration(run: RunContent) -> Html:
    named = [(name, value) for name, value in settings(run.config).items() if value]
    names = list(dict.fromkeys(name for file in run.config.data for name in file))
    files = [
        (f"file {number}", *(count(file[name]) if name == "bytes" else code(file.get(name, "")) for name in names))
        for number, file in enumerate(run.config.data, start=1)
    ]
    return joined(
        [
            section("Configuration", pairs(named)),
            section(
                "Data",
                table(["training data", *names], files),
                lead="The training files by size and checksum, whatever they are called.",
            ),
        ]
    )


def settings(config: RunConfig) -> dict[str, str]:
    """What decides the weights, but for the data: name → value, in words."""
    record = config.record()
    task = {name: value for name, value in config.task.items() if name not in ("templates", "labels", "lookups")}
    both = {
        **task,
        **config.settings,
        **{name: record.get(name) for name in ("mixing", "rounds", "shards", "seed", "subsample")},
    }
    told = {name.replace("_", " "): _told(value) for name, value in both.items()}
    told["labels"] = ", ".join(config.labels)
    told["lookups"] = ", ".join(f"{name} ({_digest(words)})" for name, words in config.task["lookups"].items())
    told["features"] = ", ".join(template[0] for template in config.task["templates"])
    told["starts from"] = f"another model ({config.init_model})" if config.init_model else ""
    told["run"] = config.run
    return told


def _digest(words: dict[str, str]) -> str:
    """Word classes may be many: how many, and which, in short."""
    return f"{count(len(words))} words, {hashlib.sha256(repr(sorted(words.items())).encode()).hexdigest()[:8]}"


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        if len(set(map(str, value.values()))) == 1:
            return _told(next(iter(value.values())))
        return ", ".join(f"{name}: {_told(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(_told, value))
    return "" if value is None else str(value)
