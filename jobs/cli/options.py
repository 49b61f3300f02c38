"""The arguments of every command, declared once: for the parser, for --help, and for `options:` in a task file."""

import argparse
from typing import Callable, NamedTuple

from perceptron_core import __version__
from perceptron_core.registry import LABEL_METRICS, SEQUENCE_FORMATS, WEIGHTS
from perceptron_jobs.options.declarations import TASK_HELP, add_prepare, add_runner, add_train, whole_number
from perceptron_jobs.options.names import READY_EXPERIMENTS
from perceptron_jobs.options.spelling import option_names

MODEL_HELP = "a model file, or a run directory (then its best epoch by dev score, or its last)"


def _model_input(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--weights", choices=WEIGHTS, help=f"which weights (default: {WEIGHTS[0]}, if the model has them)"
    )
    _python(parser)


def _python(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--python",
        metavar="FILE",
        help="the Python file that the features need, if they need one; it is run, unless it has been changed",
    )


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
        choices=SEQUENCE_FORMATS,
        help="the input's format, if it is not the task's own; raw: one sentence of plain tokens per line",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="write each sentence as soon as it is tagged; a pipe as input is read like this in any case",
    )
    _model_input(parser)
    add_runner(parser)


def _evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", nargs="?", metavar="MODEL", help=f"{MODEL_HELP}; or the gold trees to score: FILE.conllu[.gz]"
    )
    parser.add_argument("gold", nargs="*", metavar="GOLD", help="files with gold labels; or the predicted trees")
    parser.add_argument(
        "--predicted", nargs="+", metavar="FILE", help="score these files' last two columns (gold, guess) instead"
    )
    parser.add_argument(
        "--metric",
        choices=LABEL_METRICS,
        help=f"with --predicted: how to score (default: spans for chunk labels, otherwise {LABEL_METRICS[0]})",
    )
    parser.add_argument("--json", action="store_true", help="print the score as JSON")
    _model_input(parser)
    add_runner(parser)


def _names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    parser.add_argument(
        "--prepared",
        metavar="DIR",
        help="the prepared corpus, in which feature names are looked up, if the run directory does not have it",
    )
    _model_input(parser)


def _inspect(parser: argparse.ArgumentParser) -> None:
    _names(parser)
    parser.add_argument("--label", metavar="L", help="only weights of this label")
    parser.add_argument("--feature", metavar="TEXT", help="only features whose name contains this")
    parser.add_argument("--top", type=whole_number, default=20, metavar="N", help="print the N strongest (default 20)")


def _export(parser: argparse.ArgumentParser) -> None:
    _names(parser)
    parser.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help='one weight per line: feature TAB label TAB weight; "-" is stdout',
    )


def _import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="one weight per line: feature TAB label TAB weight")
    parser.add_argument("--task", required=True, metavar="TASK", help=TASK_HELP)
    parser.add_argument("--output", required=True, metavar="MODEL", help="the model file to write")


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run directory; several are shown side by side")
    parser.add_argument(
        "--output", metavar="FILE", help="write an HTML page (one file, needs no network) instead of printing"
    )
    parser.add_argument("--svg", metavar="FILE", help="also draw the learning curve as SVG")
    _python(parser)


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a run directory, a model file or a prepared corpus")


def _experiment(parser: argparse.ArgumentParser) -> None:
    ready = ", ".join(READY_EXPERIMENTS)
    parser.add_argument("experiment", metavar="EXPERIMENT", help=f"a file (YAML), or the name of a ready one: {ready}")
    parser.add_argument(
        "--output",
        required=True,
        metavar="DIR",
        help="the folder for runs, tables and figures; experiments may share it",
    )
    parser.add_argument("--data", metavar="DIR", help="the folder of the corpora (default: $PERCEPTRON_DATA)")
    parser.add_argument("--full", action="store_true", help="use whole corpora, and more seeds if the file lists them")
    parser.add_argument(
        "--jobs",
        type=whole_number,
        metavar="N",
        help="trainings that run at a time (default: one per core with -r inline, otherwise 1)",
    )
    parser.add_argument("--quiet", action="store_true", help="print only errors")
    add_runner(parser)


class Command(NamedTuple):
    """One command: the module that does it, what it is for, an example, and its arguments."""

    module: str  # of perceptron_jobs.cli, with the function run_COMMAND
    help: str
    example: str
    declare: Callable[[argparse.ArgumentParser], None]


COMMANDS = {
    "prepare": Command(
        "training",
        "encode a corpus into shards once, for many trainings",
        "perceptron prepare ner --train eng.train.gz --shards 10 --output prepared/",
        add_prepare,
    ),
    "train": Command(
        "training",
        "train a model, or continue a run that was stopped",
        "perceptron train chunking --train train.txt.gz --dev test.txt.gz --run-dir run/\n"
        "  perceptron train ner --prepared prepared/ --run-dir run/ --mixing row --epochs 15 -r local",
        add_train,
    ),
    "predict": Command(
        "applying",
        "tag files with a model",
        "perceptron predict run/ test.txt --output tagged.txt\n"
        "  echo 'Time flies like an arrow .' | perceptron predict run/ - --format raw",
        _predict,
    ),
    "evaluate": Command(
        "applying",
        "score a model on gold files, or score files that are tagged or parsed already",
        "perceptron evaluate run/ test.txt.gz\n  perceptron evaluate --predicted tagged.txt\n"
        "  perceptron evaluate gold.conllu predicted.conllu",
        _evaluate,
    ),
    "inspect": Command(
        "models",
        "show the strongest weights with the names of their features",
        "perceptron inspect run/ --label B-PER --feature suffix --top 10",
        _inspect,
    ),
    "export": Command("models", "write all weights as text", "perceptron export run/ --output weights.tsv", _export),
    "import": Command(
        "models",
        "turn weights as text into a model",
        "perceptron import weights.tsv --task ner --output model",
        _import,
    ),
    "report": Command(
        "reporting",
        "show a run's learning curve, or write a page about one or more runs",
        "perceptron report run/\n  perceptron report run1/ run2/ --output report.html",
        _report,
    ),
    "check": Command(
        "checking",
        "verify every file of a run, a model or a prepared corpus",
        "perceptron check run/\n  perceptron check hdfs:///runs/1 s3://bucket/prepared",
        _check,
    ),
    "experiment": Command(
        "training",
        "run a grid of trainings and show the results as a table and a figure",
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


def options_of(command: str) -> set[str]:
    """The options of a command that may stand in a task file."""
    parser = argparse.ArgumentParser()
    COMMANDS[command].declare(parser)
    return option_names(parser)
