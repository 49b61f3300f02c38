"""`perceptron predict` and `perceptron evaluate`."""

import json
import sys

from perceptron_core.errors import UserError
from perceptron_core.evaluation.metrics import SpanCounts
from perceptron_jobs.cli.models import files_of, named_model
from perceptron_jobs.cli.surroundings import Arguments, local_files, opened_cluster, opened_output, refuse_own_input
from perceptron_jobs.models.apply import evaluate, evaluate_predicted, evaluate_trees, predict
from perceptron_jobs.models.streaming import is_pipe, predict_stream

TREEBANKS = (".conllu", ".conllu.gz")  # no model has such a name


def run_predict(arguments: Arguments) -> None:
    refuse_own_input(arguments.output, [*files_of(arguments.model), *arguments.files])
    as_it_comes = arguments.stream or (arguments.runner == "inline" and any(map(is_pipe, arguments.files)))
    if as_it_comes and arguments.runner != "inline":
        raise UserError(f"--stream tags in this process, without a job; leave out -r {arguments.runner}, or --stream")
    with opened_output(arguments.output) as output:

        def write(text: str) -> None:
            output.write(text.encode("utf-8", "surrogatepass"))

        if as_it_comes:

            def write_at_once(text: str) -> None:
                write(text)
                output.flush()

            predict_stream(named_model(arguments), arguments.files, write_at_once, arguments.format)
            return
        with local_files(arguments.files) as files, opened_cluster(arguments, "predict") as cluster:
            for text in predict(named_model(arguments), files, cluster, arguments.format):
                write(text)


def run_evaluate(arguments: Arguments) -> None:
    if arguments.predicted:
        if arguments.model:
            raise UserError(
                "--predicted scores files that are tagged already; leave out either MODEL and GOLD or --predicted"
            )
        with opened_cluster(arguments, "evaluate") as cluster:
            counts = evaluate_predicted(arguments.predicted, arguments.metric, cluster)
    elif arguments.model and arguments.model.endswith(TREEBANKS):
        if len(arguments.gold) != 1:
            raise UserError("to score trees, give two CoNLL-U files: GOLD.conllu PREDICTED.conllu")
        counts = evaluate_trees(arguments.model, arguments.gold[0])
    elif arguments.model and arguments.gold:
        with opened_cluster(arguments, "evaluate") as cluster:
            counts = evaluate(named_model(arguments), arguments.gold, cluster)
    else:
        raise UserError("give MODEL and GOLD files, or GOLD.conllu PREDICTED.conllu, or --predicted FILE...")
    if arguments.json:
        print(json.dumps(counts.score(), indent=1))
        return
    print(counts.report(), end="", flush=True)
    if isinstance(counts, SpanCounts):  # on standard error, so that the report stays conlleval's
        share = 100 * counts.score()["sentence_accuracy"]
        print(f"sentences right: {counts.correct_sentences} of {counts.sentences} ({share:.2f} %)", file=sys.stderr)
