"""The rivals, and how each is installed. One that cannot be had is Missing, with the reason; the others go on."""

import importlib
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Protocol

from problems import Missing

HERE = Path(__file__).resolve().parent
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>bench</groupId><artifactId>rival</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>
  </dependencies>
</project>
"""


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


class FromMaven:
    """A Java program and what it depends on, fetched by Maven into a folder beside the environment."""

    def __init__(self, group: str, artifact: str, version: str) -> None:
        self.group, self.artifact, self.version = group, artifact, version
        self.folder = Path(sys.prefix) / artifact

    @property
    def class_path(self) -> str:
        """What is in the folder `classes` comes before the jars."""
        return f"{self.folder / 'classes'}:{self.folder / 'lib' / '*'}"

    def install(self) -> str:
        for tool in ("java", "mvn"):
            if shutil.which(tool) is None:
                raise Missing(f"there is no {tool} on the PATH; on Debian: apt install default-jdk-headless maven")
        if not (self.folder / "lib" / f"{self.artifact}-{self.version}.jar").exists():
            self._fetch()
        return self.version

    def _fetch(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        pom = self.folder / "pom.xml"
        pom.write_text(POM.format(group=self.group, artifact=self.artifact, version=self.version), encoding="utf-8")
        library = f"-DoutputDirectory={self.folder / 'lib'}"
        _run(["mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", library])


class MstParser(FromMaven):
    """It expects -1 for what a map of trove does not have, as the trove of its own release says. Maven's trove says 0,
    and with it MSTParser finds no features at all. So one byte of one class is changed."""

    trove, patched = "trove-1.1-beta-5.jar", "gnu/trove/TObjectIntHashMap.class"
    says_0, says_minus_1 = bytes.fromhex("1c9c000703a70009"), bytes.fromhex("1c9c000702a70009")  # index < 0 ? … : …

    def __init__(self) -> None:
        super().__init__("net.sourceforge.mstparser", "mstparser", "0.5.1")

    def _fetch(self) -> None:
        super()._fetch()
        with zipfile.ZipFile(self.folder / "lib" / self.trove) as jar:
            code = jar.read(self.patched)
        target = self.folder / "classes" / self.patched
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(code.replace(self.says_0, self.says_minus_1))


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
    "MaltParser": FromMaven("org.maltparser", "maltparser", "1.9.2"),
    "MSTParser, order 1": MstParser(),
    "MSTParser, order 2": MstParser(),
    "UDPipe": FromPip("ufal.udpipe"),
    "Perceptron": FromPip("scikit-learn"),
    "PassiveAggressiveClassifier": FromPip("scikit-learn"),
}
