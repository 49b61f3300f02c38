"""The names that the command line offers are those of the code, and it needs no code to offer them."""

import argparse
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from perceptron_core import registry
from perceptron_core.corpus import CLASSIFICATION, FORMATS, SEQUENCE, TREE
from perceptron_core.corpus.label_encodings import ENCODINGS
from perceptron_core.evaluation.metrics import LABEL_METRICS, METRICS
from perceptron_core.learners import LEARNERS, ONE_PASS
from perceptron_core.settings import Settings
from perceptron_core.structures import KINDS
from perceptron_core.structures.prefixes import UPDATES
from perceptron_core.structures.sequence.decoders import DECODERS as SEQUENCE_DECODERS
from perceptron_core.structures.tree.reference import DECODERS as TREE_DECODERS
from perceptron_core.task_file import DEFAULTS
from perceptron_core.training.mixing import MIXINGS
from perceptron_jobs.engines.runners import _runner_class
from perceptron_jobs.options import declarations
from perceptron_jobs.options.names import READY_EXPERIMENTS, READY_TASKS, RUNNERS, configs_folder
from perceptron_jobs.training.plan import TrainingPlan

REGISTRIES = {
    "KINDS": KINDS,
    "SEQUENCE_DECODERS": SEQUENCE_DECODERS,
    "TREE_DECODERS": TREE_DECODERS,
    "DECODERS": list(dict.fromkeys(name for structure in KINDS.values() for name in structure.decoders)),
    "UPDATES": UPDATES,
    "LEARNERS": LEARNERS,
    "ONE_PASS": ONE_PASS,
    "MIXINGS": MIXINGS,
    "FORMATS": FORMATS,
    "SEQUENCE_FORMATS": [name for name, fmt in FORMATS.items() if fmt.kind == SEQUENCE],
    "TREE_FORMATS": [name for name, fmt in FORMATS.items() if fmt.kind == TREE],
    "INSTANCE_FORMATS": [name for name, fmt in FORMATS.items() if fmt.kind == CLASSIFICATION],
    "ENCODINGS": ENCODINGS,
    "LABEL_METRICS": LABEL_METRICS,
    "TREE_METRICS": [name for name in METRICS if name not in LABEL_METRICS],
    "METRICS": METRICS,
}


@pytest.mark.parametrize("name", REGISTRIES)
def test_the_names_are_those_of_the_code(name: str) -> None:
    assert getattr(registry, name) == tuple(REGISTRIES[name]), f"add it to perceptron_core/registry.py: {name}"


def test_every_runner_has_a_class() -> None:
    classes = {name: _runner_class(name, print) for name in RUNNERS}
    assert {name: made.alias for name, made in classes.items()} == {name: name for name in RUNNERS}


@pytest.mark.parametrize(("names", "folder"), [(READY_TASKS, "."), (READY_EXPERIMENTS, "experiments")])
def test_every_ready_file_is_there_and_known(names: Iterable[str], folder: str) -> None:
    assert set(names) == {path.stem for path in Path(configs_folder(), folder).glob("*.yaml")}


def test_defaults_are_said_once() -> None:
    assert {key: DEFAULTS[key] for key in ("kind", "format", "metric")} == {
        "kind": registry.KINDS[0],
        "format": registry.FORMATS[0],
        "metric": registry.METRICS[0],
    }
    assert TrainingPlan._field_defaults["mixing"] == registry.DEFAULT_MIXING
    parser = argparse.ArgumentParser()
    declarations.add_train(parser)
    given, settings = vars(parser.parse_args(["task"])), Settings()._asdict()
    shared = set(given) & set(settings) - {"aggressiveness", "decoder"}  # which depend on the learner and the kind
    assert len(shared) > 7 and {name: given[name] for name in shared} == {name: settings[name] for name in shared}
    stop = TrainingPlan._field_defaults["stop"]
    assert (given["epochs"], given["stop_threshold"], given["patience"]) == tuple(stop)


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (declarations.MIXING_HELP, registry.MIXINGS),
        (declarations.LEARNER_HELP, registry.ALL_LEARNERS),
        (declarations.DECODER_HELP, registry.DECODERS),
        (declarations.UPDATE_HELP, registry.UPDATES),
        (declarations.RUNNER_HELP, RUNNERS),
    ],
)
def test_help_explains_every_choice(texts: dict[str, str], names: tuple[str, ...]) -> None:
    assert tuple(texts) == names


def test_the_options_need_no_numpy() -> None:
    program = "import sys, perceptron_jobs.cli.options as o; o.make_parsers(); print(*sys.modules)"  # what --help does
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "mrjob", "yaml"} & set(loaded)
