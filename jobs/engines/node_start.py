"""The first thing that a task's Python runs on a node: the packed environment has this module as `sitecustomize`.

A Python that cannot load what is packed says so in one sentence, before or after the traceback. Therefore any Python
from 3.6 on can run this module, and it needs nothing of what is packed.
"""

import os
import sys
from typing import Any, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
REMEDY = (
    "name a Python of the nodes that can by PERCEPTRON_NODE_PYTHON, "
    "or an environment that they have already by python_bin in the mrjob configuration (-c)"
)


def complain(problem: str) -> None:
    sys.stderr.write(f"perceptron: on the node {os.uname().nodename}, {sys.executable} {problem}; {REMEDY}\n")
    sys.stderr.flush()


def check_version() -> None:
    with open(os.path.join(HERE, "python-version"), encoding="ascii") as file:
        needed = file.read().strip()
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if own != needed:
        complain(f"is Python {own} and cannot load the packed environment, which is for Python {needed}")
        os._exit(1)


def explain(kind: Any, error: BaseException, trace: Any) -> None:
    """After the traceback of an error that ends the task: say so if a packed module could not be loaded."""
    sys.__excepthook__(kind, error, trace)
    cause: Optional[BaseException] = error
    while cause is not None:
        if isinstance(cause, ImportError) and (cause.path or "").startswith(HERE):
            complain(f"cannot load the packed environment ({cause})")
            return
        cause = cause.__cause__ or cause.__context__


def run_the_other() -> None:
    """Run the `sitecustomize` that the node would have run without this one."""
    path, own = sys.path[:], sys.modules.pop("sitecustomize")
    sys.path[:] = [folder for folder in path if os.path.abspath(folder) != HERE]
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        sys.modules["sitecustomize"] = own
    finally:
        sys.path[:] = path


if __name__ == "sitecustomize":
    check_version()
    sys.excepthook = explain
    run_the_other()
