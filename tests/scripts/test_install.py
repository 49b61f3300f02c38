"""The wheel: what is in it, that it works where it was installed, and what it does without a compiler."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Callable

import pytest

from perceptron_jobs.options.names import READY_TASKS
from repository import ROOT

SOURCES = ("LICENSE", "README.md", "pyproject.toml", "setup.cfg", "setup.py", "configs", "jobs", "perceptron_core")
BUILT = shutil.ignore_patterns("*.so", "*.c", "__pycache__")
NOT_INHERITED = (
    "CC",
    "PYTHONPATH",
    "SETUPTOOLS_USE_DISTUTILS",
)  # the last is set by `import perceptron_jobs`, for mrjob
NEEDED = ("cython", "setuptools", "wheel", "pip")
PERCEPTRON = "import sys; from perceptron_jobs.cli.main import main; sys.exit(main())"
TEXT = "the D\nстарый A\nкот N\nspит V\n\n猫 N\nfast A\nflies V\n\nflies N\nlike V\nthe D\narrow N\n"


class Installed:
    """A wheel built from the sources, and installed into a folder of its own."""

    def __init__(self, folder: Path, compiler: dict[str, str]) -> None:
        self.site = folder / "site"
        sources = folder / "sources"
        for name in SOURCES:
            path = ROOT / name
            copy = shutil.copy if path.is_file() else lambda *paths: shutil.copytree(*paths, ignore=BUILT)
            sources.mkdir(exist_ok=True)
            copy(path, sources / name)
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
        build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(sources)]
        run(build, folder, **compiler)
        (self.wheel,) = folder.glob("*.whl")
        run([*pip, "install", "--no-deps", "--target", str(self.site), str(self.wheel)], folder)

    def names(self) -> list[str]:
        with zipfile.ZipFile(self.wheel) as wheel:
            return wheel.namelist()

    def perceptron(self, folder: Path, *arguments: str, program: str = PERCEPTRON) -> str:
        """Runs the command in another folder, with this package and what the environment has for it to use.

        -S, because an editable installation of the package would lend its compiled kernel to one that has none.
        """
        path = os.pathsep.join([str(self.site), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
        return run([sys.executable, "-S", "-c", program, *arguments], folder, PYTHONPATH=path)


def run(command: list[str], folder: Path, **more: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    done = subprocess.run(
        command, cwd=folder, env={**environment, **more}, capture_output=True, encoding="utf-8", timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def install(tmp_path_factory) -> Callable[..., Installed]:
    installed = {distribution.metadata["Name"].lower() for distribution in importlib.metadata.distributions()}
    missing = sorted(set(NEEDED) - installed)
    if missing:
        pytest.skip(f"a wheel cannot be built without {', '.join(missing)}; install the extra `test`")
    if not (ROOT / "setup.cfg").exists():
        pytest.skip("the sources are not beside the tests")
    return lambda **compiler: Installed(tmp_path_factory.mktemp("install"), compiler)


@pytest.fixture(scope="module")
def compiled(install) -> Installed:
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        pytest.skip("there is no C compiler on the PATH; install one (gcc or clang)")
    return install()


@pytest.fixture(scope="module")
def without_compiler(install) -> Installed:
    return install(CC="/bin/false")


def test_the_wheel_holds_what_it_needs(compiled):
    names = compiled.names()
    assert {f"perceptron_jobs/configs/{task}.yaml" for task in READY_TASKS} <= set(names)
    extensions = ("kernels/data", "kernels/learning", "structures/sequence/native", "structures/tree/native")
    assert sorted(name.split(".")[0] for name in names if name.endswith(".so")) == [
        f"perceptron_core/{extension}" for extension in extensions
    ]
    for folder, package in (("jobs", "perceptron_jobs"), ("perceptron_core", "perceptron_core")):
        for path in (ROOT / folder).rglob("*.py"):
            module = Path(package, path.relative_to(ROOT / folder))
            assert str(module) in names, f"list {'.'.join(module.parent.parts)} under `packages` in setup.cfg"
    assert not [name for name in names if name.startswith(("tests", "scripts", "build"))]


def test_the_wheel_without_a_compiler(without_compiler):
    assert "perceptron_core/structures/sequence/reference.py" in without_compiler.names()
    assert not [name for name in without_compiler.names() if name.endswith(".so")]


def test_both_train_in_another_folder_and_give_the_same_bytes(compiled, without_compiler, tmp_path):
    models, said = {}, {}
    for installed in (compiled, without_compiler):
        folder = tmp_path / installed.site.parent.name
        folder.mkdir()
        (folder / "train.txt").write_text(TEXT, encoding="utf-8")
        options = ("--run-dir", "run", "--shards", "2", "--mixing", "uniform", "--epochs", "3")
        said[installed] = installed.perceptron(folder, "train", "pos", "--train", "train.txt", *options)
        models[installed] = (folder / "run" / "model").read_bytes()
        score = installed.perceptron(folder, "evaluate", "run", "train.txt", "--json", "-r", "local")
        assert json.loads(score)["tokens"] == 11
    assert models[compiled] == models[without_compiler]
    assert "the slower reference runs instead" in said[without_compiler]
    assert "reference" not in said[compiled]


def test_the_wheel_comes_before_what_is_installed(compiled, tmp_path):
    """Else the other tests of this file would test something else."""
    where = "import perceptron_jobs as jobs, perceptron_core.kernels.native as n; print(jobs.__file__, n.__file__)"
    for path in compiled.perceptron(tmp_path, program=where).split():
        assert path.startswith(str(compiled.site))


def test_help_needs_no_library(tmp_path):
    program = (
        "import sys\nfrom perceptron_jobs.cli.main import main\n"
        "try:\n    main(['train', '--help'])\nexcept SystemExit:\n    pass\n"
        "print('loaded:', sorted({'numpy', 'mrjob', 'yaml', 'msgpack'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    assert "example:" in done.stdout and done.stdout.endswith("loaded: []\n")
