"""`perceptron inspect`, `export` and `import`: the weights of a model, to look at or as text."""

from perceptron_core.errors import InputError, UserError
from perceptron_core.evaluation.predictor import choose_weights
from perceptron_core.settings import Settings
from perceptron_core.task import Task
from perceptron_core.weights.model_file import Model, write_model
from perceptron_core.weights.text import format_weights, parse_weights
from perceptron_jobs.cli.surroundings import Arguments, opened_output
from perceptron_jobs.models.apply import python_file
from perceptron_jobs.models.feature_names import find_names, prepared_of
from perceptron_jobs.training.run_dir import open_model


def _named_model(arguments: Arguments) -> tuple[Model, str, dict[int, str]]:
    """The model, which of its columns is asked for, and the names of its features."""
    model = open_model(arguments.model)
    which = arguments.weights or ("averaged" if "averaged" in model.rows.values else "last")
    choose_weights(model, which)
    names = model.names
    if names is None:
        task = Task(model.task, python_file(arguments.model, model, arguments.python))
        names = find_names(model, task, prepared_of(arguments.model, arguments.prepared))
    nameless = sum(key not in names for key in model.rows.keys.tolist())
    if nameless:
        raise InputError(
            f"{nameless} of its features are not in the prepared corpus, so they have no name; "
            "give the corpus it was trained on by --prepared DIR",
            arguments.model,
        )
    return model, {"averaged": "averaged", "last": "weight"}[which], names


def run_inspect(arguments: Arguments) -> None:
    model, column, names = _named_model(arguments)
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
    model, column, names = _named_model(arguments)
    with opened_output(arguments.output) as output:
        for line in format_weights(model.rows, column, model.labels, names):
            output.write(line.encode("utf-8", "surrogatepass"))


def run_import(arguments: Arguments, task: Task) -> None:
    decoding = {name: task.record["options"][name] for name in ("decoder", "beam") if name in task.record["options"]}
    settings = Settings(**decoding).check()
    structure = task.structure(settings.decoder)
    structure.check(settings)
    try:
        with open(arguments.file, encoding="utf-8", newline="\n") as file:
            weights = parse_weights(file, arguments.file, structure, task.labels)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", arguments.file) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", arguments.file) from error
    task, settings = task.settled(settings.decoder), settings.scoring(structure.scored())
    model = Model("model", task.portable(), weights.labels, settings.record(), weights.rows, names=weights.names)
    write_model(arguments.output, model)
