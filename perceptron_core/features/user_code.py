"""Functions from a user's Python file: attributes of a word, and free-form feature extractors.

The file is imported from its path under a private name. It must not need other files: it is sent to task nodes
without its neighbours, so its folder is not put on the module search path. Errors inside it are reported as the user's
errors, with the line of their file. This is not a sandbox: the code runs as the user.
"""

import hashlib
import importlib.machinery
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Sequence
from types import CodeType
from typing import Any, Callable, Optional

from perceptron_core.errors import InputError, UserError
from perceptron_core.features.attributes import Attribute

# (sentence as tuples of column values, position) → feature strings
Extractor = Callable[[Sequence[tuple[str, ...]], int], list[str]]


class _SourceLoader(importlib.machinery.SourceFileLoader):
    """Compiles the source each time: it neither writes nor reads bytecode beside the user's file."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def load_functions(path: str) -> dict[str, Callable[..., Any]]:
    """The public functions that the Python file defines itself (not those it imports), by name."""
    if not path.endswith(".py"):
        raise UserError(f"`{path}` is not a Python file; give a file whose name ends in `.py`.")
    if not os.path.isfile(path):
        raise UserError(f"There is no file `{path}`; check the path of your Python file.")
    # The name is made from the path, so that two files called features.py do not collide.
    name = f"_perceptron_user_code_{hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:16]}"
    loader = _SourceLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up in sys.modules while it runs.
    sys.modules[name] = module
    try:
        _run(path, "The file could not be imported", loader.exec_module, module)
    except UserError:
        del sys.modules[name]
        raise
    return {
        public: member
        for public, member in vars(module).items()
        if not public.startswith("_") and inspect.isroutine(member) and member.__module__ == name
    }


def checked_attribute(name: str, function: Callable[[str], Any], path: str) -> Attribute:
    """The user's function as an attribute; an exception or a wrong result is reported as the user's error."""

    def attribute(word: str) -> Optional[str]:
        value = _run(path, f"The function `{name}` failed on the word {word!r}", function, word)
        if value is not None and not isinstance(value, str):
            raise InputError(
                f"The function `{name}` returned {value!r} for the word {word!r}; "
                "an attribute must return a string, or None for no feature.",
                path,
            )
        return value

    return attribute


def checked_extractor(name: str, function: Callable[..., Any], path: str) -> Extractor:
    """The user's function as an extractor; an exception or a wrong result is reported as the user's error."""

    def extractor(sentence: Sequence[tuple[str, ...]], position: int) -> list[str]:
        where = f"the word {sentence[position][0]!r} (position {position})"
        features = _run(path, f"The function `{name}` failed on {where}", function, sentence, position)
        if not isinstance(features, list) or not all(isinstance(feature, str) for feature in features):
            raise InputError(
                f"The function `{name}` returned {features!r} for {where}; an extractor must return a list of strings.",
                path,
            )
        return features

    return extractor


def _run(path: str, failure: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the user's code; an exception becomes an error that shows the line of their file."""
    try:
        return function(*arguments)
    # Only the user's code runs here, and it may raise anything; a script may also end with sys.exit.
    except (Exception, SystemExit) as error:
        message = f"{failure}: {type(error).__name__}: {error}"
        raise InputError(message, path, _line_in(path, error)) from error


def _line_in(path: str, error: BaseException) -> Optional[int]:
    """The line of the file where the error arose, or where it last called what raised it."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return lines[-1] if lines else None
