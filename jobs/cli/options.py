"""The arguments of every sub-command, declared once: for the parser, for --help, and for `options:` in a task file."""

import argparse
from typing import Any, Callable, NamedTuple

from perceptron_core import __version__

READY_TASKS = ("pos", "upos", "chunking", "chunking-tokens", "ner", "text", "svmlight")
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
)
RUNNERS = ("inline", "local", "hadoop", "emr")

TASK_HELP = f"a task file (YAML), or the name of a ready one: {', '.join(READY_TASKS)}"
MIN_COUNT_HELP = "leave out features that occur on fewer than K tokens of the corpus"
MODEL_HELP = "a model file, or a run directory (then its best epoch by dev score, or its last)"


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} must be 1 or more")
    return number


def _runner(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where it runs")
    group.add_argument(
        "-r",
        "--runner",
        choices=RUNNERS,
        default="inline",
        help="inline: in this process (default); local: a process a shard, on all cores; hadoop: on the cluster; "
        "emr: on a cluster of Amazon EMR, made for it",
    )
    group.add_argument(
        "-D",
        "--property",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a Hadoop property: memory, time-outs, queue, priority; may be given several times",
    )
    group.add_argument("-c", "--conf", metavar="FILE", help="an mrjob configuration file")
    group.add_argument(
        "--cluster-id", metavar="ID", help="with -r emr: run on this cluster, and leave it running (default: a new one)"
    )
    group.add_argument("--reducers", type=positive, metavar="R", help="how many reducers; never changes the result")


def _prepare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help=TASK_HELP)
    parser.add_argument("--train", nargs="+", metavar="FILE", help="corpus files, plain or .gz")
    parser.add_argument(
        "--shards", type=positive, default=1, metavar="S", help="how many shards to deal the sentences to (default 1)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="K", help="decides how sentences are dealt and shuffled (default 1)"
    )
    parser.add_argument("--min-count", type=positive, default=1, metavar="K", help=f"{MIN_COUNT_HELP} (default 1: all)")
    parser.add_argument("--output", metavar="DIR", help="the folder for the shards; must not exist yet")
    parser.add_argument("--quiet", action=argparse.BooleanOptionalAction, default=False, help="say nothing but errors")
    _runner(parser)


def _train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help=TASK_HELP)
    data = parser.add_argument_group("data")
    data.add_argument("--train", nargs="+", metavar="FILE", help="corpus files, plain or .gz")
    data.add_argument("--prepared", metavar="DIR", help="a folder made by `perceptron prepare`, instead of --train")
    data.add_argument("--dev", nargs="+", metavar="FILE", help="held-out files, scored after every epoch")
    data.add_argument("--run-dir", metavar="RUN", help="where the run is kept; an existing one is continued")
    data.add_argument("--init-model", metavar="MODEL", help="start from another model's weights")
    split = parser.add_argument_group("sharding and mixing")
    split.add_argument(
        "--shards", type=positive, metavar="S", help="train on S shards and mix (default 1: serial training)"
    )
    split.add_argument(
        "--mixing",
        choices=("uniform", "errors", "examples", "touched", "row", "mid", "scaled"),
        default="row",
        help="how the shards' steps become one: divide by the number of shards (uniform), weight by updates (errors) "
        "or by sentences (examples), divide by the shards that changed the weight (touched), any weight of its "
        "feature (row, default), or a number between these two (mid), or as uniform, after steps that are the longer "
        "the fewer shards have the feature (scaled)",
    )
    split.add_argument(
        "--rounds",
        type=positive,
        metavar="R",
        help="mix R times during the first epoch, after each R-th part of the shards; 1: once, as in the papers "
        "(default: if row, touched or mid mixing begins with no weights, one for every two shards, at most 8; else 1)",
    )
    split.add_argument(
        "--local-epochs", type=positive, default=1, metavar="L", help="passes over a shard before mixing (default 1)"
    )
    split.add_argument(
        "--subsample", action=argparse.BooleanOptionalAction, default=False, help="train on one shard of the S alone"
    )
    split.add_argument("--seed", type=int, metavar="K", help="decides how sentences are dealt and shuffled (default 1)")
    data.add_argument("--min-count", type=positive, metavar="K", help=f"{MIN_COUNT_HELP} (default: all)")
    how = parser.add_argument_group("learning")
    how.add_argument(
        "--learner",
        choices=("perceptron", "pa", "pa1", "pa2", "mira", "naive-bayes", "rocchio"),
        default="perceptron",
        help="structured perceptron (default), passive-aggressive (PA, PA-I, PA-II), MIRA, which corrects several "
        "labellings at once, or a baseline that counts in one pass and takes every token by itself (naive-bayes, "
        "rocchio)",
    )
    how.add_argument(
        "--aggressiveness",
        type=float,
        metavar="C",
        help="the C of PA-I and PA-II (default 1) and of MIRA (default: no bound): how far one labelling may move the "
        "weights",
    )
    how.add_argument(
        "--k-best",
        type=positive,
        default=1,
        metavar="K",
        help="with MIRA: correct those of the K best labellings of a sentence that are no worse than the right one "
        "(default 1)",
    )
    how.add_argument(
        "--minibatch",
        type=positive,
        default=1,
        metavar="M",
        help="with the perceptron or MIRA: decode M sentences with the same weights, then update once by all of them "
        "(default 1)",
    )
    how.add_argument(
        "--threads",
        type=positive,
        default=1,
        metavar="P",
        help="with --minibatch: decode its sentences by P threads in every task; never changes the result (default 1)",
    )
    how.add_argument(
        "--average",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep averaged weights beside the last ones (default)",
    )
    how.add_argument(
        "--decoder",
        choices=("viterbi", "beam", "greedy"),
        default="viterbi",
        help="the search (default: viterbi, exact)",
    )
    how.add_argument(
        "--beam", type=positive, default=8, metavar="B", help="states a beam keeps after a token (default 8)"
    )
    how.add_argument(
        "--update",
        choices=("standard", "early", "max-violation"),
        default="standard",
        help="which prefix of a wrong sentence to update on",
    )
    how.add_argument(
        "--min-updates",
        type=positive,
        default=1,
        metavar="K",
        help="a feature scores once it has taken part in K updates; the model holds such features alone (default 1: "
        "all that were ever updated)",
    )
    stop = parser.add_argument_group("stopping")
    stop.add_argument("--epochs", type=positive, default=10, metavar="N", help="at most N epochs (default 10)")
    stop.add_argument(
        "--stop-threshold",
        type=float,
        default=0.0005,
        metavar="E",
        help="stop when the training score (1 - wrong sentences / sentences) changed by no more than E on three "
        "epochs in a row (default 0.0005)",
    )
    stop.add_argument(
        "--patience", type=positive, metavar="P", help="stop when the dev score has not improved for P epochs"
    )
    parser.add_argument(
        "--quiet", action=argparse.BooleanOptionalAction, default=False, help="no line an epoch, no progress bar"
    )
    _runner(parser)


def _model_input(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--weights", choices=("averaged", "last"), help="which weights (default: averaged, if there are any)"
    )
    parser.add_argument("--python", metavar="FILE", help="the Python file that the features need, if it is not here")


def _predict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help='files to tag, with or without the gold column; "-" is stdin'
    )
    parser.add_argument(
        "--output", default="-", metavar="FILE", help='where the tagged text goes; "-" is stdout (default)'
    )
    parser.add_argument(
        "--format",
        choices=("columns", "conllu", "word_tag", "raw"),
        help="of the input, if not the task's own; raw: a sentence of plain tokens a line",
    )
    _model_input(parser)
    _runner(parser)


def _evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", metavar="MODEL", help=MODEL_HELP)
    parser.add_argument("gold", nargs="*", metavar="GOLD", help="files with gold labels")
    parser.add_argument(
        "--predicted", nargs="+", metavar="FILE", help="score these files' last two columns (gold, guess) instead"
    )
    parser.add_argument(
        "--metric",
        choices=("spans", "accuracy", "classes"),
        help="with --predicted: how to score (default: spans if the labels are chunk labels)",
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    _model_input(parser)
    _runner(parser)


def _names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    parser.add_argument(
        "--prepared",
        metavar="DIR",
        help="the prepared corpus, to find feature names in, if the run directory does not have it",
    )
    _model_input(parser)


def _inspect(parser: argparse.ArgumentParser) -> None:
    _names(parser)
    parser.add_argument("--label", metavar="L", help="only weights of this label")
    parser.add_argument("--feature", metavar="TEXT", help="only features whose name contains this")
    parser.add_argument("--top", type=positive, default=20, metavar="N", help="how many, strongest first (default 20)")


def _export(parser: argparse.ArgumentParser) -> None:
    _names(parser)
    parser.add_argument("--output", required=True, metavar="FILE", help='feature TAB label TAB weight; "-" is stdout')


def _import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="feature TAB label TAB weight, a line each")
    parser.add_argument("--task", required=True, metavar="TASK", help=TASK_HELP)
    parser.add_argument("--output", required=True, metavar="MODEL", help="the model file to write")


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run directory; several are shown side by side")
    parser.add_argument(
        "--output", metavar="FILE", help="write an HTML page (one file, needs no network) instead of printing"
    )
    parser.add_argument("--svg", metavar="FILE", help="also draw the learning curve as SVG")


def _experiment(parser: argparse.ArgumentParser) -> None:
    ready = ", ".join(READY_EXPERIMENTS)
    parser.add_argument("experiment", metavar="EXPERIMENT", help=f"a file (YAML), or the name of a ready one: {ready}")
    parser.add_argument(
        "--output", required=True, metavar="DIR", help="for runs, tables and figures; experiments may share it"
    )
    parser.add_argument("--data", metavar="DIR", help="the folder of the corpora (default: $PERCEPTRON_DATA)")
    parser.add_argument("--full", action="store_true", help="whole corpora and more seeds, where the file has them")
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="trainings at a time (default: all cores; 1 if not -r inline)"
    )
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    _runner(parser)


class Command:
    """One sub-command: what it is for, an example, and its arguments."""

    def __init__(self, help_text: str, example: str, declare: Callable[[argparse.ArgumentParser], None]) -> None:
        self.help, self.example, self.declare = help_text, example, declare


COMMANDS = {
    "prepare": Command(
        "encode a corpus into shards, once, for many trainings",
        "perceptron prepare ner --train eng.train.gz --shards 10 --output prepared/",
        _prepare,
    ),
    "train": Command(
        "train a model, or go on with a run that was stopped",
        "perceptron train chunking --train train.txt.gz --dev test.txt.gz --run-dir run/\n"
        "  perceptron train ner --prepared prepared/ --run-dir run/ --mixing row --epochs 15 -r local",
        _train,
    ),
    "predict": Command(
        "tag files with a model",
        "perceptron predict run/ test.txt --output tagged.txt\n"
        "  echo 'Time flies like an arrow .' | perceptron predict run/ - --format raw",
        _predict,
    ),
    "evaluate": Command(
        "score a model on gold files, or files that are tagged already",
        "perceptron evaluate run/ test.txt.gz\n  perceptron evaluate --predicted tagged.txt",
        _evaluate,
    ),
    "inspect": Command(
        "show the strongest weights, by feature name",
        "perceptron inspect run/ --label B-PER --feature suffix --top 10",
        _inspect,
    ),
    "export": Command("write all weights as text", "perceptron export run/ --output weights.tsv", _export),
    "import": Command(
        "make a model of weights as text", "perceptron import weights.tsv --task ner --output model", _import
    ),
    "report": Command(
        "show a run's learning curve, or runs side by side as a page to look at",
        "perceptron report run/\n  perceptron report run1/ run2/ --output report.html",
        _report,
    ),
    "experiment": Command(
        "run a grid of trainings, and show it as a table and a figure",
        "perceptron experiment mixing --data corpora/ --output results/",
        _experiment,
    ),
}


class Parsers(NamedTuple):
    main: argparse.ArgumentParser
    commands: dict[str, argparse.ArgumentParser]


def make_parsers() -> Parsers:
    parser = argparse.ArgumentParser(
        prog="perceptron",
        description="Train structured perceptrons by MapReduce: taggers, chunkers, named-entity recognisers.",
        epilog="`perceptron COMMAND --help` explains a command, with an example.",
    )
    parser.add_argument("--version", action="version", version=f"perceptron {__version__}")
    group = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands = {}
    for name, command in COMMANDS.items():
        commands[name] = group.add_parser(
            name,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            epilog=f"example:\n  {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.declare(commands[name])
    return Parsers(parser, commands)


def option_names(command: str) -> set[str]:
    """The options of a sub-command that may stand in a task file."""
    parser = argparse.ArgumentParser()
    COMMANDS[command].declare(parser)
    return {action.dest for action in parser._actions if action.option_strings} - {"help"}


def as_arguments(options: dict[str, Any]) -> list[str]:
    """A task file's options as arguments, so that they are checked just as the command line's are."""
    arguments: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            arguments.append(flag if value else f"--no-{flag[2:]}")
        elif value is not None:
            values = value if isinstance(value, list) else [value]
            arguments += [flag, *map(str, values)]
    return arguments
