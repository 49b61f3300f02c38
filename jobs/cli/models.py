"""`perceptron inspect`, `export` and `import`: the weights of a model, to look at or as text."""

import glob

from perceptron_core.errors import InputError, UserError
from perceptron_core.settings import Settings
from perceptron_core.structures import KINDS
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model, write_model
from perceptron_core.weights.text import format_weights, parse_weights
from perceptron_jobs.cli.surroundings import Arguments, opened_output, refuse_own_input
from perceptron_jobs.models.apply import NamedModel
from perceptron_jobs.models.feature_names import find_names, prepared_of


def named_model(arguments: Arguments) -> NamedModel:
    return NamedModel(arguments.model, arguments.weights, arguments.python)


def files_of(model: str) -> list[str]:
    """What is read of a model: its file, or those of a run directory."""
    return [model, *(path for names in ("model", "epoch-*/*") for path in glob.glob(f"{glob.escape(model)}/{names}"))]


def _with_names(arguments: Arguments) -> tuple[Model, str, dict[int, str]]:
    """The model, which of its columns is asked for, and the names of its features."""
    named = named_model(arguments)
    model, which = named.open()
    names = model.names
    if names is None:
        names = find_names(model, named.task(model), prepared_of(arguments.model, arguments.prepared))
    nameless = sum(key not in names for key in model.rows.keys.tolist())
    if nameless:
        raise InputError(
            f"{nameless} of its features are not in the prepared corpus, so their names are not known; "
            "give the corpus that the model was trained on: --prepared DIR",
            arguments.model,
        )
    return model, {"averaged": "averaged", "last": "weight"}[which], names


def run_inspect(arguments: Arguments) -> None:
    model, column, names = _with_names(arguments)
    if arguments.label and arguments.label not in model.labels:
        raise UserError(f"the model has no label {arguments.label}; it has {', '.join(model.labels)}")
    values = model.rows.values[column]
    keys, labels = model.rows.entry_keys().tolist(), model.rows.labels.tolist()
    shown = 0
    for i in abs(values).argsort(kind="stable")[::-1].tolist():
        name, label = names[keys[i]], model.labels[labels[i]]
        if not values[i] or (arguments.label and label != arguments.label):
            continue
        if arguments.feature and arguments.feature not in name:
            continue
        print(f"{values[i]:12.4f}  {label:<12} {name}")
        shown += 1
        if shown == arguments.top:
            break
    if not shown:
        print("no weight matches")


def run_export(arguments: Arguments) -> None:
    refuse_own_input(arguments.output, files_of(arguments.model))
    model, column, names = _with_names(arguments)
    with opened_output(arguments.output) as output:
        for line in format_weights(model.rows, column, model.labels, names):
            output.write(line.encode("utf-8", "surrogatepass"))


def run_import(arguments: Arguments, task: Task) -> None:
    refuse_own_input(arguments.output, [arguments.file])
    decoding = {name: task.record["options"][name] for name in ("decoder", "beam") if name in task.record["options"]}
    settings = Settings(**{"decoder": KINDS[task.kind].decoders[0], **decoding}).check()
    structure = task.structure(settings.decoder)
    structure.check(settings)
    try:
        with open(arguments.file, encoding="utf-8", newline="\n") as file:
            weights = parse_weights(file, arguments.file, structure, task.labels)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", arguments.file) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", arguments.file) from error
    task, settings = task.for_decoder(settings.decoder), settings.scoring(structure.scored())
    model = Model("model", task.portable(), weights.labels, settings.record(), weights.rows, names=weights.names)
    write_model(arguments.output, model)
