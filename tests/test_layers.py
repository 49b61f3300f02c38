"""scripts → jobs → perceptron_core: the imports of every module are read, and one in the other direction fails."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from repository import ROOT

CORE = sorted((ROOT / "perceptron_core").rglob("*.py"))
JOBS = sorted((ROOT / "jobs").rglob("*.py"))
JOB_FILES = [
    "prepare",
    "train_epoch",
    "count_shards",
    "predict",
    "evaluate",
    "count_sentences",
    "count_features",
    "sum_statistics",
]

# sys.stdlib_module_names is of 3.10; these are the ones that a task's file may want on 3.9
STANDARD = getattr(
    sys, "stdlib_module_names", {"collections", "gzip", "hashlib", "io", "itertools", "json", "os", "time", "typing"}
)


def imported(source: str) -> Iterator[str]:
    """The full names of all that a module imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("__import__", "importlib.import_module"):
            yield from (argument.value for argument in node.args if isinstance(argument, ast.Constant))


def top(names: Iterator[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


def calls(source: str) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_trees_are_found() -> None:
    assert len(CORE) > 30 and len(JOBS) > 8
    assert all((ROOT / "jobs" / "mr" / f"{job}.py") in JOBS for job in JOB_FILES)


def test_every_way_of_importing_is_seen() -> None:
    source = "import a.b\ndef f():\n    from c import d\nimportlib.import_module('e.f')\n__import__('g')\n"
    assert set(imported(source)) == {"a.b", "c", "c.d", "e.f", "g"}


@pytest.mark.parametrize("path", CORE, ids=name)
def test_the_core_knows_no_jobs_no_runner_and_no_terminal(path: Path) -> None:
    source = read(path)
    assert not top(imported(source)) & {
        "jobs",
        "perceptron_jobs",
        "scripts",
        "tests",
        "mrjob",
        "hdfs",
        "argparse",
        "optparse",
        "getopt",
    }
    assert not calls(source) & {"print", "input", "sys.stdout.write", "sys.stderr.write", "sys.exit"}
    assert "sys.argv" not in source


def folders_needed(root: Path, package: str) -> dict[str, set[str]]:
    """folder, or module at the top → those of the same package that its modules import."""
    needed: dict[str, set[str]] = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        mine = needed.setdefault(parts[0], set())
        for imported_name in imported(read(path)):
            words = imported_name.split(".")
            if words[0] == package and len(words) > 1 and words[1] != parts[0]:
                mine.add(words[1])
    return {folder: others & set(needed) for folder, others in needed.items()}


def reached_from(folder: str, needed: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [folder]
    while waiting:
        new = needed[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


@pytest.mark.parametrize(("folder", "package"), [("perceptron_core", "perceptron_core"), ("jobs", "perceptron_jobs")])
def test_no_folder_needs_another_that_needs_it_back(folder: str, package: str) -> None:
    needed = folders_needed(ROOT / folder, package)
    assert len(needed) > 8
    assert not sorted(one for one in needed if one in reached_from(one, needed))


def test_folders_that_need_each_other_are_found() -> None:
    assert reached_from("a", {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {"a", "b", "c"}


def test_training_needs_no_html() -> None:
    program = "import sys, perceptron_jobs.training.driver; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "perceptron_jobs.training.driver" in loaded
    assert not [name for name in loaded if name.startswith(("perceptron_jobs.report", "perceptron_jobs.charts"))]


@pytest.mark.parametrize("path", JOBS, ids=name)
def test_jobs_know_no_scripts(path: Path) -> None:
    assert not top(imported(read(path))) & {"scripts", "tests"}


@pytest.mark.parametrize("job", JOB_FILES)
def test_a_job_file_needs_only_what_a_task_node_has(job: str) -> None:
    names = list(imported(read(ROOT / "jobs" / "mr" / f"{job}.py")))
    assert top(iter(names)) <= {*STANDARD, "msgpack", "mrjob", "perceptron_core", "perceptron_jobs"}
    ours = {name for name in names if name.split(".")[0] == "perceptron_jobs"}
    assert all(
        name.startswith(("perceptron_jobs.mr", "perceptron_jobs.records", "perceptron_jobs.storage")) for name in ours
    )


def test_the_protocol_needs_only_the_core() -> None:
    assert top(imported(read(ROOT / "jobs" / "mr" / "protocol.py"))) <= {*STANDARD, "perceptron_core"}


@pytest.mark.parametrize("search", ["lattice", "viterbi", "beam", "greedy", "k_best"])
def test_searches_never_see_features(search: str) -> None:
    names = imported(read(ROOT / "perceptron_core" / "structures" / "sequence" / f"{search}.py"))
    ours = {name for name in names if name.startswith("perceptron_core")}
    assert all(name.startswith(("perceptron_core.structures.sequence.lattice", PREFIXES)) for name in ours)


OUTSIDE = [path for path in (*CORE, *JOBS, *sorted((ROOT / "scripts").rglob("*.py"))) if "structures" not in path.parts]
PREFIXES = "perceptron_core.structures.prefixes"  # how early and max-violation updates choose a prefix
FOLDERS_OF_STRUCTURES = {path.parent.name for path in (ROOT / "perceptron_core" / "structures").glob("*/__init__.py")}
OF_ONE_STRUCTURE = {"history_templates", "pooled", "classifies"}


@pytest.mark.parametrize("path", OUTSIDE, ids=name)
def test_nothing_reaches_past_the_engine(path: Path) -> None:
    """Outside of structures/, code knows what a structure and an engine are, but not one structure from another."""
    source = read(path)
    reached = {name.split(".")[2] for name in imported(source) if name.startswith("perceptron_core.structures.")}
    assert len(FOLDERS_OF_STRUCTURES) >= 3 and not reached & FOLDERS_OF_STRUCTURES
    assert not {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)} & OF_ONE_STRUCTURE


@pytest.mark.parametrize("path", sorted((ROOT / "perceptron_core" / "learners").glob("*.py")), ids=name)
def test_learners_know_no_structure(path: Path) -> None:
    ours = {name for name in imported(read(path)) if name.startswith("perceptron_core")}
    assert all(name.startswith("perceptron_core.learners") for name in ours)
