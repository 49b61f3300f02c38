"""The rivals, and how each is installed. One that cannot be had is Missing, with the reason; the others go on."""

import importlib
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Protocol

from problems import Missing

HERE = Path(__file__).resolve().parent


class Rival(Protocol):
    def install(self) -> str:
        """Install it if it is not there, and return its version; or raise Missing."""


class FromPip:
    """A Python package, by its name."""

    def __init__(self, package: str) -> None:
        self.package = package

    def install(self) -> str:
        if not self._version():
            _run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", self.package])
        return self._version() or ""

    def _version(self) -> str:
        importlib.invalidate_caches()
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return ""


class OpenNlp:
    """Debian's package, unpacked beside the environment (nothing is installed into the system), and our driver,
    which gives it the same attributes as the other rivals."""

    package = "libapache-opennlp-java"
    driver = "OpennlpTagger"

    def __init__(self) -> None:
        self.folder = Path(sys.prefix) / "opennlp"

    @property
    def class_path(self) -> str:
        return f"{self._jar()}:{self.folder / 'classes'}"

    def install(self) -> str:
        for tool in ("java", "javac"):
            if shutil.which(tool) is None:
                raise Missing(f"there is no {tool} on the PATH; on Debian: apt install default-jdk-headless")
        if not self._jar().exists():
            self._unpack()
        classes = self.folder / "classes"
        _run(["javac", "-cp", self._jar(), "-d", classes, HERE / f"{self.driver}.java"])
        versioned = min(self._jar().parent.glob("opennlp-tools-*.jar"), default=self._jar())
        return versioned.stem.rpartition("-")[2]

    def _jar(self) -> Path:
        return self.folder / "usr" / "share" / "java" / "opennlp-tools.jar"

    def _unpack(self) -> None:
        for tool in ("apt-get", "dpkg-deb"):
            if shutil.which(tool) is None:
                raise Missing(f"it comes from Debian's packages, and there is no {tool} here")
        self.folder.mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "download", self.package], self.folder)
        for archive in self.folder.glob(f"{self.package}_*.deb"):
            _run(["dpkg-deb", "-x", archive, self.folder])


def _run(command: list[object], folder: Path = HERE) -> None:
    """Run a step of an installation; if it fails, raise Missing with its error message."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        complaints = [line for line in done.stderr.splitlines() if line.strip()] or ["it did not say why"]
        chosen = [line for line in complaints if line.startswith(("ERROR", "E:"))] or complaints
        raise Missing(f"`{Path(str(command[0])).name} … {command[-1]}` failed: {chosen[-1].strip()}")


RIVALS: dict[str, Rival] = {
    "CRFsuite": FromPip("python-crfsuite"),
    "OpenNLP": OpenNlp(),
    "NLTK": FromPip("nltk"),
    "Perceptron": FromPip("scikit-learn"),
    "PassiveAggressiveClassifier": FromPip("scikit-learn"),
}
