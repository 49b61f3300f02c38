"""What is known by a name: runners, ready tasks, ready experiments."""

import os

RUNNERS = ("inline", "local", "hadoop", "emr")  # the first is the default
READY_TASKS = (
    "pos",
    "pos-second",
    "upos",
    "upos-second",
    "chunking",
    "chunking-second",
    "chunking-tokens",
    "ner",
    "parsing",
    "parsing-fast",
    "text",
    "svmlight",
)
READY_EXPERIMENTS = (
    "ner-strategies",
    "ner-curves",
    "mixing",
    "pos-time",
    "shards",
    "skew",
    "tasks",
    "strategies",
    "carry-over",
    "on-itself",
    "rounds",
    "sparse",
    "minibatch",
    "processors",
    "baselines",
    "second-order",
    "parsing-strategies",
    "parsing-mixing",
    "sparse-parsing",
)


def configs_folder() -> str:
    """The folder of the ready files: inside the installed package, or at the top of a source tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    installed, checkout = os.path.join(here, "..", "configs"), os.path.join(here, "..", "..", "configs")
    return os.path.normpath(installed if os.path.isdir(installed) else checkout)


def find_task(name: str) -> str:
    """The path of a task file, or of the ready one with this name."""
    if name not in READY_TASKS or os.path.exists(name):
        return name
    return os.path.join(configs_folder(), f"{name}.yaml")


def find_experiment(name: str) -> str:
    """The path of an experiment's file, or of the ready one with this name."""
    if name not in READY_EXPERIMENTS or os.path.exists(name):
        return name
    return os.path.join(configs_folder(), "experiments", f"{name}.yaml")
