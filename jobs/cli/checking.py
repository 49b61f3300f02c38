"""`perceptron check`: a line for every file that was checked, and exit code 2 if one is damaged."""

from perceptron_core.errors import UserError
from perceptron_jobs.cli.surroundings import Arguments
from perceptron_jobs.models.checking import check


def run_check(arguments: Arguments) -> None:
    files = damaged = 0
    for path in arguments.paths:
        for found in check(path):
            files += 1
            damaged += found.problem is not None
            print(f"{found.path}: {found.problem or 'ok'}", flush=True)
    if damaged:
        raise UserError(f"{damaged} of {files} files are damaged, see above")
