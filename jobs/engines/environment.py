"""The packed environment: what a task needs beyond a bare Python of the same minor version, in one archive.

It holds the packages as they are installed here (with the compiled kernel), without their tests and scripts, so that
there is little to unpack. Its name contains the hash of its content: it is put on HDFS once, every later job finds it
there, and a changed product never uses an old archive.

If a node has no suitable Python, or its Python cannot load the packages, the task says so in one sentence: see START
below and node_start.py.
"""

import hashlib
import importlib.util
import io
import os
import shlex
import sys
import tarfile
import zlib
from collections.abc import Iterator
from functools import cache

PACKAGES = ("perceptron_core", "perceptron_jobs", "mrjob", "numpy", "msgpack", "yaml", "_yaml", "pipes")
REMOTE_PACKAGES = ("hdfs", "requests", "urllib3", "certifi", "idna", "charset_normalizer", "docopt", "six")
SKIPPED_FOLDERS = {"tests", "test", "__pycache__", "include", "doc", "docs", "examples"}
SKIPPED_ENDINGS = (".pyc", ".pyi", ".pyx", ".pxd", ".pxi", ".c", ".h", ".a")
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
START = f"""\
# Starts a task: sh env/start PYTHON SCRIPT ARGUMENTS
command -v "$1" > /dev/null || {{
    echo "perceptron: there is no $1 on the node $(uname -n), which needs a Python {PYTHON}; install one there, or" \
        "name one by PERCEPTRON_NODE_PYTHON, or an environment that the nodes have already by python_bin in the mrjob" \
        "configuration (-c)" >&2
    exit 127
}}
exec "$@"
"""


def _locations(packages: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(name in the archive, path) of each package's folder or module, and of a wheel's bundled libraries."""
    for name in packages:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        if spec.submodule_search_locations:
            folder = os.path.dirname(spec.origin)
            yield name, folder
            libraries = os.path.join(os.path.dirname(folder), f"{name}.libs")
            if os.path.isdir(libraries):
                yield f"{name}.libs", libraries
        else:
            yield os.path.basename(spec.origin), spec.origin
    # mrjob imports distutils, which Python 3.12 and a minimal Debian lack; setuptools has it under another name.
    setuptools = importlib.util.find_spec("setuptools")
    if setuptools is not None and setuptools.origin is not None:
        yield "distutils", os.path.join(os.path.dirname(setuptools.origin), "_distutils")


def _files(packages: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(name in the archive, path) of every file, in a fixed order."""
    for name, path in _locations(packages):
        if os.path.isfile(path):
            yield name, path
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
            for file in sorted(files):
                if not file.endswith(SKIPPED_ENDINGS):
                    whole = os.path.join(folder, file)
                    yield os.path.join(name, os.path.relpath(whole, path)), whole


def _contents() -> Iterator[tuple[str, bytes]]:
    """(name in the archive, content) of everything in it, in a fixed order."""
    yield "start", START.encode()
    yield "python-version", PYTHON.encode()
    own_start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_start.py")
    for name, path in (("sitecustomize.py", own_start), *_files(PACKAGES + REMOTE_PACKAGES)):
        with open(path, "rb") as file:
            yield name, file.read()


@cache
def environment_name() -> str:
    """The archive's name: the Python it is for, and a hash of the names and checksums of its files."""
    digest = hashlib.sha256()
    for name, data in _contents():
        digest.update(f"{name}\0{zlib.crc32(data)}\n".encode())
    return f"env-py{PYTHON}-{digest.hexdigest()[:16]}.tar.gz"


def pack_environment() -> bytes:
    """The archive, its contents at the top."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=6) as archive:
        for name, data in _contents():
            entry = tarfile.TarInfo(name)  # without owner and time: equal contents give equal archives
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def start_command(python: str) -> str:
    """How a node starts a task's Python; the archive is unpacked there as `env`."""
    return f"sh env/start {shlex.quote(python)}"
