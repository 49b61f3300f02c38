"""What a cluster is made of: the machine's Java, and Hadoop's jars, fetched by Maven once and kept in a cache."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from errors import ClusterError

POM = Path(__file__).resolve().parent / "pom.xml"
OLDEST_JAVA, NEWEST_JAVA = 11, 23  # Hadoop 3.4 calls Subject.getSubject, which Java 24 refuses
REMEDY = "on Debian and Ubuntu: apt install default-jdk-headless maven"


class Java(NamedTuple):
    home: Path
    version: str


def cache_folder() -> Path:
    given = os.environ.get("PERCEPTRON_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given or Path(base, "mr-perceptron")).resolve()


def hadoop_version() -> str:
    version = ElementTree.parse(POM).findtext(".//{*}hadoop.version")
    assert version, f"{POM} has no property hadoop.version"
    return version


def find_java() -> Java:
    """The Java of $JAVA_HOME, or the first on the PATH."""
    home = os.environ.get("JAVA_HOME")
    command = shutil.which(os.path.join(home, "bin", "java") if home else "java")
    if command is None:
        where = f"$JAVA_HOME is {home}, which has no bin/java" if home else "There is no java on the PATH"
        raise ClusterError(f"{where}; Hadoop needs Java {OLDEST_JAVA} to {NEWEST_JAVA} ({REMEDY}).", code=2)
    settings = subprocess.run(
        [command, "-XshowSettings:properties", "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ).stdout
    found = {
        name: re.search(rf"^\s*{name} = (.*)$", settings, re.MULTILINE) for name in ("java.home", "java.vm.version")
    }
    major = re.search(r"^\s*java\.specification\.version = (\d+)", settings, re.MULTILINE)
    if not (major and all(found.values())):
        raise ClusterError(f"{command} does not run as a Java ({REMEDY}); it says:\n{settings}", code=2)
    if not OLDEST_JAVA <= int(major[1]) <= NEWEST_JAVA:
        message = (
            f"{command} is Java {major[1]}, and Hadoop {hadoop_version()} needs Java {OLDEST_JAVA} to {NEWEST_JAVA}"
        )
        raise ClusterError(f"{message}; install one and set JAVA_HOME ({REMEDY}).", code=2)
    return Java(Path(found["java.home"][1]), found["java.vm.version"][1])


def fetched_folder() -> Path:
    return cache_folder() / f"hadoop-{hadoop_version()}"


def fetch() -> Path:
    """Returns the folder of Hadoop's jars, and fills it if necessary; the caller holds the cache's lock."""
    folder = fetched_folder()
    if not folder.is_dir():
        maven = shutil.which("mvn")
        if maven is None:
            raise ClusterError(f"There is no mvn on the PATH; Hadoop's jars are fetched by Maven ({REMEDY}).", code=2)
        print(f"fetching Hadoop {hadoop_version()} by Maven into {folder} (93 MB, once)", flush=True)
        # Only a whole download gets the name that is looked for.
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        command = [maven, "-q", "-B", "-f", POM, "dependency:copy-dependencies", f"-DoutputDirectory={partial / 'lib'}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            tail = "\n".join(done.stdout.splitlines()[-20:])
            raise ClusterError(f"Maven could not fetch Hadoop; fix what it complains about and run this again:\n{tail}")
        partial.rename(folder)
    return folder / "lib"
