"""The class archive (class-data sharing): what Hadoop's JVMs load is mapped into memory instead of read from 179 jars.

A JVM of Hadoop spends most of its first seconds on loading classes, and a small job is half a dozen such JVMs. The
archive is made once for each version of Java, from the classes that a first job loads, and kept with the jars. It only
makes a JVM start faster: one that cannot use it goes on without.
"""

import os
import shutil
import subprocess
from pathlib import Path

import artifacts
from cluster import Cluster
from configuration import ADMIN_OPTIONS, Software
from errors import ClusterError


def path_for(java: artifacts.Java) -> Path:
    return artifacts.fetched_folder() / f"classes-{java.version}.jsa"


def build(cluster: Cluster, software: Software, archive: Path) -> None:
    """Runs a small streaming job on the cluster and archives what its client, master and tasks loaded."""
    work = cluster.state / "class-archive"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    _run_job(cluster, software, work)
    names: dict[str, None] = {}
    for path in sorted(work.glob("*.list")):
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]  # only whole lines, in case a JVM was killed
        names.update(dict.fromkeys(line for line in lines if not line.startswith(("#", "@"))))
    merged, fresh = work / "merged", archive.with_name(archive.name + ".partial")
    merged.write_text("\n".join(names) + "\n", encoding="utf-8")
    command = [software.java_home / "bin" / "java", "-Xshare:dump", "-XX:+UseSerialGC", "-Xlog:disable"]
    command += [f"-XX:SharedClassListFile={merged}", f"-XX:SharedArchiveFile={fresh}", "-cp", f"{software.lib}/*"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 or not fresh.exists():
        raise ClusterError(f"java -Xshare:dump failed: {done.stdout[-2000:]}")
    fresh.replace(archive)
    shutil.rmtree(work)


def _run_job(cluster: Cluster, software: Software, work: Path) -> None:
    (work / "input").write_text("one line\n", encoding="utf-8")
    jar = next(software.lib.glob("hadoop-streaming-*.jar"))
    recorder = "-XX:DumpLoadedClassList=" + str(work / "{}.list")
    # @taskid@ is replaced by Hadoop for tasks only; there is one master.
    recorded = dict.fromkeys(ADMIN_OPTIONS, "@taskid@") | {ADMIN_OPTIONS[0]: "master"}
    options = [f"-D{name}={software.java_options()} {recorder.format(file)}" for name, file in recorded.items()]
    folder = f"/class-archive-{os.getpid()}"  # so that an earlier attempt is not in the way
    cluster.run("fs", "-mkdir", folder, log="class-archive")
    cluster.run("fs", "-put", work / "input", folder, log="class-archive", options=recorder.format("put"))
    job = ["-input", f"{folder}/input", "-output", f"{folder}/output", "-mapper", "cat", "-reducer", "cat"]
    command = ["jar", jar, *options, "-Dmapreduce.job.name=class archive", *job]
    cluster.run(*command, log="class-archive", options=recorder.format("client"))
    cluster.run("fs", "-rm", "-r", "-skipTrash", folder, log="class-archive")
