"""The arguments of `perceptron prepare` and `perceptron train`, and of every command that runs jobs."""

import argparse
from collections.abc import Mapping, Sequence

from perceptron_core.registry import (
    ALL_LEARNERS,
    DECODERS,
    DEFAULT_MIXING,
    MIXINGS,
    SEQUENCE_DECODERS,
    TREE_DECODERS,
    UPDATES,
)
from perceptron_core.schema import LARGEST
from perceptron_core.settings import LARGEST_COUNT
from perceptron_jobs.options.names import READY_TASKS, RUNNERS

TASK_HELP = f"a task file (YAML), or the name of a ready one: {', '.join(READY_TASKS)}"
MIN_COUNT_HELP = "leave out features that occur on fewer than K tokens of the corpus"
RUNNER_HELP = {
    "inline": "in this process",
    "local": "one process per shard, on all cores",
    "hadoop": "on the cluster",
    "emr": "on a cluster of Amazon EMR, which is started for it",
}
MIXING_HELP = {
    "uniform": "divide the sum of the steps by the number of shards",
    "errors": "weight them by the shards' updates",
    "examples": "weight them by the shards' sentences",
    "touched": "divide by the number of shards that changed the weight",
    "row": "divide by the number of shards that changed any weight of its feature",
    "scaled": "as uniform, but the fewer shards have a feature, the longer are its steps",
}
LEARNER_HELP = {
    "perceptron": "structured perceptron",
    "pa": "passive-aggressive",
    "pa1": "PA-I",
    "pa2": "PA-II",
    "mira": "corrects several labellings at once",
    "naive-bayes": "a baseline that counts in one pass and takes every token by itself",
    "rocchio": "another such baseline",
}
DECODER_HELP = {
    "viterbi": "exact",
    "beam": "keeps the B best states after a token",
    "greedy": "keeps the best one",
    "eisner2": "the best projective tree, with siblings",
    "eisner": "the best projective tree by its arcs",
    "mst": "the best tree by its arcs, projective or not",
    "climb": "eisner2, then one head after the other is changed while that gains: trees need not be projective",
}
UPDATE_HELP = {
    "standard": "all of it",
    "early": "up to where the search lost the right labels",
    "max-violation": "up to where the guess beats the right labels by most",
}


def explained(choices: Sequence[str], texts: Mapping[str, str], default: str) -> str:
    """All choices with their meanings, for --help."""
    return "; ".join(f"{name}: {texts[name]}" + " (default)" * (name == default) for name in choices)


def whole_number(text: str) -> int:
    """One or more."""
    number = int(text)
    if not 1 <= number <= LARGEST_COUNT:
        raise argparse.ArgumentTypeError(f"{text} must be 1 or more, and at most {LARGEST_COUNT}")
    return number


def seed(text: str) -> int:
    """Any whole number of 64 bits."""
    number = int(text)
    if abs(number) > LARGEST:
        raise argparse.ArgumentTypeError(f"{text} is not between -{LARGEST} and {LARGEST}")
    return number


def add_runner(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where it runs")
    group.add_argument(
        "-r",
        "--runner",
        choices=RUNNERS,
        default=RUNNERS[0],
        help=explained(RUNNERS, RUNNER_HELP, RUNNERS[0]),
    )
    group.add_argument(
        "-D",
        "--property",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a Hadoop property: memory, time-outs, queue, priority; may be given more than once",
    )
    group.add_argument("-c", "--conf", metavar="FILE", help="an mrjob configuration file")
    group.add_argument(
        "--cluster-id",
        metavar="ID",
        help="with -r emr: run on this cluster and leave it running (default: start a new one)",
    )
    group.add_argument(
        "--reducers", type=whole_number, metavar="R", help="the number of reducers; never changes the result"
    )


def add_prepare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help=TASK_HELP)
    parser.add_argument("--train", nargs="+", metavar="FILE", help="corpus files, plain or .gz")
    parser.add_argument(
        "--shards",
        type=whole_number,
        default=1,
        metavar="S",
        help="the number of shards to deal the sentences to (default 1)",
    )
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="K", help="decides how sentences are dealt and shuffled (default 1)"
    )
    parser.add_argument(
        "--min-count", type=whole_number, default=1, metavar="K", help=f"{MIN_COUNT_HELP} (default 1: all)"
    )
    parser.add_argument("--output", metavar="DIR", help="the folder for the shards; it must not exist yet")
    parser.add_argument("--quiet", action=argparse.BooleanOptionalAction, default=False, help="print only errors")
    add_runner(parser)


def add_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help=TASK_HELP)
    data = parser.add_argument_group("data")
    data.add_argument("--train", nargs="+", metavar="FILE", help="corpus files, plain or .gz")
    data.add_argument("--prepared", metavar="DIR", help="a folder made by `perceptron prepare`, instead of --train")
    data.add_argument("--dev", nargs="+", metavar="FILE", help="held-out files, scored after every epoch")
    data.add_argument("--run-dir", metavar="RUN", help="where the run is kept; an existing one is continued")
    data.add_argument("--init-model", metavar="MODEL", help="start from another model's weights")
    split = parser.add_argument_group("sharding and mixing")
    split.add_argument(
        "--shards", type=whole_number, metavar="S", help="train on S shards and mix (default 1: serial training)"
    )
    split.add_argument(
        "--mixing",
        choices=MIXINGS,
        default=DEFAULT_MIXING,
        help=f"how the shards' steps become one; {explained(MIXINGS, MIXING_HELP, DEFAULT_MIXING)}",
    )
    split.add_argument(
        "--rounds",
        type=whole_number,
        metavar="R",
        help="mix R times during the first epoch, after each R-th part of the shards; 1: once, as in the papers "
        "(default: with row or touched mixing that begins without weights, one round for every two shards, at most 8; "
        "otherwise 1)",
    )
    split.add_argument(
        "--local-epochs",
        type=whole_number,
        default=1,
        metavar="L",
        help="passes over a shard before mixing (default 1)",
    )
    split.add_argument(
        "--subsample", action=argparse.BooleanOptionalAction, default=False, help="train on only one of the S shards"
    )
    split.add_argument(
        "--seed", type=seed, metavar="K", help="decides how sentences are dealt and shuffled (default 1)"
    )
    data.add_argument("--min-count", type=whole_number, metavar="K", help=f"{MIN_COUNT_HELP} (default: all)")
    how = parser.add_argument_group("learning")
    how.add_argument(
        "--learner",
        choices=ALL_LEARNERS,
        default=ALL_LEARNERS[0],
        help=explained(ALL_LEARNERS, LEARNER_HELP, ALL_LEARNERS[0]),
    )
    how.add_argument(
        "--aggressiveness",
        type=float,
        metavar="C",
        help="the C of PA-I and PA-II (default 1) and of MIRA (default: no bound): how far one wrong labelling may "
        "move the weights",
    )
    how.add_argument(
        "--k-best",
        type=whole_number,
        default=1,
        metavar="K",
        help="with MIRA: correct those of the K best labellings of a sentence that are no worse than the right one "
        "(default 1)",
    )
    how.add_argument(
        "--minibatch",
        type=whole_number,
        default=1,
        metavar="M",
        help="with the perceptron or MIRA: decode M sentences with the same weights, then update once by all of them "
        "(default 1)",
    )
    how.add_argument(
        "--threads",
        type=whole_number,
        default=1,
        metavar="P",
        help="with --minibatch: decode with P threads in every task; never changes the result (default 1)",
    )
    how.add_argument(
        "--average",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep averaged weights beside the last ones (default)",
    )
    how.add_argument(
        "--decoder",
        choices=DECODERS,
        help=f"the search; for labels, {explained(SEQUENCE_DECODERS, DECODER_HELP, SEQUENCE_DECODERS[0])}; for trees, "
        f"{explained(TREE_DECODERS, DECODER_HELP, TREE_DECODERS[0])}",
    )
    how.add_argument(
        "--beam", type=whole_number, default=8, metavar="B", help="states that a beam keeps after a token (default 8)"
    )
    how.add_argument(
        "--update",
        choices=UPDATES,
        default=UPDATES[0],
        help=f"which beginning of a wrong sentence to update on; {explained(UPDATES, UPDATE_HELP, UPDATES[0])}",
    )
    how.add_argument(
        "--min-updates",
        type=whole_number,
        default=1,
        metavar="K",
        help="use a feature only after it has taken part in K updates; the model holds only such features (default 1: "
        "all that were ever updated)",
    )
    stop = parser.add_argument_group("stopping")
    stop.add_argument("--epochs", type=whole_number, default=10, metavar="N", help="at most N epochs (default 10)")
    stop.add_argument(
        "--stop-threshold",
        type=float,
        default=0.0005,
        metavar="E",
        help="stop when the training score (1 - wrong sentences / sentences) changed by no more than E in each of "
        "three epochs (default 0.0005)",
    )
    stop.add_argument(
        "--patience", type=whole_number, metavar="P", help="stop when the dev score has not improved for P epochs"
    )
    parser.add_argument(
        "--quiet",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="print no line per epoch and no progress bar",
    )
    add_runner(parser)
