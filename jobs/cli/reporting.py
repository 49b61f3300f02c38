"""`perceptron report`: learning curves in the terminal, or a page about one or more runs."""

from perceptron_core.errors import InputError, UserError
from perceptron_jobs.cli.surroundings import Arguments, opened_output
from perceptron_jobs.report import distinct_names, learning_curve, learning_curve_svg, read_run, report_html
from perceptron_jobs.training.run_dir import RunDir


def run_report(arguments: Arguments) -> None:
    runs = [RunDir(path) for path in arguments.runs]
    for run in runs:
        if run.config() is None:
            raise InputError("is not a run directory (it has no config.json)", run.path)
    if arguments.svg and len(runs) > 1:
        raise UserError("--svg draws the curve of one run; use --output to show several")
    names = distinct_names(arguments.runs)
    if arguments.output:
        page = report_html(
            [read_run(run, python=arguments.python)._replace(name=name) for run, name in zip(runs, names)]
        )
        with opened_output(arguments.output) as output:
            output.write(page.encode())
    if arguments.svg:
        with opened_output(arguments.svg) as output:
            output.write(learning_curve_svg(runs[0].whole_history(), names[0]).encode())
    if arguments.output:
        return
    for run, name in zip(runs, names):
        if len(runs) > 1:
            print(name)
        print(learning_curve(run.whole_history()))
